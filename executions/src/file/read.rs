use super::row::{self, Before};
use super::{
    CHUNK, CHUNK_HEADER_BYTES, ENTRY_BYTES, FOOTER, FOOTER_BYTES, HEADER_BYTES, INDEX,
    LONGEST_CHUNK, MAGIC, VERSION,
};
use crate::{Place, SourceError};
use hartrace_etrace::ingress::Retired;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};

const DAMAGED: &str = "a fresh copy; this one is damaged";
const UNFINISHED: &str = "writing it again; the writer did not finish, or the file was cut off";
const OTHER: &str = "a trace file written by hartrace";

/// One entry of the index.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Position of the chunk in the file.
    pub offset: u64,
    /// Number of rows before the chunk.
    pub first_row: u64,
    /// Address of the first row of the chunk.
    pub first_address: u64,
}

/// Reads all rows from the start, without the index; also from a pipe. Returns the number of rows.
///
/// Messages name the input `file`.
pub fn read(
    input: impl Read,
    file: &str,
    mut sink: impl FnMut(&Retired) -> ControlFlow<()>,
) -> Result<u64, SourceError> {
    let mut rows = Rows::new(input, file)?;
    let mut count = 0;
    while let Some(row) = rows.next_row()? {
        count += 1;
        if sink(&row).is_break() {
            break;
        }
    }
    Ok(count)
}

/// The rows of a file from the start, one at a time, without the index; also from a pipe.
#[derive(Debug)]
pub struct Rows<R> {
    bytes: Bytes<R>,
    /// Number of rows in the chunks that were opened.
    rows: u64,
    chunk: OpenChunk,
    at_end: bool,
}

impl<R: Read> Rows<R> {
    /// Reads the header. Messages name the input `file`.
    pub fn new(input: R, file: &str) -> Result<Self, SourceError> {
        let mut bytes = Bytes { input, file: file.into(), at: 0 };
        bytes.header()?;
        Ok(Self { bytes, rows: 0, chunk: OpenChunk::default(), at_end: false })
    }

    /// Returns the next row, or `None` after the last if the file is complete.
    pub fn next_row(&mut self) -> Result<Option<Retired>, SourceError> {
        loop {
            if let Some(row) = self.chunk.next_row(&self.bytes.file)? {
                return Ok(Some(row));
            }
            if self.at_end {
                return Ok(None);
            }
            match self.bytes.chunk(self.rows)? {
                Some(chunk) => {
                    self.rows = self.rows.saturating_add(chunk.rows.into());
                    self.chunk = chunk;
                }
                None => {
                    self.bytes.rest_of_index(self.rows)?;
                    self.at_end = true;
                }
            }
        }
    }
}

/// A trace file with its index.
///
/// It reads the file; it does not map it, since that requires `unsafe` code. Chunks start where the
/// index says and are independent, so a caller that maps the file can pass parts of it to other
/// [`read`]ers through a `Cursor`.
#[derive(Debug)]
pub struct TraceFile<R> {
    bytes: Bytes<R>,
    chunks: Vec<Chunk>,
    rows: u64,
}

impl<R: Read + Seek> TraceFile<R> {
    /// Reads header and index. Messages name the input `file`.
    pub fn open(input: R, file: &str) -> Result<Self, SourceError> {
        let mut source = Bytes { input, file: file.into(), at: 0 };
        let length = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        source.header()?;
        let end = length.saturating_sub(FOOTER_BYTES);
        source.seek(SeekFrom::Start(end.max(HEADER_BYTES)))?;
        let footer: [u8; FOOTER_BYTES as usize] = source.bytes(UNFINISHED)?;
        let (index, rows) = (le(&footer, 0), le(&footer, 8));
        if !footer.ends_with(&FOOTER) {
            return Err(source.error(end, "no end mark", UNFINISHED));
        }
        if index < HEADER_BYTES || index > end {
            return Err(source.error(end, "the index is outside the file", DAMAGED));
        }
        source.seek(SeekFrom::Start(index))?;
        let head: [u8; 16] = source.bytes(DAMAGED)?;
        let count = le(&head, 8);
        // Checked before anything of that size is allocated.
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
        Ok(Self { bytes: source, chunks, rows })
    }

