//! One type for sinks of all kinds.

use crate::collect::Collect;
use hartrace_decoder::{Event, Path, Run, Sink, StreamPos};
use std::any::Any;
use std::io;
use thiserror::Error;

/// A sink whose type is not known. A decoder is compiled for each type of sink; where its speed matters less than
/// the size of the program, this one stands for all of them that accept repetitions ([`Sink::REPEATS`]), or for all that do not.
pub struct Erased<const REPEATS: bool>(Box<dyn Object>);

/// A sink is not of the type that is expected.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("a sink of another type")]
pub struct OtherSink;

impl From<OtherSink> for io::Error {
    fn from(other: OtherSink) -> Self {
        Self::other(other)
    }
}

/// What a sink can do, without its constants.
trait Object: Send {
    fn run(&mut self, at: StreamPos, run: Run<'_>);
    fn path(&mut self, at: StreamPos, path: Path<'_>);
    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64);
    fn end_turn(&mut self);
    fn is_full(&self) -> bool;
    fn bytes(&self) -> Option<usize>;
    fn event(&mut self, at: StreamPos, event: Event);
    fn aside(&mut self, at: StreamPos, event: Event);
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<S: Collect + 'static> Object for S {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        Sink::run(self, at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        Sink::path(self, at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        Sink::repeat(self, at, run, times);
    }

    fn end_turn(&mut self) {
        Sink::end_turn(self);
    }

    fn is_full(&self) -> bool {
        Sink::is_full(self)
    }

    fn bytes(&self) -> Option<usize> {
        Sink::bytes(self)
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        Sink::event(self, at, event);
    }

    fn aside(&mut self, at: StreamPos, event: Event) {
        Collect::aside(self, at, event);
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl<const REPEATS: bool> Erased<REPEATS> {
    /// Forgets the type of a sink.
    pub fn new(sink: impl Collect + 'static) -> Self {
        Self(Box::new(sink))
    }

    /// The sink; `None` if it is of another type.
    pub fn as_sink<S: Collect + 'static>(&mut self) -> Option<&mut S> {
        self.0.as_any().downcast_mut()
    }

    /// Returns the sink.
    ///
    /// # Errors
    ///
    /// If it is of another type.
    pub fn into_sink<S: Collect + 'static>(self) -> Result<S, OtherSink> {
        self.0.into_any().downcast().map(|sink| *sink).map_err(|_| OtherSink)
    }
}

/// With what any sink may need: addresses, and the order between sources.
impl<const REPEATS: bool> Sink for Erased<REPEATS> {
    const ADDRESSES: bool = true;
    const ORDERED: bool = true;
    const REPEATS: bool = REPEATS;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.0.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.0.path(at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.0.repeat(at, run, times);
    }

    fn end_turn(&mut self) {
        self.0.end_turn();
    }

    fn is_full(&self) -> bool {
        self.0.is_full()
    }

    fn bytes(&self) -> Option<usize> {
        self.0.bytes()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.event(at, event);
    }
}

impl<const REPEATS: bool> Collect for Erased<REPEATS> {
    fn aside(&mut self, at: StreamPos, event: Event) {
        self.0.aside(at, event);
    }
}

impl<const REPEATS: bool> std::fmt::Debug for Erased<REPEATS> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Erased").finish_non_exhaustive()
    }
}
