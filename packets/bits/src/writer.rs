use crate::{BitPos, mask};
use core::fmt;

/// A field could not be written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteError {
    /// The buffer is too short; this many bits did not fit.
    BufferFull(u32),
    /// The value has bits set above the field's width.
    TooWide,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferFull(bits) => write!(f, "{bits} bits do not fit in the buffer"),
            Self::TooWide => f.write_str("value does not fit in its field"),
        }
    }
}

impl core::error::Error for WriteError {}

/// Writes fields into a byte slice, least significant bit first.
///
/// Bytes are overwritten as they are reached; the previous content of the buffer does not matter.
#[derive(Debug)]
pub struct BitWriter<'a> {
    bytes: &'a mut [u8],
    pos: u64,
}

impl<'a> BitWriter<'a> {
    /// Starts at the first bit of `bytes`.
    pub const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, pos: 0 }
    }

    /// Number of bits written.
    pub const fn position(&self) -> BitPos {
        BitPos(self.pos)
    }

    /// Writes one bit.
    pub fn write_bool(&mut self, value: bool) -> Result<(), WriteError> {
        self.write(value.into(), 1)
    }

    /// Writes the low `width` bits of `value`, 64 at most (a larger width counts as 64).
    pub fn write(&mut self, value: u64, width: u32) -> Result<(), WriteError> {
        let width = width.min(64);
        if value & !mask(width) != 0 {
            return Err(WriteError::TooWide);
        }
        let end = self.pos.saturating_add(u64::from(width));
        let room = BitPos::of_byte(self.bytes.len() as u64).0;
        if end > room {
            return Err(WriteError::BufferFull(end.saturating_sub(room) as u32));
        }
        let shift = (self.pos & 7) as u32;
        let byte = usize::try_from(self.pos >> 3).unwrap_or(usize::MAX);
        let kept = self.bytes.get(byte).map_or(0, |b| u64::from(*b) & mask(shift));
        let window = u128::from(kept) | u128::from(value).wrapping_shl(shift);
        let touched = usize::try_from(shift.saturating_add(width).div_ceil(8)).unwrap_or(0);
        let rest = self.bytes.get_mut(byte..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(window.to_le_bytes()).take(touched) {
            *to = from;
        }
        self.pos = end;
        Ok(())
    }

    /// Writes the low `width` bits of `value`, 128 at most (a larger width counts as 128).
    pub fn write_wide(&mut self, value: u128, width: u32) -> Result<(), WriteError> {
        let start = self.pos;
        let low_width = width.min(64);
        let high_width = width.saturating_sub(64);
        let low = if high_width == 0 {
            u64::try_from(value).map_err(|_| WriteError::TooWide)?
        } else {
            value as u64
        };
        self.write(low, low_width)?;
        self.write((value >> 64) as u64, high_width).inspect_err(|_| self.pos = start)
    }

    /// Drops all but one of the identical bits at the top, pads to a byte with copies of that bit,
    /// and returns the number of bytes; at least one.
    ///
    /// Spec: E-Trace 2.0, chapter 7 "Instruction Trace Encoder Output Packets", sign-based
    /// compression of the whole payload.
    pub fn finish_compressed(mut self) -> usize {
        let sign = self.pos.checked_sub(1).is_some_and(|last| self.bit(last));
        let fill = if sign { 0xff } else { 0 };
        let mut len = self.pad(sign);
        // A whole byte of sign is redundant as long as the byte below it ends in the sign.
        while let Some([.., below, top]) = self.bytes.get(..len) {
            if *top != fill || (*below ^ fill) & 0x80 != 0 {
                break;
            }
            len = len.saturating_sub(1);
        }
        len
    }

    /// Pads to a byte with zeros and returns the number of bytes; at least one.
    pub fn finish_padded(mut self) -> usize {
        self.pad(false)
    }

    /// Fills the last byte; an empty buffer stays empty.
    fn pad(&mut self, fill: bool) -> usize {
        let used = (self.pos & 7) as u32;
        if used != 0 || self.pos == 0 {
            let width = 8u32.saturating_sub(used);
            let bits = if fill { mask(width) } else { 0 };
            // Fails only if the buffer is empty.
            let _ = self.write(bits, width);
        }
        usize::try_from(self.pos >> 3).unwrap_or(usize::MAX)
    }

    fn bit(&self, pos: u64) -> bool {
        let byte = usize::try_from(pos >> 3).unwrap_or(usize::MAX);
        self.bytes.get(byte).is_some_and(|b| b.wrapping_shr((pos & 7) as u32) & 1 != 0)
    }
}
