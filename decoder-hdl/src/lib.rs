//! Generates trace decoders in SystemVerilog.
//!
//! A decoder takes a number of bytes in every cycle, whatever they are: it never waits, and it has no buffer.
//! [`etmv4`] decodes ETMv4 and ETE, [`etrace`] decodes encapsulated E-Trace. [`walker`] follows the program behind it.
//! [`analysis`] counts and watches what is behind both. [`frame`] splits the CoreSight frames of a trace port into the bytes of sources before them.

pub mod analysis;
pub mod etmv4;
pub mod etrace;
pub mod frame;
mod package;
pub mod walker;
mod wires;

pub use package::{Decoder, DecoderError, package};
