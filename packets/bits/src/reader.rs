use crate::{BitPos, mask};
use core::fmt;

/// The bits that a reader returns past the end of its data.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Copies of the last bit: the payload may be sign compressed.
    Sign,
    /// Zeros: the payload is padded with zeros (rv_tracer).
    Zero,
    /// Nothing: reading past the end is [`Incomplete`].
    End,
}

/// A read asked for more bits than the data has, and the [`Tail`] does not supply them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Incomplete {
    /// How many bits are missing for this read; more may be needed after it.
    pub missing: u32,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} more bits needed", self.missing)
    }
}

impl core::error::Error for Incomplete {}

/// Reads fields from a byte slice, least significant bit first.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of valid bits; at most `8 * bytes.len()`.
    len: u64,
    pos: u64,
    tail: Tail,
    /// Bytes are read from the end of the slice to its start.
    reversed: bool,
}

impl<'a> BitReader<'a> {
    /// Reads all of `bytes`.
    pub const fn new(bytes: &'a [u8], tail: Tail) -> Self {
        Self { bytes, len: BitPos::of_byte(bytes.len() as u64).0, pos: 0, tail, reversed: false }
    }

    /// Reads all of `bytes`, starting with the last byte.
    pub const fn reversed(bytes: &'a [u8], tail: Tail) -> Self {
        Self { reversed: true, ..Self::new(bytes, tail) }
    }

    /// Reads the first `bits` bits of `bytes`, or all of it if it is shorter.
    #[inline]
    pub fn with_bit_len(bytes: &'a [u8], bits: usize, tail: Tail) -> Self {
        let mut reader = Self::new(bytes, tail);
        reader.len = reader.len.min(bits as u64);
        reader
    }

    /// The position of the next read. It lies past the end of the data once the tail has been read.
    pub const fn position(&self) -> BitPos {
        BitPos(self.pos)
    }

    /// Number of bits in the data.
    pub const fn bit_len(&self) -> u64 {
        self.len
    }

    /// Number of bits left in the data; 0 once the tail has been read.
    pub const fn remaining(&self) -> u64 {
        self.len.saturating_sub(self.pos)
    }

    /// The bits that reads past the end return.
    pub const fn tail(&self) -> Tail {
        self.tail
    }

    /// Returns the rest of a sign-extended payload, to read several fields without a check each.
    ///
    /// `None` if the bytes are reversed, the tail is not [`Tail::Sign`] or the rest is not 1 to 128
    /// bits from a byte boundary. Does not move the reader; see [`BitReader::skip`].
    ///
    /// This is fastest if the slice contains some bytes after the payload, as a stream does: one
    /// load is then enough for payloads of any length.
    #[inline]
    pub fn window(&self) -> Option<Window> {
        let bits = self.remaining();
        if self.tail != Tail::Sign || self.reversed || self.pos & 7 != 0 || bits == 0 || bits > 128
        {
            return None;
        }
        let rest = self.bytes.get(usize::try_from(self.pos >> 3).ok()?..)?;
        let value = match rest.first_chunk() {
            Some(chunk) => u128::from_le_bytes(*chunk),
            None => short(rest),
        };
        // Most payloads fit in one word, and two words take several times as many instructions.
        Some(Window(if bits <= 64 {
            let unused = 64u32.wrapping_sub(bits as u32);
            (value as i64).wrapping_shl(unused).wrapping_shr(unused).into()
        } else {
            let unused = 128u32.wrapping_sub(bits as u32);
            (value as i128).wrapping_shl(unused).wrapping_shr(unused)
        }))
    }

    /// Moves the reader forward by `bits` bits, as reading them would.
    #[inline]
    pub fn skip(&mut self, bits: u32) {
        self.pos = self.pos.saturating_add(bits.into());
    }

    /// Reads one bit.
    pub fn read_bool(&mut self) -> Result<bool, Incomplete> {
        Ok(self.read(1)? != 0)
    }

