//! Where two traces of one program differ.

mod captures;
mod count;
mod print;
mod side;
mod skip;

pub use captures::{CONTEXT, Capture, Ended, captures};
pub use count::Counts;
pub use print::Style;
pub use side::{Piece, Pieces};

use hartrace_decoder::calls::{CallStack, Frame, Functions, Transfers, Visit};
use hartrace_decoder::{Run, Sink, StreamPos};
use side::Side;
use std::collections::HashMap;
use std::sync::Arc;

/// Pieces among which both traces are aligned again.
const WINDOW: usize = 1 << 14;

/// Equal pieces in a row that are taken for an alignment.
const ALIKE: usize = 4;

/// Places of the same address that are tried for an alignment.
const PLACES: usize = 16;

/// Pieces after which the call stack is brought up to date.
const BATCH: u32 = 1 << 12;

/// A stretch in which two traces differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of instructions before it, in each trace.
    pub before: [u64; 2],
    /// Where it is in each capture.
    pub at: [StreamPos; 2],
    /// What each trace has there first; `None` at its end.
    pub first: [Option<Piece>; 2],
    /// The number of instructions that only one has, in each trace.
    pub insns: [u64; 2],
}

/// Where two traces of one program differ.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    /// What is before this place is the same in both captures, byte for byte, and was not decoded: instructions are
    /// counted from there, and functions that were active there are not known.
    pub skipped: Option<StreamPos>,
    /// The first stretches.
    pub stretches: Vec<Stretch>,
    /// The number of all stretches.
    pub count: u64,
    /// The number of instructions in each trace.
    pub insns: [u64; 2],
    /// Instructions that only one trace has.
    pub alone: [u64; 2],
    /// Address of the last instruction before the first stretch.
    pub last: Option<u64>,
    /// The active functions there, the oldest first.
    pub stack: Vec<Frame>,
    /// What each trace has more of.
    pub counts: Counts,
}

struct Nobody;

impl Visit for Nobody {
    fn enter(&mut self, _: &Frame, _: u64) {}
    fn leave(&mut self, _: &Frame, _: u64) {}
}

/// Follows the call stack up to the first difference.
struct Stack {
    stack: CallStack<Nobody>,
    transfers: Transfers,
    functions: Arc<Functions>,
    waiting: u32,
}

impl Stack {
    fn new(functions: Arc<Functions>) -> Self {
        let stack = CallStack::new(Arc::clone(&functions), Nobody);
        let transfers = Transfers::new(Arc::clone(&functions));
        Self { stack, transfers, functions, waiting: 0 }
    }

    fn take(&mut self, at: StreamPos, piece: &Piece) {
        match *piece {
            Piece::Code { start, end, leaves, transfer, .. } => {
                if let Some(run) = Run::new(start, &[0], end, leaves) {
                    self.transfers.run(at, run.with_transfer(transfer));
                }
            }
            Piece::Other(event) => self.transfers.event(at, event),
        }
        self.waiting = self.waiting.wrapping_add(1);
        if self.waiting >= BATCH {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let empty = Transfers::new(Arc::clone(&self.functions));
        self.stack.replay(&std::mem::replace(&mut self.transfers, empty));
        self.waiting = 0;
    }
}

/// Compares two traces, given in parts. Of the stretches that differ, `most` are kept.
pub fn delta(
    parts: [impl Iterator<Item = Pieces>; 2],
    functions: &Arc<Functions>,
    most: usize,
) -> Delta {
    let [a, b] = parts;
    let (mut a, mut b) = (Side::new(a), Side::new(b));
    let mut stack = Stack::new(Arc::clone(functions));
    let mut delta = Delta::default();
    loop {
        let fronts = (a.front(), b.front());
        let common = match fronts {
            (None, None) => break,
            (Some((_, piece)), Some((_, other))) => piece.common(&other),
            _ => None,
        };
        match (common, fronts.0) {
            (Some(common), Some((at, _))) => {
                if delta.count == 0 {
                    stack.take(at, &common);
                    delta.last = common.last().or(delta.last);
                }
                a.consume(&common);
                b.consume(&common);
            }
            _ => differ(&mut delta, (&mut a, &mut b), functions, most),
        }
    }
    stack.settle();
    delta.stack = stack.stack.frames().to_vec();
    delta.insns = [a.insns, b.insns];
    delta
}

/// Both traces differ here: finds where they are alike again.
fn differ<A, B>(
    delta: &mut Delta,
    (a, b): (&mut Side<A>, &mut Side<B>),
    functions: &Functions,
    most: usize,
) where
    A: Iterator<Item = Pieces>,
    B: Iterator<Item = Pieces>,
{
    let first = [a.front(), b.front()];
    let at = [a.at(), b.at()];
    let before = [a.insns, b.insns];
    loop {
        a.fill(WINDOW);
        b.fill(WINDOW);
        let found = align(a.window(), b.window());
        let (skip_a, skip_b) = found.unwrap_or((a.window().len(), b.window().len()));
        for _ in 0..skip_a {
            a.skip(|piece, next| delta.counts.add(0, piece, next, functions));
        }
        for _ in 0..skip_b {
            b.skip(|piece, next| delta.counts.add(1, piece, next, functions));
        }
        if found.is_some() || (a.front().is_none() && b.front().is_none()) {
            break;
        }
    }
    let insns = [a.insns.saturating_sub(before[0]), b.insns.saturating_sub(before[1])];
    delta.count = delta.count.saturating_add(1);
    for (all, more) in delta.alone.iter_mut().zip(insns) {
        *all = all.saturating_add(more);
    }
    if delta.stretches.len() < most {
        let first = first.map(|front| front.map(|(_, piece)| piece));
        delta.stretches.push(Stretch { before, at, first, insns });
    }
}

/// How many pieces to skip on both sides so that both continue alike; as few as possible.
fn align(a: &[(StreamPos, Piece)], b: &[(StreamPos, Piece)]) -> Option<(usize, usize)> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, (_, piece)) in a.iter().enumerate() {
        if let Some(start) = piece.start() {
            let list = places.entry(start).or_default();
            if list.len() < PLACES {
                list.push(i);
            }
        }
    }
    let mut best: Option<(usize, usize)> = None;
    for (j, (_, piece)) in b.iter().enumerate() {
        let total = |(i, j): (usize, usize)| i.saturating_add(j);
        if best.is_some_and(|best| total(best) <= j) {
            break;
        }
        let Some(list) = piece.start().and_then(|start| places.get(&start)) else { continue };
        for i in list {
            let better = best.is_none_or(|best| total((*i, j)) < total(best));
            let rest = |side: &[(StreamPos, Piece)], from: usize| -> Vec<Piece> {
                side.iter().skip(from).take(ALIKE).map(|(_, piece)| *piece).collect()
            };
            if better {
                let (rest_a, rest_b) = (rest(a, *i), rest(b, j));
                let alike = rest_a.iter().zip(&rest_b).all(|(a, b)| a.is_like(b));
                // Fewer are enough where both traces end.
                if alike && rest_a.len() == rest_b.len() {
                    best = Some((*i, j));
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests;
