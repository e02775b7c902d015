//! The receiver of a decoder's reports.

use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::Run;

/// Receives the decoded trace. Implement only the methods you need: information that a sink does not use
/// costs almost nothing.
pub trait Sink {
    /// Whether the sink calls [`Path::addresses`]; the tracer then prepares the addresses.
    const ADDRESSES: bool = false;

    /// Whether a stream has to keep the order between sources. If so, it passes on the sink of one source
    /// before it creates the sink of another. See [`crate::stream`].
    const ORDERED: bool = false;

    /// Whether the sink only adds up, and accepts repetitions. A payload of format 0.0 stands for up to 2^32
    /// branches, most of them in the same loop: the tracer then reports one turn of it, with the number of
    /// turns, in [`Sink::repeat`]. A sink of any other kind receives every turn.
    const REPEATS: bool = false;

    /// Whether the sink accepts repetitions now. If not, it receives every turn.
    #[inline]
    fn repeats(&self) -> bool {
        Self::REPEATS
    }

    /// Receives instructions that retired.
    fn run(&mut self, at: StreamPos, run: Run<'_>);

    /// Receives a path that was followed before: the same as [`Sink::run`] for each run of the path.
    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        for run in path.runs() {
            self.run(at, run);
        }
    }

    /// Receives instructions that retired `times` times, at least once. The runs of one turn of a loop follow
    /// one another, the last of them leads to the first, and all are repeated equally often. The run
    /// before the first was the last of an equal turn. [`Sink::end_turn`] follows the last.
    ///
    /// Called only if the sink accepts it: see [`Sink::REPEATS`].
    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        for _ in 0..times {
            self.run(at, run);
        }
    }

    /// The turn whose runs were passed to [`Sink::repeat`] is complete.
    fn end_turn(&mut self) {}

    /// Whether the sink holds so much that a stream should pass it on; see [`crate::stream`].
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Bytes of memory that the sink uses; `None` if it does not know. A stream lets sinks wait for their turn as long
    /// as they use little together, and few of those that do not know.
    fn bytes(&self) -> Option<usize> {
        None
    }

    /// Receives an event.
    fn event(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}

/// What a tracer calls of a sink.
pub(crate) trait AnySink {
    fn run(&mut self, at: StreamPos, run: Run<'_>);
    fn repeats(&self) -> bool;
    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64);
    fn end_turn(&mut self);
    fn event(&mut self, at: StreamPos, event: Event);
}

impl<S: Sink> AnySink for S {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        Sink::run(self, at, run);
    }

    fn repeats(&self) -> bool {
        Sink::repeats(self)
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        Sink::repeat(self, at, run, times);
    }

    fn end_turn(&mut self) {
        Sink::end_turn(self);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        Sink::event(self, at, event);
    }
}

/// A sink of any type, for what is not done for every payload: that is compiled once, here, and not again in every crate
/// with sinks of its own.
pub(crate) struct Rarely<'s>(pub(crate) &'s mut dyn AnySink);

impl Sink for Rarely<'_> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.0.run(at, run);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.event(at, event);
    }
}
