//! Framings that carry E-Trace payloads: find frames in bytes, write frames, recover from damage.
//!
//! ```
//! use hartrace_encap::{EncapParams, FrameHeader, Framing, Item};
//!
//! // Six bits of srcID and two bits of type share the first byte after the header.
//! let params = EncapParams::new(6, 0, 2)?.with_instruction_type(2)?;
//! let framing = Framing::Encap(params);
//! let bytes = [0x06, 0x81, 0x32, 0x04, 0x00, 0x00, 0x02];
//!
//! let parsed = framing.parse(&bytes)?;
//! assert_eq!(parsed.used, bytes.len());
//! let Item::Frame(frame) = parsed.item else { unreachable!() };
//! assert_eq!(frame.header(), FrameHeader { source: Some(1), ..FrameHeader::default() });
//! assert_eq!(frame.payload_bytes(), Some(&[0x32, 0x04, 0x00, 0x00, 0x02][..]));
//!
//! let mut out = [0; hartrace_encap::MAX_FRAME];
//! let len = framing.emit(&frame.header(), &[0x32, 0x04, 0x00, 0x00, 0x02], &mut out)?;
//! assert_eq!(out[..len], bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A trace payload does not contain its own length or origin; the frame around it does. The
//! framings in use differ only in details, so one [`Framing`] value describes any of them, and
//! all share one [`Frame`] type:
//!
//! | framing | header | source id | timestamp | null |
//! |---|---|---|---|---|
//! | [`Reference`](Framing::Reference) | `0x40 \| length` | – | – | – |
//! | [`Encap`](Framing::Encap) | `length`, `flow`, `extend` | 0 to 16 bits | 0 to 8 bytes | yes |
//! | [`Smi`](Framing::Smi) | `length`, `type`, time-tag flag | hart index | 2 bytes | – |
//! | [`RvTracer`](Framing::RvTracer) | as `Encap`, reversed 40-byte records | – | 8 bytes | yes |
//! | [`Atb`](Framing::Atb) | as `Encap` | ATID, out of band | 0 to 8 bytes | yes |
//! | [`Esp32`](Framing::Esp32) | `length`, packet index | – | – | padding |
//!
//! [`Framing::parse`] reads one frame, [`Frames`] all of a slice, [`Deframer`] a stream that
//! arrives in pieces; [`Framing::emit`] writes one frame.
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. A failed parse consumes nothing, a failed emit
//! writes nothing, and [`Frames`] and [`Deframer`] end after at most one item per input byte.
#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

#[cfg(test)]
extern crate std;

mod atb;
pub mod coresight;
mod deframer;
mod encap;
mod error;
mod esp32;
mod frame;
mod frames;
mod reference;
mod rv_tracer;
mod smi;
mod sync;
#[cfg(test)]
mod tests;

pub use atb::AtbParams;
pub use deframer::{Deframer, FrameSink};
pub use encap::EncapParams;
pub use error::{EmitError, FrameError, ParamsError};
pub use frame::{Frame, FrameHeader, Item, Kind, Null, Parsed};
pub use frames::{Frames, Source};
pub use smi::SmiParams;

/// The longest frame of any framing, in bytes: header, 16-bit srcID, 8-byte timestamp, payload.
pub const MAX_FRAME: usize = 1 + 2 + 8 + MAX_LENGTH;

/// The largest value of the 5-bit `length` field.
const MAX_LENGTH: usize = 31;

/// The `length` field of a header byte, at the same place in every framing.
const LENGTH: u8 = 0x1f;

/// How payloads are framed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// `te_inst_raw` files of the reference flow: one source, instruction trace, no timestamps.
    Reference,
    /// Standard encapsulation v1.0.
    Encap(EncapParams),
    /// Siemens messaging.
    Smi(SmiParams),
    /// `packets.bin` captures of rv_tracer: byte-reversed records of 40 bytes.
    RvTracer,
    /// The data side of an ATB port or of one deformatted CoreSight source.
    Atb(AtbParams),
    /// Trace memory of the ESP32-C6.
    Esp32,
}

