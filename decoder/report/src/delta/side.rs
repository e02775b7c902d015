//! One of two traces.

use super::unrolled::{Repeated, Unrolled};
use crate::collect::Collect;
use crate::report::PART_BYTES;
use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos, Transfer};
use std::ops::Range;

/// Something that a trace contains.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Consecutive instructions.
    Code {
        /// Address of the first.
        start: u64,
        /// Address of the last.
        last: u64,
        /// Address after the last.
        end: u64,
        /// How many they are.
        insns: u32,
        /// How the program continues.
        leaves: Leaves,
        /// What the last one does to the call stack.
        transfer: Transfer,
    },
    /// A trap, a gap, or the end of tracing.
    Other(Event),
}

impl Piece {
    /// The address of the first instruction.
    pub fn start(&self) -> Option<u64> {
        match self {
            Self::Code { start, .. } => Some(*start),
            Self::Other(_) => None,
        }
    }

    /// The address of the last instruction.
    pub fn last(&self) -> Option<u64> {
        match self {
            Self::Code { last, .. } => Some(*last),
            Self::Other(_) => None,
        }
    }

    /// The number of instructions.
    pub fn insns(&self) -> u64 {
        match self {
            Self::Code { insns, .. } => (*insns).into(),
            Self::Other(_) => 0,
        }
    }

    /// Whether both traces do the same here, as far as both tell.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Code { start, .. }, Self::Code { start: other, .. }) => start == other,
            (Self::Other(Event::Trap { cause, interrupt, .. }), Self::Other(other)) => {
                matches!(other, Event::Trap { cause: c, interrupt: i, .. } if c == cause && i == interrupt)
            }
            (Self::Other(Event::Gap(_)), Self::Other(other)) => matches!(other, Event::Gap(_)),
            (Self::Other(Event::Off(_)), Self::Other(other)) => matches!(other, Event::Off(_)),
            _ => false,
        }
    }

    /// What both begin with, if they are alike. A part may end within consecutive instructions, and a trap may end them.
    pub(super) fn common(&self, other: &Self) -> Option<Self> {
        let shorter = if self.insns() <= other.insns() { self } else { other };
        self.is_like(other).then_some(*shorter)
    }
}

/// The pieces of a part of a trace.
#[derive(Debug, Default)]
pub struct Pieces {
    pub(super) list: Vec<(StreamPos, Piece)>,
    /// Turns of loops that the trace only counts, in order.
    pub(super) turns: Vec<Turns>,
    /// The turn that is being reported: where it starts, and how often it is taken.
    turn: Option<(usize, u64)>,
    /// Pieces before this place are complete.
    complete: usize,
}

/// A turn of a loop that is repeated.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Its pieces.
    pub(super) pieces: Range<usize>,
    /// How often it is taken after the first time.
    pub(super) more: u64,
}

impl Sink for Pieces {
    const ORDERED: bool = true;
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let (start, last, end) = (run.start(), run.last(), run.end());
        let (insns, leaves, transfer) = (run.insns(), run.leaves(), run.transfer());
        if let Some((_, Piece::Code { last: l, end: e, insns: i, leaves: h, transfer: t, .. })) =
            self.list.get_mut(self.complete..).and_then(<[_]>::last_mut)
            && (*h, *e) == (Leaves::No, start)
            && let Some(sum) = i.checked_add(insns)
        {
            (*l, *e, *i, *h, *t) = (last, end, sum, leaves, transfer);
            return;
        }
        self.list.push((at, Piece::Code { start, last, end, insns, leaves, transfer }));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if matches!(event, Event::Trap { .. } | Event::Gap(_) | Event::Off(_)) {
            self.list.push((at, Piece::Other(event)));
        }
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        if self.turn.is_none() {
            self.complete = self.list.len();
            self.turn = Some((self.complete, times));
        }
        self.run(at, run);
    }

    fn end_turn(&mut self) {
        let Some((start, times)) = self.turn.take() else { return };
        self.complete = self.list.len();
        let (pieces, more) = (start..self.complete, times.saturating_sub(1));
        if !pieces.is_empty() && more > 0 {
            self.turns.push(Turns { pieces, more });
        }
    }

    fn is_full(&self) -> bool {
        size_of_val(self.list.as_slice()) >= PART_BYTES
    }

    fn bytes(&self) -> Option<usize> {
        let list = self.list.capacity().saturating_mul(size_of::<(StreamPos, Piece)>());
        Some(list.saturating_add(self.turns.capacity().saturating_mul(size_of::<Turns>())))
    }
}

