//! One of two traces.

use crate::report::{Collect, ROOM};
use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos, Transfer};

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
pub struct Pieces(pub(super) Vec<(StreamPos, Piece)>);

impl Sink for Pieces {
    const ORDERED: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let (start, last, end) = (run.start(), run.last(), run.end());
        let (insns, leaves, transfer) = (run.insns(), run.leaves(), run.transfer());
        if let Some((_, Piece::Code { last: l, end: e, insns: i, leaves: h, transfer: t, .. })) =
            self.0.last_mut()
            && (*h, *e) == (Leaves::No, start)
            && let Some(sum) = i.checked_add(insns)
        {
            (*l, *e, *i, *h, *t) = (last, end, sum, leaves, transfer);
            return;
        }
        self.0.push((at, Piece::Code { start, last, end, insns, leaves, transfer }));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if matches!(event, Event::Trap { .. } | Event::Gap(_) | Event::Off(_)) {
            self.0.push((at, Piece::Other(event)));
        }
    }

    fn is_full(&self) -> bool {
        size_of_val(self.0.as_slice()) >= ROOM
    }
}

impl Collect for Pieces {}

/// One of two traces, as it arrives.
pub(super) struct Side<I> {
    parts: I,
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
        Self { parts, pieces: Vec::new(), next: 0, at: StreamPos::default(), insns }
    }

    /// What has not been compared, as far as it has arrived.
    pub(super) fn window(&self) -> &[(StreamPos, Piece)] {
        self.pieces.get(self.next..).unwrap_or_default()
    }

    /// Waits until there are `count` pieces, or all that are left.
    pub(super) fn fill(&mut self, count: usize) {
        while self.window().len() < count {
            let Some(Pieces(mut more)) = self.parts.next() else { return };
            self.pieces.drain(..self.next);
            self.next = 0;
            self.pieces.append(&mut more);
        }
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
        let [(_, piece), rest @ ..] = self.window() else { return };
        with(piece, rest.first().map(|(_, next)| next));
        self.insns = self.insns.saturating_add(piece.insns());
        self.next = self.next.saturating_add(1);
    }
}
