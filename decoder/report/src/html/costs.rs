//! What functions have executed, and who has called whom.

use crate::calls::{Callee, Turns};
use hartrace_decoder::calls::{Frame, Note, Visit};
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

/// Calls of a function by another one, and the instructions in these calls. A call of a function that is active already adds no
/// instructions: those of the call that it is within contain them.
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
    /// When it was entered, and how many instructions it had executed when it was resumed.
    entered: u64,
    before: u64,
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

    /// A function is active from here on; returns its place.
    fn activate(&mut self, frame: &Frame, at: u64, [entered, before]: Note) -> usize {
        self.count(at);
        let callee = Callee::from(frame);
        let inside = match callee {
            Callee::Function(_) => None,
            Callee::Inlined(_) => self.active.last().map(|top| top.code),
        };
        let function = self.place(callee, inside);
        let code = inside.unwrap_or(function);
        self.active.push(Active { function, code, since: at, entered, before });
        if let Some(cost) = self.functions.get_mut(function) {
            cost.active = cost.active.saturating_add(1);
        }
        function
    }
}

impl Visit for Costs {
    fn enter(&mut self, frame: &Frame, at: u64) {
        let caller = self.active.last().map(|caller| caller.function);
        let function = self.activate(frame, at, [at, 0]);
        // What is inlined is not called.
        if Callee::from(frame).is_inlined() {
            return;
        }
        let times = self.turns.all(1);
        if let Some(cost) = self.functions.get_mut(function) {
            cost.calls = cost.calls.saturating_add(times);
        }
        if let Some(caller) = caller {
            let sum = self.calls.entry((caller, function)).or_default();
            sum.times = sum.times.saturating_add(times);
        }
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.suspend(frame, at);
    }

    fn suspend(&mut self, _: &Frame, at: u64) -> Note {
        self.count(at);
        let Some(Active { function, since, entered, before, .. }) = self.active.pop() else {
            return Note::default();
        };
        self.fewest = self.fewest.min(self.active.len());
        let insns = at.saturating_sub(since);
        let length = before.saturating_add(insns);
        let mut is_outermost = false;
        if let Some(cost) = self.functions.get_mut(function) {
            cost.active = cost.active.saturating_sub(1);
            is_outermost = cost.active == 0;
            if is_outermost {
                cost.total = cost.total.saturating_add(self.turns.all(insns));
            }
            if length > cost.longest.1 {
                cost.longest = (entered, length);
            }
        }
        if let Some(caller) = self.active.last() {
            let sum = self.calls.entry((caller.function, function)).or_default();
            if is_outermost {
                sum.insns = sum.insns.saturating_add(self.turns.all(insns));
            }
        }
        [entered, length]
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        self.activate(frame, at, note.unwrap_or([at, 0]));
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
            active.entered = active.entered.saturating_add(self.turns.more);
        }
        self.counted = self.turns.end(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::calls::Why;

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
        costs.resume(&main, 0, None);
        costs.enter(&other, 10);
        costs.enter(&other, 15);
        costs.leave(&other, 18);
        costs.leave(&other, 30);
        costs.leave(&main, 31);
        assert_eq!(cost(&mut costs, 1), (11, 31, 0, (0, 31)));
        assert_eq!(cost(&mut costs, 2), (20, 20, 2, (10, 20)));
        assert_eq!(costs.calls[&(0, 1)], Called { times: 1, insns: 20 });
        assert_eq!(costs.calls[&(1, 1)], Called { times: 1, insns: 0 });
        let mut both = costs.clone();
        both.merge(&costs);
        assert_eq!(cost(&mut both, 2), (40, 40, 4, (10, 20)));
        assert_eq!(both.calls[&(0, 1)], Called { times: 2, insns: 40 });
    }

    #[test]
    fn a_function_that_waits_is_called_once_and_its_length_is_what_it_executed() {
        let mut costs = Costs::default();
        let (main, other) = (frame(1, Why::Unknown), frame(2, Why::Call));
        costs.resume(&main, 0, None);
        costs.enter(&other, 3);
        let notes = [costs.suspend(&other, 10), costs.suspend(&main, 10)];
        costs.resume(&main, 50, Some(notes[1]));
        costs.resume(&other, 50, Some(notes[0]));
        costs.leave(&other, 60);
        costs.leave(&main, 61);
        assert_eq!(cost(&mut costs, 1), (4, 21, 0, (0, 21)));
        assert_eq!(cost(&mut costs, 2), (17, 17, 1, (3, 17)));
        assert_eq!(costs.calls[&(0, 1)], Called { times: 1, insns: 17 });
    }
}