    /// Returns all chunks, in order.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the number of rows in the file.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads the rows of some chunks; chunks that do not exist have none. Returns the number of rows.
    pub fn read(
        &mut self,
        chunks: Range<usize>,
        mut sink: impl FnMut(&Retired) -> ControlFlow<()>,
    ) -> Result<u64, SourceError> {
        let mut rows = 0;
        let wanted = self.chunks.get(chunks.start..chunks.end.min(self.chunks.len()));
        for chunk in wanted.unwrap_or_default() {
            self.bytes.seek(SeekFrom::Start(chunk.offset))?;
            let Some(mut open) = self.bytes.chunk(chunk.first_row)? else {
                return Err(self.bytes.error(chunk.offset, "no chunk here", DAMAGED));
            };
            while let Some(row) = open.next_row(&self.bytes.file)? {
                rows += 1;
                if sink(&row).is_break() {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }
}

/// A chunk whose rows are being returned.
#[derive(Debug)]
struct OpenChunk {
    /// Position of the chunk in the file.
    offset: u64,
    rows: u32,
    /// Number of rows that were returned.
    done: u32,
    bytes: Vec<u8>,
    /// Position in `bytes`.
    at: usize,
    before: Before,
}

impl Default for OpenChunk {
    /// A chunk without rows.
    fn default() -> Self {
        Self { offset: 0, rows: 0, done: 0, bytes: Vec::new(), at: 0, before: Before::new(0) }
    }
}

impl OpenChunk {
    /// Returns the next row, or `None` after the last.
    fn next_row(&mut self, file: &str) -> Result<Option<Retired>, SourceError> {
        let error = |what: String| SourceError::new(file, Place::Byte(self.offset), what, DAMAGED);
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        if self.done == self.rows {
            return match rest.is_empty() {
                true => Ok(None),
                false => Err(error("the chunk has data after its rows".into())),
            };
        }
        let row = row::parse(&mut rest, &mut self.before)
            .map_err(|what| error(format!("row {} of the chunk: {what}", self.done)))?;
        self.at = self.bytes.len() - rest.len();
        self.done += 1;
        Ok(Some(row))
    }
}

/// The input and the current position in it.
#[derive(Debug)]
struct Bytes<R> {
    input: R,
    file: String,
    at: u64,
}

impl<R: Read> Bytes<R> {
    fn error(&self, at: u64, what: impl Into<String>, hint: &'static str) -> SourceError {
        SourceError::new(&self.file, Place::Byte(at), what, hint)
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

    /// Reads one chunk; `None` if the index starts here.
    fn chunk(&mut self, first_row: u64) -> Result<Option<OpenChunk>, SourceError> {
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
        if bytes.get(..8) != Some(&address.to_le_bytes()) {
            return Err(self.error(start, "the chunk has another address than its rows", DAMAGED));
        }
        if bytes.len() != length {
            return Err(self.error(start, "the chunk is shorter than stated", DAMAGED));
        }
        let before = Before::new(address);
        Ok(Some(OpenChunk { offset: start, rows, done: 0, bytes, at: 8, before }))
    }

    /// Reads to the end, so that a file that was truncated within its index is not considered
    /// complete.
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
        // Also detects whether the compressed file around it, if any, is complete.
        match io::copy(&mut self.input.by_ref().take(1), &mut io::sink()) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.error(self.at, "more than a trace file", DAMAGED)),
            Err(error) => Err(self.error(self.at, format!("cannot read: {error}"), DAMAGED)),
        }
    }
}

impl<R: Seek> Bytes<R> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, SourceError> {
        self.at = self.input.seek(to).map_err(|error| {
            let what = format!("cannot seek: {error}");
            SourceError::new(&self.file, Place::File, what, "a file, not a pipe")
        })?;
        Ok(self.at)
    }
}

/// Eight bytes as a number; 0 if they are missing.
fn le(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
    eight.map_or(0, u64::from_le_bytes)
}
