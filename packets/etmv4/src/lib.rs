//! ETMv4 and ETE instruction trace packets: configuration, parse and emit.
//!
//! [`Config`] contains the properties of the trace unit that a reader needs; it is derived from the
//! unit's registers or set field by field. [`Packet`] represents every packet. [`Reader`] finds
//! packets in a stream that may start anywhere. [`Addresses`] holds the three address registers to
//! which address packets are relative. [`Reader::read`] reads many packets at once, into a [`Batch`]
//! of [`Fields`].
//!
//! The format is described once: [`ROWS`] lists the headers with the [`Section`]s that follow them.
//! Each section has its bytes ([`Shape`]), its [`Field`]s, and [`Rule`]s for what its bytes decide.
//! [`Layout`] is that table for one configuration, and [`Headers`] contains what follows from it for
//! each of the 256 header bytes. These tables are used to read, write and measure packets;
//! [`Stepper`] follows packets byte by byte, as hardware does.
//!
//! ```
//! use hartrace_etmv4::{Atoms, Config, Headers, Packet};
//!
//! let headers = Headers::new(&Config::default());
//! let (packet, used) = Packet::parse(&headers, &[0xfc, 0x95])?;
//! assert_eq!(packet, Packet::Atoms(Atoms::new(3, 0b100).unwrap())); // N N E, the oldest lowest
//! assert_eq!(used, 1);
//!
//! let mut bytes = [0; hartrace_etmv4::MAX_PACKET];
//! let len = packet.emit(&headers, &mut bytes)?;
//! assert_eq!(&bytes[..len], [0xfc]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. A failed parse reports how many bytes to skip, a
//! failed emit writes nothing, and an emitted packet parses back to the same value.
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

mod address;
mod atoms;
mod codec;
mod config;
mod error;
mod fields;
mod find;
mod headers;
mod kind;
mod layout;
mod many;
mod packet;
mod reader;
mod stepper;
mod table;
#[cfg(test)]
mod tests;
mod walk;

pub use address::{Address, Addresses, Form, Is};
pub use atoms::Atoms;
pub use config::{Config, Registers};
pub use error::{EmitError, ParseError};
pub use fields::Fields;
pub use headers::Headers;
pub use kind::Kind;
pub use layout::{Class, Layout};
pub use many::Batch;
pub use packet::{
    Cancel, ConditionalResult, Context, CycleCount, Exception, Packet, Q, Return, Timestamp,
    TraceInfo,
};
pub use reader::{Found, Parsed, Reader};
pub use stepper::{Step, Stepper};
pub use table::{
    Effect, End, Field, FieldName, Needs, ROWS, Row, Rule, Section, Sections, Shape, Test,
};

/// The longest packet that [`Packet::emit`] writes, in bytes: TraceInfo with all sections.
pub const MAX_PACKET: usize = 1 + 1 + 5 * 5;