    /// Reads `width` bits, 64 at most (a larger width reads 64).
    pub fn read(&mut self, width: u32) -> Result<u64, Incomplete> {
        let width = width.min(64);
        let end = self.pos.saturating_add(u64::from(width));
        let value = if end <= self.len {
            self.load(self.pos) & mask(width)
        } else {
            let have = self.remaining() as u32;
            let fill = self.fill(width.saturating_sub(have))?;
            let low = if have == 0 { 0 } else { self.load(self.pos) & mask(have) };
            let high = if fill { mask(width) & !mask(have) } else { 0 };
            low | high
        };
        self.pos = end;
        Ok(value)
    }

    /// Reads `width` bits, 128 at most (a larger width reads 128).
    pub fn read_wide(&mut self, width: u32) -> Result<u128, Incomplete> {
        let start = self.pos;
        let low = self.read(width.min(64))?;
        match self.read(width.saturating_sub(64)) {
            Ok(high) => Ok(u128::from(low) | u128::from(high) << 64),
            Err(err) => {
                self.pos = start;
                Err(err)
            }
        }
    }

    /// The value of the `missing` bits past the end.
    fn fill(&self, missing: u32) -> Result<bool, Incomplete> {
        match (self.tail, self.len.checked_sub(1)) {
            (Tail::End, _) | (Tail::Sign, None) => Err(Incomplete { missing }),
            (Tail::Zero, _) => Ok(false),
            (Tail::Sign, Some(last)) => Ok(self.load(last) & 1 != 0),
        }
    }

    /// The 64 bits that start at `pos`; bits past the slice are 0.
    fn load(&self, pos: u64) -> u64 {
        let byte = usize::try_from(pos >> 3).unwrap_or(usize::MAX);
        let shift = (pos & 7) as u32;
        let value = if self.reversed {
            let end = self.bytes.len().saturating_sub(byte);
            let rest = self.bytes.get(..end).unwrap_or_default();
            rest.last_chunk().map_or_else(
                || {
                    let unused = 128u32.wrapping_sub(8u32.wrapping_mul(rest.len() as u32));
                    short(rest).swap_bytes().wrapping_shr(unused)
                },
                |chunk| u128::from_be_bytes(*chunk),
            )
        } else {
            let rest = self.bytes.get(byte..).unwrap_or_default();
            rest.first_chunk().map_or_else(|| short(rest), |chunk| u128::from_le_bytes(*chunk))
        };
        value.wrapping_shr(shift) as u64
    }
}

/// Up to 16 bytes as a number. Payloads are short and their lengths vary: two overlapping loads are
/// several times faster than a copy of variable length.
#[inline]
fn short(bytes: &[u8]) -> u128 {
    /// Combines both ends of `bytes`, the upper one shifted into place. The overlap agrees.
    macro_rules! ends {
        ($number:ty) => {
            bytes.first_chunk().zip(bytes.last_chunk()).map_or(0, |(first, last)| {
                let gap = bytes.len().wrapping_sub(size_of::<$number>()) as u32;
                let low = u128::from(<$number>::from_le_bytes(*first));
                let high = u128::from(<$number>::from_le_bytes(*last));
                low | high.wrapping_shl(gap.wrapping_mul(8))
            })
        };
    }
    match bytes.len() {
        8..=16 => ends!(u64),
        4..=7 => ends!(u32),
        2..=3 => ends!(u16),
        _ => bytes.first().map_or(0, |byte| u128::from(*byte)),
    }
}

/// A sign-extended payload of up to 128 bits, for random access.
#[derive(Copy, Clone, Debug)]
pub struct Window(i128);

impl Window {
    /// Returns the `width` bits that start at bit `at`. `width` is at most 64, `at` is below 128.
    /// Bits past the end are copies of the last one.
    #[inline]
    pub fn get(&self, at: u32, width: u32) -> u64 {
        self.0.wrapping_shr(at) as u64 & mask(width)
    }
}
