//! Generates trace decoders in SystemVerilog.
//!
//! A decoder takes a number of bytes in every cycle, whatever they are: it never waits, and it has no buffer.
//! [`etmv4`] decodes ETMv4 and ETE, [`etrace`] decodes encapsulated E-Trace. [`walker`] follows the program behind it.
//! [`analysis`] counts and watches what is behind both. [`frame`] splits the CoreSight frames of a trace port into the bytes of sources before them.
//! [`top`] is all of it in one module.

pub mod analysis;
mod decoder;
pub mod etmv4;
pub mod etrace;
pub mod frame;
mod package;
pub mod top;
mod unrolls;
pub mod walker;
mod wires;

pub use decoder::{Decoder, DecoderError};
pub use package::{package, package_top};
pub use unrolls::{NoUnrolls, Unrolls};
