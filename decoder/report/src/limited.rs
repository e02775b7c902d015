//! Restricts a trace to a stretch before it is collected.

use crate::collect::Collect;
use crate::limits::{LeftOut, Limits, Unreached};
use crate::turn::{KeptRun, KeptTurn};
use hartrace_capture::perf::Placed;
use hartrace_decoder::{Event, Path, Run, Sink, StreamPos};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limits that the sinks of one thread share, one after the other.
#[derive(Debug)]
pub struct SharedLimits(Mutex<Limits>);

impl SharedLimits {
    /// The limits, with nothing seen so far.
    pub fn new(limits: Limits) -> Self {
        Self(Mutex::new(limits))
    }

    fn lock(&self) -> MutexGuard<'_, Limits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing more will be reported.
    pub fn is_done(&self) -> bool {
        self.lock().is_done()
    }

    /// The number of the first instruction that is reported: see [`Limits::first`].
    pub fn first(&self) -> Option<u64> {
        self.lock().first()
    }

    /// Why nothing was reported, if the start has not been reached.
    pub fn unreached(&self) -> Option<Unreached> {
        self.lock().unreached()
    }
}

/// Passes on what is within limits, if there are any, with its position in the file.
#[derive(Debug)]
pub struct Limited<'l, S> {
    /// The sink for everything within the limits.
    pub sink: S,
    /// The limits, which other sinks share.
    pub limits: Option<&'l SharedLimits>,
    /// Where the trace is in its file.
    pub placed: Placed<'l>,
    /// The turn of a loop that is being reported, if there are limits.
    turn: KeptTurn,
}

impl<'l, S> Limited<'l, S> {
    /// Passes on what is within limits.
    pub fn new(sink: S, limits: Option<&'l SharedLimits>, placed: Placed<'l>) -> Self {
        Self { sink, limits, placed, turn: KeptTurn::default() }
    }
}

impl<S> Limited<'_, S> {
    /// Whether nothing more will be reported.
    pub(crate) fn is_done(&self) -> bool {
        self.limits.is_some_and(SharedLimits::is_done)
    }

    /// Whether everything is passed on as it is, which is nearly always so.
    #[inline]
    fn is_open(&self) -> bool {
        self.limits.is_none() && self.placed.is_whole()
    }
}

/// Tells what is left out, if anything is.
fn leave_out(sink: &mut impl Sink, at: StreamPos, LeftOut { insns, resumes }: LeftOut) {
    if insns > 0 {
        sink.event(at, Event::LeftOut { insns, resumes });
    }
}

impl<S: Collect> Limited<'_, S> {
    /// Passes on what is within the limits. Apart from [`Sink::run`], which stays short.
    #[inline(never)]
    fn run_within(&mut self, at: StreamPos, run: Run<'_>) {
        let at = self.placed.place(at);
        let Some(limits) = self.limits else { return self.sink.run(at, run) };
        limits.lock().take(at, run.insns() as usize, &mut |range, left_out| {
            leave_out(&mut self.sink, at, left_out);
            if let Some(run) = run.cut(range) {
                self.sink.run(at, run);
            }
        });
    }
}

impl<S: Collect> Limited<'_, S> {
    /// Passes on turns of a loop: together, except for those that a limit is in.
    fn end_limited_turn(&mut self, limits: &SharedLimits) {
        let KeptTurn { at, runs, times } = std::mem::take(&mut self.turn);
        let insns = runs.iter().fold(0u64, |sum, run| sum.saturating_add(run.insns()));
        let place = self.placed.place(at);
        let mut left = times;
        while left > 0 && !limits.is_done() {
            let whole = limits.lock().distance().checked_div(insns).unwrap_or(0).min(left);
            if whole == 0 {
                runs.iter().filter_map(KeptRun::run).for_each(|run| self.run_within(at, run));
            } else if let Some(left_out) = limits.lock().take_turns(place, insns, whole) {
                leave_out(&mut self.sink, place, left_out);
                let all = runs.iter().filter_map(KeptRun::run);
                all.for_each(|run| self.sink.repeat(place, run, whole));
                self.sink.end_turn();
            }
            left = left.saturating_sub(whole.max(1));
        }
    }
}

impl<S: Collect> Sink for Limited<'_, S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;
    const REPEATS: bool = S::REPEATS;

    fn repeats(&self) -> bool {
        self.sink.repeats()
    }

    #[inline]
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        match self.is_open() {
            true => self.sink.run(at, run),
            false => self.run_within(at, run),
        }
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        match self.is_open() {
            true => self.sink.path(at, path),
            false => path.runs().for_each(|run| self.run_within(at, run)),
        }
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        match self.limits {
            None => self.sink.repeat(self.placed.place(at), run, times),
            Some(_) => self.turn.push(at, run, times),
        }
    }

    fn end_turn(&mut self) {
        match self.limits {
            None => self.sink.end_turn(),
            Some(limits) => self.end_limited_turn(limits),
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.sink.is_full() || self.is_done()
    }

    fn bytes(&self) -> Option<usize> {
        self.sink.bytes()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let at = self.placed.place(at);
        let Some(limits) = self.limits else { return self.sink.event(at, event) };
        let mut limits = limits.lock();
        if limits.is_done() {
            return;
        }
        if limits.admits(at, Some(&event)) {
            leave_out(&mut self.sink, at, limits.left_out_before());
            self.sink.event(at, event);
        } else if !limits.is_done() {
            self.sink.aside(at, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::{report, trace};
    use crate::limits::Position;
    use hartrace_decoder::{Count, Edges};
    use hartrace_tests::case::Dice;

    /// Limits may be anywhere in the turns of a loop that a trace only counts.
    #[test]
    fn limits_among_counted_turns() {
        let mut some = 0;
        for seed in 0..300 {
            let dice = &mut Dice::new(seed);
            let trace = trace(dice, 300);
            let mut all = Count::default();
            report(&trace, false, &mut all);
            let (from, to) = (dice.range(0, all.instructions), dice.range(0, all.instructions));
            let position =
                |number: u64| (!number.is_multiple_of(3)).then_some(Position::Insn(number));
            let (from, to) = (position(from.min(to)), position(to.max(from) + 1));
            let [each, counted] = [false, true].map(|counted| {
                let limits = Limits::new(from, to).expect("not empty").map(SharedLimits::new);
                let sink = Edges::default();
                let mut limited = Limited::new(sink, limits.as_ref(), Placed::default());
                report(&trace, counted, &mut limited);
                (limited.is_done(), limited.sink.sorted())
            });
            assert_eq!(each, counted, "seed {seed}, {from:?} to {to:?}: {trace:?}");
            some += u32::from(!each.1.is_empty());
        }
        assert!(some > 100, "{some} with edges");
    }
}
