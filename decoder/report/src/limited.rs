//! Restricts a trace to a stretch before it is collected.

use crate::limits::Limits;
use crate::report::Collect;
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limits that the sinks of one thread share, one after the other.
#[derive(Debug)]
pub struct Shared(Mutex<Limits>);

impl Shared {
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
}

/// Passes on what is within limits.
#[derive(Debug)]
pub struct Limited<'l, S> {
    /// The sink for everything within the limits.
    pub sink: S,
    /// The limits, which other sinks share.
    pub limits: &'l Shared,
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
