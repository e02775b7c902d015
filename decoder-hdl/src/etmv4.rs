//! The decoder for ETMv4 and ETE.
//!
//! ```text
//!            headers         stream              actions         trace
//! byte 0 --> [header] -+-> [stream lane 0] -+-> [action] -+-> [trace lane 0] -+-> record 0
//! byte 1 --> [header] -+-> [stream lane 1] -+-> [action] -+-> [trace lane 1] -+-> record 1
//!   ...                         ...                               ...
//! ```
//!
//! Each column is a pipeline stage. What a byte would mean as a header depends on nothing else; where packets
//! start depends on the bytes before, lane by lane within one cycle, and so do the values that packets change. All
//! that depends on its own byte alone is outside of these two chains.
//!
//! Everything about the format comes from [`Layout`](hartrace_etmv4::Layout), the table that the parser of
//! `hartrace-etmv4` uses too.

mod action;
mod config;
mod decoder;
mod format;
mod header;
mod kinds;
mod stream;
mod trace;

pub use config::{Config, ConfigError, ReadError};
pub use decoder::{LATENCY, RECORD, Register, decoder, stream_step, stream_unit};
pub(crate) use format::ZEROS;
pub(crate) use kinds::classifier;
pub use kinds::{KINDS, kind_number};
