//! Compares two traces as they are decoded.

use super::side::{Piece, Pieces, Side};
use super::unrolled::Repeated;
use super::{Delta, Stretch};
use hartrace_decoder::calls::{CallStack, Frame, Functions, Transfers, Visit};
use hartrace_decoder::{Run, Sink, StreamPos};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Pieces among which both traces are aligned again.
const WINDOW: usize = 1 << 14;

/// Pieces among which that is tried first.
const NEAR: usize = 32;

/// Equal pieces in a row that are taken for an alignment.
pub(super) const ALIKE: usize = 4;

/// Places of the same address that are tried for an alignment.
pub(super) const PLACES: usize = 16;

/// Pieces after which the call stack is brought up to date.
const BATCH: u32 = 1 << 12;

struct Nobody;

impl Visit for Nobody {
    const ONE_BY_ONE: u64 = 0;

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

    /// Takes turns of a loop, the one before which was the same.
    fn repeat(&mut self, at: StreamPos, turn: &[Piece], times: u64) {
        for piece in turn {
            if let Piece::Code { start, end, leaves, transfer, .. } = *piece
                && let Some(run) = Run::new(start, &[0], end, leaves)
            {
                self.transfers.repeat(at, run.with_transfer(transfer), times);
            }
        }
        self.transfers.end_turn();
        self.settle();
    }

    fn settle(&mut self) {
        let empty = Transfers::new(Arc::clone(&self.functions));
        self.stack.replay(&std::mem::replace(&mut self.transfers, empty));
        self.waiting = 0;
    }
}

/// Follows a comparison, and may end it.
pub(super) trait Watch {
    /// The comparison has come to these places in both captures. If both traces are the same there, but have differed before, `alike`
    /// says whether they have the same piece, or one of them has only a part of the other's.
    fn step(&mut self, at: [StreamPos; 2], alike: Option<bool>) -> ControlFlow<()>;
}

/// Lets a comparison go to the end.
struct ToTheEnd;

