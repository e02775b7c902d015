//! Generates trace decoders in SystemVerilog.
//!
//! ```
//! use hartrace_decoder_hdl::{Decoder, etmv4, package};
//!
//! // ETMv4, four bytes in every cycle.
//! let config = etmv4::Config { unroll: 4, ..etmv4::Config::default() };
//! let files = package(&Decoder::Etmv4(config))?;
//! assert!(files.iter().any(|(name, text)| name.ends_with(".sv") && text.contains("module")));
//! # Ok::<(), hartrace_decoder_hdl::DecoderError>(())
//! ```
//!
//! A decoder takes a number of bytes in every cycle, whatever they are: it never waits, and it has no buffer.
//!
//! - [`etmv4`] decodes ETMv4 and ETE.
//! - [`etrace`] decodes encapsulated E-Trace.
//! - [`walker`] follows the program behind a decoder.
//! - [`analysis`] counts and watches what was decoded or followed.
//! - [`frame`] splits the CoreSight frames of a trace port into the bytes of its sources.
//! - [`top`] is all of it in one module.

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
