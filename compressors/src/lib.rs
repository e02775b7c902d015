//! Compressors of program traces.
//!
//! ```
//! use hartrace_compressors::comparison::{Comparison, ComparisonError, Options, Workload, chosen};
//! use hartrace_executions::executed::Program;
//! use hartrace_executions::executed::bundled::PROGRAMS;
//!
//! let (name, elf) = PROGRAMS[0];
//! let program = Program::new(name, elf.to_vec())?;
//! let (schemes, limit) = (chosen(&["E-Trace".into(), "bTMBP".into()], &[])?, 20_000);
//! let mut comparison = Comparison::new(schemes, Options { limit, sync_every: None });
//! comparison.measure(
//!     &[&program],
//!     |program| Ok::<_, ComparisonError>(Workload::execute(program, limit)?),
//!     || (),
//! )?;
//! assert!(comparison.is_verified());
//! for figures in &comparison.figures {
//!     println!("{} {:.3} bits per instruction", figures.scheme, figures.bits_per_instruction);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate contains the hardware schemes that have been proposed to compress the trace of a program, each
//! with its decompressor, next to general-purpose compressors. A [`Compressor`] turns the rows of the ingress
//! port into bits. A [`Decompressor`] recovers every instruction from these bits and the program. [`Scheme`]
//! is any of them, by name, and [`Family::all`] is the table of them: names, what each is, defaults and settings.
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
pub use scheme::{Family, Scheme, SchemeSetup, Setting, UnknownScheme, Values};
pub use sdc::{Sdc, SdcVariant};
pub use tage::{Tage, TageCoding};
pub use tmbp::{Tmbp, Widths};
pub use tuples::Tuples;
