//! A stretch of a trace, before it is collected.

use crate::limits::Limits;
use crate::part::Part;
use crate::sums::Noted;
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes what is printed, and is told of events that are not.
pub(crate) trait Collect: Sink + Send {
    /// Something happened outside of what is printed.
    fn aside(&mut self, at: StreamPos, event: Event);
}

impl<S: Sink + Send> Collect for Noted<S> {
    fn aside(&mut self, at: StreamPos, event: Event) {
        self.note(at, event);
    }
}

impl Collect for Part {
    fn aside(&mut self, at: StreamPos, event: Event) {
        Self::aside(self, at, event);
    }
}

/// Limits that the sinks of one thread share, one after the other.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Limits>);

impl Shared {
    pub(crate) fn new(limits: Limits) -> Self {
        Self(Mutex::new(limits))
    }

    fn lock(&self) -> MutexGuard<'_, Limits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing will be printed any more.
    pub(crate) fn is_done(&self) -> bool {
        self.lock().is_done()
    }
}

/// Passes on what is within limits.
#[derive(Debug)]
pub(crate) struct Limited<'l, S> {
    pub(crate) sink: S,
    pub(crate) limits: &'l Shared,
}

impl<S: Collect> Sink for Limited<'_, S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let range = self.limits.lock().take(at, run.insns() as usize);
        if let Some(run) = run.cut(range) {
            self.sink.run(at, run);
        }
    }

    fn is_full(&self) -> bool {
        self.sink.is_full() || self.limits.is_done()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let mut limits = self.limits.lock();
        if limits.is_done() {
            return;
        }
        if limits.admits(at) {
            self.sink.event(at, event);
        } else if !limits.is_done() {
            self.sink.aside(at, event);
        }
    }
}
