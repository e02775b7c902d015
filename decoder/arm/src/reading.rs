//! How far a stream has been read, from one piece to the next.

use std::ops::Range;

/// A reader of packets, and what was read since the state was last reset.
#[derive(Debug)]
pub(crate) struct Reading<R, B> {
    pub(crate) reader: R,
    pub(crate) batch: B,
    /// Bytes were read since the last end of a part.
    begun: bool,
    /// A part has ended.
    ended: bool,
}

impl<R, B> Reading<R, B> {
    pub(crate) const fn new(reader: R, batch: B) -> Self {
        Self { reader, batch, begun: false, ended: false }
    }

    /// Notes the bytes that are read next.
    pub(crate) fn begin(&mut self, bytes: Range<usize>) {
        self.begun |= !bytes.is_empty();
    }

    /// Whether a part ends: not if there is nothing in it, unless there is nothing at all.
    pub(crate) fn end(&mut self, last: bool) -> bool {
        let ends = self.begun || last && !self.ended;
        self.begun = false;
        self.ended |= ends;
        ends
    }
}
