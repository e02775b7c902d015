//! Entries as words of a memory.

use super::{BlockTable, Ends, Entry};
use std::fmt;
use std::io::{self, Write};
use thiserror::Error;

/// The fields of a word, from the lowest bit: `start` in half-words from the base, `span`, `ends`, `sequential`, which
/// is `conditional` for Arm, `target`. The length of the last instruction is not there, since the next entry starts after it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct WordLayout {
    /// Bits of `start`.
    pub start_bits: u32,
    /// Bits of `span`. Longer blocks are cut.
    pub span_bits: u32,
    /// Bits of the number of an entry.
    pub index_bits: u32,
}

impl WordLayout {
    /// Bits of `span` that are enough for nearly all blocks.
    pub const SPAN_BITS: u32 = 6;

    /// Width of a word.
    #[must_use]
    pub const fn width(&self) -> u32 {
        // The last one is sequential.
        self.start_bits
            .saturating_add(self.span_bits)
            .saturating_add(self.index_bits)
            .saturating_add(Ends::BITS)
            .saturating_add(1)
    }

    /// The number of entries that a memory can have.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        1u32.wrapping_shl(self.index_bits)
    }

    /// Whether there is a memory like this, and a word fits 128 bits.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self.start_bits, 1..=63)
            && matches!(self.span_bits, 1..=16)
            && matches!(self.index_bits, 1..=24)
            && self.width() <= 128
    }

    fn word(&self, base: u64, entry: &Entry) -> u128 {
        let fields = [
            (u128::from(entry.start.wrapping_sub(base) >> 1), self.start_bits),
            (entry.span.into(), self.span_bits),
            (entry.ends as u128, Ends::BITS),
            ((entry.sequential || entry.conditional).into(), 1),
            (entry.target.into(), self.index_bits),
        ];
        let mut at = 0u32;
        fields.into_iter().fold(0, |word, (value, bits)| {
            let word = word | value.wrapping_shl(at);
            at = at.wrapping_add(bits);
            word
        })
    }
}

/// A program does not fit into a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// There is no code.
    #[error("the program has no code")]
    NoCode,
    /// There are more blocks than entries.
    #[error("the program has {entries} entries, the table {depth}")]
    TooMany {
        /// Entries of the program.
        entries: usize,
        /// Entries of the table.
        depth: u32,
    },
    /// The code is too far apart.
    #[error("code from {first:#x} to {last:#x} needs {needed} bits of start, there are {bits}")]
    TooFar {
        /// First address.
        first: u64,
        /// Last address.
        last: u64,
        /// Bits that would be enough.
        needed: u32,
        /// Bits that there are.
        bits: u32,
    },
    /// A block is longer than a span can say.
    #[error("the block at {0:#x} is longer than {1} half-words")]
    TooLong(u64, u32),
    /// There is no memory like this.
    #[error("no table has words of {0:?}")]
    Layout(WordLayout),
}

/// The size of a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Entries that are used.
    pub entries: usize,
    /// Entries that are places without code.
    pub holes: usize,
    /// Words of the memory.
    pub depth: u32,
    /// Bits of a word.
    pub width: u32,
    /// Block RAMs of 36 Kb with two ports.
    pub block_rams: u32,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, holes, depth, width, block_rams } = self;
        write!(
            f,
            "{entries} entries ({holes} without code) of {width} bits; depth {depth}, {block_rams} block RAM of 36 Kb"
        )
    }
}

/// Block RAMs of 36 Kb that a memory needs, if each of them has one width.
fn block_rams(width: u32, depth: u32) -> u32 {
    // Width and depth of a block RAM with two independent ports.
    const SHAPES: [(u32, u32); 6] =
        [(36, 1 << 10), (18, 1 << 11), (9, 1 << 12), (4, 1 << 13), (2, 1 << 14), (1, 1 << 15)];
    let needed = SHAPES.map(|(w, d)| width.div_ceil(w).saturating_mul(depth.div_ceil(d)));
    needed.into_iter().min().unwrap_or(0)
}

impl BlockTable {
    /// The smallest layout that the table fits.
    #[must_use]
    pub fn layout(&self) -> WordLayout {
        let bits = |value: u64| u64::BITS.saturating_sub(value.leading_zeros()).max(1);
        let span = self.entries.iter().map(|entry| entry.span).max().unwrap_or(0);
        WordLayout {
            start_bits: bits(self.reach() >> 1),
            span_bits: bits(span.into()),
            index_bits: bits(self.entries.len().saturating_sub(1) as u64),
        }
    }

    /// The distance of the last entry from the base.
    fn reach(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.start.wrapping_sub(self.base()))
    }

    /// The words of a memory, one for every entry that is used. What the memory holds after them does not matter, as long
    /// as the number of entries is known.
    ///
    /// # Errors
    ///
    /// If the table does not fit.
    pub fn words(&self, layout: &WordLayout) -> Result<Vec<u128>, TableError> {
        if !layout.is_valid() {
            return Err(TableError::Layout(*layout));
        }
        let (entries, depth) = (self.entries.len(), layout.depth());
        if entries == 0 {
            return Err(TableError::NoCode);
        }
        if entries > depth as usize {
            return Err(TableError::TooMany { entries, depth });
        }
        let needed = self.layout();
        if needed.start_bits > layout.start_bits {
            let (first, last) = (self.base(), self.base().wrapping_add(self.reach()));
            let (needed, bits) = (needed.start_bits, layout.start_bits);
            return Err(TableError::TooFar { first, last, needed, bits });
        }
        let most = 1u32.wrapping_shl(layout.span_bits);
        if let Some(long) = self.entries.iter().find(|entry| entry.span >= most) {
            return Err(TableError::TooLong(long.start, most));
        }
        Ok(self.entries.iter().map(|entry| layout.word(self.base(), entry)).collect())
    }

    /// The size of the table in a memory.
    #[must_use]
    pub fn summary(&self, layout: &WordLayout) -> Summary {
        let (width, depth) = (layout.width(), layout.depth());
        let holes = self.entries.iter().filter(|entry| entry.ends == Ends::NoCode).count();
        let block_rams = block_rams(width, depth);
        Summary { entries: self.entries.len(), holes, depth, width, block_rams }
    }

    /// Writes the words for `$readmemh`: one hexadecimal number per line, after a comment.
    ///
    /// # Errors
    ///
    /// If the table does not fit, or cannot be written.
    pub fn write_hex(&self, layout: &WordLayout, out: &mut dyn Write) -> io::Result<()> {
        let words = self.words(layout).map_err(io::Error::other)?;
        writeln!(out, "// {}, base {:#x}", self.summary(layout), self.base())?;
        let digits = layout.width().div_ceil(4) as usize;
        words.iter().try_for_each(|word| writeln!(out, "{word:0digits$x}"))
    }

    /// Writes the words as whole bytes, the lowest first.
    ///
    /// # Errors
    ///
    /// If the table does not fit, or cannot be written.
    pub fn write_binary(&self, layout: &WordLayout, out: &mut dyn Write) -> io::Result<()> {
        let bytes = layout.width().div_ceil(8) as usize;
        for word in self.words(layout).map_err(io::Error::other)? {
            out.write_all(word.to_le_bytes().get(..bytes).unwrap_or_default())?;
        }
        Ok(())
    }
}