impl Watch for ToTheEnd {
    fn step(&mut self, _: [StreamPos; 2], _: Option<bool>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Compares two traces, given in parts. Of the stretches that differ, `most` are kept.
pub fn delta(
    [a, b]: [impl Iterator<Item = Pieces>; 2],
    functions: &Arc<Functions>,
    most: usize,
) -> Delta {
    let mut compare = Compare::new(functions, most);
    compare.run(a, b, &mut ToTheEnd);
    compare.finish()
}

/// A comparison of two traces.
pub(super) struct Compare {
    pub(super) delta: Delta,
    stack: Stack,
    functions: Arc<Functions>,
    most: usize,
}

impl Compare {
    /// Starts without differences, of which `most` are kept.
    pub(super) fn new(functions: &Arc<Functions>, most: usize) -> Self {
        let stack = Stack::new(Arc::clone(functions));
        Self { delta: Delta::default(), stack, functions: Arc::clone(functions), most }
    }

    /// Compares both traces from places on that are the same, until `watch` ends it or both end.
    pub(super) fn run(
        &mut self,
        a: impl Iterator<Item = Pieces>,
        b: impl Iterator<Item = Pieces>,
        watch: &mut impl Watch,
    ) {
        let [insns_a, insns_b] = self.delta.insns;
        let (mut a, mut b) = (Side::new(a, insns_a), Side::new(b, insns_b));
        // Equal pieces in a row of loops whose turns have the same number of pieces.
        let mut in_step = 0u64;
        loop {
            let fronts = (a.front(), b.front());
            let common = match fronts {
                (None, None) => break,
                (Some((_, piece)), Some((_, other))) => piece.common(&other),
                _ => None,
            };
            let has_differed = self.delta.count > 0;
            let is_same = |(_, piece)| fronts.1.is_some_and(|(_, other)| piece == other);
            let alike = common.filter(|_| has_differed).and(fronts.0).map(is_same);
            if watch.step([a.at(), b.at()], alike).is_break() {
                break;
            }
            match (common, fronts.0) {
                (Some(common), Some((at, _))) => {
                    if self.delta.count == 0 {
                        self.stack.take(at, &common);
                        self.delta.last = common.last().or(self.delta.last);
                    }
                    let repeated = a.turns().zip(b.turns());
                    let repeated = repeated.filter(|(a, b)| a.pieces == b.pieces);
                    in_step = match repeated.filter(|_| fronts.0.is_some_and(is_same)) {
                        Some(_) => in_step.saturating_add(1),
                        None => 0,
                    };
                    a.consume(&common);
                    b.consume(&common);
                    // After a whole turn, all turns that both have are the same.
                    if let Some((of_a, of_b)) = repeated.filter(|(a, _)| in_step >= a.pieces) {
                        let times = of_a.left.min(of_b.left);
                        if self.delta.count == 0 {
                            self.stack.repeat(at, &a.turn(), times);
                        }
                        a.pass_turns(times);
                        b.pass_turns(times);
                        in_step = 0;
                    }
                }
                _ => self.differ(&mut a, &mut b),
            }
        }
        self.delta.insns = [a.insns, b.insns];
    }

    /// The differences, after all has been compared.
    pub(super) fn finish(mut self) -> Delta {
        self.stack.settle();
        self.delta.stack = self.stack.stack.frames().to_vec();
        self.delta
    }

    /// Both traces differ here: finds where they are alike again.
    fn differ<A, B>(&mut self, a: &mut Side<A>, b: &mut Side<B>)
    where
        A: Iterator<Item = Pieces>,
        B: Iterator<Item = Pieces>,
    {
        let Self { delta, functions, most, .. } = self;
        let first = [a.front(), b.front()];
        let at = [a.at(), b.at()];
        let before = [a.insns, b.insns];
        loop {
            a.fill(WINDOW);
            b.fill(WINDOW);
            let found = align(a.window(), b.window());
            let (skip_a, skip_b) = found.unwrap_or((a.window().len(), b.window().len()));
            for _ in 0..skip_a {
                a.skip(|piece, next| delta.counts.add(0, piece, next, 1, functions));
            }
            for _ in 0..skip_b {
                b.skip(|piece, next| delta.counts.add(1, piece, next, 1, functions));
            }
            let ended = [a.front().is_none(), b.front().is_none()];
            if found.is_some() || ended == [true; 2] {
                break;
            }
            let [times_a, times_b] = unlike_turns([a.turns(), b.turns()], ended);
            skip_turns(a, times_a, |piece, next| {
                delta.counts.add(0, piece, next, times_a, functions);
            });
            skip_turns(b, times_b, |piece, next| {
                delta.counts.add(1, piece, next, times_b, functions);
            });
        }
        let insns = [a.insns.saturating_sub(before[0]), b.insns.saturating_sub(before[1])];
        delta.count = delta.count.saturating_add(1);
        for (all, more) in delta.alone.iter_mut().zip(insns) {
            *all = all.saturating_add(more);
        }
        if delta.stretches.len() < *most {
            let first = first.map(|front| front.map(|(_, piece)| piece));
            delta.stretches.push(Stretch { before, at, first, insns });
        }
    }
}

/// After windows that are not alike: how many turns on each side are not alike either, since they repeat these windows.
fn unlike_turns(turns: [Option<Repeated>; 2], ended: [bool; 2]) -> [u64; 2] {
    let window = WINDOW as u64;
    let all = |turns: &Repeated| turns.left.saturating_mul(turns.pieces);
    match (turns, ended) {
        ([Some(a), None], [_, true]) => [a.left, 0],
        ([None, Some(b)], [true, _]) => [0, b.left],
        ([Some(a), Some(b)], _) if a.unrolled.min(b.unrolled) >= window => {
            let pieces = all(&a).min(all(&b));
            [a, b].map(|turns| pieces.checked_div(turns.pieces).unwrap_or(0))
        }
        _ => [0; 2],
    }
}

/// Skips turns that only one trace has; `with` gets each piece of a turn, and the one after it.
fn skip_turns<I: Iterator<Item = Pieces>>(
    side: &mut Side<I>,
    times: u64,
    mut with: impl FnMut(&Piece, Option<&Piece>),
) {
    if times == 0 {
        return;
    }
    let turn = side.turn();
    for (piece, next) in turn.iter().zip(turn.iter().cycle().skip(1)) {
        with(piece, Some(next));
    }
    side.pass_turns(times);
}

/// How many pieces to skip on both sides so that both continue alike; as few as possible.
pub(super) fn align(a: &[(StreamPos, Piece)], b: &[(StreamPos, Piece)]) -> Option<(usize, usize)> {
    let mut near = NEAR;
    loop {
        let found = align_near(a, b, near);
        // What is farther away skips more.
        if found.is_some_and(|(i, j)| i.saturating_add(j) < near) || near >= a.len().max(b.len()) {
            return found;
        }
        near = near.saturating_mul(8);
    }
}

/// The same, if fewer than `near` pieces are skipped on each side.
fn align_near(
    a: &[(StreamPos, Piece)],
    b: &[(StreamPos, Piece)],
    near: usize,
) -> Option<(usize, usize)> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, (_, piece)) in a.iter().enumerate().take(near) {
        if let Some(start) = piece.start() {
            let list = places.entry(start).or_default();
            if list.len() < PLACES {
                list.push(i);
            }
        }
    }
    let mut best: Option<(usize, usize)> = None;
    for (j, (_, piece)) in b.iter().enumerate().take(near) {
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
