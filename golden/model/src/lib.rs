//! The golden models: an encoder and a decoder that follow the E-Trace specification paragraph by
//! paragraph, slowly and visibly.
//!
//! ```
//! use hartrace_golden::decoder::{Event, Position};
//! use hartrace_golden::isa::{Isa, Xlen};
//! use hartrace_golden::{Decoder, DecoderConfig, Encoder, EncoderConfig, Image};
//! use hartrace_etrace::ingress::{IType, Retired};
//!
//! // The program: a loop of two compressed instructions, then a return.
//! let mut image = Image::new(Isa::new(Xlen::Rv64));
//! image.add(0x1000, &[0x7d, 0x15, 0x7d, 0xfd, 0x82, 0x80]); // addi a0, a0, -1; bnez a0, 0x1000; ret
//!
//! // What retired: the loop twice, and the return.
//! let block = |iaddr, iretire, itype| {
//!     Retired { iretire, itype, ilastsize: 0, ..Retired::plain(iaddr) }
//! };
//! let mut encoder = Encoder::new(EncoderConfig::default())?;
//! let mut payloads = Vec::new();
//! for row in [
//!     block(0x1000, 2, IType::Taken),
//!     block(0x1000, 2, IType::NotTaken),
//!     block(0x1004, 1, IType::Return),
//! ] {
//!     encoder.retire(&row, &mut |encoded| payloads.push(encoded));
//! }
//! encoder.finish(&mut |encoded| payloads.push(encoded));
//!
//! // And back.
//! let mut decoder = Decoder::new(DecoderConfig::default(), &image)?;
//! let mut retired = Vec::new();
//! let mut keep = |_: Position, event: Event| match event {
//!     Event::Retired(address) => retired.push(address),
//!     Event::Gap(fault) => panic!("{fault}"),
//!     _ => {}
//! };
//! for payload in &payloads {
//!     let bytes = payload.bytes.iter();
//!     let bits: Vec<bool> = bytes.flat_map(|byte| (0..8).map(move |n| byte >> n & 1 != 0)).collect();
//!     decoder.feed(Position::default(), &bits, &mut keep);
//! }
//! decoder.finish(&mut keep);
//! assert_eq!(retired, [0x1000, 0x1002, 0x1000, 0x1002, 0x1004]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! They check faster implementations: [`Encoder`] checks the generated hardware, and [`Decoder`]
//! the production decoder. They therefore share *types* with these ([`Payload`], [`Params`],
//! [`Retired`]) but no algorithm: bits are packed one `bool` at a time ([`pack`](Encoded) and
//! unpack here, not the codec of `hartrace-etrace`), and a separate table classifies instructions
//! ([`isa`]).
//!
//! The models of Arm trace units, ETMv4 and PTM, are in [`arm`].
//!
//! Section numbers in comments are those of E-Trace 2.0; `D1`, `E1` and similar labels refer to
//! entries of `docs/deviations.md`.
//!
//! [`Payload`]: hartrace_etrace::Payload
//! [`Params`]: hartrace_etrace::Params
//! [`Retired`]: hartrace_etrace::ingress::Retired

pub mod arm;
pub mod decoder;
pub mod encoder;
mod history;
mod image;
pub mod infer;
pub mod isa;
mod pack;
mod tables;
mod unpack;
pub mod walk;

pub use decoder::{Decoder, DecoderConfig};
pub use encoder::{Encoded, Encoder, EncoderConfig};
pub use hartrace_etrace::Compat;
pub use image::Image;
pub use unpack::Malformed;
