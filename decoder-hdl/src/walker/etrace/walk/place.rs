//! Where the walker is.

use super::STATE_BITS;
use crate::walker::etrace::Config;
use crate::walker::etrace::intake::Stored;
use crate::walker::etrace::outcomes::Outcomes;
use hartrace_rtl::{Expr, Module, Reg, zero};

/// What the walker does.
#[derive(Copy, Clone)]
pub(super) enum State {
    /// It takes up a record.
    Ready = 0,
    /// It follows the program to where the record says.
    Walk = 1,
    /// It finds the outcome of the predicted branch that it has reached, since more may be sent for later ones.
    Latch = 2,
}

/// The registers of the walk.
pub(super) struct Place {
    pub(super) state: Reg,
    /// Neither this nor `lost`: nothing was traced yet, or not any more.
    pub(super) on: Reg,
    pub(super) lost: Reg,
    pub(super) here: Reg,
    /// Nothing of the block is executed yet; otherwise everything up to pc, of which nothing from `from` on was
    /// reported.
    pub(super) fresh: Reg,
    pub(super) pc: Reg,
    pub(super) from: Reg,
    pub(super) at_last: Reg,
    /// The instruction at pc, or the first of the block, was reached from the one before it in memory.
    pub(super) in_sequence: Reg,
    pub(super) trapped: Reg,
    pub(super) walked: Reg,
    pub(super) privilege: Reg,
    pub(super) patience: Reg,
    pub(super) outcomes: Outcomes,
}

impl Place {
    pub(super) fn new(m: &Module, config: &Config, record: &Stored, predicts: bool) -> Self {
        let (offset, index) = (config.table.start_bits, config.table.index_bits);
        m.section("Where the walker is.");
        Self {
            state: m.reg("state", zero(STATE_BITS)),
            on: m.reg("on", zero(1)),
            lost: m.reg("lost", zero(1)),
            here: m.reg("here", zero(index)),
            fresh: m.reg("fresh", zero(1)),
            pc: m.reg("pc", zero(offset)),
            from: m.reg("from", zero(offset)),
            at_last: m.reg("at_last", zero(1)),
            in_sequence: m.reg("in_sequence", zero(1)),
            trapped: m.reg("trapped", zero(1)),
            walked: m.reg("walked", zero(1)),
            privilege: m.reg("privilege", zero(record.privilege.width())),
            patience: m.reg("patience", zero(config.patience)),
            outcomes: Outcomes::new(m, predicts),
        }
    }

    pub(super) fn is_in(&self, which: State) -> Expr {
        self.state.q.is(which as u128)
    }
}

/// A visit of an address that may not be the one that was meant: the next record decides.
pub(super) struct Visit {
    pub(super) undecided: Reg,
    pub(super) deciding: Reg,
    pub(super) block: Reg,
    pub(super) branch: Reg,
    pub(super) last: Reg,
    pub(super) offset: Reg,
    /// Whether the depth of the return stack was reported, and it.
    pub(super) depth: Option<(Reg, Reg)>,
}

impl Visit {
    pub(super) fn new(m: &Module, config: &Config, depth: Option<u32>) -> Self {
        m.section(
            "A visit of an address that may not be the one that was meant: the next record decides.",
        );
        Self {
            undecided: m.reg("undecided", zero(1)),
            deciding: m.reg("deciding", zero(1)),
            block: m.reg("earlier", zero(config.table.index_bits)),
            branch: m.reg("earlier_branch", zero(1)),
            last: m.reg("earlier_last", zero(1)),
            offset: m.reg("earlier_offset", zero(config.table.start_bits)),
            depth: depth.map(|width| {
                (m.reg("earlier_report", zero(1)), m.reg("earlier_depth", zero(width)))
            }),
        }
    }
}
