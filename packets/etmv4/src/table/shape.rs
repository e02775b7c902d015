//! The number of bytes of a section, and the bits that each of them contributes.

use super::field::ones;

/// Where a section ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// After a fixed number of bytes: FS.
    Fixed,
    /// After a byte with bit 7 clear, or after the maximum number of bytes: BC.
    Bounded,
    /// After a byte with bit 7 clear. The packet is malformed if none comes in time: UC, with the
    /// bound of deviation O3.
    Unbounded,
}

/// The bytes of a section: together they are one number, the first byte lowest.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Where the section ends.
    pub end: End,
    /// The maximum number of bytes; the exact number if `end` is [`End::Fixed`].
    pub most: u8,
    /// Mask of the bytes that contribute seven bits to the number; others contribute eight.
    pub septets: u16,
}

impl Shape {
    pub(crate) const fn fixed(most: u8) -> Self {
        Self { end: End::Fixed, most, septets: 0 }
    }

    /// A fixed number of bytes, some of which contribute seven bits.
    pub(crate) const fn narrow(most: u8, septets: u16) -> Self {
        Self { end: End::Fixed, most, septets }
    }

    pub(crate) const fn bounded(most: u8) -> Self {
        let septets = ones(most).wrapping_shr(1) as u16;
        Self { end: End::Bounded, most, septets }
    }

    pub(crate) const fn unbounded(most: u8) -> Self {
        Self { end: End::Unbounded, most, septets: ones(most) as u16 }
    }

    /// Number of bits that the byte at `index` contributes.
    #[inline]
    pub const fn width(&self, index: u8) -> u8 {
        8u8.wrapping_sub(self.septets.wrapping_shr(index as u32) as u8 & 1)
    }

    /// Number of bits that the first `count` bytes contribute: the position of the next byte.
    #[inline]
    pub const fn bits(&self, count: u8) -> u8 {
        let narrow = (self.septets & ones(count) as u16).count_ones() as u8;
        count.wrapping_mul(8).wrapping_sub(narrow)
    }

    /// Whether the byte at `index` is the last one of the section.
    #[inline]
    pub const fn ends(&self, index: u8, byte: u8) -> bool {
        index.wrapping_add(1) >= self.most || !matches!(self.end, End::Fixed) && byte & 0x80 == 0
    }

    /// Whether the byte at `index` should have been the last one but is not.
    #[inline]
    pub const fn overruns(&self, index: u8, byte: u8) -> bool {
        matches!(self.end, End::Unbounded) && index.wrapping_add(1) >= self.most && byte & 0x80 != 0
    }

    /// The smallest number of bytes that hold a number; all of them if the length is fixed.
    pub const fn bytes_for(&self, number: u64) -> u8 {
        let mut count = 1;
        while count < self.most
            && (matches!(self.end, End::Fixed) || number & !ones(self.bits(count)) != 0)
        {
            count = count.wrapping_add(1);
        }
        if count < self.most { count } else { self.most }
    }
}
