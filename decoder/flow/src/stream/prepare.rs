//! What threads do with sinks before they pass them on.

use crate::sink::Sink;

/// What came before a sink, in the order of the stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// The sink that the same thread prepared last.
    Last,
    /// Any other sink. This is also said where it is not known, and always of sinks that are not
    /// [`ORDERED`](Sink::ORDERED).
    Other,
}

/// Prepares the sinks of one thread, one after the other, with what came before each and its source.
pub type Prepare<'p, S> = dyn FnMut(Before, Option<u16>, &mut S) + 'p;

/// Makes what prepares sinks, for each thread.
pub type Preparer<'p, S> = dyn Fn() -> Box<Prepare<'p, S>> + Sync + 'p;

/// The sinks of one thread.
pub(super) struct Preparing<'p, S> {
    prepare: Box<Prepare<'p, S>>,
    /// The part whose sink was prepared last.
    last: Option<u64>,
}

impl<'p, S: Sink> Preparing<'p, S> {
    pub(super) fn new(preparer: &Preparer<'p, S>) -> Self {
        Self { prepare: preparer(), last: None }
    }

    /// Prepares sinks of a part.
    pub(super) fn prepare(&mut self, part: u64, sinks: &mut [(Option<u16>, S)]) {
        for (source, sink) in sinks {
            let before = match self.last.replace(part) {
                _ if !S::ORDERED => Before::Other,
                None if part == 0 => Before::Nothing,
                Some(last) if last == part || last.checked_add(1) == Some(part) => Before::Last,
                _ => Before::Other,
            };
            (self.prepare)(before, *source, sink);
        }
    }
}
