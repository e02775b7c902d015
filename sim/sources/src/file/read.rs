use super::row::{self, Before};
use super::{
    CHUNK, CHUNK_HEADER_BYTES, ENTRY_BYTES, FOOTER, FOOTER_BYTES, HEADER_BYTES, INDEX,
    LONGEST_CHUNK, MAGIC, VERSION,
};
use crate::{Place, SourceError};
use hartrace_ingress::Retired;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};

const DAMAGED: &str = "a fresh copy; this one is damaged";
const UNFINISHED: &str = "writing it again; the writer did not finish, or the file was cut off";
const OTHER: &str = "a trace file written by hartrace";

/// One entry of the index.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Where it is in the file.
    pub offset: u64,
    /// Rows before it.
    pub first_row: u64,
    /// Address of its first row.
    pub first_address: u64,
}

/// Reads all rows from the start, without the index; also from a pipe. Returns how many there are.
///
/// `file` is for messages.
pub fn read(
    input: impl Read,
    file: &str,
    mut sink: impl FnMut(&Retired) -> ControlFlow<()>,
) -> Result<u64, SourceError> {
    let mut source = Source { input, file, at: 0 };
    source.header()?;
    let mut rows = 0;
    while let Some((count, flow)) = source.chunk(rows, &mut sink)? {
        rows += count;
        if flow.is_break() {
            return Ok(rows);
        }
    }
    source.rest_of_index(rows)?;
    Ok(rows)
}

/// A trace file with its index.
///
/// It reads; it does not map the file, since that takes `unsafe` code. Chunks are where the index
/// says and depend on nothing else, so whoever maps the file can hand parts of it to [`read`]ers of
/// their own through a `Cursor`.
#[derive(Debug)]
pub struct TraceFile<R> {
    input: R,
    file: String,
    chunks: Vec<Chunk>,
    rows: u64,
}

impl<R: Read + Seek> TraceFile<R> {
    /// Reads header and index. `file` is for messages.
    pub fn open(mut input: R, file: &str) -> Result<Self, SourceError> {
        let length = seek(&mut input, file, SeekFrom::End(0))?;
        seek(&mut input, file, SeekFrom::Start(0))?;
        let mut source = Source { input, file, at: 0 };
        source.header()?;
        let end = length.saturating_sub(FOOTER_BYTES);
        source.seek(end.max(HEADER_BYTES))?;
        let footer: [u8; FOOTER_BYTES as usize] = source.bytes(UNFINISHED)?;
        let (index, rows) = (le(&footer, 0), le(&footer, 8));
        if !footer.ends_with(&FOOTER) {
            return Err(source.error(end, "no end mark", UNFINISHED));
        }
        if index < HEADER_BYTES || index > end {
            return Err(source.error(end, "the index is outside the file", DAMAGED));
        }
        source.seek(index)?;
        let head: [u8; 16] = source.bytes(DAMAGED)?;
        let count = le(&head, 8);
        // Before anything of that size is allocated.
        let room = end.checked_sub(source.at);
        if !head.starts_with(&INDEX) || room != count.checked_mul(ENTRY_BYTES) {
            return Err(source.error(index, "not an index of this file", DAMAGED));
        }
        let mut chunks: Vec<Chunk> = Vec::new();
        for _ in 0..count {
            let at = source.at;
            let entry: [u8; ENTRY_BYTES as usize] = source.bytes(DAMAGED)?;
            let (offset, first_row) = (le(&entry, 0), le(&entry, 8));
            let ascends = chunks.last().map_or(offset == HEADER_BYTES && first_row == 0, |last| {
                offset > last.offset && first_row > last.first_row
            });
            if !ascends || offset >= index || first_row >= rows {
                return Err(source.error(at, "entries of the index are not in order", DAMAGED));
            }
            chunks.push(Chunk { offset, first_row, first_address: le(&entry, 16) });
        }
        let input = source.input;
        Ok(Self { input, file: file.into(), chunks, rows })
    }

    /// All chunks, in order.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Rows in the file.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads the rows of some chunks; chunks that do not exist have none. Returns how many there are.
    pub fn read(
        &mut self,
        chunks: Range<usize>,
        mut sink: impl FnMut(&Retired) -> ControlFlow<()>,
    ) -> Result<u64, SourceError> {
        let mut rows = 0;
        let wanted = self.chunks.get(chunks.start..chunks.end.min(self.chunks.len()));
        for chunk in wanted.unwrap_or_default() {
            let mut source = Source { input: &mut self.input, file: &self.file, at: 0 };
            source.seek(chunk.offset)?;
            let Some((count, flow)) = source.chunk(chunk.first_row, &mut sink)? else {
                return Err(source.error(chunk.offset, "no chunk here", DAMAGED));
            };
            rows += count;
            if flow.is_break() {
                break;
            }
        }
        Ok(rows)
    }
}

