use crate::ParseError;

/// Reads the bytes of one packet.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub used: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, used: 0 }
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, ParseError> {
        self.byte_of(1)
    }

    /// The first of this many bytes that follow.
    #[inline]
    fn byte_of(&mut self, missing: u8) -> Result<u8, ParseError> {
        let byte = self.bytes.get(self.used).copied();
        let byte = byte.ok_or(ParseError::Incomplete { missing })?;
        self.used = self.used.wrapping_add(1);
        Ok(byte)
    }

    /// Exactly `count` bytes, up to four.
    pub(crate) fn fixed(&mut self, count: u8) -> Result<u32, ParseError> {
        let mut value = 0;
        for index in 0..count {
            let byte = self.byte_of(count.saturating_sub(index))?;
            value |= u32::from(byte).wrapping_shl(u32::from(index).wrapping_mul(8));
        }
        Ok(value)
    }

    /// A cycle count, whose first byte has been read.
    pub(crate) fn cycles(&mut self, first: u8) -> Result<u32, ParseError> {
        let mut value = u32::from((first >> 2) & 0xf);
        let mut more = first & 0x40 != 0;
        for index in 0..4u32 {
            if !more {
                break;
            }
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(index.wrapping_mul(7).wrapping_add(4));
            more = byte & 0x80 != 0;
        }
        Ok(value)
    }
}
