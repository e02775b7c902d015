//! What a decoder reports to.

use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::Run;

/// Receives what is decoded. Implement what you need: what a sink does not look at costs next to nothing.
pub trait Sink {
    /// Whether the sink calls [`Path::addresses`], so that the tracer prepares for it.
    const ADDRESSES: bool = false;

    /// Whether a stream has to keep the order between sources: then it passes the sink of one source on
    /// before it makes that of another. See [`crate::stream`].
    const ORDERED: bool = false;

    /// Instructions that retired.
    fn run(&mut self, at: StreamPos, run: Run<'_>);

    /// Instructions that retired as they did before: the same as [`Sink::run`] for each run of the path.
    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        for run in path.runs() {
            self.run(at, run);
        }
    }

    /// Whether it holds so much that a stream should pass it on; see [`crate::stream`].
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Anything else.
    fn event(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}
