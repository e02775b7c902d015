//! Where functions are, and what was inlined into them.

use super::{Frame, Why};
use std::ops::Range;

/// Inlined functions within each other. Those that are deeper belong to the one at this depth.
const MAX_INLINED: u16 = 64;

/// No inlined function.
pub(super) const NONE: u32 = u32::MAX;

/// A function that was inlined into another one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// Its first instruction.
    pub entry: u64,
    /// The inlined function that it was inlined into, by number; `None` if it was inlined into a function of its own.
    pub caller: Option<u32>,
}

/// The addresses of the functions of a program.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// In order, without overlaps.
    pieces: Vec<Piece>,
    /// With their depths, from 1.
    inlined: Vec<(Inlined, u16)>,
}

/// Code of one function, without what was inlined into it, or code that no function has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<u64>,
    /// Where the function starts and ends; equal if there is none.
    pub(super) function: (u64, u64),
    /// The innermost function that was inlined here, or [`NONE`].
    pub(super) inlined: u32,
}

impl Functions {
    /// Functions at these addresses. Of two that overlap, the second one in memory counts where they do.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        // Of several names for one start, the longest counts.
        let mut kept: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match kept.last_mut() {
                Some(last) if last.start == range.start => last.end = range.end,
                Some(last) => {
                    last.end = last.end.min(range.start);
                    kept.push(range);
                }
                None => kept.push(range),
            }
        }
        let pieces = kept.into_iter().map(|range| Piece {
            function: (range.start, range.end),
            range,
            inlined: NONE,
        });
        Self { pieces: pieces.collect(), inlined: Vec::new() }
    }

    /// Adds what was inlined. `places` has the innermost inlined function of ranges of addresses, in order and without
    /// overlaps. Callers come before what was inlined into them; of any other order, nothing is known.
    #[must_use]
    pub fn with_inlined(
        mut self,
        inlined: impl IntoIterator<Item = Inlined>,
        places: impl IntoIterator<Item = (Range<u64>, u32)>,
    ) -> Self {
        for mut one in inlined {
            let around = one.caller.and_then(|caller| self.inlined.get(caller as usize));
            let depth = around.map_or(1, |(_, depth)| depth.saturating_add(1));
            one.caller = one.caller.filter(|_| depth > 1);
            self.inlined.push((one, depth));
        }
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut places = places.into_iter().filter(|(range, _)| !range.is_empty()).peekable();
        for piece in std::mem::take(&mut self.pieces) {
            let Range { start: mut from, end } = piece.range;
            let mut push = |range: Range<u64>, inlined| {
                if !range.is_empty() {
                    pieces.push(Piece { range, function: piece.function, inlined });
                }
            };
            while let Some((range, number)) = places.peek().filter(|(range, _)| range.start < end) {
                let start = range.start.clamp(from, end);
                let until = range.end.clamp(start, end);
                push(from..start, NONE);
                push(start..until, self.bounded(*number));
                from = until;
                // The rest may be in the next function.
                if range.end > end {
                    break;
                }
                places.next();
            }
            push(from..end, NONE);
        }
        self.pieces = pieces;
        self
    }

    /// An inlined function, or that around it which is not too deep.
    fn bounded(&self, mut number: u32) -> u32 {
        while let Some((one, depth)) = self.inlined.get(number as usize) {
            if *depth <= MAX_INLINED {
                return number;
            }
            number = one.caller.unwrap_or(NONE);
        }
        NONE
    }

    /// The piece of code that contains an address.
    pub(super) fn piece(&self, address: u64) -> Piece {
        let after = self.pieces.partition_point(|piece| piece.range.start <= address);
        let piece = after.checked_sub(1).and_then(|index| self.pieces.get(index));
        match piece.filter(|piece| piece.range.contains(&address)) {
            Some(piece) => piece.clone(),
            None => {
                let start = piece.map_or(0, |piece| piece.range.end);
                let end = self.pieces.get(after).map_or(u64::MAX, |next| next.range.start);
                Piece { range: start..end, function: (0, 0), inlined: NONE }
            }
        }
    }

    /// The function that contains an address.
    pub fn containing(&self, address: u64) -> Option<Range<u64>> {
        let (start, end) = self.piece(address).function;
        (start < end).then_some(start..end)
    }

    /// The frame of an inlined function, and what it was inlined into, or [`NONE`].
    pub(super) fn frame(&self, number: u32) -> Option<(Frame, u32)> {
        let (one, _) = self.inlined.get(number as usize)?;
        let frame = Frame { function: one.entry, returns: None, why: Why::Inlined(number) };
        Some((frame, one.caller.unwrap_or(NONE)))
    }

    /// The innermost function that is around both, or [`NONE`].
    pub(super) fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let depth =
                |number: u32| self.inlined.get(number as usize).map_or(0, |(_, depth)| *depth);
            let deeper = if depth(a) >= depth(b) { &mut a } else { &mut b };
            *deeper = self.frame(*deeper).map_or(NONE, |(_, caller)| caller);
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_belong_to_the_second() {
        let functions = Functions::new([0x20..0x30, 0x10..0x28, 0x10..0x14, 5..5]);
        let at = |address| functions.containing(address);
        assert_eq!([at(0xf), at(0x10), at(0x1f)], [None, Some(0x10..0x20), Some(0x10..0x20)]);
        assert_eq!([at(0x20), at(0x2f), at(0x30)], [Some(0x20..0x30), Some(0x20..0x30), None]);
        assert_eq!(at(5), None);
    }

    #[test]
    fn inlined_functions_divide_code() {
        let inlined = |caller| Inlined { entry: 0x14, caller };
        let functions = Functions::new([0x10..0x20, 0x30..0x40]).with_inlined(
            [inlined(None), inlined(Some(0)), inlined(Some(9))],
            [(0..8, 2), (0x14..0x18, 1), (0x18..0x1a, 0), (0x1e..0x34, 2), (0x3c..0x50, 0)],
        );
        let found: Vec<_> =
            functions.pieces.iter().map(|piece| (piece.range.clone(), piece.inlined)).collect();
        let expected = [
            (0x10..0x14, NONE),
            (0x14..0x18, 1),
            (0x18..0x1a, 0),
            (0x1a..0x1e, NONE),
            (0x1e..0x20, 2),
            (0x30..0x34, 2),
            (0x34..0x3c, NONE),
            (0x3c..0x40, 0),
        ];
        assert_eq!(found, expected);
        assert_eq!(functions.containing(0x16), Some(0x10..0x20));
        assert_eq!(functions.piece(0x22).range, 0x20..0x30);
        let common = |a, b| functions.common(a, b);
        assert_eq!([common(0, 1), common(1, 1), common(1, 2), common(NONE, 0)], [0, 1, NONE, NONE]);
    }

    #[test]
    fn what_is_too_deep_belongs_to_what_is_around() {
        let chain = (0..200u32).map(|number| Inlined { entry: 0, caller: number.checked_sub(1) });
        let functions =
            Functions::new(std::iter::once(0..8)).with_inlined(chain, [(0..4, 199), (4..8, 3)]);
        assert_eq!(functions.piece(0).inlined, u32::from(MAX_INLINED) - 1);
        assert_eq!(functions.piece(4).inlined, 3);
    }
}
