//! Calls in order, with their times.

use super::{Callee, TURNS_DRAWN, Turns};
use hartrace_decoder::calls::{Frame, Note, Visit};
use hartrace_decoder::{Clock, Time, Unit};

/// What may wait for the next reading of the clock.
const WAITING: usize = 1 << 16;

/// What happened, and when.
///
/// A trace tells the time here and there. What happened at such a place has an exact time; what happened between two of
/// them has one in proportion to the instructions. Next to a gap, time passes as it did before it.
#[derive(Debug, Default)]
pub struct Log {
    clock: Clock,
    /// The last reading of the clock.
    last: Option<Reading>,
    /// What the next one was the last time: ticks and instructions from one to the other.
    pace: (u64, u64),
    /// Something is missing after the last reading.
    gap: bool,
    /// What happened after the last reading, and after how many instructions.
    waiting: Vec<(u64, Happened)>,
    /// Everything before.
    done: Vec<(When, Happened)>,
    /// The time of the last of these.
    now: u64,
    /// By how much a clock that went back is ahead of what it says.
    ahead: u64,
    /// Turns of a loop that are one entry.
    turns: Option<Together>,
}

/// Turns of a loop that are one entry.
#[derive(Debug)]
struct Together {
    /// Instructions before them.
    start: u64,
    turns: Turns,
    /// What the first turn has entered or resumed, and not left.
    begun: Vec<Happened>,
    /// Anything is entered or left.
    changes: bool,
}

/// When something happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) time: u64,
    /// The trace tells this time; otherwise it is between two that it tells.
    pub(super) exact: bool,
}

/// Something that happened to a call stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Enter(Callee),
    Leave(Callee),
    /// A function waits. If another context runs next, it waits for its own; otherwise for its thread.
    Suspend(Callee),
    /// A function goes on that has waited, or that is active though no call of it is known.
    Resume(Callee),
    /// So many turns of a loop follow, with calls that are not listed.
    EnterTurns(u64),
    LeaveTurns(u64),
    /// Another context runs.
    Context(u64),
    /// Part of the trace is missing.
    Gap,
    /// The clock went back. Times continue from where they were.
    Back,
}

/// The name of turns that are one entry.
pub(super) fn more_turns(times: u64) -> String {
    format!("{times} more turns")
}

/// A reading of the clock.
#[derive(Copy, Clone, Debug)]
struct Reading {
    time: u64,
    /// The number of instructions before it.
    at: u64,
}

impl Log {
    /// Times are in `unit`; without one, in that of the clock that is read first. If it is never read, they are in
    /// instructions.
    pub(super) fn new(unit: Option<Unit>) -> Self {
        Self { clock: unit.map_or_else(Clock::default, Clock::of), ..Self::default() }
    }

    /// What times are counted in. Known as soon as anything can be taken.
    pub(super) fn unit(&self) -> Unit {
        self.clock.unit().unwrap_or_default()
    }

    /// Takes what has a time.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, (When, Happened)> {
        self.done.drain(..)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Ends the trace after `at` instructions, and returns the time.
    pub(super) fn finish(&mut self, at: u64) -> u64 {
        self.settle(None);
        match (self.unit(), self.last) {
            (Unit::Instructions, _) | (_, None) => at,
            _ => self.now,
        }
    }

    fn push(&mut self, at: u64, happened: Happened) {
        if self.clock.unit() == Some(Unit::Instructions) {
            self.done.push((When { time: at, exact: true }, happened));
            return;
        }
        self.waiting.push((at, happened));
        if self.waiting.len() >= WAITING {
            self.settle(None);
        }
    }

    /// Gives a time to everything that waits, up to the next reading if there is one.
    fn settle(&mut self, next: Option<Reading>) {
        if self.last.is_none() && next.is_none() {
            // There is no clock, or it is read much too late.
            self.clock = Clock::of(Unit::Instructions);
        }
        let waiting = std::mem::take(&mut self.waiting);
        let broken = self.gap || waiting.iter().any(|(_, happened)| *happened == Happened::Gap);
        for (at, happened) in waiting {
            let When { time, exact } = self.when(at, next, broken);
            self.gap |= happened == Happened::Gap;
            self.now = self.now.max(time);
            self.done.push((When { time: self.now, exact }, happened));
        }
    }

    /// When something happened. If it is `broken`, there is a gap between the last reading and the next.
    fn when(&self, at: u64, next: Option<Reading>, broken: bool) -> When {
        let since = |reading: Reading| at.saturating_sub(reading.at);
        let until = |reading: Reading| reading.at.saturating_sub(at);
        let (ticks, insns) = if self.pace.1 == 0 { (1, 1) } else { self.pace };
        let pace = |passed: u64| share(passed, ticks, insns);
        let time = match (self.last, next) {
            (None, None) => at,
            (None, Some(next)) => next.time.saturating_sub(until(next)),
            (Some(last), Some(next)) if !broken => {
                let (ticks, insns) =
                    (next.time.saturating_sub(last.time), next.at.saturating_sub(last.at));
                last.time.saturating_add(share(since(last), ticks, insns))
            }
            (Some(last), Some(next)) if !self.gap => {
                last.time.saturating_add(pace(since(last))).min(next.time)
            }
            (Some(last), Some(next)) => next.time.saturating_sub(pace(until(next))).max(last.time),
            (Some(last), None) => last.time.saturating_add(pace(since(last))),
        };
        let told = |reading: Option<Reading>| reading.is_some_and(|reading| reading.at == at);
        When { time, exact: told(self.last) || told(next) }
    }
}

