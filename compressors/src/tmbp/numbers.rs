//! Numbers of variable width.

use crate::{BitSource, Bits, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// The available widths: `size`, `size + step`, `size + 2 * step` and so on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Widths {
    /// The smallest width.
    pub size: u32,
    /// The difference between one width and the next.
    pub step: u32,
}

impl Widths {
    pub(crate) fn is_good(&self) -> bool {
        (1..=32).contains(&self.size) && (1..=32).contains(&self.step)
    }

    fn header(classes: u32, out: &mut Bits) {
        (0..classes).for_each(|_| out.put_bool(true));
        out.put_bool(false);
    }

    /// Counts ones up to the first zero, at most `most`.
    fn get_header(from: &mut BitSource<'_>, most: u32) -> Result<u32, DecodeError> {
        let at = from.clone();
        let mut classes = 0;
        while from.get_bool()? {
            classes += 1;
            if classes > most {
                return Err(at.error(Fault::Malformed("a number is too wide")));
            }
        }
        Ok(classes)
    }

    /// Writes a number in the smallest width that holds it, after a header of a one for each smaller
    /// width and a zero.
    pub(crate) fn put(&self, value: u64, out: &mut Bits) {
        let bits = 64 - value.leading_zeros();
        let classes = bits.saturating_sub(self.size).div_ceil(self.step);
        Self::header(classes, out);
        out.put(value, (self.size + classes * self.step).min(64));
    }

    pub(crate) fn get(&self, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        let most = 64_u32.saturating_sub(self.size).div_ceil(self.step);
        let classes = Self::get_header(from, most)?;
        from.get((self.size + classes * self.step).min(64))
    }

    /// Writes an address as a signed distance from another one; or unchanged in the widest class, if `all` or if
    /// the distance fits no other.
    pub(crate) fn put_target(
        &self,
        target: u64,
        before: u64,
        all: bool,
        xlen: u32,
        out: &mut Bits,
    ) {
        // Distances do not wrap around the end of the address space.
        let (distance, negative) = (target.abs_diff(before), target < before);
        let bits = 64 - distance.leading_zeros();
        let mut classes = bits.saturating_sub(self.size).div_ceil(self.step);
        let whole = self.whole(xlen);
        classes = if all { whole } else { classes.min(whole) };
        Self::header(classes, out);
        if classes == whole {
            out.put(target, xlen);
        } else {
            out.put_bool(negative);
            out.put(distance, self.size + classes * self.step);
        }
    }

    pub(crate) fn get_target(
        &self,
        before: u64,
        xlen: u32,
        from: &mut BitSource<'_>,
    ) -> Result<u64, DecodeError> {
        let at = from.clone();
        let whole = self.whole(xlen);
        let classes = Self::get_header(from, whole)?;
        if classes == whole {
            return from.get(xlen);
        }
        let negative = from.get_bool()?;
        let distance = from.get(self.size + classes * self.step)?;
        let target = match negative {
            true => before.checked_sub(distance),
            false => before.checked_add(distance),
        };
        target
            .filter(|target| xlen == 64 || target >> xlen == 0)
            .ok_or_else(|| at.error(Fault::Malformed("a target is beyond all addresses")))
    }

    /// The class that is as wide as an address.
    fn whole(&self, xlen: u32) -> u32 {
        xlen.saturating_sub(self.size).div_ceil(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bits::parse;

    fn number(value: u64, size: u32, step: u32) -> Bits {
        let mut out = Bits::default();
        Widths { size, step }.put(value, &mut out);
        assert_eq!(Widths { size, step }.get(&mut BitSource::new(&out)), Ok(value));
        out
    }

    fn target(target: u64, before: u64, size: u32, step: u32) -> Bits {
        let mut out = Bits::default();
        let widths = Widths { size, step };
        widths.put_target(target, before, false, 32, &mut out);
        assert_eq!(widths.get_target(before, 32, &mut BitSource::new(&out)), Ok(target));
        out
    }

    #[test]
    fn numbers() {
        assert_eq!(number(1, 3, 2), parse("0 001"));
        assert_eq!(number(5, 3, 2), parse("0 101"));
        assert_eq!(number(8, 3, 2), parse("10 01000"));
        assert_eq!(number(32, 3, 2), parse("110 0100000"));
        assert_eq!(number(8, 3, 1), parse("10 1000"));
        assert_eq!(number(16, 3, 1), parse("110 10000"));
        number(u64::MAX, 3, 2);
        number(u64::MAX, 2, 4);
    }

    #[test]
    fn targets() {
        let far = format!("110 0 {:020b}", 0x10004);
        assert_eq!(target(0x10004, 0, 12, 4), parse(&far));
        assert_eq!(target(0x10000, 0x10004, 12, 4), parse("0 1 000000000100"));
        assert_eq!(target(0x10104, 0x10004, 8, 6), parse("10 0 00000100000000"));
        let whole = format!("111110 {:032b}", 0xf000_0000_u32);
        assert_eq!(target(0xf000_0000, 0x10, 12, 4), parse(&whole));
    }
}
