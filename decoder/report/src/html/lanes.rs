//! A timeline of calls that stays small, however long the trace is.

use crate::calls::{Callee, Turns};
use hartrace_decoder::calls::{Frame, Note, Visit};
use std::collections::BTreeMap;

/// Deeper calls are not drawn.
const ROWS: usize = 256;

/// Contexts of a source that have a lane. The calls of any further one are not drawn.
const LANES: usize = 64;

/// The shortest call that is kept when there are too many of them.
const FIRST_THRESHOLD: u64 = 16;

/// A call, or several short calls of one row that are drawn together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) row: u16,
    /// The function; of several, the one that executed more than half, if there is one. A gap has none.
    pub(super) function: Option<Callee>,
    /// Calls that start here. Where a function goes on after it has waited, there is none.
    pub(super) calls: u64,
    /// Instructions in these calls.
    pub(super) busy: u64,
    /// Instructions in those of `function`, at least: by how many more than others it leads, or all if there are no others.
    pub(super) most: u64,
}

impl Span {
    fn is_long(&self, threshold: u64) -> bool {
        self.calls <= 1 && self.busy >= threshold
    }

    fn add(&mut self, next: &Self) {
        self.end = self.end.max(next.end);
        self.calls = self.calls.saturating_add(next.calls);
        self.busy = self.busy.saturating_add(next.busy);
        // A majority vote: what executed more than half is found, whatever the order.
        if self.function == next.function {
            self.most = self.most.saturating_add(next.most);
        } else if next.most > self.most {
            (self.function, self.most) = (next.function, next.most.saturating_sub(self.most));
        } else {
            self.most = self.most.saturating_sub(next.most);
        }
    }
}

/// The calls of a context. Those that are shorter than a threshold are joined with their neighbours.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) spans: Vec<Span>,
    /// The last span of each row, if a short call may still be joined with it.
    last: Vec<usize>,
}

impl Lane {
    /// Adds a call. Calls come in the order of their ends or, after sorting, of their starts.
    fn add(&mut self, span: Span, threshold: u64) {
        let row = usize::from(span.row);
        if let Some(last) = self.last.get(row).and_then(|last| self.spans.get_mut(*last))
            && !span.is_long(threshold)
            && !last.is_long(threshold)
            && span.start.saturating_sub(last.end) < threshold
        {
            last.add(&span);
            return;
        }
        // What the next call calls is not joined with what this one has called.
        self.last.truncate(row.saturating_add(1));
        // A row is new if nothing was called in it yet, or since the rows above have changed; such a place leads nowhere.
        self.last.resize(row.saturating_add(1), usize::MAX);
        if let Some(last) = self.last.get_mut(row) {
            *last = self.spans.len();
        }
        self.spans.push(span);
    }

    /// Sorts by start, and joins what is shorter than a threshold.
    fn join(&mut self, threshold: u64) {
        let mut spans = std::mem::take(&mut self.spans);
        spans.sort_unstable_by_key(|span| (span.start, span.row));
        self.last.clear();
        spans.into_iter().for_each(|span| self.add(span, threshold));
        self.last.clear();
    }
}

/// The calls of a source.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    /// By context.
    pub(super) lanes: BTreeMap<u64, Lane>,
    pub(super) gaps: Lane,
    /// Calls that are not drawn, since they are too deep or of too many contexts.
    pub(super) left_out: u64,
    context: u64,
    /// Functions that are active, with the number of instructions before each, and whether they were called there.
    open: Vec<(Callee, u64, bool)>,
    threshold: u64,
    turns: Turns,
    /// The fewest active functions since the turns began.
    fewest: usize,
}

impl Lanes {
    /// Number of spans.
    pub(super) fn len(&self) -> usize {
        let lanes = self.lanes.values().chain([&self.gaps]);
        lanes.fold(0, |sum: usize, lane| sum.saturating_add(lane.spans.len()))
    }

    /// Calls of at least this many instructions are spans of their own.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Joins what is shorter than a threshold.
    pub(super) fn join(&mut self, threshold: u64) {
        self.threshold = threshold;
        self.lanes.values_mut().for_each(|lane| lane.join(threshold));
        self.gaps.join(threshold);
    }

    /// Joins until there are at most `room` spans.
    pub(super) fn fit(&mut self, room: usize) {
        while self.len() > room && self.threshold < u64::MAX {
            self.join(higher(self.threshold));
        }
    }

    fn add(&mut self, span: Span) {
        let may = self.lanes.len() < LANES || self.lanes.contains_key(&self.context);
        if !may || usize::from(span.row) >= ROWS {
            self.left_out = self.left_out.saturating_add(span.calls);
            return;
        }
        self.lanes.entry(self.context).or_default().add(span, self.threshold);
    }
}

/// The next threshold.
pub(super) fn higher(threshold: u64) -> u64 {
    threshold.saturating_mul(2).max(FIRST_THRESHOLD)
}

