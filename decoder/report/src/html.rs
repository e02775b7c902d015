//! A page that shows a trace: one file, which any browser opens from disk.
//!
//! [`Html`] collects what the page shows while a capture is decoded, and [`Html::write`] writes it. The page has all data in
//! itself, as JSON, and needs no network.
//!
//! Its size is bounded, whatever the length of the trace: at most [`SPANS`] calls are drawn. If there are more, the
//! shortest are drawn together with their neighbours, which the page says.

mod anchors;
mod code;
mod costs;
mod doubts;
mod events;
mod flames;
mod graph;
mod lanes;
mod page;
mod roots;
mod safe;
mod tables;

pub use doubts::doubts;
pub use events::Events;
pub use page::{About, head};
pub use roots::SourceRoots;

use crate::calls::Calls;
use crate::collect::Collect;
use crate::report::Report;
use crate::stats::Stats;
use graph::Graph;
use hartrace_capture::programs::Programs;
use hartrace_decoder::calls::Transfers;
use hartrace_decoder::{Count, Event, Frequencies, Path, Run, Sink, StreamPos};
use hartrace_isa::Xlen;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Spans of calls in a page.
pub const SPANS: usize = 200_000;

/// Collects what a page shows.
#[derive(Debug)]
pub struct Html<'a> {
    calls: Calls<'a, Graph>,
    frequencies: BTreeMap<Option<u16>, Frequencies>,
    events: Events,
    programs: &'a Programs,
    xlen: Xlen,
}

impl<'a> Html<'a> {
    /// A page of traces of these programs.
    pub fn new(programs: &'a Programs, xlen: Xlen) -> Self {
        let calls = Calls::with_inlined(Graph::default(), programs, xlen);
        Self { calls, frequencies: BTreeMap::new(), events: Events::default(), programs, xlen }
    }

    /// Whether tracing was off at the last packet of every source.
    pub fn is_ended(&self) -> bool {
        self.events.is_ended()
    }

    /// Instructions of the sources that have ended, and gaps.
    pub fn count(&self) -> Count {
        Count { instructions: self.calls.form().instructions, gaps: self.events.gaps }
    }

    /// Writes the page. `stats` are the packets of the capture, where they were counted. Returns how many source files exist,
    /// but are not below the folders that `about` names, so that they are not in the page.
    pub fn write(
        self,
        about: &About,
        stats: Option<&Stats>,
        out: &mut dyn Write,
    ) -> io::Result<usize> {
        page::write(self, about, stats, out)
    }
}

/// What a part of a capture is decoded into.
#[derive(Debug)]
pub struct HtmlPart {
    transfers: Transfers,
    frequencies: Frequencies,
    events: Events,
}

impl Sink for HtmlPart {
    const ORDERED: bool = Transfers::ORDERED;
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.transfers.run(at, run);
        self.frequencies.run(at, run);
        self.events.run(at, run);
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.transfers.path(at, path);
        self.frequencies.path(at, path);
        self.events.path(at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.transfers.repeat(at, run, times);
        self.frequencies.repeat(at, run, times);
        self.events.repeat(at, run, times);
    }

    fn end_turn(&mut self) {
        self.transfers.end_turn();
    }

    fn is_full(&self) -> bool {
        self.transfers.is_full() || self.events.is_full()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.transfers.event(at, event);
        self.frequencies.event(at, event);
        self.events.event(at, event);
    }
}

impl Collect for HtmlPart {
    fn aside(&mut self, at: StreamPos, event: Event) {
        self.transfers.aside(at, event);
    }
}

impl Report for Html<'_> {
    type Part = HtmlPart;

    fn maker(&self) -> Box<dyn Fn() -> HtmlPart + Send + Sync> {
        let transfers = self.calls.maker();
        Box::new(move || HtmlPart {
            transfers: transfers(),
            frequencies: Frequencies::default(),
            events: Events::default(),
        })
    }

    fn join(&mut self, source: Option<u16>, part: HtmlPart, out: &mut dyn Write) -> io::Result<()> {
        self.calls.join(source, part.transfers, out)?;
        self.frequencies.entry(source).or_default().merge(part.frequencies);
        self.events.merge(source, part.events);
        Ok(())
    }

    /// Writes nothing: other sources may follow.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.calls.finish(out)
    }
}
