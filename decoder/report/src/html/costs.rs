//! What functions have executed, and who has called whom.

use crate::calls::{Callee, Turns};
use hartrace_decoder::calls::{Frame, Visit, Why};
use std::collections::HashMap;

/// What a function has executed, without what was inlined into it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) callee: Callee,
    /// Of an inlined function, the place of the function that it was first seen in.
    pub(super) inside: Option<usize>,
    /// Instructions of its own.
    pub(super) own: u64,
    /// Instructions while it was active.
    pub(super) total: u64,
    /// Calls that were seen. A function that was active before the trace has not been called in it.
    pub(super) calls: u64,
    /// Start and length of the longest call.
    pub(super) longest: (u64, u64),
    /// How often it is active now.
    active: u32,
}

impl Cost {
    fn new(callee: Callee, inside: Option<usize>) -> Self {
        Self { callee, inside, own: 0, total: 0, calls: 0, longest: (0, 0), active: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.own = self.own.saturating_add(other.own);
        self.total = self.total.saturating_add(other.total);
        self.calls = self.calls.saturating_add(other.calls);
        if other.longest.1 > self.longest.1 {
            self.longest = other.longest;
        }
    }
}

/// Calls of a function by another one, and the instructions in these calls.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) times: u64,
    pub(super) insns: u64,
}

/// Costs of all functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    pub(super) functions: Vec<Cost>,
    /// Places in `functions`.
    index: HashMap<Callee, usize>,
    /// By caller and callee, as places in `functions`.
    pub(super) calls: HashMap<(usize, usize), Called>,
    active: Vec<Active>,
    /// Instructions up to here are counted.
    counted: u64,
    turns: Turns,
    /// The fewest active functions since the turns began.
    fewest: usize,
}

/// A function that is active, and since when.
#[derive(Copy, Clone, Debug)]
struct Active {
    function: usize,
    /// The function whose code it is.
    code: usize,
    since: u64,
    called: bool,
}

impl Costs {
    /// The place of a function; `inside` is that of the function that it was inlined into.
    fn place(&mut self, callee: Callee, inside: Option<usize>) -> usize {
        let next = self.functions.len();
        *self.index.entry(callee).or_insert_with(|| {
            self.functions.push(Cost::new(callee, inside));
            next
        })
    }

    /// Adds the costs of another source.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut places: Vec<usize> = Vec::new();
        for cost in &other.functions {
            // It was entered before what was inlined into it.
            let inside = cost.inside.and_then(|inside| places.get(inside).copied());
            places.push(self.place(cost.callee, inside));
        }
        for (place, cost) in places.iter().zip(&other.functions) {
            if let Some(own) = self.functions.get_mut(*place) {
                own.add(cost);
            }
        }
        for ((from, to), called) in &other.calls {
            let (Some(from), Some(to)) = (places.get(*from), places.get(*to)) else { continue };
            let own = self.calls.entry((*from, *to)).or_default();
            own.times = own.times.saturating_add(called.times);
            own.insns = own.insns.saturating_add(called.insns);
        }
    }

    fn count(&mut self, at: u64) {
        let top = self.active.last().and_then(|top| self.functions.get_mut(top.function));
        if let Some(cost) = top {
            let insns = self.turns.all(at.saturating_sub(self.counted));
            cost.own = cost.own.saturating_add(insns);
        }
        self.counted = at;
    }

    /// Whether a function is entered because it was called. If its stack is only taken up again, so is its caller, after the
    /// same number of instructions; a caller executes at least the call itself.
    fn is_called(&self, frame: &Frame, at: u64) -> bool {
        match frame.why {
            Why::Unknown | Why::Inlined(_) => false,
            Why::Trap { .. } => true,
            Why::Call | Why::TailCall => self.active.last().is_none_or(|top| top.since != at),
        }
    }
}

impl Visit for Costs {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        let called = self.is_called(frame, at);
        let callee = Callee::from(frame);
        let inside = match callee {
            Callee::Function(_) => None,
            Callee::Inlined(_) => self.active.last().map(|top| top.code),
        };
        let function = self.place(callee, inside);
        let code = inside.unwrap_or(function);
        self.active.push(Active { function, code, since: at, called });
        if let Some(cost) = self.functions.get_mut(function) {
            cost.active = cost.active.saturating_add(1);
            cost.calls = cost.calls.saturating_add(self.turns.all(called.into()));
        }
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        self.count(at);
        let Some(Active { function, since, called, .. }) = self.active.pop() else { return };
        self.fewest = self.fewest.min(self.active.len());
        let insns = at.saturating_sub(since);
        if let Some(cost) = self.functions.get_mut(function) {
            cost.active = cost.active.saturating_sub(1);
            if cost.active == 0 {
                cost.total = cost.total.saturating_add(self.turns.all(insns));
            }
            if insns > cost.longest.1 {
                cost.longest = (since, insns);
            }
        }
        if let Some(caller) = self.active.last() {
            let sum = self.calls.entry((caller.function, function)).or_default();
            sum.times = sum.times.saturating_add(self.turns.all(called.into()));
            sum.insns = sum.insns.saturating_add(self.turns.all(insns));
        }
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        self.count(at);
        (self.turns, self.fewest) = (Turns::begin(times, more), self.active.len());
    }

    fn end_turns(&mut self, at: u64) {
        self.count(at);
        // What the first turn has entered, and not left, was entered by the last.
        for active in self.active.iter_mut().skip(self.fewest) {
            active.since = active.since.saturating_add(self.turns.more);
        }
        self.counted = self.turns.end(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: u64, why: Why) -> Frame {
        Frame { function, returns: None, why }
    }

    fn cost(costs: &mut Costs, function: u64) -> (u64, u64, u64, (u64, u64)) {
        let place = costs.place(function.into(), None);
        let cost = costs.functions[place];
        (cost.own, cost.total, cost.calls, cost.longest)
    }

    #[test]
    fn recursion_counts_once() {
        let mut costs = Costs::default();
        let (main, other) = (frame(1, Why::Unknown), frame(2, Why::Call));
        costs.enter(&main, 0);
        costs.enter(&other, 10);
        costs.enter(&other, 15);
        costs.leave(&other, 18);
        costs.leave(&other, 30);
        costs.leave(&main, 31);
        assert_eq!(cost(&mut costs, 1), (11, 31, 0, (0, 31)));
        assert_eq!(cost(&mut costs, 2), (20, 20, 2, (10, 20)));
        assert_eq!(costs.calls[&(0, 1)], Called { times: 1, insns: 20 });
        assert_eq!(costs.calls[&(1, 1)], Called { times: 1, insns: 3 });
        let mut both = costs.clone();
        both.merge(&costs);
        assert_eq!(cost(&mut both, 2), (40, 40, 4, (10, 20)));
        assert_eq!(both.calls[&(0, 1)], Called { times: 2, insns: 40 });
    }

    #[test]
    fn a_stack_that_is_taken_up_again_is_no_call() {
        let mut costs = Costs::default();
        let (main, other) = (frame(1, Why::Unknown), frame(2, Why::Call));
        for (from, to) in [(0, 10), (50, 60)] {
            costs.enter(&main, from);
            costs.enter(&other, if from == 0 { 3 } else { from });
            costs.leave(&other, to);
            costs.leave(&main, to);
        }
        assert_eq!(cost(&mut costs, 2).2, 1);
    }
}
