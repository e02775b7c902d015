use crate::{Frame, FrameError, Framing, Item};
use core::iter::FusedIterator;

/// The items of a byte slice, each with the offset of its first byte.
///
/// An error is an item like any other: iteration continues after the damage, at the position given
/// by [`FrameError::skip`] or [`Framing::sync_forward`]. A frame that is cut off by the end of the
/// slice is reported once, as [`FrameError::Incomplete`].
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    framing: Framing,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Frames<'a> {
    /// Reads all of `bytes`; offsets count from its start.
    pub const fn new(framing: Framing, bytes: &'a [u8]) -> Self {
        Self { framing, bytes, position: 0 }
    }

    /// The offset of the next item; the length of the slice once all items are read.
    pub const fn offset(&self) -> u64 {
        self.position as u64
    }

    /// Drops bytes up to the next place where a frame starts, or all of them.
    ///
    /// Needed if a stream is entered in the middle, or if its payloads no longer make sense; see
    /// [`Framing::sync_forward`].
    pub fn resync(&mut self) {
        let rest = self.rest();
        let dropped = self.framing.sync_forward(rest, self.offset());
        self.advance(dropped.unwrap_or(rest.len()));
    }

    /// Returns only the frames of one source, and all errors.
    ///
    /// Errors are kept since the damage may affect any source. Frames without a source id (all of
    /// `Reference`, `RvTracer` and `Esp32`, and those with a srcID of width 0) never match: do not
    /// filter such streams.
    pub const fn source(self, id: u16) -> Source<'a> {
        Source { frames: self, id }
    }

    /// Continues after bytes that could not be read.
    ///
    /// Consumes and returns the iterator: without a reference to it, a loop over frames keeps it in
    /// registers.
    #[cold]
    #[inline(never)]
    fn behind_damage(mut self, error: FrameError) -> Self {
        match (error, error.skip()) {
            (FrameError::Incomplete { .. }, _) => self.advance(self.bytes.len()),
            (_, Some(skip)) => self.advance(skip),
            (_, None) => {
                self.advance(1);
                self.resync();
            }
        }
        self
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    #[inline]
    fn advance(&mut self, by: usize) {
        self.position = self.position.saturating_add(by).min(self.bytes.len());
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<(u64, Item<'a>), (u64, FrameError)>;

    // An item does not fit in registers: a call would write it to memory and the caller copy it.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let offset = self.offset();
        Some(match self.framing.parse(rest) {
            Ok(parsed) => {
                self.advance(parsed.used);
                Ok((offset, parsed.item))
            }
            Err(error) => {
                *self = self.clone().behind_damage(error);
                Err((offset, error))
            }
        })
    }
}

impl FusedIterator for Frames<'_> {}

/// The frames of one source; see [`Frames::source`].
#[derive(Clone, Debug)]
pub struct Source<'a> {
    frames: Frames<'a>,
    id: u16,
}

impl<'a> Iterator for Source<'a> {
    type Item = Result<(u64, Frame<'a>), (u64, FrameError)>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.id;
        self.frames.find_map(|item| match item {
            Ok((offset, Item::Frame(frame))) if frame.header().source == Some(id) => {
                Some(Ok((offset, frame)))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }
}

impl FusedIterator for Source<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EncapParams, Null};
    use std::vec;
    use std::vec::Vec;

    fn encap(src_id_bits: u8) -> Framing {
        Framing::Encap(EncapParams::new(src_id_bits, 0, 0).unwrap())
    }

    #[test]
    fn sources_are_told_apart() {
        let bytes = [0x01, 7, 0xa0, 0x00, 0x01, 9, 0xb0, 0x01, 7, 0xc0, 0x01];
        let found: Vec<_> = encap(8)
            .frames(&bytes)
            .source(7)
            .map(|item| item.map(|(at, frame)| (at, frame.payload_bytes().unwrap()[0])))
            .collect();
        let cut = Err((10, FrameError::Incomplete { missing: 2 }));
        assert_eq!(found, [Ok((0, 0xa0)), Ok((7, 0xc0)), cut]);
        // Unsourced frames match no id.
        assert_eq!(encap(0).frames(&[0x01, 7]).source(0).count(), 0);
    }

    #[test]
    fn entering_in_the_middle() {
        // The end of a frame that looks like the start of another, then nulls, then a frame.
        let mut bytes = vec![0x1e, 0x1f];
        bytes.resize(2 + 32, 0x00);
        bytes.extend([0x80, 0x01, 0x55]);
        let mut frames = encap(0).frames(&bytes);
        frames.resync();
        assert_eq!(frames.offset(), 35);
        let (offset, item) = frames.next().unwrap().unwrap();
        let Item::Frame(frame) = item else { panic!("null") };
        assert_eq!((offset, frame.payload_bytes()), (35, Some(&[0x55][..])));
        assert_eq!(frames.next(), None);
        assert_eq!(frames.offset(), 37);
    }

    #[test]
    fn nothing_to_sync_on() {
        let mut frames = encap(0).frames(&[0x01; 9]);
        frames.resync();
        assert_eq!(frames.next(), None);
        assert_eq!(frames.offset(), 9);
    }

    #[test]
    fn garbage_is_one_error() {
        let bytes = [0xff, 0xff, 0x00, 0x41, 0x05, 0x00, 0x42];
        let found: Vec<_> =
            Framing::Reference.frames(&bytes).map(|item| item.map(|(offset, _)| offset)).collect();
        assert_eq!(
            found,
            [
                Err((0, FrameError::Header(0xff))),
                Ok(3),
                Err((5, FrameError::Header(0x00))),
                Err((6, FrameError::Incomplete { missing: 2 })),
            ]
        );
    }

    #[test]
    fn nulls_are_items() {
        let found: Vec<_> = encap(0).frames(&[0x00, 0x80]).map(Result::unwrap).collect();
        assert_eq!(found, [(0, Item::Null(Null::Idle)), (1, Item::Null(Null::Alignment))]);
    }
}
