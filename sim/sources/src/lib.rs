//! What others wrote down about a hart, as what it would have reported to its trace encoder.
//!
//! | source | function | rows |
//! | --- | --- | --- |
//! | Spike, `--log-commits` and `-l` | [`spike`] | one per instruction |
//! | commit log of a CVA6, CSV | [`cva6`] | one per instruction |
//! | our own [trace file](mod@file) | [`file::read`], [`file::TraceFile`] | as written |
//!
//! All of them push a [`Retired`] at a time into a sink, which can end the reading, and keep no more
//! in memory than a line or a chunk of the file. `iretire` counts half-words everywhere.
//!
//! Not here yet: the CSV of the reference flow, which `cli/src/input.rs` reads. Its rows are the same,
//! so it would come as one more function, with `Meaning` as its options and [`SourceError`] for
//! `Failure`; hints that name options of the command line would stay there.
//!
//! # Guarantees
//!
//! Nothing here panics on any input. An error says in one line which file, where, what and what to
//! try; the sink has then seen everything before that place.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

mod cva6;
mod error;
pub mod file;
mod join;
mod lines;
mod spike;

pub use cva6::cva6;
pub use error::{Place, SourceError};
pub use hartrace_ingress::Retired;
pub use join::Summary;
pub use lines::open;
pub use spike::{SpikeOptions, spike};
