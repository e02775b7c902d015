//! What is added up over a whole capture, with its gaps.

use crate::failure::Failure;
use crate::gaps::Gaps;
use hartrace_decoder::stream::Decoded;
use hartrace_decoder::{Count, Coverage, Edges, Event, Path, Run, Sink, StreamPos};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Gaps after which a part is passed on.
const FULL: usize = 1 << 12;

/// What parts of a capture add up to.
pub(crate) trait Sum: Sink + Send + Default {
    /// Adds the part right after this one.
    fn merge(&mut self, next: Self);
}

impl Sum for Count {
    fn merge(&mut self, next: Self) {
        self.instructions += next.instructions;
        self.gaps += next.gaps;
    }
}

impl Sum for Coverage {
    fn merge(&mut self, next: Self) {
        Self::merge(self, &next);
    }
}

impl Sum for Edges {
    fn merge(&mut self, next: Self) {
        Self::merge(self, next);
    }
}

/// A sink, and what the user has to be told of besides.
#[derive(Debug, Default)]
pub(crate) struct Noted<S> {
    pub(crate) sink: S,
    gaps: Vec<(StreamPos, Event)>,
    /// A gap is the end.
    strict: bool,
    ended: bool,
}

impl<S> Noted<S> {
    pub(crate) fn new(sink: S, strict: bool) -> Self {
        Self { sink, gaps: Vec::new(), strict, ended: false }
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_quiet(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Takes note of an event.
    pub(crate) fn note(&mut self, at: StreamPos, event: Event) {
        if matches!(event, Event::Gap(_) | Event::On) && !self.ended {
            self.gaps.push((at, event));
            self.ended = self.strict && event != Event::On;
        }
    }
}

/// Reports the gaps of a part, in their order. With `--strict` the first is an error.
pub(crate) fn report<S>(part: &[(Option<u16>, Noted<S>)], gaps: &mut Gaps) -> Result<(), Failure> {
    let all = part.iter().flat_map(|(source, noted)| noted.gaps.iter().map(|gap| (*source, gap)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, (at, _))| at.byte);
    for (source, (at, event)) in all {
        gaps.event(source, *at, event);
        gaps.check()?;
    }
    Ok(())
}

impl<S: Sink> Sink for Noted<S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;

    #[inline]
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        if !self.ended {
            self.sink.run(at, run);
        }
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        if !self.ended {
            self.sink.path(at, path);
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.gaps.len() >= FULL || self.ended || self.sink.is_full()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if !self.ended {
            self.sink.event(at, event);
        }
        self.note(at, event);
    }
}

/// The sums of every source, and the gaps of all.
pub(crate) struct Sums<S> {
    pub(crate) sums: BTreeMap<Option<u16>, S>,
    pub(crate) gaps: Gaps,
}

impl<S: Sum> Sums<S> {
    pub(crate) fn new(gaps: Gaps) -> Self {
        Self { sums: BTreeMap::new(), gaps }
    }

    /// Adds the next part.
    pub(crate) fn join(&mut self, decoded: Decoded<Noted<S>>) -> Result<ControlFlow<()>, Failure> {
        let result = report(&decoded.sinks, &mut self.gaps);
        for (source, noted) in decoded.sinks {
            self.sums.entry(source).or_default().merge(noted.sink);
        }
        result.map(ControlFlow::Continue)
    }
}
