//! The functions that are active, while one turn of a loop stands for all.

use super::{Callee, Turns};

/// Functions that are active, with the number of instructions before each, and what is counted so far.
#[derive(Debug, Default)]
pub(crate) struct Active {
    functions: Vec<(Callee, u64)>,
    /// Instructions up to here are counted.
    counted: u64,
    turns: Turns,
    /// The fewest active functions since the turns began.
    fewest: usize,
}

impl Active {
    /// The innermost function.
    pub(crate) fn innermost(&self) -> Option<Callee> {
        self.functions.last().map(|(function, _)| *function)
    }

    /// The innermost function, with the instructions that it has executed since the last call of this, in all turns.
    #[must_use]
    pub(crate) fn count(&mut self, at: u64) -> Option<(Callee, u64)> {
        let insns = self.turns.all(at.saturating_sub(self.counted));
        self.counted = at;
        // Outside of any function: there is always one, so nothing is executed there.
        self.innermost().map(|function| (function, insns))
    }

    /// A function is entered; returns how often, in all turns.
    pub(crate) fn enter(&mut self, function: Callee, at: u64) -> u64 {
        self.resume(function, at);
        self.turns.all(1)
    }

    /// A function is active that was not called now.
    pub(crate) fn resume(&mut self, function: Callee, at: u64) {
        self.functions.push((function, at));
    }

    /// The innermost function is left; returns it, and its instructions with those of what it called, in all turns.
    pub(crate) fn leave(&mut self, at: u64) -> Option<(Callee, u64)> {
        let (function, since) = self.functions.pop()?;
        self.fewest = self.fewest.min(self.functions.len());
        Some((function, self.turns.all(at.saturating_sub(since))))
    }

    /// What is counted up to [`Active::end_turns`] happens several times. Instructions before it have been counted.
    pub(crate) fn begin_turns(&mut self, times: u64, more: u64) {
        (self.turns, self.fewest) = (Turns::begin(times, more), self.functions.len());
    }

    /// It happens once again. Instructions before it have been counted.
    pub(crate) fn end_turns(&mut self, at: u64) {
        // What the first turn has entered, and not left, was entered by the last.
        for (_, since) in self.functions.iter_mut().skip(self.fewest) {
            *since = since.saturating_add(self.turns.more);
        }
        self.counted = self.turns.end(at);
    }
}
