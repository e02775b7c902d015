//! Hardware behind a trace encoder: what carries its payloads to a port or to memory.
//!
//! Functions of parameters that return modules of [`hartrace_rtl`]. In the order in which a trace
//! passes them:
//!
//! | function | takes | gives |
//! |---|---|---|
//! | [`fifo`], [`spill`] | words | the same words |
//! | [`encapsulator`] | payloads | packets of a [`Frame`] |
//! | [`funnel`] | packets of several sources | packets |
//! | [`packer`] | packets | words without gaps |
//! | [`axis_sink`] | words | AXI4-Stream |
//! | [`atb_sink`] | words | ATB |
//! | [`memory_sink`] | words | a ring buffer in memory, over AXI4 |
//!
//! [`drain`] tells a packer when to flush, so that what waits in a FIFO gets out as well.
//!
//! # Handshake
//!
//! Everything moves at a clock edge where both `valid` and `ready` are set. `valid` never depends on
//! `ready`, and once set, it and the data with it stay until they are taken. Every block keeps this at
//! its outputs and relies on it at its inputs.
//!
//! A payload or packet is `data` with byte 0 in bits 7:0, and `len`, its number of bytes, at least 1;
//! bytes from `len` on are of no meaning. Modules are named after their parameters, so that several of
//! a kind fit in one design.
//!
//! # Panics
//!
//! Functions panic on parameters that make no hardware, at the caller's line: they are for code that
//! checked what a user asked for.

mod atb_sink;
mod axis_sink;
mod drain;
mod encapsulator;
mod fifo;
mod funnel;
mod memory_sink;
mod packer;
mod spill;

pub use atb_sink::atb_sink;
pub use axis_sink::axis_sink;
pub use drain::drain;
pub use encapsulator::{Frame, encapsulator};
pub use fifo::fifo;
pub use funnel::funnel;
pub use memory_sink::{MemorySink, memory_sink};
pub use packer::{Packer, packer};
pub use spill::spill;

use hartrace_rtl::index_width;

/// The width of the length of up to `max_bytes` bytes.
#[must_use]
pub fn len_width(max_bytes: u32) -> u32 {
    index_width(max_bytes + 1)
}
