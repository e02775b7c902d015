//! Events, one after the other, to what was there when.

use crate::spaces::log::Written;
use crate::spaces::span::Spans;
use crate::spaces::{Event, Image, State};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A patch: when, where, how long, and what.
pub(crate) type Patch = (Range<u64>, u64, u64, Written);

/// What is known after some of the events.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) processes: BTreeMap<u64, Known>,
    pub(crate) threads: Names,
    pub(crate) asids: Names,
}

/// What is known of one process.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// By base address and image.
    pub(crate) mapped: BTreeMap<(u64, Image), Spans>,
    pub(crate) patches: Vec<Patch>,
    /// Those of `mapped` that may still be there.
    open: BTreeSet<(u64, Image)>,
    /// How many of the patches are gone.
    gone: usize,
    /// When a process with this number was last seen to end.
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
    /// The process ends, and with it all it has.
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

/// Which process a number stands for; it cannot stand for two at a time.
#[derive(Debug, Default)]
pub(crate) struct Names {
    spans: BTreeMap<(u64, u64), Spans>,
    /// The process that a number stands for now.
    current: BTreeMap<u64, u64>,
    /// When it last ceased to stand for one.
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

    /// A process ends.
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

    /// For every number, the processes that it stands for, and when.
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
