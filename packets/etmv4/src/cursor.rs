use crate::{Kind, ParseError};

/// Reads the bytes of one packet.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub used: usize,
}

/// The most bytes of a field that ends with a byte whose bit 7 is 0: 32 bits (O3).
const UNBOUNDED: usize = 5;

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, used: 0 }
    }

    /// The last byte does not fit.
    pub(crate) fn bad(&self, kind: Kind) -> ParseError {
        ParseError::BadSequence { kind, len: u8::try_from(self.used).unwrap_or(u8::MAX) }
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, ParseError> {
        let byte = self.bytes.get(self.used).copied().ok_or(ParseError::Incomplete)?;
        self.used = self.used.wrapping_add(1);
        Ok(byte)
    }

    /// FS(4).
    #[inline]
    pub(crate) fn four(&mut self) -> Result<u64, ParseError> {
        let bytes = self.bytes.get(self.used..).and_then(<[u8]>::first_chunk);
        let value = u32::from_le_bytes(*bytes.ok_or(ParseError::Incomplete)?);
        self.used = self.used.wrapping_add(4);
        Ok(value.into())
    }

    /// FS(8).
    #[inline]
    pub(crate) fn eight(&mut self) -> Result<u64, ParseError> {
        let bytes = self.bytes.get(self.used..).and_then(<[u8]>::first_chunk);
        let value = u64::from_le_bytes(*bytes.ok_or(ParseError::Incomplete)?);
        self.used = self.used.wrapping_add(8);
        Ok(value)
    }

    /// FS(n): exactly `count` bytes, up to eight.
    #[inline]
    pub(crate) fn fixed(&mut self, count: u8) -> Result<u64, ParseError> {
        let mut value = 0;
        for index in 0..u32::from(count) {
            value |= u64::from(self.byte()?).wrapping_shl(index.wrapping_mul(8));
        }
        Ok(value)
    }

    /// UC: seven bits per byte, up to a byte with bit 7 clear.
    pub(crate) fn unbounded(&mut self, kind: Kind) -> Result<u32, ParseError> {
        let mut value = 0u64;
        for index in 0..UNBOUNDED as u32 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(index.wrapping_mul(7));
            if byte & 0x80 == 0 {
                return Ok(value as u32);
            }
        }
        Err(self.bad(kind))
    }

    /// BC(n): the same, but the `count`th byte is the last and has eight bits. Also returns how many
    /// bits.
    pub(crate) fn bounded(&mut self, count: u8) -> Result<(u64, u8), ParseError> {
        let mut value = 0;
        let mut bits = 0u8;
        for index in 1..=count {
            let byte = self.byte()?;
            let last = index == count;
            let data = if last { byte } else { byte & 0x7f };
            value |= u64::from(data).wrapping_shl(bits.into());
            bits = bits.wrapping_add(if last { 8 } else { 7 });
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok((value, bits))
    }
}