impl Visit for Lanes {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.open.push((frame.into(), at, true));
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        let Some((function, start, called)) = self.open.pop() else { return };
        self.fewest = self.fewest.min(self.open.len());
        if !called && start == at {
            return; // It waits until the end of the trace, or for another thread that waits at once.
        }
        let row = u16::try_from(self.open.len()).unwrap_or(u16::MAX);
        let busy = self.turns.all(at.saturating_sub(start));
        // Calls of all turns are drawn together.
        let end = at.saturating_add(self.turns.more);
        let calls = self.turns.all(called.into());
        self.add(Span { start, end, row, function: Some(function), calls, busy, most: busy });
    }

    fn resume(&mut self, frame: &Frame, at: u64, _: Option<Note>) {
        self.open.push((frame.into(), at, false));
    }

    fn begin_turns(&mut self, _: u64, times: u64, more: u64) {
        (self.turns, self.fewest) = (Turns::begin(times, more), self.open.len());
    }

    fn end_turns(&mut self, at: u64) {
        // What the first turn has entered, and not left, was entered by the last.
        for (_, since, _) in self.open.iter_mut().skip(self.fewest) {
            *since = since.saturating_add(self.turns.more);
        }
        self.turns.end(at);
    }

    fn context(&mut self, context: u64, _: u64) {
        self.context = context;
    }

    fn gap(&mut self, at: u64) {
        let (row, function, calls, busy, most) = (0, None, 1, 0, 0);
        let gap = Span { start: at, end: at, row, function, calls, busy, most };
        self.gaps.add(gap, self.threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::calls::Why;

    fn frame(function: u64) -> Frame {
        Frame { function, returns: None, why: Why::Call }
    }

    /// `main` calls a short function a thousand times, then a long one.
    fn lanes() -> Lanes {
        let mut lanes = Lanes::default();
        lanes.enter(&frame(1), 0);
        for turn in 0..1000 {
            lanes.enter(&frame(2), 10 * turn + 2);
            lanes.leave(&frame(2), 10 * turn + 8);
        }
        lanes.enter(&frame(3), 10_000);
        lanes.leave(&frame(3), 20_000);
        lanes.gap(20_000);
        lanes.leave(&frame(1), 20_001);
        lanes
    }

    #[test]
    fn short_calls_are_joined_and_nothing_is_lost() {
        let mut lanes = lanes();
        assert_eq!(lanes.len(), 1003);
        lanes.fit(10);
        assert_eq!(lanes.threshold(), 16);
        let span = |start, end, row, function: Option<u64>, calls, busy| Span {
            start,
            end,
            row,
            function: function.map(Callee::from),
            calls,
            busy,
            most: busy,
        };
        assert_eq!(
            lanes.lanes[&0].spans,
            [
                span(0, 20_001, 0, Some(1), 1, 20_001),
                span(2, 9998, 1, Some(2), 1000, 6000),
                span(10_000, 20_000, 1, Some(3), 1, 10_000),
            ]
        );
        assert_eq!(lanes.gaps.spans, [span(20_000, 20_000, 0, None, 1, 0)]);
    }

    #[test]
    fn calls_that_come_later_are_joined_as_well() {
        let mut lanes = lanes();
        lanes.fit(10);
        for turn in 0..500 {
            // Of three calls, two are of one function.
            lanes.enter(&frame(4 + u64::from(turn % 3 == 0)), 30_000 + 4 * turn);
            lanes.leave(&frame(0), 30_003 + 4 * turn);
        }
        let last = *lanes.lanes[&0].spans.last().unwrap();
        assert_eq!((last.start, last.end, last.row), (30_000, 31_999, 0));
        assert_eq!((last.function, last.calls, last.busy), (Some(Callee::from(4)), 500, 1500));
        // 333 calls of it with 3 instructions each, and 167 of the other.
        assert_eq!(last.most, 3 * (333 - 167));
    }

    #[test]
    fn any_trace_fits() {
        let (mut lanes, mut calls) = (Lanes::default(), 0);
        let mut random = 1u64;
        for at in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match random >> 60 {
                0..7 => lanes.enter(&frame(random >> 40 & 7), at),
                7..14 if !lanes.open.is_empty() => {
                    lanes.leave(&frame(0), at);
                    calls += 1;
                }
                14 => lanes.gap(at),
                15 if lanes.open.is_empty() => lanes.context(random >> 50 & 3, at),
                _ => {}
            }
            if lanes.len() > 1000 {
                lanes.fit(1000);
            }
        }
        let spans = lanes.lanes.values().flat_map(|lane| &lane.spans);
        let kept: u64 = spans.map(|span| span.calls).sum();
        assert!(lanes.len() <= 1000 && lanes.threshold() > 16, "{}", lanes.len());
        assert_eq!(kept + lanes.left_out, calls);
    }

    #[test]
    fn too_deep() {
        let mut lanes = Lanes::default();
        (0..300).for_each(|at| lanes.enter(&frame(1), at));
        (0..300).for_each(|at| lanes.leave(&frame(1), 300 + at));
        assert_eq!((lanes.len(), lanes.left_out), (256, 44));
    }
}
