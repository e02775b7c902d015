//! Restricts a trace to a stretch before it is collected.

use crate::limits::{Limits, Unreached};
use crate::report::Collect;
use hartrace_capture::perf::Placed;
use hartrace_decoder::{Event, Path, Run, Sink, StreamPos};
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
    pub limits: Option<&'l Shared>,
    /// Where the trace is in its file.
    pub placed: Placed<'l>,
}

impl<S> Limited<'_, S> {
    /// Whether nothing more will be reported.
    pub(crate) fn is_done(&self) -> bool {
        self.limits.is_some_and(Shared::is_done)
    }

    /// Whether everything is passed on as it is, which is nearly always so.
    #[inline]
    fn is_open(&self) -> bool {
        self.limits.is_none() && self.placed.is_whole()
    }
}

impl<S: Collect> Limited<'_, S> {
    /// Passes on what is within the limits. Apart from [`Sink::run`], which stays short.
    #[inline(never)]
    fn run_within(&mut self, at: StreamPos, run: Run<'_>) {
        let at = self.placed.place(at);
        let Some(limits) = self.limits else { return self.sink.run(at, run) };
        let range = limits.lock().take(at, run.insns() as usize);
        if let Some(run) = run.cut(range) {
            self.sink.run(at, run);
        }
    }
}

impl<S: Collect> Sink for Limited<'_, S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;

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
        if limits.admits(at) {
            self.sink.event(at, event);
        } else if !limits.is_done() {
            self.sink.aside(at, event);
        }
    }
}
