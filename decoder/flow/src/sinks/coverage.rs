//! Code coverage.

use super::halves::Halves;
use crate::event::StreamPos;
use crate::paths::{Path, PathId};
use crate::run::Run;
use crate::sink::Sink;
use std::ops::Range;

/// Records which code was executed, with half-word precision.
///
/// Its memory depends on the number of 4 KiB pages that were reached, not on the size of the
/// program.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    executed: Halves,
    epoch: u64,
    /// Which paths of this epoch have been taken.
    taken: Vec<bool>,
}

impl Coverage {
    /// Whether the instruction at `address` retired.
    pub fn contains(&self, address: u64) -> bool {
        self.executed.contains(address)
    }

    /// Number of bytes of code that were executed.
    pub fn bytes(&self) -> u64 {
        self.executed.len().wrapping_mul(2)
    }

    /// The ranges of code that were executed, in order.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for next in self.executed.ranges() {
            match ranges.last_mut() {
                Some(last) if last.end == next.start => last.end = next.end,
                _ => ranges.push(next),
            }
        }
        ranges
    }

    /// Adds the code that was executed in another part of the trace.
    pub fn merge(&mut self, other: &Self) {
        self.executed.merge(&other.executed);
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
        self.executed.insert(run.start(), run.end());
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
