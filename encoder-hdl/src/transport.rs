//! Hardware that carries the payloads of a trace encoder to a port or to memory.
//!
//! Each function takes parameters and returns a module of [`hartrace_rtl`]. In the order in which a
//! trace passes them:
//!
//! | function | input | output |
//! |---|---|---|
//! | [`fifo`], [`spill`] | words | the same words |
//! | [`encapsulator`] | payloads | packets of a [`Frame`] |
//! | [`funnel`] | packets of several sources | packets |
//! | [`aligner`] | packets | packets, with runs of null packets |
//! | [`packer`] | packets | words without gaps |
//! | [`axis_sink`] | words | AXI4-Stream |
//! | [`atb_sink`] | words | ATB |
//! | [`memory_sink`] | words | a ring buffer in memory, over AXI4 |
//! | [`frame_generator`] | words of several sources | CoreSight frames on an AXI4-Stream |
//!
//! [`drain`] requests a flush of a packer at the right time, so that packets waiting in a FIFO are
//! sent too.
//!
//! # Handshake
//!
//! A transfer happens at a clock edge at which both `valid` and `ready` are set. `valid` never
//! depends on `ready`. Once set, it stays set, with the same data, until the transfer. Every block
//! guarantees this at its outputs and relies on it at its inputs.
//!
//! A payload or packet is `data` with byte 0 in bits 7:0, and `len`, its number of bytes, at least
//! 1; bytes from `len` on have no meaning. Modules are named after their parameters, so that
//! several of a kind can be in one design.
//!
//! # Panics
//!
//! Functions panic on illegal parameters, at the caller's line: they are meant for code that has
//! checked the input of a user.

mod aligner;
mod atb_sink;
mod axis_sink;
mod drain;
mod encapsulator;
mod fifo;
mod frame_generator;
mod funnel;
mod memory_sink;
mod packer;
mod spill;

pub(crate) use aligner::FREQ_BITS;
pub use aligner::{Aligner, AlignerOut, aligner};
pub(crate) use atb_sink::AtbSinkOut;
pub use atb_sink::atb_sink;
pub use axis_sink::axis_sink;
pub use drain::{DrainOut, drain};
pub use encapsulator::{Frame, encapsulator};
pub use fifo::{FifoOut, fifo};
pub use frame_generator::{WORD_BYTES as FRAME_WORD_BYTES, frame_generator};
pub use funnel::{FunnelOut, funnel};
pub use memory_sink::{MemorySink, memory_sink};
pub use packer::{Packer, PackerOut, packer};
pub(crate) use packer::{choose, fit};
pub use spill::spill;

use hartrace_rtl::index_width;

/// The width of the length of up to `max_bytes` bytes.
#[must_use]
pub fn len_width(max_bytes: u32) -> u32 {
    index_width(max_bytes + 1)
}
