//! Turns of a loop that a trace only counts.

use super::Visit;
use super::stack::{CallStack, Stack};
use super::transfers::Change;
use std::ops::Range;

/// Changes to follow until the call stack repeats itself. Only a turn with tens of thousands of calls that also changes the
/// depth of the stack needs more, and is then taken for one that does not.
const PATIENCE: u64 = 1 << 28;

/// Turns that are repeated.
#[derive(Copy, Clone, Debug)]
pub(super) struct Turns<'t> {
    /// What changes in each of them, with the number of instructions from the start of some turn.
    pub(super) changes: &'t [(u64, Change)],
    /// Instructions before that turn.
    pub(super) start: u64,
    /// Instructions of each turn.
    pub(super) insns: u64,
    /// The number of turns.
    pub(super) times: u64,
}

impl<V: Visit> CallStack<V> {
    /// Follows turns of a loop.
    ///
    /// What the turns do depends on the call stack, which is bounded: sooner or later it is the same again after a number of
    /// turns. From there on, all that happens is repeated, so that following it once is enough.
    pub(super) fn repeat(&mut self, turns: Turns<'_>) {
        let changes = turns.changes.len() as u64;
        let mut left = turns.times;
        for _ in 0..V::ONE_BY_ONE.checked_div(changes).unwrap_or(0).min(left) {
            self.turn(&turns);
            left = left.saturating_sub(1);
        }
        let (period, passed) = self.find_period(&turns, left);
        left = left.saturating_sub(passed);
        let times = left.checked_div(period).unwrap_or(0);
        if times >= 2 {
            let insns = turns.insns.wrapping_mul(period);
            let more = insns.wrapping_mul(times.saturating_sub(1));
            let at = self.instructions();
            self.visit().begin_turns(at, times, more);
            for _ in 0..period {
                self.turn(&turns);
            }
            let at = self.instructions();
            self.visit().end_turns(at);
            self.end_at(at.wrapping_add(more));
            left = left.saturating_sub(times.saturating_mul(period));
        }
        for _ in 0..left {
            self.turn(&turns);
        }
    }

    /// Follows one turn.
    fn turn(&mut self, turns: &Turns<'_>) {
        let before = self.instructions();
        for (at, change) in turns.changes {
            let at = at.wrapping_sub(turns.start);
            self.change_at(before.wrapping_add(at), change);
        }
        self.end_at(before.wrapping_add(turns.insns));
    }

    /// Follows at most `most` turns, until the call stack is the same as it was some turns before. Returns the number
    /// of these, and how many turns have passed.
    fn find_period(&mut self, turns: &Turns<'_>, most: u64) -> (u64, u64) {
        let patience = PATIENCE.checked_div(turns.changes.len() as u64).unwrap_or(0).max(16);
        // Brent's algorithm, as for loops in a walk.
        let (mut mark, mut distance, mut power) = (LoopState::of(self), 0u64, 1u64);
        let mut passed = 0u64;
        while passed < most.min(patience) {
            let deeper = self.stack.deeper;
            self.fewest_deeper = deeper;
            self.turn(turns);
            (passed, distance) = (passed.saturating_add(1), distance.saturating_add(1));
            if self.fewest_deeper > 0 {
                let rest = most.saturating_sub(passed);
                passed = passed.saturating_add(self.repeat_deep(deeper, turns.insns, rest));
                (mark, distance, power) = (LoopState::of(self), 0, 1);
            } else if mark == LoopState::of(self) {
                return (distance, passed);
            } else if distance == power {
                (mark, distance, power) = (LoopState::of(self), 0, power.saturating_mul(2));
            }
        }
        (1, passed)
    }

    /// Calls that are too deep to have a frame are only counted. Repeats the last turn as long as there is nothing else in it, at
    /// most `most` times. There were `before` such calls before it. Returns how often.
    fn repeat_deep(&mut self, before: u64, insns: u64, most: u64) -> u64 {
        let deeper = &mut self.stack.deeper;
        let times = match before.checked_sub(*deeper).filter(|less| *less > 0) {
            None => {
                let more = deeper.saturating_sub(before).saturating_mul(most);
                *deeper = deeper.saturating_add(more);
                most
            }
            Some(less) => {
                let times = self.fewest_deeper.saturating_sub(1).checked_div(less).unwrap_or(0);
                let times = times.min(most);
                *deeper = deeper.saturating_sub(less.saturating_mul(times));
                times
            }
        };
        self.end_at(self.instructions().wrapping_add(insns.wrapping_mul(times)));
        times
    }
}

/// What the next turn of a loop depends on, once it has been taken.
#[derive(PartialEq, Eq)]
struct LoopState {
    stack: Stack,
    here: Range<u64>,
    interruptions: u64,
}

impl LoopState {
    fn of<V>(calls: &CallStack<V>) -> Self {
        let CallStack { stack, here, interruptions, .. } = calls;
        Self { stack: stack.clone(), here: here.clone(), interruptions: *interruptions }
    }
}
