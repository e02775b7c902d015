//! The stage before decoders: CoreSight frames of a trace port in, the bytes of each source out.
//!
//! ```text
//! 4 bytes --> [frame_finder] --rows--> [frame_reader] --bytes with ids--> [frame_router] --> lanes of decoder 0
//!             synchronisation          a frame behind                                    --> lanes of decoder 1
//! ```
//!
//! It takes a word of four bytes in every cycle and never waits. A frame is sixteen bytes, the last of which says how
//! the others are to be read: rows of four bytes wait for it in a small memory and then leave, one in each cycle. So
//! the bytes of a frame leave while the next one arrives.
//!
//! A [`stage`] reads what `hartrace_encap::coresight::Deformatter` reads with half synchronisation words, and finds
//! the same errors: every byte, its source, and what comes before and after an error.

mod finder;
mod reader;
mod router;
mod stage;

pub(crate) use stage::StageOut;
pub use stage::{Config, ConfigError, stage};

/// Bytes of a word of the port, and of a row of a frame.
pub(crate) const WORD: u32 = 4;

/// Bits of the number of a source.
pub(crate) const ID: u32 = 7;
