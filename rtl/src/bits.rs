//! A value of any width.

use std::cmp::Ordering;
use std::fmt;

/// A value of one bit or more, of any length.
///
/// Stored as a list of bits, least significant first. Used for literals and in the evaluator, where
/// correctness matters more than speed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bits(Vec<bool>);

impl Bits {
    /// The low `width` bits of a number.
    #[must_use]
    pub fn new(width: u32, value: u128) -> Self {
        Self((0..width).map(|i| i < 128 && value >> i & 1 == 1).collect())
    }

    /// Converts a list of bits, least significant first.
    #[must_use]
    pub fn from_bits(bits: &[bool]) -> Self {
        Self(bits.to_vec())
    }

    /// Parses hexadecimal digits, truncated or zero-extended to `width` bits. Returns `None` if
    /// `text` contains other characters.
    #[must_use]
    pub fn from_hex(width: u32, text: &str) -> Option<Self> {
        let mut bits = Vec::new();
        for digit in text.chars().rev() {
            let digit = digit.to_digit(16)?;
            bits.extend((0..4).map(|i| digit >> i & 1 == 1));
        }
        bits.resize(width as usize, false);
        Some(Self(bits))
    }

    /// All bits zero.
    #[must_use]
    pub fn zero(width: u32) -> Self {
        Self(vec![false; width as usize])
    }

    /// All bits one.
    #[must_use]
    pub fn ones(width: u32) -> Self {
        Self(vec![true; width as usize])
    }

    /// The number of bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.0.len() as u32
    }

    /// The bits, least significant first.
    #[must_use]
    pub fn as_slice(&self) -> &[bool] {
        &self.0
    }

    /// The value as a number, if it fits.
    #[must_use]
    pub fn to_u128(&self) -> Option<u128> {
        let high = self.0.iter().skip(128).any(|bit| *bit);
        (!high).then(|| self.0.iter().take(128).rev().fold(0, |n, bit| n << 1 | u128::from(*bit)))
    }

    /// Whether any bit is set.
    #[must_use]
    pub fn any(&self) -> bool {
        self.0.contains(&true)
    }

    /// Whether all bits are set.
    #[must_use]
    pub fn all(&self) -> bool {
        !self.0.contains(&false)
    }

    /// Whether the number of bits set is odd.
    #[must_use]
    pub fn parity(&self) -> bool {
        self.0.iter().filter(|bit| **bit).count() % 2 == 1
    }

    /// `width` bits from bit `lo`; those past the end are zero.
    #[must_use]
    pub fn slice(&self, lo: u32, width: u32) -> Self {
        let lo = lo as usize;
        Self((lo..lo + width as usize).map(|i| self.0.get(i).copied().unwrap_or(false)).collect())
    }

    /// Replaces bits from `lo` on; bits past the end are lost.
    pub fn set_slice(&mut self, lo: u32, value: &Self) {
        for (slot, bit) in self.0.iter_mut().skip(lo as usize).zip(&value.0) {
            *slot = *bit;
        }
    }

    /// Concatenates parts, the most significant first.
    #[must_use]
    pub fn concat(parts: &[Self]) -> Self {
        Self(parts.iter().rev().flat_map(|part| part.0.iter().copied()).collect())
    }

    pub(crate) fn sign(&self) -> bool {
        self.0.last().copied().unwrap_or(false)
    }

    pub(crate) fn not(&self) -> Self {
        Self(self.0.iter().map(|bit| !bit).collect())
    }

    pub(crate) fn zip(&self, other: &Self, f: impl Fn(bool, bool) -> bool) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| f(*a, *b)).collect())
    }

    /// `self + other + carry`; the carry out of the top bit is lost.
    pub(crate) fn add(&self, other: &Self, mut carry: bool) -> Self {
        self.zip_carry(other, |a, b| {
            let sum = a ^ b ^ carry;
            carry = (a & b) | (carry & (a ^ b));
            sum
        })
    }

    fn zip_carry(&self, other: &Self, mut f: impl FnMut(bool, bool) -> bool) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| f(*a, *b)).collect())
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    /// Shifts left; an amount that is too large for a number shifts everything out.
    pub(crate) fn shl(&self, amount: &Self) -> Self {
        let by = amount.shift_amount(self.width());
        let mut bits = vec![false; by];
        bits.extend(&self.0[..self.0.len() - by]);
        Self(bits)
    }

    /// Shifts right and fills with `fill`.
    pub(crate) fn shr(&self, amount: &Self, fill: bool) -> Self {
        let by = amount.shift_amount(self.width());
        let mut bits = self.0[by..].to_vec();
        bits.resize(self.0.len(), fill);
        Self(bits)
    }

    fn shift_amount(&self, limit: u32) -> usize {
        self.to_u128().map_or(limit, |n| n.min(u128::from(limit)) as u32) as usize
    }
}

impl From<bool> for Bits {
    fn from(bit: bool) -> Self {
        Self(vec![bit])
    }
}

impl fmt::LowerHex for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self
            .0
            .chunks(4)
            .map(|c| c.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit)))
            .filter_map(|n| char::from_digit(n, 16))
            .collect();
        f.write_str(&digits.chars().rev().collect::<String>())
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'h{self:x}", self.width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps() {
        let (a, b) = (Bits::new(8, 0xff), Bits::new(8, 1));
        assert_eq!(a.add(&b, false), Bits::new(8, 0));
        assert_eq!(b.add(&a.not(), true), Bits::new(8, 2), "1 - 255");
        assert_eq!(a.compare(&b), Ordering::Greater);
    }

    #[test]
    fn shifts_of_any_amount() {
        let a = Bits::new(8, 0x81);
        assert_eq!(a.shl(&Bits::new(4, 1)), Bits::new(8, 2));
        assert_eq!(a.shr(&Bits::new(4, 1), true), Bits::new(8, 0xc0));
        assert_eq!(a.shr(&Bits::ones(200), false), Bits::zero(8));
        assert_eq!(a.shl(&Bits::new(4, 8)), Bits::zero(8));
    }

    #[test]
    fn hexadecimal_both_ways() {
        let a = Bits::from_hex(130, "3a0000000000000000000000000000001").unwrap();
        assert_eq!(format!("{a:?}"), "130'h3a0000000000000000000000000000001");
        assert_eq!(a.to_u128(), None);
        assert_eq!(Bits::from_hex(4, "x"), None);
    }
}