/// `ticks` in proportion to `passed` of all `insns`.
fn share(passed: u64, ticks: u64, insns: u64) -> u64 {
    let product = u128::from(passed).saturating_mul(ticks.into());
    let share = product.checked_div(insns.into()).unwrap_or(0);
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl Log {
    fn begin(&mut self, at: u64, begins: Happened) {
        match &mut self.turns {
            Some(together) => {
                together.begun.push(begins);
                together.changes = true;
            }
            None => self.push(at, begins),
        }
    }

    fn end(&mut self, at: u64, ends: Happened) {
        let mut at = at;
        if let Some(together) = &mut self.turns {
            together.changes = true;
            if together.begun.pop().is_some() {
                return;
            }
            // It was entered before the turns, and left by the first.
            at = together.start;
        }
        self.push(at, ends);
    }
}

impl Visit for Log {
    const ONE_BY_ONE: u64 = TURNS_DRAWN;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.begin(at, Happened::Enter(frame.into()));
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.end(at, Happened::Leave(frame.into()));
    }

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        self.end(at, Happened::Suspend(frame.into()));
        Note::default()
    }

    fn resume(&mut self, frame: &Frame, at: u64, _: Option<Note>) {
        self.begin(at, Happened::Resume(frame.into()));
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        let turns = Turns::begin(times, more);
        let begun = Vec::new();
        self.turns = Some(Together { start: at, turns, begun, changes: false });
    }

    fn end_turns(&mut self, at: u64) {
        let Some(Together { start, mut turns, begun, changes }) = self.turns.take() else {
            return;
        };
        if changes {
            let times = turns.times;
            let end = turns.end(at);
            self.push(start, Happened::EnterTurns(times));
            self.push(end, Happened::LeaveTurns(times));
            begun.into_iter().for_each(|begins| self.push(end, begins));
        }
    }

    fn context(&mut self, context: u64, at: u64) {
        self.push(at, Happened::Context(context));
    }

    fn gap(&mut self, at: u64) {
        self.push(at, Happened::Gap);
    }

    fn time(&mut self, time: Time, at: u64) {
        let Some(time) = self.clock.take(time) else { return };
        let told = time.saturating_add(self.ahead);
        if self.last.is_some_and(|last| told < last.time) || told < self.now {
            self.settle(None);
            self.done.push((When { time: self.now, exact: false }, Happened::Back));
            self.ahead = self.now.saturating_sub(time);
        }
        let next = Reading { time: time.saturating_add(self.ahead), at };
        self.settle(Some(next));
        if let Some(last) = self.last
            && !self.gap
            && at > last.at
        {
            self.pace = (next.time.saturating_sub(last.time), at.saturating_sub(last.at));
        }
        (self.last, self.gap) = (Some(next), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::calls::Why;

    fn stamp(value: u64) -> Time {
        Time::Stamp { value, bits: 40 }
    }

    /// Frames are entered after these many instructions; the clock is read where a time is given.
    fn times(log: &mut Log, steps: &[(u64, Option<u64>)], end: u64) -> Vec<(u64, bool)> {
        for (at, time) in steps {
            match time {
                Some(time) => log.time(stamp(*time), *at),
                None => log.enter(&Frame { function: 0, returns: None, why: Why::Call }, *at),
            }
        }
        log.finish(end);
        log.take().map(|(when, _)| (when.time, when.exact)).collect()
    }

    #[test]
    fn times_between_readings_are_in_proportion() {
        let mut log = Log::new(None);
        let steps = [
            (4, None),
            (10, Some(100)),
            (10, None),
            (15, None),
            (30, None),
            (30, Some(140)),
            (35, None),
        ];
        let expected = [(94, false), (100, true), (110, false), (140, true), (150, false)];
        assert_eq!(times(&mut log, &steps, 40), expected);
        assert_eq!(log.unit(), Unit::Ticks);
    }

    #[test]
    fn without_readings_instructions_are_counted() {
        let mut log = Log::new(None);
        assert_eq!(times(&mut log, &[(4, None), (9, None)], 10), [(4, false), (9, false)]);
        assert_eq!((log.unit(), log.finish(10)), (Unit::Instructions, 10));
        let mut log = Log::new(Some(Unit::Instructions));
        let steps = [(4, None), (5, Some(1000)), (9, None)];
        assert_eq!(times(&mut log, &steps, 10), [(4, true), (9, true)]);
    }

    #[test]
    fn nothing_is_in_proportion_across_a_gap() {
        let mut log = Log::new(None);
        // Three ticks for an instruction; then a million are lost.
        times(&mut log, &[(0, Some(0)), (10, Some(30)), (12, None)], 12);
        log.gap(12);
        let after = times(&mut log, &[(12, None), (13, Some(1_000_000)), (14, None)], 14);
        let expected = [(36, false), (999_997, false), (1_000_003, false)];
        assert_eq!(after, expected);
    }

    #[test]
    fn a_clock_that_goes_back_is_marked() {
        let mut log = Log::new(None);
        for (at, time) in [(0, 500), (10, 510), (20, 10), (30, 20)] {
            log.time(stamp(time), at);
            log.enter(&Frame { function: at, returns: None, why: Why::Call }, at);
        }
        log.finish(30);
        let all: Vec<_> = log.take().map(|(when, happened)| (when.time, happened)).collect();
        let enter = |time, function| (time, Happened::Enter(Callee::Function(function)));
        let back = (510, Happened::Back);
        assert_eq!(all, [enter(500, 0), enter(510, 10), back, enter(510, 20), enter(520, 30)]);
    }
}
