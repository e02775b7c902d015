//! Where functions are.

use std::ops::Range;

/// The addresses of the functions of a program.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// In order, without overlaps.
    ranges: Vec<Range<u64>>,
}

impl Functions {
    /// Functions at these addresses. Of two that overlap, the second one in memory counts where they do.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        // Of several names for one start, the longest counts.
        let mut kept: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match kept.last_mut() {
                Some(last) if last.start == range.start => last.end = range.end,
                Some(last) => {
                    last.end = last.end.min(range.start);
                    kept.push(range);
                }
                None => kept.push(range),
            }
        }
        Self { ranges: kept }
    }

    /// The function that contains an address.
    pub fn containing(&self, address: u64) -> Option<Range<u64>> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(&address).then(|| range.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_belong_to_the_second() {
        let functions = Functions::new([0x20..0x30, 0x10..0x28, 0x10..0x14, 5..5]);
        let at = |address| functions.containing(address);
        assert_eq!([at(0xf), at(0x10), at(0x1f)], [None, Some(0x10..0x20), Some(0x10..0x20)]);
        assert_eq!([at(0x20), at(0x2f), at(0x30)], [Some(0x20..0x30), Some(0x20..0x30), None]);
        assert_eq!(at(5), None);
    }
}
