//! Where the walker is, and the block that waits for what follows it.

use crate::walker::etmv4::intake::{ATOM_BITS, COUNT_BITS};
use crate::walker::present::Present;
use crate::walker::search::Found;
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_rtl::{Block, Expr, Module, Reg, lit, zero};

/// The registers of the walk.
pub(super) struct Place {
    /// There was an alignment synchronisation, but no TraceInfo yet.
    pub(super) aligned: Reg,
    /// There was both. Otherwise, nothing can be followed.
    pub(super) following: Reg,
    /// The context is known.
    pub(super) context: Reg,
    /// The next address is not known.
    pub(super) need: Reg,
    /// There is a gap, and it was reported.
    pub(super) told: Reg,
    /// The loss of records was noticed.
    pub(super) noticed: Reg,
    pub(super) here: Reg,
    /// The next instruction is the first of the block; otherwise, it is at pc.
    pub(super) fresh: Reg,
    pub(super) pc: Reg,
    /// There is no code at pc, or it is inside of an instruction.
    pub(super) missing: Reg,
    pub(super) inside: Reg,
    /// Outcomes that were not followed yet: their number, and the oldest lowest.
    pub(super) left: Reg,
    pub(super) outcomes: Reg,
    pub(super) returns: Option<Returns>,
}

/// The registers for the return stack.
pub(super) struct Returns {
    /// The target of the last branch is on the stack, unless an address follows.
    pub(super) pending: Reg,
    /// After TraceInfo, calls do not count before the first address.
    pub(super) blocked: Reg,
}

impl Place {
    pub(super) fn new(m: &Module, layout: &WordLayout, returns: bool) -> Self {
        m.section("Where the walker is.");
        Self {
            aligned: m.reg("aligned", zero(1)),
            following: m.reg("following", zero(1)),
            context: m.reg("context_known", zero(1)),
            need: m.reg("need", lit(1, 1)),
            told: m.reg("told", zero(1)),
            noticed: m.reg("noticed", zero(1)),
            here: m.reg("here", zero(layout.index_bits)),
            fresh: m.reg("fresh", zero(1)),
            pc: m.reg("pc", zero(layout.start_bits)),
            missing: m.reg("missing", zero(1)),
            inside: m.reg("inside", zero(1)),
            left: m.reg("left", zero(COUNT_BITS)),
            outcomes: m.reg("outcomes", zero(ATOM_BITS)),
            returns: returns.then(|| Returns {
                pending: m.reg("return_pending", zero(1)),
                blocked: m.reg("calls_blocked", zero(1)),
            }),
        }
    }

    /// The position is the address in the record.
    pub(super) fn arrive(&self, b: &mut Block, found: &Found) {
        b.set(&self.need.d, false);
        b.set(&self.told.d, false);
        b.set(&self.here.d, &found.block);
        b.set(&self.fresh.d, false);
        b.set(&self.pc.d, &found.offset);
        b.set(&self.missing.d, !&found.code);
        b.set(&self.inside.d, &found.inside);
    }

    /// The position is the start of a block.
    pub(super) fn enter(&self, b: &mut Block, block: &Expr) {
        b.set(&self.need.d, false);
        b.set(&self.here.d, block);
        b.set(&self.fresh.d, true);
        b.set(&self.missing.d, false);
        b.set(&self.inside.d, false);
    }
}

/// A block that is reported when it is known what follows it.
pub(super) struct Held {
    pub(super) there: Reg,
    pub(super) first: Reg,
    pub(super) last: Reg,
    pub(super) ends: Reg,
    pub(super) taken: Reg,
    /// The last instruction was not executed.
    pub(super) faulted: Reg,
}

impl Held {
    pub(super) fn new(m: &Module, offset: u32) -> Self {
        m.section("A block that is reported when it is known what follows it.");
        Self {
            there: m.reg("held", zero(1)),
            first: m.reg("held_first", zero(offset)),
            last: m.reg("held_last", zero(offset)),
            ends: m.reg("held_ends", zero(Ends::BITS)),
            taken: m.reg("held_taken", zero(1)),
            faulted: m.reg("held_faulted", zero(1)),
        }
    }

    /// Holds a block, from `first` on.
    pub(super) fn keep(&self, b: &mut Block, first: &Expr, present: &Present, taken: &Expr) {
        b.set(&self.there.d, true);
        b.set(&self.first.d, first);
        b.set(&self.last.d, &present.last);
        b.set(&self.ends.d, &present.ends);
        b.set(&self.taken.d, taken);
        b.set(&self.faulted.d, false);
    }

    /// Holds what was executed of a block before the instruction at `end`.
    pub(super) fn keep_part(&self, b: &mut Block, first: &Expr, end: &Expr) {
        b.set(&self.there.d, true);
        b.set(&self.first.d, first);
        b.set(&self.last.d, end);
        b.set(&self.ends.d, lit(Ends::BITS, Ends::Next as u128));
        b.set(&self.taken.d, false);
        b.set(&self.faulted.d, true);
    }
}
