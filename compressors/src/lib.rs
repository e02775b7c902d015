//! Compressors of program traces.
//!
//! This crate contains the hardware schemes that have been proposed to compress the trace of a program, each
//! with its decompressor, next to general-purpose compressors. A [`Compressor`] turns the rows of the ingress
//! port into bits. A [`Decompressor`] recovers every instruction from these bits and the program. [`Scheme`]
//! lists all of them by name.
//!
//! | scheme | idea |
//! | --- | --- |
//! | [`Base`] | first address and length of every instruction stream; the address only where it cannot be inferred |
//! | [`Nexs`] | the same with differences of addresses, as in Nexus messages |
//! | [`Hwlz`] | the same through LZ77 with a window that hardware can search |
//! | [`Packed`] | the same through gzip or zstd |
//! | [`Dmtf`] | positions of streams in a list with the most recent ones first, applied twice |
//! | [`Sdc`] | a cache of streams, and for each stream its last successor |
//! | [`Tuples`] | a cache of streams, eight of them at a time, and a list of the last eights |
//! | [`Tmbp`] | a branch predictor on both sides, and its mispredictions |
//! | [`Tage`] | the same with a predictor that has tagged tables for longer and longer histories |
//! | [`Etrace`] | E-Trace in any of its modes, for comparison |
//!
//! [`ArmScheme`] covers ETMv4 and PTM, with the same methods, for what an Arm core executed.
//!
//! Data traces have separate compressors, [`DataScheme`]: register validation ([`Filter`]) and an address
//! cache ([`Adac`]) for addresses, and first-access tracking ([`FirstAccess`]) for loaded values.
//!
//! [`comparison`] measures schemes on programs and prints the figures.
//!
//! [`Tage`] is ours, and `docs/design/extension-mode.md` defines it. The other algorithms are those of
//! V. Uzelac, *Algorithms and Hardware Structures for Real-Time Compression of Program Traces*, University of
//! Alabama in Huntsville, 2010. `docs/compression.md` lists the decisions made where the text leaves something
//! open, and the results.
//!
//! # Guarantees
//!
//! No bit stream makes a decompressor panic or run forever: it ends with the last requested instruction, or
//! with a [`DecodeError`] that contains the position of the bit.

mod arm;
mod base;
mod bits;
mod buffer;
mod code;
pub mod comparison;
mod compressor;
mod cost;
mod data;
mod dmtf;
mod error;
mod etrace;
mod events;
mod hwlz;
#[cfg(test)]
mod identities;
mod measured;
mod packed;
mod records;
mod run_length;
mod scheme;
mod sdc;
mod settings;
mod stream;
mod tage;
#[cfg(test)]
mod test_bits;
mod tmbp;
mod tuples;

pub use arm::{ArmCompressor, ArmScheme};
pub use base::{Base, Nexs};
pub use bits::{BitSource, Bits};
pub use buffer::Buffer;
pub use code::Code;
pub use compressor::{Compressed, Compressor, Decompressor};
pub use cost::{Cost, Part, PartKind};
pub use data::{
    Adac, AdacSearch, AfterIncrease, DataCoder, DataScheme, DataStep, Filter, FirstAccess, Lookup,
    Reference, UnknownDataScheme,
};
pub use dmtf::{Dmtf, DmtfVariant};
pub use error::{CompressError, DecodeError, Fault};
pub use etrace::Etrace;
pub use hwlz::Hwlz;
pub use measured::Measured;
pub use packed::Packed;
pub use records::Records;
pub use run_length::{Grows, RunLength};
pub use scheme::{Scheme, Setup, UnknownScheme};
pub use sdc::{Sdc, SdcVariant};
pub use tage::{Tage, TageCoding};
pub use tmbp::{Tmbp, Widths};
pub use tuples::Tuples;
