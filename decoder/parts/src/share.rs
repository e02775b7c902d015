//! Shares of a table that several processes merge at once.

use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Range;
use std::str::FromStr;

/// One of several shares of the rows of a table: `2/8` is the third of eight.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Share {
    number: u32,
    of: NonZeroU32,
}

impl Share {
    /// Which of so many tables it has.
    pub(super) fn of_tables(self, count: usize) -> Range<usize> {
        let before = |shares: u64| {
            let tables = shares.saturating_mul(count as u64) / NonZeroU64::from(self.of);
            tables as usize
        };
        let number = u64::from(self.number);
        before(number)..before(number.saturating_add(1))
    }
}

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let share = text.split_once('/').and_then(|(number, of)| {
            let share = Self { number: number.parse().ok()?, of: of.parse().ok()? };
            (share.number < share.of.get()).then_some(share)
        });
        share.ok_or("not a share: of four, they are 0/4, 1/4, 2/4 and 3/4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_tables_in_order() {
        for (of, count) in [(1, 5), (4, 4), (3, 10), (7, 3), (5, 0), (u32::MAX, 2)] {
            let share = |number: u32| format!("{number}/{of}").parse::<Share>().unwrap();
            let some = [0, of / 3, of / 2, of - 1].map(|number| share(number).of_tables(count));
            assert_eq!((some[0].start, some[3].end), (0, count), "{of}, {count}");
            let all = (0..of.min(10)).map(|number| share(number).of_tables(count));
            let ends = all.fold(0, |end, next| {
                assert_eq!(next.start, end);
                next.end
            });
            assert!(of > 10 || ends == count);
        }
        for wrong in ["", "1", "4/4", "1/0", "-1/4", "0/4/4", "a/b", "1/99999999999"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
