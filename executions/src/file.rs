//! The project's trace file: [`Retired`](crate::Retired) rows, delta coded in independently compressed
//! chunks, with an index at the end. The format is described in `docs/trace-file.md`.
//!
//! [`Writer`] writes a file. [`read`] and [`Rows`] read it from the start, also from a pipe; [`TraceFile`]
//! reads the index first and then any range of chunks, so that a file can be split among threads or entered
//! in the middle. Every `Retired` is read back unchanged, except for the bits of `ilastsize` above the
//! second.

mod read;
mod row;
mod write;

pub use read::{Chunk, Rows, TraceFile, read};
pub use write::Writer;

/// The first bytes of a file; the line end reveals whether it was transferred as text.
const MAGIC: [u8; 8] = *b"HTRACE\r\n";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 16;
const CHUNK: [u8; 4] = *b"HTRC";
const INDEX: [u8; 4] = *b"HTRI";
const FOOTER: [u8; 8] = *b"HTREND\r\n";
/// Tag, compressed length, length, rows, first row, first address.
const CHUNK_HEADER_BYTES: usize = 4 + 4 + 4 + 4 + 8 + 8;
/// Offset of the chunk, first row, first address.
const ENTRY_BYTES: u64 = 24;
/// Offset of the index, rows, magic.
const FOOTER_BYTES: u64 = 24;
/// A chunk is closed when its uncompressed size exceeds this.
const CHUNK_BYTES: usize = 1 << 18;
/// More than any chunk can have: a reader refuses to allocate it.
const LONGEST_CHUNK: usize = CHUNK_BYTES + (1 << 10);

/// Whether these bytes may start a trace file, even with a damaged line end.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTRACE")
}
