use super::row::{self, Before};
use super::{CHUNK, CHUNK_BYTES, FOOTER, HEADER_BYTES, INDEX, MAGIC, VERSION};
use hartrace_etrace::ingress::Retired;
use std::io::{self, Write};

/// The default of zstd: higher levels gain little on data that is already delta coded.
const LEVEL: i32 = 3;

/// Writes a trace file.
///
/// Without [`finish`](Self::finish) the file has no index, and readers report this when they reach
/// its end.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    /// Number of bytes written.
    offset: u64,
    /// The chunk being filled.
    bytes: Vec<u8>,
    rows: u32,
    start: u64,
    before: Before,
    /// Number of rows in closed chunks.
    closed: u64,
    index: Vec<[u64; 3]>,
}

impl<W: Write> Writer<W> {
    /// Starts a file.
    pub fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&MAGIC)?;
        output.write_all(&VERSION.to_le_bytes())?;
        output.write_all(&0u32.to_le_bytes())?;
        Ok(Self {
            output,
            offset: HEADER_BYTES,
            bytes: Vec::with_capacity(CHUNK_BYTES + 256),
            rows: 0,
            start: 0,
            before: Before::new(0),
            closed: 0,
            index: Vec::new(),
        })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &Retired) -> io::Result<()> {
        if self.rows == 0 {
            self.start = row.iaddr;
            self.before = Before::new(row.iaddr);
            // The address is repeated where the checksum covers it.
            self.bytes.extend(row.iaddr.to_le_bytes());
        }
        row::emit(row, &mut self.before, &mut self.bytes);
        self.rows += 1;
        if self.bytes.len() >= CHUNK_BYTES { self.close() } else { Ok(()) }
    }

    /// Ends the current chunk, if there is one. The next row starts another.
    fn close(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.write_all(&self.bytes)?;
        let compressed = encoder.finish()?;
        let mut chunk = Vec::with_capacity(compressed.len() + 32);
        chunk.extend(CHUNK);
        chunk.extend((compressed.len() as u32).to_le_bytes());
        chunk.extend((self.bytes.len() as u32).to_le_bytes());
        chunk.extend(self.rows.to_le_bytes());
        chunk.extend(self.closed.to_le_bytes());
        chunk.extend(self.start.to_le_bytes());
        chunk.extend(compressed);
        self.output.write_all(&chunk)?;
        self.index.push([self.offset, self.closed, self.start]);
        self.offset += chunk.len() as u64;
        self.closed += u64::from(self.rows);
        self.rows = 0;
        self.bytes.clear();
        Ok(())
    }

    /// Writes the remaining rows and the index, and returns the output.
    pub fn finish(self) -> io::Result<W> {
        Ok(self.finish_counted()?.0)
    }

    /// The same, with the number of bytes in the file.
    pub fn finish_counted(mut self) -> io::Result<(W, u64)> {
        self.close()?;
        let mut end = Vec::with_capacity(self.index.len() * 24 + 40);
        end.extend(INDEX);
        end.extend(0u32.to_le_bytes());
        end.extend((self.index.len() as u64).to_le_bytes());
        end.extend(self.index.iter().flatten().flat_map(|number| number.to_le_bytes()));
        end.extend(self.offset.to_le_bytes());
        end.extend(self.closed.to_le_bytes());
        end.extend(FOOTER);
        self.output.write_all(&end)?;
        self.output.flush()?;
        let size = self.offset.saturating_add(end.len() as u64);
        Ok((self.output, size))
    }
}
