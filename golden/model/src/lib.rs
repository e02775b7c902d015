//! The golden models: an encoder and a decoder that follow the E-Trace specification paragraph by
//! paragraph, slowly and visibly.
//!
//! They exist to check faster things: the generated hardware against [`Encoder`], the production
//! decoder against [`Decoder`]. So they share *types* with them ([`Payload`], [`Params`],
//! [`Retired`]) but no algorithm: bits are packed one `bool` at a time ([`pack`](Encoded) and
//! unpack here, not the codec of `hartrace-etrace`), and instructions are classified by a table of
//! their own ([`isa`]).
//!
//! Section numbers in comments are those of E-Trace 2.0; `E1` to `E29` are entries of the errata
//! list and `D1`... those of `docs/deviations.md`.
//!
//! [`Payload`]: hartrace_etrace::Payload
//! [`Params`]: hartrace_etrace::Params
//! [`Retired`]: hartrace_ingress::Retired

pub mod decoder;
pub mod encoder;
mod image;
pub mod infer;
pub mod isa;
mod pack;
mod tables;
mod unpack;
pub mod walk;

pub use decoder::{Decoder, DecoderConfig};
pub use encoder::{Encoded, Encoder, EncoderConfig};
pub use image::Image;
pub use unpack::Malformed;

/// Whose habits to reproduce, where reference streams differ from the specification.
///
/// Each is listed in `docs/deviations.md`; nothing else changes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// The specification.
    #[default]
    None,
    /// The Python reference model: older flow chart, closing address packet, irdepth filled with
    /// ones.
    PythonModel,
    /// The C reference codec of 2021: older flow chart, closing address packet, every reported
    /// address enters the jump target cache, returns counted without irdepth.
    CModel,
}
