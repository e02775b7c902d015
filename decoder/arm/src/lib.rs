//! The ETMv4, ETE and PTM decoders: from packets and memory to executed instructions, a range at a time.
//!
//! [`Capture`] splits a trace buffer into the streams of its sources. [`Etmv4`] and [`Ptm`] decode the
//! packets of one stream and report [`Range`]s of instructions and [`Event`]s to an [`ElementSink`]; both
//! use the same sink. [`Memory`] holds the program. Code is decoded once, into blocks that remember their
//! successors: following an atom costs one lookup, however many instructions lie between.
//!
//! # Guarantees
//!
//! Nothing here panics, for any packets and any memory. A part that cannot be followed is reported as an
//! [`Event`] with its cause, and decoding continues at the next address or synchronisation, as in OpenCSD.
//! A walk that is too long is abandoned; memory for code and elements is bounded.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod block_table;
mod blocks;
mod capture;
mod code;
mod etmv4;
mod event;
mod list;
mod memory;
pub mod program;
mod ptm;
mod reading;
mod recorded_at;
mod returns;
pub mod runs;
mod text;
mod walk;

pub use capture::{BufferSource, Capture, FileRanges, Layout, Mark, MarkKind, Stream};
pub use etmv4::Etmv4;
pub use event::{Context, ElementSink, Event, Fault, Lost, Range, Start, Transaction};
pub use hartrace_decoder::StreamPos;
pub use list::{Record, list_etmv4, list_ptm};
pub use memory::Memory;
pub use ptm::Ptm;
pub use recorded_at::RecordedAt;
pub use text::Shown;
