//! RISC-V E-Trace payloads: parameters, field layouts, parse and emit.
//!
//! ```
//! use hartrace_bits::{BitReader, BitWriter, Tail};
//! use hartrace_etrace::{AddressReport, Ioptions, Params, Payload, Unit};
//!
//! let params = Params { iaddress_width_p: 64, iaddress_lsb_p: 0, ..Params::default() };
//! let layout = params.layout(Unit::Reference)?;
//! let options = Ioptions { full_address: true, ..Ioptions::default() };
//!
//! let payload = Payload::Address(AddressReport::new(0x8000_010c));
//! let mut bytes = [0; 31];
//! let mut out = BitWriter::new(&mut bytes);
//! payload.emit(&layout, options, &mut out)?;
//! let len = out.finish_compressed();
//! assert_eq!(&bytes[..len], [0x32, 0x04, 0x00, 0x00, 0x02]);
//!
//! let mut bits = BitReader::new(&bytes[..len], Tail::Sign);
//! assert_eq!(Payload::parse(&layout, options, &mut bits)?, payload);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Params`] holds the encoder's parameters under the specification's names. [`Layout`] is the
//! field table that follows from them. The codec and the hardware generator both use this table, so
//! they cannot disagree. [`Payload`] represents every instruction-trace payload; the types in
//! [`data`] represent the data-trace payloads. [`ingress`] is what a hart reports to its encoder.
//!
//! # Guarantees
//!
//! `parse` never panics and does not move the reader on error. `emit` fails only if a value does not
//! fit its field or the buffer is too short. An emitted payload parses back to the same value.
//! Nothing allocates; only the configuration of an encoder (feature `alloc`) has lists.
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

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod codec;
mod compat;
pub mod data;
mod display;
#[cfg(feature = "alloc")]
pub mod encoder;
mod error;
mod fast;
mod field_names;
pub mod history;
pub mod ingress;
mod layout;
mod options;
mod pack;
mod params;
mod payload;

pub use compat::Compat;
pub use display::Shown;
pub use error::{EmitError, ParseError};
pub use history::{History, Records};
pub use layout::{Field, FieldName, Format, Layout, Presence, Width, branch_map_width};
pub use options::{Ioptions, Mode, Unit, UnknownMode};
pub use pack::{Packed, Packer};
pub use params::{Params, ParamsError};
pub use payload::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, JumpTarget,
    Payload, QualStatus, Start, Support, Trap,
};

/// The longest payload the specification allows, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 31;
