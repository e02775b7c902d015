//! Bit streams, most significant bit first, fields back to back without padding.

use crate::{DecodeError, Fault};

/// A bit stream that grows at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: u64,
}

impl Bits {
    /// Creates a stream of the first `len` bits of `bytes`, or of all of them if there are fewer.
    pub fn new(bytes: Vec<u8>, len: u64) -> Self {
        let len = len.min(8 * bytes.len() as u64);
        Self { bytes, len }
    }

    /// Creates a stream of whole bytes.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::new(bytes, u64::MAX)
    }

    /// Returns the number of bits.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes that hold the bits; the last one is padded with zeros.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends the low `width` bits of `value`; `width` is at most 64.
    #[inline]
    pub fn put(&mut self, value: u64, width: u32) {
        let mut left = width.min(64);
        while left > 0 {
            let used = (self.len % 8) as u32;
            if used == 0 {
                self.bytes.push(0);
            }
            let some = left.min(8 - used);
            let part = (value >> (left - some)) as u8 & (0xff >> (8 - some));
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << (8 - used - some);
            }
            left -= some;
            self.len += u64::from(some);
        }
    }

    /// Appends one bit.
    #[inline]
    pub fn put_bool(&mut self, value: bool) {
        self.put(value.into(), 1);
    }

    /// Pads the last byte with zeros, which belong to the stream from then on.
    pub(crate) fn align(&mut self) {
        self.len = 8 * self.bytes.len() as u64;
    }

    /// Appends whole bytes, starting at a byte boundary.
    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) {
        self.align();
        self.bytes.extend_from_slice(bytes);
        self.align();
    }
}

/// Reads a bit stream.
#[derive(Clone, Debug)]
pub struct BitSource<'a> {
    bits: &'a Bits,
    at: u64,
}

impl<'a> BitSource<'a> {
    /// Creates a reader that starts at the first bit.
    pub fn new(bits: &'a Bits) -> Self {
        Self { bits, at: 0 }
    }

    /// Returns the position of the next field.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Returns the number of bits that have not been read.
    pub fn left(&self) -> u64 {
        self.bits.len - self.at
    }

    /// Returns an error at the position of the next field.
    pub fn error(&self, fault: Fault) -> DecodeError {
        DecodeError { bit: self.at, fault }
    }

    /// Reads `width` bits, at most 64.
    #[inline]
    pub fn get(&mut self, width: u32) -> Result<u64, DecodeError> {
        let mut left = width.min(64);
        if u64::from(left) > self.left() {
            return Err(self.error(Fault::Truncated));
        }
        let mut value = 0;
        while left > 0 {
            let used = (self.at % 8) as u32;
            let some = left.min(8 - used);
            let byte = self.bits.bytes.get((self.at / 8) as usize).copied().unwrap_or(0);
            let part = byte >> (8 - used - some) & (0xff >> (8 - some));
            value = value << some | u64::from(part);
            left -= some;
            self.at += u64::from(some);
        }
        Ok(value)
    }

    /// Reads one bit.
    #[inline]
    pub fn get_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.get(1)? != 0)
    }

    /// The rest, starting at the next byte boundary.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bits.bytes.get(self.at.div_ceil(8) as usize..).unwrap_or_default()
    }

    /// Continues after this many bytes of [`BitSource::rest`].
    pub(crate) fn skip_bytes(&mut self, bytes: usize) {
        let to = 8 * (self.at.div_ceil(8) + bytes as u64);
        self.at = to.min(self.bits.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_significant_bit_first() {
        let mut bits = Bits::default();
        bits.put(0b101, 3);
        bits.put(0x1_2345_6789, 33);
        bits.put(u64::MAX, 64);
        bits.put(7, 0);
        assert_eq!((bits.len(), bits.bytes()[0]), (100, 0b1011_0010));
        let mut source = BitSource::new(&bits);
        assert_eq!(source.get(3), Ok(0b101));
        assert_eq!(source.get(33), Ok(0x1_2345_6789));
        assert_eq!(source.get(64), Ok(u64::MAX));
        assert_eq!(source.get(0), Ok(0));
        assert_eq!(source.get(1), Err(DecodeError { bit: 100, fault: Fault::Truncated }));
    }
}
