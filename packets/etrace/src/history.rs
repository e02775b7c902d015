//! Payloads of history prediction, and the tables that both sides keep.

#[cfg(feature = "alloc")]
mod runs;
#[cfg(feature = "alloc")]
mod tables;

#[cfg(feature = "alloc")]
pub use runs::Run;
#[cfg(feature = "alloc")]
pub use tables::{BranchGuess, JumpGuess, Tables};

use core::fmt;
use hartrace_bits::{BitReader, BitWriter, Incomplete, WriteError, mask};

/// Format 0, subformat 2: a packet of history prediction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The packet ends after this many half-words have retired in it. Without, it ends with the
    /// address of a jump, or before the instruction whose record has no room in it.
    pub stop: Option<u32>,
    /// Its records and, where a jump needs one, a near address.
    pub records: Records,
}

impl History {
    /// Width of the half_words field.
    pub const HALF_WORDS_BITS: u32 = 20;
    /// Most half-words of a packet; one more must be in the next.
    pub const MOST_HALF_WORDS: u32 = (1 << Self::HALF_WORDS_BITS) - 1;
    /// Most bits of records and a near address; those of half_words are taken from it.
    pub const RECORD_BITS: u32 = 240;
    /// Most records of a packet.
    pub const RECORDS: u32 = 20;
    /// Width of a near address: that and the bit before it are what a jump needs at most.
    pub const NEAR_BITS: u32 = 19;
    /// Classes of predictions, whose runs are counted separately.
    pub const CLASSES: usize = 8;
}

/// The words of [`Records`].
const WORDS: usize = 4;

/// Bits of records, which continue without end with copies of the last one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Records {
    words: [u64; WORDS],
}

impl Records {
    /// No records: all bits are 0.
    pub const EMPTY: Self = Self { words: [0; WORDS] };

    /// Whether everything from bit `at` on is a copy of the bit before it: these bits are no records.
    pub fn ends_at(&self, at: u32) -> bool {
        let mut rest = *self;
        rest.extend(at, at.checked_sub(1).is_some_and(|last| self.bit(last)));
        rest == *self
    }

    /// A number of `width` bits from `at` on, at most 64, whose highest bit comes first.
    pub fn number(&self, at: u32, width: u32) -> u64 {
        match width {
            0 => 0,
            _ => self.get(at, width).reverse_bits().wrapping_shr(64u32.saturating_sub(width)),
        }
    }

    /// Collects bits in the order in which they are sent. `None` if they are more than
    /// [`History::RECORD_BITS`].
    pub fn new(bits: impl IntoIterator<Item = bool>) -> Option<Self> {
        let mut records = Self::EMPTY;
        let (mut len, mut last) = (0u32, false);
        for bit in bits {
            if len == History::RECORD_BITS {
                return None;
            }
            last = bit;
            records.set(len, bit);
            len = len.saturating_add(1);
        }
        records.extend(len, last);
        Some(records)
    }

    /// Bit `at` of those that are sent.
    pub fn bit(&self, at: u32) -> bool {
        let last = u32::try_from(WORDS.saturating_mul(64)).unwrap_or(0).saturating_sub(1);
        let at = at.min(last);
        let word = self.words.get((at >> 6) as usize).copied().unwrap_or(0);
        word.wrapping_shr(at & 63) & 1 != 0
    }

    /// `width` bits from `at` on, at most 64, the first one lowest.
    pub fn get(&self, at: u32, width: u32) -> u64 {
        let sign = if self.bit(u32::MAX) { u64::MAX } else { 0 };
        let word = |index: usize| self.words.get(index).copied().unwrap_or(sign);
        let (index, shift) = ((at >> 6) as usize, at & 63);
        let wide = u128::from(word(index)) | u128::from(word(index.saturating_add(1))) << 64;
        wide.wrapping_shr(shift) as u64 & mask(width)
    }

    fn set(&mut self, at: u32, bit: bool) {
        if let Some(word) = self.words.get_mut((at >> 6) as usize) {
            *word |= u64::from(bit).wrapping_shl(at & 63);
        }
    }

    /// Fills everything from bit `at` on, also beyond the room.
    fn extend(&mut self, at: u32, bit: bool) {
        for (base, word) in (0u32..).step_by(64).zip(&mut self.words) {
            let above = !mask(at.saturating_sub(base).min(64));
            *word = if bit { *word | above } else { *word & !above };
        }
    }

    /// Number of bits up to the last one that differs from those after it, and that one's copy.
    fn significant(&self) -> u32 {
        let sign = self.bit(u32::MAX);
        let len = (0..History::RECORD_BITS).rev().find(|at| self.bit(*at) != sign);
        len.map_or(1, |at| at.saturating_add(2))
    }

    /// Writes the first `width` bits, if what follows them are copies of the last.
    pub(crate) fn write(&self, out: &mut BitWriter<'_>, width: u32) -> Result<(), WriteError> {
        if self.significant() > width {
            return Err(WriteError::TooWide);
        }
        for at in (0..width).step_by(64) {
            let part = width.saturating_sub(at).min(64);
            out.write(self.get(at, part), part)?;
        }
        Ok(())
    }

    pub(crate) fn read(bits: &mut BitReader<'_>, width: u32) -> Result<Self, Incomplete> {
        let mut records = Self::EMPTY;
        for (at, word) in (0..width).step_by(64).zip(&mut records.words) {
            *word = bits.read(width.saturating_sub(at).min(64))?;
        }
        let last = records.bit(width.saturating_sub(1));
        records.extend(width, last);
        Ok(records)
    }
}

/// The bits in the order in which they are sent, without the copies of the last.
impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for at in 0..self.significant() {
            f.write_str(if self.bit(at) { "1" } else { "0" })?;
        }
        Ok(())
    }
}
