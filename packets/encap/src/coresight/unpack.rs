//! Splitting one frame into the bytes of its sources.

use crate::coresight::FRAME;
use crate::coresight::id::Source;

/// Bytes of one source within a frame.
pub(crate) struct Piece<'a> {
    /// `None` before the first ID of the capture.
    pub source: Option<Source>,
    /// The reported position, relative to the start of the frame.
    pub index: u8,
    pub bytes: &'a [u8],
}

/// The bytes of a frame in order, collected up to the next change of source.
struct Collected {
    bytes: [u8; FRAME],
    len: usize,
    index: u8,
}

impl Collected {
    fn push(&mut self, byte: Option<u8>) {
        if let Some(byte) = byte
            && let Some(to) = self.bytes.get_mut(self.len)
        {
            *to = byte;
            self.len = self.len.saturating_add(1);
        }
    }
}

/// Splits a frame. `current` is the source of its first byte, and is updated to the source of the
/// first byte of the next frame.
#[inline]
pub(crate) fn unpack(
    frame: &[u8; FRAME],
    current: &mut Option<Source>,
    out: &mut impl FnMut(Piece<'_>),
) {
    let [.., auxiliary] = *frame;
    let mut collected = Collected { bytes: [0; FRAME], len: 0, index: 0 };
    for (pair, index) in frame.chunks_exact(2).zip((0u8..16).step_by(2)) {
        let &[even, odd] = pair else { continue };
        let bit = (auxiliary >> (index >> 1)) & 1;
        // Byte 15 is the auxiliary one, so the last pair has no second byte.
        let second = (index < 14).then_some(odd);
        if even & 1 == 0 {
            collected.push(Some(even | bit));
            collected.push(second);
            continue;
        }
        let next = Some(Source::new(even >> 1));
        let before = second.filter(|_| bit == 1);
        if next == *current {
            collected.push(second);
            continue;
        }
        collected.push(before);
        if collected.len > 0 {
            out(piece(&collected, *current));
            collected.len = 0;
            collected.index = index;
        }
        *current = next;
        collected.push(second.filter(|_| bit == 0));
    }
    if collected.len > 0 {
        out(piece(&collected, *current));
    }
}

fn piece(collected: &Collected, source: Option<Source>) -> Piece<'_> {
    let bytes = collected.bytes.get(..collected.len).unwrap_or_default();
    Piece { source, index: collected.index, bytes }
}