/// The input and where in it we are.
struct Source<'a, R> {
    input: R,
    file: &'a str,
    at: u64,
}

impl<R: Read> Source<'_, R> {
    fn error(&self, at: u64, what: impl Into<String>, hint: &'static str) -> SourceError {
        SourceError::new(self.file, Place::Byte(at), what, hint)
    }

    fn fill(&mut self, bytes: &mut [u8], hint: &'static str) -> Result<(), SourceError> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.error(self.at, "ends too early", hint),
            _ => self.error(self.at, format!("cannot read: {error}"), DAMAGED),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, hint: &'static str) -> Result<[u8; N], SourceError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, hint)?;
        Ok(bytes)
    }

    fn header(&mut self) -> Result<(), SourceError> {
        let header: [u8; HEADER_BYTES as usize] = self.bytes(OTHER)?;
        if !header.starts_with(&MAGIC) {
            return Err(self.error(0, "not a trace file", OTHER));
        }
        let version = le(&header, 8) as u32;
        if version != VERSION {
            return Err(self.error(8, format!("version {version}"), "a newer hartrace"));
        }
        Ok(())
    }

    /// Hands on the rows of one chunk; `None` if the index is here.
    fn chunk(
        &mut self,
        first_row: u64,
        sink: &mut impl FnMut(&Retired) -> ControlFlow<()>,
    ) -> Result<Option<(u64, ControlFlow<()>)>, SourceError> {
        let start = self.at;
        let tag: [u8; 4] = self.bytes(UNFINISHED)?;
        if tag == INDEX {
            return Ok(None);
        }
        if tag != CHUNK {
            return Err(self.error(start, "neither a chunk nor the index", DAMAGED));
        }
        let head: [u8; CHUNK_HEADER_BYTES - 4] = self.bytes(UNFINISHED)?;
        let (lengths, rows) = (le(&head, 0), le(&head, 8) as u32);
        let (packed, length) = (lengths as u32 as usize, (lengths >> 32) as usize);
        let (claimed, address) = (le(&head, 12), le(&head, 20));
        if length > LONGEST_CHUNK || packed > LONGEST_CHUNK + (1 << 10) {
            return Err(self.error(start, "a chunk longer than any", DAMAGED));
        }
        if first_row != claimed {
            return Err(self.error(start, format!("a chunk from row {claimed}"), DAMAGED));
        }
        let mut compressed = vec![0; packed];
        self.fill(&mut compressed, UNFINISHED)?;
        let bytes = zstd::bulk::decompress(&compressed, length).map_err(|error| {
            self.error(start, format!("cannot decompress the chunk: {error}"), DAMAGED)
        })?;
        let (start_bytes, mut rest) = bytes.split_at_checked(8).unwrap_or_default();
        if start_bytes != address.to_le_bytes() {
            return Err(self.error(start, "the chunk has another address than its rows", DAMAGED));
        }
        let mut before = Before::new(address);
        for row in 0..rows {
            let retired = row::parse(&mut rest, &mut before).map_err(|what| {
                self.error(start, format!("row {row} of the chunk: {what}"), DAMAGED)
            })?;
            if sink(&retired).is_break() {
                return Ok(Some((u64::from(row) + 1, ControlFlow::Break(()))));
            }
        }
        if !rest.is_empty() || bytes.len() != length {
            return Err(self.error(start, "the chunk has more than its rows", DAMAGED));
        }
        Ok(Some((rows.into(), ControlFlow::Continue(()))))
    }

    /// Reads to the end, so that a file that was cut off within its index is not taken for complete.
    fn rest_of_index(&mut self, rows: u64) -> Result<(), SourceError> {
        let index = self.at - 4;
        let head: [u8; 12] = self.bytes(UNFINISHED)?;
        for _ in 0..le(&head, 4) {
            let _: [u8; ENTRY_BYTES as usize] = self.bytes(UNFINISHED)?;
        }
        let at = self.at;
        let footer: [u8; FOOTER_BYTES as usize] = self.bytes(UNFINISHED)?;
        if !footer.ends_with(&FOOTER) || le(&footer, 0) != index || le(&footer, 8) != rows {
            return Err(self.error(at, "the end does not fit the chunks", DAMAGED));
        }
        Ok(())
    }
}

impl<R: Read + Seek> Source<'_, R> {
    fn seek(&mut self, at: u64) -> Result<(), SourceError> {
        self.at = seek(&mut self.input, self.file, SeekFrom::Start(at))?;
        Ok(())
    }
}

fn seek(input: &mut impl Seek, file: &str, to: SeekFrom) -> Result<u64, SourceError> {
    input.seek(to).map_err(|error| {
        SourceError::new(file, Place::File, format!("cannot seek: {error}"), "a file, not a pipe")
    })
}

/// Eight bytes as a number; 0 if they are not there.
fn le(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
    eight.map_or(0, u64::from_le_bytes)
}
