//! PTM (PFTv1) program flow trace packets: configuration, parse and emit.
//!
//! [`Config`] contains the properties of the trace unit that a reader needs. [`Packet`] represents
//! every packet as sent: addresses are relative to the previous one, which [`Target`] holds.
//! [`Reader`] finds packets in a stream that may start anywhere. [`Reader::read`] reads many
//! packets at once, into a [`Batch`] of [`Fields`].
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
//! Nothing here panics or allocates, for any input. A failed parse reports how many bytes to skip,
//! a failed emit writes nothing, and an emitted packet parses back to the same value.
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

/// The longest packet that [`Packet::emit`] writes, in bytes: an alignment synchronisation with the
/// maximum number of extra zeros.
pub const MAX_PACKET: usize = 16;
