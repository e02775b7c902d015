//! Positions in the file that a buffer was recorded in.

use super::{Chunk, Mark, Stream};
use std::ops::Range;

/// The ranges of a file that a buffer consists of: where each starts in the buffer, and in the file.
#[derive(Clone, Debug)]
pub struct FileRanges {
    starts: Vec<(usize, usize)>,
    /// Bytes of all of them.
    length: usize,
}

impl FileRanges {
    /// Of a buffer that consists of these ranges of bytes.
    pub fn new(parts: &[Range<usize>]) -> Self {
        let mut length = 0usize;
        let mut starts = Vec::new();
        for part in parts {
            starts.push((length, part.start));
            length = length.saturating_add(part.len());
        }
        Self { starts, length }
    }

    /// The position of a byte of the buffer in the file.
    fn place(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let after = self.starts.partition_point(|(start, _)| *start <= index);
        let part = after.checked_sub(1).and_then(|part| self.starts.get(part));
        let (start, file) = part.copied().unwrap_or_default();
        file.saturating_add(index.saturating_sub(start)) as u64
    }
}

impl Stream {
    /// The same stream with positions in the file. Buffers of one file are ordered by position.
    pub fn placed_in(mut self, ranges: &FileRanges) -> Self {
        let chunk = |offset: usize, index: u64| Chunk { offset, index, order: index };
        self.chunks = match self.chunks[..] {
            // Without frames the buffer is one chunk, which may extend over several parts.
            [Chunk { index: 0, .. }] if self.bytes.len() == ranges.length => {
                let starts = ranges.starts.iter();
                starts.map(|(start, file)| chunk(*start, *file as u64)).collect()
            }
            _ => self.chunks.iter().map(|old| chunk(old.offset, ranges.place(old.index))).collect(),
        };
        self
    }

    /// The position of its last byte.
    pub fn last(&self) -> u64 {
        self.positions().index(self.bytes.len().saturating_sub(1))
    }
}

impl Mark {
    /// The same mark with its position in the file.
    pub fn placed_in(self, ranges: &FileRanges) -> Self {
        let index = ranges.place(self.index);
        Self { index, order: index, ..self }
    }
}
