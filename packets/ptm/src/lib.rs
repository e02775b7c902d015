//! PTM (PFTv1) program flow trace packets: configuration, parse and emit.
//!
//! [`Config`] is what a reader has to know of the trace unit; [`Packet`] is every packet, as it is
//! sent: addresses are relative to the one before, and [`Target`] holds that. [`Reader`] finds
//! packets in a stream that may start anywhere.
//! [`Reader::read`] reads many at once, into a [`Batch`] of [`Fields`].
//!
//! ```
//! use hartrace_ptm::{Atoms, Config, Packet};
//!
//! let config = Config::default();
//! let (packet, used) = Packet::parse(&config, &[0x84])?;
//! assert_eq!(packet, Packet::Atoms(Atoms::new(1, 1).unwrap())); // E
//! assert_eq!(used, 1);
//! # Ok::<(), hartrace_ptm::ParseError>(())
//! ```
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. A failed parse says how many bytes to skip, a
//! failed emit writes nothing, and a packet that was emitted parses back to the same value.
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

mod config;
mod cursor;
mod emit;
mod error;
mod fields;
mod find;
mod many;
mod packet;
mod parse;
mod reader;
mod target;
#[cfg(test)]
mod tests;

pub use config::{Config, Registers};
pub use error::{EmitError, ParseError};
pub use fields::Fields;
pub use many::Batch;
pub use packet::{Address, Atoms, Exception, ISync, Kind, Packet, Reason, Timestamp};
pub use reader::{Found, Reader};
pub use target::{Isa, Target};

/// The most bytes that [`Packet::emit`] writes: an alignment synchronisation with zeros to spare.
pub const MAX_PACKET: usize = 16;
