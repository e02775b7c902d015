//! One pass through the flow chart.

use hartrace_etrace::ingress::{CType, IType, Privilege, Retired};

/// An instruction that retired, or a trap.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Step {
    pub(crate) row: u64,
    pub(crate) address: u64,
    /// Address after the instruction.
    pub(crate) link: u64,
    pub(crate) cause: u64,
    pub(crate) tval: u64,
    pub(crate) context: u64,
    pub(crate) time: u64,
    pub(crate) cycles: u32,
    pub(crate) half_words: u32,
    pub(crate) itype: IType,
    pub(crate) privilege: Privilege,
    pub(crate) ctype: CType,
    pub(crate) qualified: bool,
    /// An instruction retired; otherwise this is only a trap.
    pub(crate) retired: bool,
    pub(crate) sijump: bool,
    pub(crate) notify: bool,
}

/// What the flow chart needs to know about the previous step.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) context: u64,
    pub(crate) privilege: Privilege,
    /// It is a trap.
    pub(crate) trap: Option<Trap>,
    pub(crate) retired: bool,
    /// It is a trap that has been reported.
    pub(crate) reported: bool,
    pub(crate) left: Left,
}

/// How a step was left.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Left {
    /// By an uninferable discontinuity.
    pub(crate) updiscon: bool,
    /// By a mispredicted return: the depth at which it happened.
    pub(crate) mismatch: Option<u32>,
}

/// The part of a step that matters if nothing but a jump or a branch happens.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Jump {
    pub(crate) row: u64,
    pub(crate) address: u64,
    /// Address after the instruction.
    pub(crate) link: u64,
    pub(crate) itype: IType,
    pub(crate) sijump: bool,
}

/// The part of a trap that format 3.1 reports.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) interrupt: bool,
    pub(crate) cause: u64,
    pub(crate) tval: u64,
}

impl Jump {
    /// The last instruction of a block in which something retired.
    #[inline(always)]
    pub(crate) fn last(block: &Retired, row: u64) -> Self {
        let link = block.next_address();
        let address = link.wrapping_sub(block.last_bytes());
        Self { row, address, link, itype: block.itype, sijump: block.sijump }
    }
}

impl Step {
    /// What the next step needs to know of this one.
    pub(crate) fn described(&self, reported: bool, left: Left) -> Previous {
        Previous {
            context: self.context,
            privilege: self.privilege,
            trap: self.trap(),
            retired: self.retired,
            reported,
            left,
        }
    }

    /// The last instruction of a block, or its trap if nothing retired.
    #[inline]
    pub(crate) fn last(block: &Retired, row: u64, qualified: bool) -> Self {
        Self {
            row,
            address: block.last_address(),
            link: block.next_address(),
            cause: block.cause,
            tval: block.tval,
            context: block.context,
            time: block.time,
            cycles: block.cycles,
            half_words: block.iretire,
            itype: block.itype,
            privilege: block.privilege,
            ctype: block.ctype,
            qualified,
            retired: block.iretire > 0,
            sijump: block.sijump,
            notify: block.trigger.notify,
        }
    }

    /// The first instruction of a block, if the last one is another. Of a block, only these two can
    /// cause packets (9.3).
    #[inline]
    pub(crate) fn first(block: &Retired, row: u64, qualified: bool) -> Self {
        Self {
            itype: IType::None,
            address: block.iaddr,
            notify: false,
            half_words: 0,
            ..Self::last(block, row, qualified)
        }
    }

    /// The last instruction of a traced block, where the first one is a step of its own if it is
    /// another.
    #[inline]
    pub(crate) fn last_after_first(block: &Retired, row: u64) -> Self {
        let last = Self::last(block, row, true);
        Self { cycles: if last.address == block.iaddr { last.cycles } else { 0 }, ..last }
    }

    /// The trap after a block: the instruction that trapped is the one after it.
    pub(crate) fn trap_after(block: &Retired, row: u64, qualified: bool) -> Self {
        Self {
            retired: false,
            address: block.next_address(),
            notify: false,
            cycles: 0,
            half_words: 0,
            ..Self::last(block, row, qualified)
        }
    }

    /// A break in tracing after `block`.
    pub(crate) fn unqualified(block: &Retired, row: u64) -> Self {
        let plain = Retired { itype: IType::None, iretire: 1, ilastsize: 0, ..*block };
        Self { cycles: 0, half_words: 0, ..Self::last(&plain, row, false) }
    }

    #[inline]
    pub(crate) fn jump(&self) -> Jump {
        let Self { row, address, link, itype, sijump, .. } = *self;
        Jump { row, address, link, itype, sijump }
    }

    #[inline]
    pub(crate) fn is_trap(&self) -> bool {
        self.itype.is_trap()
    }

    /// The trap, if it is one.
    #[inline]
    pub(crate) fn trap(&self) -> Option<Trap> {
        let interrupt = self.itype == IType::Interrupt;
        self.is_trap().then_some(Trap { interrupt, cause: self.cause, tval: self.tval })
    }

    /// The outcome, if it is a branch.
    #[inline]
    pub(crate) fn taken(&self) -> Option<bool> {
        match self.itype {
            IType::Taken => Some(true),
            IType::NotTaken => Some(false),
            _ => None,
        }
    }

    /// Privilege change, or context change that must be reported precisely (`ppccd`, 4.2).
    #[inline]
    pub(crate) fn changes_from(&self, privilege: Privilege, context: u64) -> bool {
        let precise = matches!(self.ctype, CType::Precise | CType::AsynchronousDiscontinuity);
        self.privilege != privilege || self.context != context && precise
    }

    /// Context change together with a jump that no instruction made.
    #[inline]
    pub(crate) fn is_torn_from(&self, context: u64) -> bool {
        self.context != context && self.ctype == CType::AsynchronousDiscontinuity
    }

    /// Context change that may be reported later (`cci`).
    #[inline]
    pub(crate) fn changes_context_imprecisely(&self, context: u64) -> bool {
        self.context != context && self.ctype == CType::Imprecise
    }
}
