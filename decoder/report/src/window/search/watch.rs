//! Watches the call stack for what a window asks for.

use super::ends::{Hit, ONCE, Turns};
use super::{Wanted, What};
use crate::calls::Callee;
use crate::limits::Span;
use hartrace_decoder::calls::{Frame, Note, Visit};
use hartrace_decoder::{Clock, Time};
use std::sync::Arc;

/// Stretches of a window that are kept.
pub(super) const MOST: usize = 1 << 23;

/// The function of `--in` becomes active, or no longer is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Toggle {
    at: u64,
    /// It only waits, or goes on after that.
    waits: bool,
}

/// Stretches that start and end in turn. The last one may go on to the end.
pub(super) fn spans(toggles: &[Toggle], total: u64) -> Arc<[Span]> {
    let mut spans: Vec<Span> = Vec::new();
    let mut waited = false;
    for pair in toggles.chunks(2) {
        let (start, end, waits) = match pair {
            [start, end] => (*start, end.at, end.waits),
            [start] => (*start, total, false),
            _ => continue,
        };
        let resumes = waited && start.waits;
        match spans.last_mut() {
            _ if start.at >= end => {}
            Some(last) if last.insns.end >= start.at && resumes => {
                last.insns.end = last.insns.end.max(end)
            }
            _ => spans.push(Span { insns: start.at..end, resumes }),
        }
        waited = waits;
    }
    spans.into()
}

/// Watches the call stack.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) wanted: Arc<Wanted>,
    pub(super) clock: Clock,
    pub(super) hits: Vec<Hit>,
    /// Where the function of `--in` becomes active, and where it no longer is, in turn.
    pub(super) toggles: Vec<Toggle>,
    /// Those before this are not changed any more.
    pub(super) fixed: usize,
    /// The active calls of it on the present stack, and whether they are asked for.
    pub(super) active: Vec<bool>,
    /// How many of them are.
    pub(super) depth: u64,
    /// How often it was entered.
    pub(super) calls: u64,
    pub(super) turns: Option<Repeated>,
    pub(super) too_many: bool,
    pub(super) unsure: bool,
}

/// Turns that are reported once.
#[derive(Copy, Clone, Debug)]
pub(super) struct Repeated {
    turns: Turns,
    hits: usize,
    calls: u64,
}

impl Watch {
    fn hit(&mut self, at: u64, is: impl Fn(&What) -> bool) {
        let ends = self.wanted.ends.iter().enumerate();
        let hits = ends.filter(|(_, want)| want.as_ref().is_some_and(|(what, _)| is(what)));
        self.hits.extend(hits.map(|(end, _)| Hit { at, end, turns: ONCE }));
    }

    /// Whether a frame is one of the function of `--in`.
    fn is_inside(&self, callee: Callee) -> bool {
        self.wanted.inside.as_ref().is_some_and(|(callees, _)| callees.contains(&callee))
    }

    fn toggle(&mut self, at: u64, waits: bool) {
        if self.toggles.len() < MOST {
            self.toggles.push(Toggle { at, waits });
        } else {
            self.too_many = true;
        }
    }

    fn push(&mut self, asked: bool, at: u64, waited: bool) {
        self.active.push(asked);
        if asked {
            if self.depth == 0 {
                self.toggle(at, waited);
            }
            self.depth = self.depth.saturating_add(1);
        }
    }

    /// Returns whether the call that is no longer active was asked for.
    fn pop(&mut self, frame: &Frame, at: u64, waits: bool) -> bool {
        if !self.is_inside(frame.into()) {
            return false;
        }
        let asked = self.active.pop().unwrap_or(false);
        if asked {
            self.depth = self.depth.saturating_sub(1);
            if self.depth == 0 {
                self.toggle(at, waits);
            }
        }
        asked
    }

    pub(super) fn call(&self) -> Option<u64> {
        self.wanted.inside.as_ref().and_then(|(_, call)| *call)
    }
}

impl Visit for Watch {
    const ONE_BY_ONE: u64 = 1 << 12;

    fn enter(&mut self, frame: &Frame, at: u64) {
        let callee = Callee::from(frame);
        self.hit(at, |what| matches!(what, What::Function(callees) if callees.contains(&callee)));
        if self.is_inside(callee) {
            self.calls = self.calls.saturating_add(1);
            let asked = self.call().is_none_or(|call| call == self.calls);
            self.push(asked, at, false);
        }
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.pop(frame, at, false);
    }

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        [self.pop(frame, at, true).into(), 0]
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        if self.is_inside(frame.into()) {
            // Of a call that was active before the trace, the number is not known.
            let asked = note.map_or(self.call().is_none(), |[asked, _]| asked != 0);
            self.push(asked, at, note.is_some());
        }
    }

    fn begin_turns(&mut self, start: u64, times: u64, more: u64) {
        let period = more.checked_div(times.saturating_sub(1)).unwrap_or(0);
        let (hits, calls) = (self.hits.len(), self.calls);
        self.turns = Some(Repeated { turns: Turns { start, times, period }, hits, calls });
        self.fixed = self.toggles.len();
    }

    fn end_turns(&mut self, _: u64) {
        let Some(Repeated { turns, hits, calls }) = self.turns.take() else { return };
        for hit in self.hits.iter_mut().skip(hits) {
            hit.turns = turns;
        }
        let again = turns.times.saturating_sub(1);
        let entered = self.calls.saturating_sub(calls).saturating_mul(again);
        match self.call() {
            None => {
                let turn = self.toggles.get(self.fixed..).unwrap_or_default().to_vec();
                let more = (turn.len() as u64).saturating_mul(again);
                let room = MOST.saturating_sub(self.toggles.len()) as u64;
                self.too_many |= more > room;
                if more > 0 && more <= room {
                    for n in 1..turns.times {
                        let later = n.saturating_mul(turns.period);
                        self.toggles.extend(turn.iter().map(|toggle| Toggle {
                            at: toggle.at.saturating_add(later),
                            ..*toggle
                        }));
                    }
                }
            }
            Some(call) => {
                self.unsure |= call > self.calls && call <= self.calls.saturating_add(entered);
            }
        }
        self.calls = self.calls.saturating_add(entered);
        self.fixed = self.toggles.len();
    }

    fn time(&mut self, time: Time, at: u64) {
        if let Some(now) = self.clock.take(time) {
            self.hit(at, |what| matches!(what, What::Time(time) if *time <= now));
        }
    }

    fn on(&mut self, at: u64) {
        self.hit(at, |what| matches!(what, What::On));
    }

    fn trigger(&mut self, at: u64) {
        self.hit(at, |what| matches!(what, What::Trigger));
    }
}
