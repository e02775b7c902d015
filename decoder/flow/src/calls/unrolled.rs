//! The changes of a part of a trace, one after the other.

use super::Transfers;
use super::transfers::Change;
use std::ops::Range;

/// What [`Transfers`] have collected, with every turn of the loops that a trace only counts.
#[derive(Clone, Debug)]
pub struct Unrolled<'p> {
    piece: &'p Transfers,
    /// The next change.
    next: usize,
    turns: Option<Turns>,
}

/// Turns of a loop that are left.
#[derive(Clone, Debug)]
struct Turns {
    /// The changes of a turn, and the next of them.
    changes: Range<usize>,
    next: usize,
    /// Instructions of a turn.
    insns: u64,
    /// Instructions from the turn that was collected to this one.
    shift: u64,
    /// Turns after this one.
    left: u64,
}

impl Transfers {
    /// Everything that was collected, in order.
    pub fn unrolled(&self) -> Unrolled<'_> {
        Unrolled { piece: self, next: 0, turns: None }
    }
}

impl Unrolled<'_> {
    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.turns.is_none() && self.next >= self.piece.changes.len()
    }

    /// Instructions of the part.
    pub(super) fn instructions(&self) -> u64 {
        self.piece.insns
    }
}

impl Turns {
    /// The place of the next change; afterwards, goes on to the next one. Returns `None` after the last.
    fn step(&mut self) -> Option<(usize, u64)> {
        if self.next >= self.changes.end {
            self.left = self.left.checked_sub(1)?;
            self.next = self.changes.start;
            self.shift = self.shift.wrapping_add(self.insns);
        }
        let place = self.next;
        self.next = place.saturating_add(1);
        Some((place, self.shift))
    }

    fn is_at_end(&self) -> bool {
        self.left == 0 && self.next >= self.changes.end
    }
}

impl Unrolled<'_> {
    /// The next change, with the number of instructions before it.
    pub(super) fn step(&mut self) -> Option<(u64, Change)> {
        let Self { piece, next, turns } = self;
        let (place, shift) = match turns.as_mut().and_then(Turns::step) {
            Some(step) => step,
            None => (std::mem::replace(next, next.saturating_add(1)), 0),
        };
        turns.take_if(|turns| turns.is_at_end());
        let (at, change) = *piece.changes.get(place)?;
        // What follows may be the number of turns.
        if turns.is_none()
            && let Some((_, Change::Again { changes, insns, times })) = piece.changes.get(*next)
        {
            let changes = next.saturating_sub(*changes)..*next;
            let (first, insns) = (changes.start, *insns);
            *turns = Some(Turns {
                changes,
                next: first,
                insns,
                shift: insns,
                left: times.saturating_sub(1),
            });
            *next = next.saturating_add(1);
        }
        Some((at.wrapping_add(shift), change))
    }
}
