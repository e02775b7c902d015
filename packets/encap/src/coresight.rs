//! CoreSight frames: sixteen bytes that carry up to fifteen bytes of several trace sources.
//!
//! [`Deformatter`] accepts a capture in pieces of any size and reports the bytes of each source.
//! [`Formatter`] is its inverse. [`Mode`] selects how frames are found: by alignment, as in a memory
//! buffer, or by the synchronisation words of a trace port. [`Dstream`] removes the trailers that a
//! DSTREAM probe adds to the capture of a port.
//!
//! ```
//! use hartrace_encap::coresight::{Deformatter, Formatter, Mode, TraceId};
//!
//! let (one, two) = (TraceId::new(0x10).unwrap(), TraceId::new(0x11).unwrap());
//! let mut frames = Vec::new();
//! let mut formatter = Formatter::new();
//! formatter.write(one, b"abc", &mut |frame| frames.extend_from_slice(frame));
//! formatter.write(two, b"de", &mut |frame| frames.extend_from_slice(frame));
//! formatter.finish(&mut |frame| frames.extend_from_slice(frame));
//!
//! let mut read = Vec::new();
//! let mut deformatter = Deformatter::new(Mode::Aligned);
//! deformatter.feed(&frames, &mut |item: hartrace_encap::coresight::Item<'_>| {
//!     if let hartrace_encap::coresight::Item::Data(chunk) = item {
//!         read.push((chunk.id, chunk.bytes.to_vec()));
//!     }
//! });
//! assert_eq!(read, [(one, b"abc".to_vec()), (two, b"de".to_vec())]);
//! ```
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. The report does not depend on how a capture is
//! cut into pieces. Bytes that belong to no source are counted in [`Statistics`], never dropped
//! silently.

mod deformatter;
mod dstream;
mod formatter;
mod id;
mod oldest;
#[cfg(test)]
mod tests;
mod unpack;

pub use deformatter::{Chunk, Deformatter, Fault, Item, Mode, Statistics};
pub use dstream::Dstream;
pub use formatter::Formatter;
pub use id::{Source, TraceId};
pub use oldest::oldest_first;

/// Bytes of a frame.
pub const FRAME: usize = 16;

/// The full synchronisation word of a trace port, as bytes: a frame starts after it.
pub const FSYNC: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];

/// The half synchronisation word of a trace port, as bytes: it carries no data.
pub const HSYNC: [u8; 2] = [0xff, 0x7f];
