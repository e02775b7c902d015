use crate::sync::Hunt;
use crate::{FrameError, Framing, Item, MAX_FRAME, Parsed};

/// Receives the items that a [`Deframer`] finds. A function works too, see [`Deframer::feed`], but it
/// cannot be marked for inlining.
pub trait FrameSink {
    /// Receives an item or an error, with the stream offset of its first byte.
    fn item(&mut self, offset: u64, item: Result<Item<'_>, FrameError>);
}

/// A function as a sink.
struct Call<F>(F);

impl<F: FnMut(u64, Result<Item<'_>, FrameError>)> FrameSink for Call<F> {
    #[inline]
    fn item(&mut self, offset: u64, item: Result<Item<'_>, FrameError>) {
        self.0(offset, item);
    }
}

/// Finds items in a stream that arrives in pieces of any size.
///
/// However the stream is cut, the items, errors and offsets are the same as those that
/// [`Frames`](crate::Frames) finds in the whole stream.
///
/// ```
/// use hartrace_encap::{Deframer, Framing};
///
/// let mut offsets = Vec::new();
/// let mut deframer = Deframer::new(Framing::Reference);
/// for piece in [&[0x42, 0x1f][..], &[0x04, 0x41], &[0x05, 0x42]] {
///     deframer.feed(piece, &mut |offset, item| offsets.push((offset, item.is_ok())));
/// }
/// assert_eq!(offsets, [(0, true), (3, true)]);
/// assert!(deframer.finish().is_some_and(|(offset, _)| offset == 5)); // cut off
/// ```
#[derive(Clone, Debug)]
pub struct Deframer {
    framing: Framing,
    /// The start of a frame whose end has not arrived yet.
    held: [u8; MAX_FRAME],
    len: usize,
    /// Bytes to add to `held` before parsing it again.
    missing: usize,
    /// Stream position of the first held byte or, if none is held, of the next byte to arrive.
    position: u64,
    /// Set while frame boundaries are lost. Nothing is held then.
    hunt: Option<Hunt>,
}

impl Deframer {
    /// Starts at the beginning of a stream, where a frame starts.
    pub const fn new(framing: Framing) -> Self {
        Self::at(framing, 0)
    }

    /// Starts at a frame at this position of a stream.
    pub const fn at(framing: Framing, position: u64) -> Self {
        Self { framing, held: [0; MAX_FRAME], len: 0, missing: 0, position, hunt: None }
    }

    /// The stream position of the first byte that has not been reported yet.
    pub const fn offset(&self) -> u64 {
        self.position
    }

    /// Processes the next bytes of the stream and reports each item that they complete, with the
    /// stream offset of its first byte.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(u64, Result<Item<'_>, FrameError>)) {
        self.feed_to(bytes, &mut Call(sink));
    }

    /// Like [`Deframer::feed`], with a [`FrameSink`].
    pub fn feed_to(&mut self, bytes: &[u8], sink: &mut impl FrameSink) {
        let mut rest = self.feed_whole(bytes, sink);
        while let Some(byte) = rest.first() {
            let taken = if let Some(hunt) = &mut self.hunt {
                if hunt.found(self.framing, *byte, self.position) {
                    self.hunt = None;
                    0
                } else {
                    self.advance(1);
                    1
                }
            } else if self.len == 0 {
                match self.framing.parse(rest) {
                    Err(FrameError::Incomplete { missing }) => self.hold(rest, missing),
                    outcome => self.report(outcome, sink),
                }
            } else {
                let piece = rest.get(..self.missing).unwrap_or(rest);
                let taken = self.hold(piece, self.missing.saturating_sub(piece.len()));
                if self.missing == 0 {
                    self.retry(sink);
                }
                taken
            };
            rest = self.feed_whole(rest.get(taken..).unwrap_or_default(), sink);
        }
    }

    /// Reports frames up to the first that is cut or damaged, and returns the remaining bytes. Most
    /// frames are whole and need no copy.
    #[inline]
    fn feed_whole<'b>(&mut self, bytes: &'b [u8], sink: &mut impl FrameSink) -> &'b [u8] {
        if self.len > 0 || self.hunt.is_some() {
            return bytes;
        }
        // A constant framing halves the time of the loop.
        let (rest, position) = match self.framing {
            Framing::Reference => whole(Framing::Reference, bytes, self.position, sink),
            framing => whole(framing, bytes, self.position, sink),
        };
        self.position = position;
        rest
    }

    /// Drops bytes, starting with those of an unfinished frame, up to the next place where a frame
    /// starts; see [`Framing::sync_forward`].
    ///
    /// Reports the items found if that place is within the unfinished frame.
    pub fn resync(&mut self, sink: &mut impl FnMut(u64, Result<Item<'_>, FrameError>)) {
        let held = self.held;
        let len = core::mem::take(&mut self.len);
        self.hunt = Some(Hunt::default());
        self.feed(held.get(..len).unwrap_or_default(), sink);
    }

    /// Ends the stream: the offset of a last frame that was cut off, with
    /// [`FrameError::Incomplete`].
    pub fn finish(self) -> Option<(u64, FrameError)> {
        let incomplete = FrameError::Incomplete { missing: self.missing };
        (self.len > 0).then_some((self.position, incomplete))
    }

    /// Parses the held bytes again. They never reach past the end of their frame, since
    /// `missing` never does: either all of them are used or more are needed.
    fn retry(&mut self, sink: &mut impl FrameSink) {
        let held = self.held;
        match self.framing.parse(held.get(..self.len).unwrap_or_default()) {
            Err(FrameError::Incomplete { missing }) => self.missing = missing,
            outcome => {
                self.len = 0;
                self.report(outcome, sink);
            }
        }
    }

    /// Adds to the unfinished frame.
    fn hold(&mut self, bytes: &[u8], missing: usize) -> usize {
        let room = self.held.get_mut(self.len..).unwrap_or_default();
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.len = self.len.saturating_add(bytes.len()).min(MAX_FRAME);
        self.missing = missing;
        bytes.len()
    }

    /// Passes on an item or error and returns how many bytes it used.
    fn report(
        &mut self,
        outcome: Result<Parsed<'_>, FrameError>,
        sink: &mut impl FrameSink,
    ) -> usize {
        let used = match outcome {
            Ok(parsed) => parsed.used,
            Err(error) => error.skip().unwrap_or_else(|| {
                self.hunt = Some(Hunt::default());
                1
            }),
        };
        pass(sink, self.position, outcome.map(|parsed| parsed.item));
        self.advance(used);
        used
    }

    fn advance(&mut self, by: usize) {
        self.position = self.position.saturating_add(by as u64);
    }
}

/// [`Deframer::feed_whole`], with all changing state in registers.
#[inline(always)]
fn whole<'b>(
    framing: Framing,
    bytes: &'b [u8],
    position: u64,
    sink: &mut impl FrameSink,
) -> (&'b [u8], u64) {
    let (mut rest, mut position) = (bytes, position);
    while let Ok(parsed) = framing.parse(rest) {
        sink.item(position, Ok(parsed.item));
        position = position.saturating_add(parsed.used as u64);
        rest = rest.get(parsed.used..).unwrap_or_default();
    }
    (rest, position)
}

/// Passes on items found outside the loop over whole frames, without inlining the sink again.
#[inline(never)]
fn pass(sink: &mut impl FrameSink, position: u64, item: Result<Item<'_>, FrameError>) {
    sink.item(position, item);
}
