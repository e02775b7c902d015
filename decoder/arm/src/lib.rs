//! The ETMv4, ETE and PTM decoders: from packets and memory to executed instructions, a range at a time.
//!
//! ```
//! use hartrace_arm_decoder::{
//!     Capture, ElementSink, Etmv4, Event, Layout, Memory, Range, StreamPos,
//! };
//! use hartrace_etmv4::Registers;
//! use hartrace_isa::arm::{Arch, Spaces};
//!
//! #[derive(Default)]
//! struct Executed(Vec<(u64, u64)>);
//!
//! impl ElementSink for Executed {
//!     fn range(&mut self, _: StreamPos, range: &Range) {
//!         self.0.push((range.start, range.end));
//!     }
//!
//!     fn event(&mut self, _: StreamPos, _: Event) {}
//! }
//!
//! let mut memory = Memory::new();
//! // nop; ret
//! memory.add(0x1000, vec![0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6], Spaces::ALL);
//! let mut trace = vec![0; 11];
//! trace.push(0x80); // synchronisation
//! trace.extend([0x01, 0x01, 0x00]); // trace information
//! trace.extend([0x04]); // tracing starts
//! trace.extend([0x85, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x30]); // at 0x1000, in AArch64
//! trace.extend([0xf7]); // up to a branch that is taken
//!
//! let registers = Registers {
//!     configr: 0xc1,
//!     idr0: 0x2800_0ea1,
//!     idr1: 0x4100_f403,
//!     idr2: 0x488,
//!     idr8: 0,
//!     devarch: None,
//! };
//! let capture = Capture::split(Layout::Raw, &trace);
//! let stream = capture.streams.first().ok_or("no stream")?;
//! let mut executed = Executed::default();
//! Etmv4::new(registers.config(), Arch::V8, &memory).decode(stream, &mut executed);
//! assert_eq!(executed.0, [(0x1000, 0x1008)]);
//! # Ok::<(), &str>(())
//! ```
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
