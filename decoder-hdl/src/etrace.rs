//! The decoder for encapsulated E-Trace.
//!
//! ```text
//!            headers        boundary          gather         select      extract       resolve
//! byte 0 --> [header] -+-> [lane 0] -+-> [               ]
//! byte 1 --> [header] -+-> [lane 1] -+-> [ packet slot 0 ] -> [select] -> [extract] -> [lane 0] -> record 0
//! byte 2 --> [header] -+-> [lane 2] -+-> [               ]
//! byte 3 --> [header] -+-> [lane 3] -+-> [ packet slot 1 ] -> [select] -> [extract] -> [lane 1] -> record 1
//!   ...                      ...                                                         ...
//! ```
//!
//! Each column is a pipeline stage or two. A packet has at least two bytes, so at most one packet ends in two
//! neighbouring lanes: lanes 2p and 2p + 1 share the slot p, and slots are in the order of the stream. The header of
//! a packet holds its length. Where packets start and end therefore depends on nothing else, and malformed payloads
//! never cost the step.
//!
//! Only two stages depend on what came before: the boundary, by lane, and the last address with the jump target
//! cache, by slot.
//!
//! Everything about payloads comes from [`Layout`](hartrace_etrace::Layout), the table that the parser of
//! `hartrace-etrace` uses too.
//!
//! # Not supported
//!
//! - The payloads of rv_tracer, whose fields have positions that depend on the length of the payload.
//! - Addresses of trap handlers in implicit-exception mode, without the trap vectors ([`decoder_with_vectors`]). They are
//!   not sent, so addresses are unknown from there up to the next absolute one; records say so.

mod boundary;
mod config;
mod decoder;
mod extract;
mod gather;
mod places;
mod resolve;
mod select;
mod shape;
mod vectors;

pub use config::{Config, ConfigError};
pub(crate) use decoder::decoder_for_counting;
pub use decoder::{
    Field, Step, boundary_step, boundary_unit, decoder, decoder_with_vectors, latency, record,
};
pub use select::{Fault, MODES};