impl Framing {
    /// Width of the timestamp of a frame that has one; 0 if none has.
    pub const fn timestamp_bits(&self) -> u8 {
        match *self {
            Self::Reference | Self::Esp32 => 0,
            Self::Encap(params) => params.timestamp_bytes().saturating_mul(8),
            Self::Smi(_) => 16,
            Self::RvTracer => 64,
            Self::Atb(params) => params.timestamp_bytes().saturating_mul(8),
        }
    }

    /// Reads the frame or null packet at the start of `bytes`.
    ///
    /// Bytes after it do not matter. [`FrameError::Incomplete`] is resumable: call again with
    /// more bytes.
    // Inlined for the same reason as `Frames::next`; with a constant framing, one arm remains.
    #[inline(always)]
    pub fn parse<'a>(&self, bytes: &'a [u8]) -> Result<Parsed<'a>, FrameError> {
        match *self {
            Self::Reference => reference::parse(bytes),
            Self::Encap(params) => encap::parse(*self, params, bytes),
            Self::Smi(params) => smi::parse(params, bytes),
            Self::RvTracer => rv_tracer::parse(bytes),
            Self::Atb(params) => atb::parse(params, bytes),
            Self::Esp32 => esp32::parse(bytes),
        }
    }

    /// Writes a frame around `payload` and returns its length; [`MAX_FRAME`] bytes are enough for
    /// any frame.
    ///
    /// An emitted frame parses back to the same header. A header field that this framing cannot
    /// carry, or that it requires and is missing, is an error. A payload that starts on a byte
    /// boundary of the frame is copied. A payload that does not, because it follows a srcID or type
    /// of odd width, is shifted and sign compressed again: it reads the same with [`Tail::Sign`],
    /// and the frame is as short as possible.
    ///
    /// [`Tail::Sign`]: hartrace_bits::Tail::Sign
    pub fn emit(
        &self,
        header: &FrameHeader,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        match *self {
            Self::Reference => reference::emit(header, payload, out),
            Self::Encap(params) => encap::emit(params, header, payload, out),
            Self::Smi(params) => smi::emit(params, header, payload, out),
            Self::RvTracer => rv_tracer::emit(header, payload, out),
            Self::Atb(params) => atb::emit(params, header, payload, out),
            Self::Esp32 => esp32::emit(header, payload, out),
        }
    }

    /// All frames of `bytes`, with their offsets.
    pub const fn frames(self, bytes: &[u8]) -> Frames<'_> {
        Frames::new(self, bytes)
    }
}

/// Checks that all `used` bytes of a frame are present.
#[inline]
fn complete(bytes: &[u8], used: usize) -> Result<(), FrameError> {
    match used.saturating_sub(bytes.len()) {
        0 => Ok(()),
        missing => Err(FrameError::Incomplete { missing }),
    }
}

/// The header byte.
#[inline]
fn first(bytes: &[u8]) -> Result<u8, FrameError> {
    bytes.first().copied().ok_or(FrameError::Incomplete { missing: 1 })
}

/// Copies the parts of a frame to the start of `out`, all or nothing.
fn put(parts: &[&[u8]], out: &mut [u8]) -> Result<usize, EmitError> {
    let needed = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
    let to = out.get_mut(..needed).ok_or(EmitError::BufferTooSmall { needed })?;
    for (to, from) in to.iter_mut().zip(parts.iter().copied().flatten()) {
        *to = *from;
    }
    Ok(needed)
}

/// Checks the length of a payload that is copied unchanged; `length` also counts `overhead` bytes.
fn length_of(payload: &[u8], overhead: usize) -> Result<u8, EmitError> {
    match payload.len().saturating_add(overhead) {
        length if !payload.is_empty() && length <= MAX_LENGTH => Ok(length as u8),
        _ => Err(EmitError::PayloadLength(payload.len())),
    }
}