impl Collect for Pieces {}

/// One of two traces, as it arrives.
pub(super) struct Side<I> {
    parts: I,
    /// The part that has arrived last, as far as it is not among `pieces`.
    rest: Unrolled,
    /// What has arrived; everything before `next` has been compared.
    pieces: Vec<(StreamPos, Piece)>,
    next: usize,
    at: StreamPos,
    /// Instructions that have been compared.
    pub(super) insns: u64,
}

impl<I: Iterator<Item = Pieces>> Side<I> {
    /// Starts after this number of instructions.
    pub(super) fn new(parts: I, insns: u64) -> Self {
        let rest = Unrolled::default();
        Self { parts, rest, pieces: Vec::new(), next: 0, at: StreamPos::default(), insns }
    }

    /// What has not been compared, as far as it has arrived.
    pub(super) fn window(&self) -> &[(StreamPos, Piece)] {
        self.pieces.get(self.next..).unwrap_or_default()
    }

    /// Waits until there are `count` pieces, or all that are left.
    pub(super) fn fill(&mut self, count: usize) {
        while self.window().len() < count {
            if self.next >= self.pieces.len() / 2 {
                self.pieces.drain(..self.next);
                self.next = 0;
            }
            if self.rest.unroll_to(&mut self.pieces) {
                continue;
            }
            let Some(part) = self.parts.next() else { return };
            self.rest = Unrolled::new(part);
        }
    }

    /// The loop whose turns come next, if there are turns that have not been unrolled.
    pub(super) fn turns(&self) -> Option<Repeated> {
        self.rest.turns().filter(|turns| self.window().len() as u64 <= turns.unrolled)
    }

    /// The pieces of a turn from here on.
    pub(super) fn turn(&self) -> Vec<Piece> {
        self.rest.turn(self.window().len())
    }

    /// Goes on after so many turns.
    pub(super) fn pass_turns(&mut self, times: u64) {
        let insns = self.rest.pass_turns(times);
        self.insns = self.insns.saturating_add(insns);
    }

    /// What comes next; `None` at the end.
    pub(super) fn front(&mut self) -> Option<(StreamPos, Piece)> {
        self.fill(1);
        let front = self.window().first().copied();
        self.at = front.map_or(self.at, |(at, _)| at);
        front
    }

    /// Where in the capture it is.
    pub(super) fn at(&self) -> StreamPos {
        self.at
    }

    /// Goes on after what both have in common.
    pub(super) fn consume(&mut self, common: &Piece) {
        self.insns = self.insns.saturating_add(common.insns());
        if let (Some((_, Piece::Code { start, insns, .. })), Piece::Code { end, insns: taken, .. }) =
            (self.pieces.get_mut(self.next), common)
            && *insns > *taken
        {
            (*start, *insns) = (*end, insns.saturating_sub(*taken));
            return;
        }
        self.next = self.next.saturating_add(1);
    }

    /// Goes on after a piece that only this trace has; `with` gets it, and the one after it.
    pub(super) fn skip(&mut self, with: impl FnOnce(&Piece, Option<&Piece>)) {
        // The one after it may not be in the window yet.
        self.fill(2);
        let [(_, piece), rest @ ..] = self.window() else { return };
        with(piece, rest.first().map(|(_, next)| next));
        self.insns = self.insns.saturating_add(piece.insns());
        self.next = self.next.saturating_add(1);
    }
}
