//! Recordings of Linux perf (`perf.data`) with hardware trace in them: CoreSight (`cs_etm`) and the RISC-V
//! layouts that are known.
//!
//! [`Recording::read`] checks a whole file, in the format of a file or of a pipe. It finds the trace units
//! and their registers ([`Trace`]), cuts the trace bytes at AUX records ([`Piece`]), and converts mappings,
//! processes and patches of the kernel to a [`Log`](hartrace_spaces::Log). [`Finder`] finds the files that were
//! mapped. [`Pieces`] decodes E-Trace; Arm's protocols are decoded elsewhere.
//!
//! A piece is what a trace unit wrote between a start and a stop. It has a time, and the events of the log
//! have times of the same clock, which is not that of the timestamps in the trace
//! ([`Clock::Recorded`](hartrace_spaces::Clock::Recorded)).
//!
//! # Limits
//!
//! Memory is bounded by the size of the file. A size that exceeds the file is an [`Error`] with the byte
//! where it is. Recordings of big-endian machines and with compressed records (`perf record -z`) are refused.

mod attrs;
mod aux_area;
mod changes;
mod error;
mod features;
mod fields;
mod finder;
mod info;
mod pieces;
mod recording;
mod records;

pub use aux_area::{Missing, Piece};
pub use error::Error;
pub use finder::{Finder, Given};
pub use info::{Coresight, EtmRegisters, HwId, Riscv, RiscvCpu, RiscvLayout, Trace, Unit};
pub use pieces::{Pieces, Placed};
pub use recording::Recording;
