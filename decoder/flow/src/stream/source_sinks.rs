//! The sinks of a part.

use crate::sink::Sink;

/// The sinks of a part, by source.
pub(super) struct SourceSinks<'f, S> {
    pub(super) made: Vec<(Option<u16>, S)>,
    make: &'f dyn Fn(Option<u16>) -> S,
    /// Passes on the sinks before the part is complete. Returns whether to continue.
    flush: &'f mut dyn FnMut(Vec<(Option<u16>, S)>) -> bool,
    /// The receiver does not want more.
    pub(super) stopped: bool,
}

impl<'f, S: Sink> SourceSinks<'f, S> {
    pub(super) fn new(
        make: &'f dyn Fn(Option<u16>) -> S,
        flush: &'f mut dyn FnMut(Vec<(Option<u16>, S)>) -> bool,
    ) -> Self {
        Self { made: Vec::new(), make, flush, stopped: false }
    }

    /// Passes on all sinks, to free memory.
    #[cold]
    pub(super) fn flush(&mut self) {
        self.stopped = !(self.flush)(std::mem::take(&mut self.made));
    }

    /// The index of the sink of a source.
    #[inline(always)]
    pub(super) fn index(&mut self, source: Option<u16>) -> usize {
        if self.made.first().is_some_and(|(first, _)| *first == source) {
            return 0;
        }
        let known = self.made.iter().position(|(other, _)| *other == source);
        known.unwrap_or_else(|| self.appear(source))
    }

    /// Calls `with` with the sink of a source.
    pub(super) fn with(&mut self, source: Option<u16>, with: impl FnOnce(&mut S)) {
        let index = self.index(source);
        if let Some((_, sink)) = self.made.get_mut(index) {
            with(sink);
        }
    }

    /// Creates the sink of a source; returns its index.
    #[cold]
    fn appear(&mut self, source: Option<u16>) -> usize {
        if S::ORDERED && !self.made.is_empty() {
            self.flush();
        }
        self.made.push((source, (self.make)(source)));
        self.made.len().wrapping_sub(1)
    }
}
