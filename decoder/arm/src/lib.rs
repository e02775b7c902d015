//! The ETMv4, ETE and PTM decoders: packets and memory to executed instructions, a range at a time.
//!
//! [`Capture`] splits a trace buffer into the streams of its sources. [`Etmv4`] and [`Ptm`] are fed the
//! packets of one stream and report [`Range`]s of instructions and [`Event`]s to a [`ElementSink`]; both use
//! the same sink. [`Memory`] is the program. Code is decoded once, into blocks that remember their
//! successors: following an atom is one lookup, however many instructions lie between.
//!
//! # Guarantees
//!
//! Nothing here panics, for any packets and any memory. What cannot be followed is an [`Event`] with
//! its cause, and decoding goes on at the next address or synchronisation, as OpenCSD does. A walk
//! that takes too long is given up; memory for code and elements is bounded.
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

mod blocks;
mod capture;
mod code;
mod etmv4;
mod event;
mod list;
mod memory;
mod ptm;
mod returns;
pub mod runs;
pub mod system;
mod text;
mod walk;

pub use capture::{Capture, Layout, Stream};
pub use etmv4::Etmv4;
pub use event::{Context, ElementSink, Event, Fault, Lost, Range, Start, Transaction};
pub use list::{Record, list_etmv4, list_ptm};
pub use memory::Memory;
pub use ptm::Ptm;
pub use text::Shown;
