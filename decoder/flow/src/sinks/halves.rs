//! A set of half-words of code.

use std::collections::BTreeMap;
use std::ops::Range;

/// Half-words of a page.
const HALVES: u64 = 2048;

/// One bit per half-word.
type Page = [u64; (HALVES / 64) as usize];

/// A set of half-words, by address. Its memory depends on the number of 4 KiB pages that have any.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    /// The pages, in no particular order.
    pages: Vec<Page>,
    /// The index of each page in `pages`.
    index: BTreeMap<u64, usize>,
    /// Number and index of the page used last.
    recent: Option<(u64, usize)>,
}

impl Halves {
    pub(super) fn contains(&self, address: u64) -> bool {
        let half = address >> 1;
        let page = self.index.get(&half.wrapping_div(HALVES)).and_then(|at| self.pages.get(*at));
        let word = page.and_then(|page| page.get((half.wrapping_rem(HALVES) >> 6) as usize));
        word.is_some_and(|word| word.wrapping_shr((half & 63) as u32) & 1 != 0)
    }

    /// Number of half-words.
    pub(super) fn len(&self) -> u64 {
        self.pages.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Adds all half-words from an address up to another.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        let mut half = start >> 1;
        let mut left = end.wrapping_sub(start) >> 1;
        while left > 0 {
            let bit = half & 63;
            let take = left.min(64u64.wrapping_sub(bit));
            let index = (half.wrapping_rem(HALVES) >> 6) as usize;
            let page = self.page(half.wrapping_div(HALVES));
            if let Some(word) = page.and_then(|page| page.get_mut(index)) {
                let ones = u64::MAX.wrapping_shr(64u32.wrapping_sub(take as u32));
                *word |= ones.wrapping_shl(bit as u32);
            }
            half = half.wrapping_add(take);
            left = left.wrapping_sub(take);
        }
    }

    /// Adds the half-words of another set.
    pub(super) fn merge(&mut self, other: &Self) {
        for (page, words) in other.pages() {
            for (mine, word) in self.page(page).into_iter().flatten().zip(words) {
                *mine |= word;
            }
        }
    }

    /// Ranges of addresses without holes, in order. Those of different words of 64 are not joined.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let words = self.pages().flat_map(|(page, words)| {
            let first = page.wrapping_mul(HALVES);
            (0u64..)
                .zip(words)
                .map(move |(n, word)| (first.wrapping_add(n.wrapping_mul(64)), *word))
        });
        words.flat_map(|(first, mut left)| {
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let skip = left.trailing_zeros();
                    let len = left.wrapping_shr(skip).trailing_ones();
                    left &= u64::MAX.checked_shl(skip.wrapping_add(len)).unwrap_or(0);
                    let start = first.wrapping_add(skip.into()).wrapping_mul(2);
                    start..start.wrapping_add(u64::from(len).wrapping_mul(2))
                })
            })
        })
    }

    /// The pages by number, in order.
    fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.index.iter().filter_map(|(page, at)| Some((*page, self.pages.get(*at)?)))
    }

    /// The page with this number.
    #[inline]
    fn page(&mut self, page: u64) -> Option<&mut Page> {
        let at = match self.recent {
            Some((recent, at)) if recent == page => at,
            _ => {
                let at = *self.index.entry(page).or_insert(self.pages.len());
                if at == self.pages.len() {
                    self.pages.push(Page::default());
                }
                self.recent = Some((page, at));
                at
            }
        };
        self.pages.get_mut(at)
    }
}
