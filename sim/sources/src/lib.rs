//! What others wrote down about a hart, as what it would have reported to its trace encoder.
//!
//! | [`Format`] | rows |
//! | --- | --- |
//! | Spike, `--log-commits` and `-l`; RVFI tracer of CVA6 | one per instruction or trap |
//! | commit log of CVA6, a table | one per instruction or trap |
//! | encoder input of the reference flow, a table | one per block |
//! | our own [trace file](mod@file) | as written |
//!
//! [`open`] reads any of them, compressed or not, and tells them apart by their content;
//! [`Source`] is the same on any input, [`Tally`] counts what is in it. `iretire` counts half-words everywhere.
//!
//! # Guarantees
//!
//! Nothing here panics on any input. No more is held in memory than a line of 64 KiB or a chunk of a
//! trace file. An error says in one line which file, where, what and what to try; everything before
//! that place was handed out.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

mod cva6;
mod error;
pub mod executed;
pub mod file;
mod format;
mod join;
mod lines;
mod packed;
// Its tables are its own, not those of an input.
#[allow(clippy::indexing_slicing)]
pub mod qemu;
mod reference;
mod row;
mod source;
mod spike;
mod summary;
mod table;

pub use error::{Hint, Place, SourceError};
pub use format::{Format, Peeked};
pub use hartrace_ingress::Retired;
pub use packed::{Input, decompress};
pub use row::{Guesses, Row};
pub use source::{Options, Source, open};
pub use summary::{Level, Summary, Tally};
