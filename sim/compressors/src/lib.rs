//! Compressors of program traces.
//!
//! What hardware has been proposed to make the trace of a program small, each with its own way back, next
//! to compressors of general use. All of them take the rows of the ingress port and give bits
//! ([`Compressor`]), and with the program the same bits give every instruction again
//! ([`Decompressor`]). [`Scheme`] has them all by name.
//!
//! | scheme | idea |
//! | --- | --- |
//! | [`Base`] | first address and length of every stream of instructions, the address where it does not follow |
//! | [`Nexs`] | the same with differences of addresses, as in Nexus messages |
//! | [`Hwlz`] | the same through LZ77 with a window that hardware can search |
//! | [`Packed`] | the same through gzip or zstd |
//! | [`Dmtf`] | streams by their place in a list with the last ones first, twice |
//! | [`Sdc`] | a cache of streams, and which came last behind which |
//! | [`Tmbp`] | a branch predictor on both sides, and what it gets wrong |
//! | [`Etrace`] | E-Trace in any of its modes, for comparison |
//!
//! [`ArmScheme`] are ETMv4 and PTM, with the same verbs, for what an Arm core executed.
//!
//! Data traces have compressors of their own, [`DataScheme`]: of addresses register validation ([`Filter`]) and
//! a cache of addresses ([`Adac`]), of loaded values first-access tracking ([`FirstAccess`]).
//!
//! [`comparison`] measures schemes on programs and prints the figures.
//!
//! The algorithms are those of V. Uzelac, *Algorithms and Hardware Structures for Real-Time Compression of
//! Program Traces*, University of Alabama in Huntsville, 2010. `docs/compression.md` says what had to be
//! decided where the text leaves it open, and what came out.
//!
//! # Guarantees
//!
//! No bit stream makes a decompressor panic or run on for ever: it ends with the last instruction asked
//! for, or with a [`DecodeError`] that has the position of the bit.

mod arm;
mod base;
mod bits;
mod code;
pub mod comparison;
mod compressor;
mod data;
mod dmtf;
mod error;
mod etrace;
mod events;
mod hwlz;
#[cfg(test)]
mod identities;
mod packed;
mod run_length;
mod scheme;
mod sdc;
mod settings;
mod stream;
#[cfg(test)]
mod test_bits;
mod tmbp;

pub use arm::{ArmCompressor, ArmScheme};
pub use base::{Base, Nexs};
pub use bits::{BitSource, Bits};
pub use code::Code;
pub use compressor::{Compressed, Compressor, Decompressor};
pub use data::{
    Adac, AfterIncrease, DataCoder, DataScheme, DataStep, Filter, FirstAccess, Reference,
};
pub use dmtf::{Dmtf, DmtfVariant};
pub use error::{CompressError, DecodeError, Fault};
pub use etrace::Etrace;
pub use hwlz::Hwlz;
pub use packed::Packed;
pub use run_length::RunLength;
pub use scheme::{Scheme, Setup, UnknownScheme};
pub use sdc::{Sdc, SdcVariant};
pub use tmbp::{Tmbp, Widths};
