//! Processes events in order, and determines what existed when.

use crate::log::Written;
use crate::span::Spans;
use crate::{Event, Image, State};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A patch: its time span, address, length and code.
pub(crate) type Patch = (Range<u64>, u64, u64, Written);

/// The state after some of the events.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) processes: BTreeMap<u64, Known>,
    pub(crate) threads: Names,
    pub(crate) asids: Names,
}

/// The state of one process.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// By base address and image.
    pub(crate) mapped: BTreeMap<(u64, Image), Spans>,
    pub(crate) patches: Vec<Patch>,
    /// Entries of `mapped` that may still exist.
    open: BTreeSet<(u64, Image)>,
    /// Number of patches that have ended.
    gone: usize,
    /// The last time at which a process with this number ended.
    ended: u64,
}

impl Build {
    pub(crate) fn take(&mut self, now: u64, event: &Event) {
        match event {
            Event::Mapped { state, process, pid, base, image } => {
                let known = self.processes.entry(*pid).or_default();
                let key = (*base, image.clone());
                known.mapped.entry(key.clone()).or_default().take(*state, now, known.ended);
                known.open.insert(key);
                if *process && *state == State::End {
                    known.end(now);
                    self.threads.end(*pid, now);
                    self.asids.end(*pid, now);
                }
            }
            Event::Thread { state, tid, pid } => self.threads.take(*state, *tid, *pid, now),
            Event::Asid { state, asid, pid } => self.asids.take(*state, *asid, *pid, now),
            Event::Patch { pid, start, length, code } => {
                let patch = (now..u64::MAX, *start, *length, code.clone());
                self.processes.entry(*pid).or_default().patches.push(patch);
            }
        }
    }
}

impl Known {
    /// Ends the process and everything that belongs to it.
    fn end(&mut self, now: u64) {
        for key in std::mem::take(&mut self.open) {
            self.mapped.entry(key).or_default().close(now);
        }
        for (when, ..) in self.patches.iter_mut().skip(self.gone) {
            when.end = when.end.min(now);
        }
        self.gone = self.patches.len();
        self.ended = now;
    }
}

/// The process that each number stands for; a number stands for at most one process at a time.
#[derive(Debug, Default)]
pub(crate) struct Names {
    spans: BTreeMap<(u64, u64), Spans>,
    /// The process that a number stands for now.
    current: BTreeMap<u64, u64>,
    /// The time at which a number last ceased to stand for a process.
    ended: BTreeMap<u64, u64>,
    /// The numbers that may stand for a process now.
    numbers: BTreeMap<u64, BTreeSet<u64>>,
}

impl Names {
    fn take(&mut self, state: State, number: u64, pid: u64, now: u64) {
        if state != State::End {
            if let Some(other) = self.current.insert(number, pid).filter(|other| *other != pid) {
                self.close(number, other, now);
            }
            self.numbers.entry(pid).or_default().insert(number);
        }
        let floor = self.ended.get(&number).copied().unwrap_or(0);
        self.spans.entry((number, pid)).or_default().take(state, now, floor);
        if state == State::End {
            if self.current.get(&number) == Some(&pid) {
                self.current.remove(&number);
            }
            self.ended.insert(number, now);
        }
    }

    /// Ends a process.
    fn end(&mut self, pid: u64, now: u64) {
        for number in self.numbers.remove(&pid).unwrap_or_default() {
            if self.current.get(&number) == Some(&pid) {
                self.current.remove(&number);
                self.close(number, pid, now);
            }
        }
    }

    fn close(&mut self, number: u64, pid: u64, now: u64) {
        self.spans.entry((number, pid)).or_default().close(now);
        self.ended.insert(number, now);
    }

    /// For every number, the processes that it stands for, with their time spans.
    pub(crate) fn all(self) -> BTreeMap<u64, Vec<(u64, Range<u64>)>> {
        let mut all = BTreeMap::<_, Vec<_>>::new();
        for ((number, pid), spans) in self.spans {
            all.entry(number).or_default().extend(spans.iter().map(|when| (pid, when)));
        }
        for spans in all.values_mut() {
            spans.sort_by_key(|(_, when)| when.start);
        }
        all
    }
}
