//! Code coverage.

use crate::event::StreamPos;
use crate::paths::{Path, PathId};
use crate::run::Run;
use crate::sink::Sink;
use std::collections::BTreeMap;
use std::ops::Range;

/// Half-words of a page.
const HALVES: u64 = 2048;

/// One bit per half-word.
type Page = [u64; (HALVES / 64) as usize];

/// Records which code was executed, with half-word precision.
///
/// Its memory depends on the number of 4 KiB pages that were reached, not on the size of the
/// program.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The pages, in no particular order.
    pages: Vec<Page>,
    /// The index of each page in `pages`.
    index: BTreeMap<u64, usize>,
    /// Number and index of the page used last.
    recent: Option<(u64, usize)>,
    epoch: u64,
    /// Which paths of this epoch have been taken.
    taken: Vec<bool>,
}

impl Coverage {
    /// Whether the instruction at `address` retired.
    pub fn contains(&self, address: u64) -> bool {
        let half = address >> 1;
        let page = self.index.get(&half.wrapping_div(HALVES)).and_then(|at| self.pages.get(*at));
        let word = page.and_then(|page| page.get((half.wrapping_rem(HALVES) >> 6) as usize));
        word.is_some_and(|word| word.wrapping_shr((half & 63) as u32) & 1 != 0)
    }

    /// Number of bytes of code that were executed.
    pub fn bytes(&self) -> u64 {
        let bits = self.pages.iter().flatten().map(|word| u64::from(word.count_ones()));
        bits.sum::<u64>().wrapping_mul(2)
    }

    /// The ranges of code that were executed, in order.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (page, words) in self.pages() {
            for (word, index) in words.iter().zip(0u64..) {
                let first = page.wrapping_mul(HALVES).wrapping_add(index.wrapping_mul(64));
                let mut left = *word;
                while left != 0 {
                    let skip = left.trailing_zeros();
                    let len = left.wrapping_shr(skip).trailing_ones();
                    let start = first.wrapping_add(skip.into()).wrapping_mul(2);
                    let end = start.wrapping_add(u64::from(len).wrapping_mul(2));
                    match ranges.last_mut() {
                        Some(last) if last.end == start => last.end = end,
                        _ => ranges.push(start..end),
                    }
                    left &= u64::MAX.checked_shl(skip.wrapping_add(len)).unwrap_or(0);
                }
            }
        }
        ranges
    }

    /// Adds the code that was executed in another part of the trace.
    pub fn merge(&mut self, other: &Self) {
        for (page, words) in other.pages() {
            for (mine, word) in self.page(page).into_iter().flatten().zip(words) {
                *mine |= word;
            }
        }
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

    /// Notes a path. Returns whether it was taken before.
    #[inline]
    fn note(&mut self, id: PathId) -> bool {
        let index = id.index as usize;
        if id.epoch == self.epoch
            && let Some(taken) = self.taken.get_mut(index)
        {
            return std::mem::replace(taken, true);
        }
        self.note_new(id);
        false
    }

    #[cold]
    fn note_new(&mut self, id: PathId) {
        if id.epoch != self.epoch {
            self.taken.clear();
            self.epoch = id.epoch;
        }
        let index = id.index as usize;
        let len = self.taken.len().max(index.saturating_add(1).next_power_of_two());
        self.taken.resize(len, false);
        if let Some(taken) = self.taken.get_mut(index) {
            *taken = true;
        }
    }
}

impl Sink for Coverage {
    const REPEATS: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        let mut half = run.start() >> 1;
        let mut left = run.end().wrapping_sub(run.start()) >> 1;
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

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, _: u64) {
        self.run(at, run);
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        if !self.note(path.id()) {
            for run in path.runs() {
                self.run(at, run);
            }
        }
    }
}
