//! Blocks: runs that only a packet, or a seam, has split are joined.

use super::sinks::Happened;
use super::summary::BlockEnds;
use hartrace_decoder::Leaves;

/// A run of consecutive instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Instructions before it.
    pub(super) first: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) insns: u64,
    /// How it ends, as an index into [`LEAVES`](super::rows::LEAVES).
    pub(super) leaves: u64,
}

impl Block {
    /// Joins the block directly after this one to it, if nothing but a packet is between them.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        let continues = self.leaves == number(Leaves::No) && self.end == next.start;
        if continues {
            self.end = next.end;
            self.leaves = next.leaves;
            self.insns = self.insns.saturating_add(next.insns);
        }
        continues
    }
}

/// How a run ends, as a number.
pub(super) fn number(leaves: Leaves) -> u64 {
    match leaves {
        Leaves::No => 0,
        Leaves::Branch => 1,
        Leaves::Jump => 2,
        Leaves::Indirect => 3,
    }
}

/// Joins the runs of a part.
#[derive(Debug)]
pub(super) struct Joiner {
    insns: u64,
    pending: Option<Block>,
    /// Privilege and context, as far as known.
    state: Option<(u8, u64)>,
    ends: BlockEnds,
}

impl Default for Joiner {
    fn default() -> Self {
        let ends = BlockEnds { empty: true, ..BlockEnds::default() };
        Self { insns: 0, pending: None, state: None, ends }
    }
}

impl Joiner {
    /// Takes the next item. Blocks that are complete go to `block`.
    pub(super) fn take(&mut self, item: Happened, block: &mut impl FnMut(Block)) {
        match item {
            Happened::Run { start, end, insns, leaves } => {
                let insns = u64::from(insns);
                let next = Block { first: self.insns, start, end, insns, leaves: number(leaves) };
                self.insns = self.insns.wrapping_add(insns);
                self.ends.empty = false;
                let joined = self.pending.as_mut().is_some_and(|pending| pending.join(&next));
                if !joined {
                    self.pending.replace(next).into_iter().for_each(block);
                }
            }
            Happened::Context(privilege, context) => {
                let state = Some((privilege, context));
                if self.ends.empty {
                    // The state before is known only to the part before.
                    self.ends.breaks |= self.ends.first.is_some_and(|first| Some(first) != state);
                    self.ends.first = state;
                }
                if self.state.replace((privilege, context)) != state {
                    self.pending.take().into_iter().for_each(block);
                }
            }
            Happened::Break => {
                self.ends.breaks |= self.ends.empty;
                self.pending.take().into_iter().for_each(block);
            }
        }
    }

    /// Ends the part.
    pub(super) fn finish(mut self, block: &mut impl FnMut(Block)) -> BlockEnds {
        self.ends.open = self.pending.is_some();
        self.ends.last = self.state;
        self.pending.take().into_iter().for_each(block);
        self.ends
    }
}

impl BlockEnds {
    /// Whether the first block of `next` may continue the last one of this part.
    pub(super) fn leads_to(&self, next: &Self) -> bool {
        let known = next.first.is_none() || next.first == self.last;
        self.open && !next.breaks && !next.empty && known
    }

    /// The ends of both parts.
    pub(super) fn followed_by(self, next: Self) -> Self {
        let known = next.first.is_none() || next.first == self.last;
        let changed = !known && self.empty && self.first.is_some();
        Self {
            breaks: self.breaks || self.empty && (next.breaks || changed),
            first: self.first.or(if self.empty { next.first } else { None }),
            empty: self.empty && next.empty,
            // A part without blocks may still end the block before it.
            open: if next.empty { self.open && !next.breaks && known } else { next.open },
            last: next.last.or(self.last),
        }
    }
}
