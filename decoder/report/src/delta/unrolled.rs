//! The pieces of a part, with every turn of its loops.

use super::side::{Piece, Pieces, Turns};
use hartrace_decoder::StreamPos;
use std::collections::VecDeque;
use std::ops::Range;

/// Pieces that are unrolled at once.
const STRETCH: usize = 64;

/// A part, as far as it has not been unrolled.
#[derive(Debug, Default)]
pub(super) struct Unrolled {
    list: Vec<(StreamPos, Piece)>,
    /// The next piece outside of turns.
    next: usize,
    turns: VecDeque<Turns>,
    now: Option<Now>,
}

/// The turns that come next.
#[derive(Clone, Debug)]
struct Now {
    pieces: Range<usize>,
    next: usize,
    /// Turns after this one.
    left: u64,
    /// Pieces of these turns so far.
    unrolled: u64,
}

/// Turns of a loop.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Pieces of each turn.
    pub(super) pieces: u64,
    /// Pieces that have been unrolled.
    pub(super) unrolled: u64,
    /// Turns of which nothing has been unrolled.
    pub(super) left: u64,
}

impl Unrolled {
    pub(super) fn new(part: Pieces) -> Self {
        Self { list: part.list, next: 0, turns: part.turns.into(), now: None }
    }

    /// Appends some of the pieces; returns whether there were any.
    pub(super) fn unroll_to(&mut self, pieces: &mut Vec<(StreamPos, Piece)>) -> bool {
        let range = match &mut self.now {
            Some(now) if now.next < now.pieces.end => take(&mut now.next, now.pieces.end),
            Some(now) if now.left > 0 => {
                now.left = now.left.saturating_sub(1);
                now.next = now.pieces.start;
                take(&mut now.next, now.pieces.end)
            }
            _ => {
                self.now = None;
                let end = self.turns.front().map_or(self.list.len(), |turns| turns.pieces.end);
                let range = take(&mut self.next, end);
                if self.next == end
                    && let Some(Turns { pieces, more }) = self.turns.pop_front()
                {
                    let next = pieces.end;
                    self.now = Some(Now { pieces, next, left: more, unrolled: 0 });
                }
                pieces.extend_from_slice(self.list.get(range.clone()).unwrap_or_default());
                return !range.is_empty() || self.now.is_some();
            }
        };
        if let Some(now) = &mut self.now {
            now.unrolled = now.unrolled.saturating_add(range.len() as u64);
        }
        pieces.extend_from_slice(self.list.get(range).unwrap_or_default());
        true
    }

    /// The turns that come next, if there are whole ones.
    pub(super) fn turns(&self) -> Option<Repeated> {
        let Now { pieces, left, unrolled, .. } = self.now.as_ref().filter(|now| now.left > 0)?;
        Some(Repeated { pieces: pieces.len() as u64, unrolled: *unrolled, left: *left })
    }

    /// The pieces of a turn, from the one on that is so many pieces before the next.
    pub(super) fn turn(&self, before: usize) -> Vec<Piece> {
        let Some(Now { pieces, next, .. }) = &self.now else { return Vec::new() };
        let turn = self.list.get(pieces.clone()).unwrap_or_default();
        let before = before.checked_rem(turn.len()).unwrap_or(0);
        let first = next.saturating_sub(pieces.start).saturating_add(turn.len());
        let first = first.saturating_sub(before).checked_rem(turn.len()).unwrap_or(0);
        let rotated = turn.iter().cycle().skip(first).take(turn.len());
        rotated.map(|(_, piece)| *piece).collect()
    }

    /// Leaves out so many turns; returns their number of instructions.
    pub(super) fn pass_turns(&mut self, times: u64) -> u64 {
        let Some(now) = &mut self.now else { return 0 };
        now.left = now.left.saturating_sub(times);
        let turn = self.list.get(now.pieces.clone()).unwrap_or_default();
        let insns = turn.iter().fold(0u64, |sum, (_, piece)| sum.saturating_add(piece.insns()));
        insns.saturating_mul(times)
    }
}

/// Takes some places, from the next one on.
fn take(next: &mut usize, end: usize) -> Range<usize> {
    let to = next.saturating_add(STRETCH).min(end);
    std::mem::replace(next, to)..to
}
