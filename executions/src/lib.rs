//! Reads logs of a hart and converts them into what the hart would have reported to its trace encoder.
//!
//! ```
//! use hartrace_executions::executed::Program;
//! use hartrace_executions::executed::bundled::PROGRAMS;
//! use hartrace_iss::Step;
//!
//! let (name, elf) = PROGRAMS[0];
//! let program = Program::new(name, elf.to_vec())?;
//! let mut executed = Vec::new();
//! program.steps(1000, &mut |step: &Step| executed.push(step.pc))?;
//! assert_eq!(executed.len(), 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | [`Format`] | rows |
//! | --- | --- |
//! | Spike, `--log-commits` and `-l`; RVFI tracer of CVA6 | one per instruction or trap |
//! | commit log of CVA6, a table | one per instruction or trap |
//! | encoder input of the reference flow, a table | one per block |
//! | the project's [trace file](mod@file) | as written |
//!
//! [`open`] reads any of them, compressed or not, and detects the format by its content; [`Source`] does the
//! same for any input, and [`Tally`] counts what it contains. `iretire` counts half-words everywhere.
//!
//! # Guarantees
//!
//! Nothing in this crate panics on any input. Memory holds no more than a line of 64 KiB or a chunk of a
//! trace file. An error states in one line the file, the place, the problem and what to try; everything
//! before that place has been returned.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

mod cva6;
mod error;
pub mod executed;
pub mod file;
mod fit;
mod format;
mod framed;
mod join;
mod lines;
mod packed;
// Its tables are internal; no input determines their indices.
#[allow(clippy::indexing_slicing)]
pub mod qemu;
mod reference;
mod row;
pub mod scenario;
mod source;
mod spike;
mod summary;
mod table;

pub use error::{Hint, Place, SourceError};
pub use format::{Format, Peeked};
pub use framed::{FramingError, Seen, Sent, encode};
pub use hartrace_etrace::ingress::Retired;
pub use packed::{Input, decompress, decompress_all};
pub use row::{Guesses, Row};
pub use source::{Options, Source, open};
pub use summary::{Level, Summary, Tally};
