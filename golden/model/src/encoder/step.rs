use hartrace_etrace::ingress::{CType, IType, Privilege, Retired};

/// One pass through the flow chart: an instruction that retired, or a trap.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) row: u64,
    pub(crate) qualified: bool,
    /// An instruction retired; otherwise this is only a trap.
    pub(crate) retired: bool,
    pub(crate) itype: IType,
    pub(crate) address: u64,
    /// Address after the instruction.
    pub(crate) link: u64,
    pub(crate) sijump: bool,
    pub(crate) privilege: Privilege,
    pub(crate) cause: u64,
    pub(crate) tval: u64,
    pub(crate) context: u64,
    pub(crate) ctype: CType,
    pub(crate) time: u64,
    pub(crate) notify: bool,
    pub(crate) cycles: u32,
    pub(crate) half_words: u32,
    /// No instruction or trap, but a place at which the trace is interrupted.
    pub(crate) gap: bool,
    /// The trace is interrupted right after it.
    pub(crate) cut: bool,
}

/// What the flow chart needs to know about the previous step.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) step: Step,
    /// It is a trap that has been reported.
    pub(crate) reported: bool,
    /// It is an uninferable discontinuity.
    pub(crate) updiscon: bool,
    /// It is a mispredicted return: the depth at which it happened.
    pub(crate) mismatch: Option<u32>,
}

impl Step {
    /// The steps of one row.
    ///
    /// 9.3: only the first and the last instruction of a block can cause packets. 9: a row that
    /// holds both a retirement and a trap makes two passes (`split`); in the older flow chart
    /// it makes one.
    pub(crate) fn of(block: &Retired, row: u64, qualified: bool, split: bool) -> Vec<Self> {
        let base = Self {
            row,
            qualified,
            retired: block.iretire > 0,
            itype: block.itype,
            address: block.last_address(),
            link: block.next_address(),
            sijump: block.sijump,
            privilege: block.privilege,
            cause: block.cause,
            tval: block.tval,
            context: block.context,
            ctype: block.ctype,
            time: block.time,
            notify: block.trigger.notify,
            cycles: block.cycles,
            half_words: block.iretire,
            gap: false,
            cut: false,
        };
        let mut steps = Vec::new();
        let trap = block.itype.is_trap();
        if !base.retired {
            if trap {
                steps.push(base);
            }
            return steps;
        }
        let mut last = base.clone();
        if split && trap {
            last.itype = IType::None;
        }
        if last.address != block.iaddr {
            let first = Self {
                itype: IType::None,
                address: block.iaddr,
                notify: false,
                half_words: 0,
                ..base.clone()
            };
            last.cycles = 0;
            steps.push(first);
        }
        steps.push(last);
        if split && trap {
            // The instruction that trapped is the one after the block.
            steps.push(Self {
                retired: false,
                address: block.next_address(),
                notify: false,
                cycles: 0,
                half_words: 0,
                ..base
            });
        }
        steps
    }

    /// A break in tracing after `block`.
    pub(crate) fn unqualified(block: &Retired, row: u64) -> Self {
        let plain = Retired { itype: IType::None, iretire: 1, ilastsize: 0, ..*block };
        let mut step = Self::of(&plain, row, false, true).remove(0);
        step.cycles = 0;
        step.half_words = 0;
        step.gap = true;
        step
    }

    pub(crate) fn is_trap(&self) -> bool {
        self.itype.is_trap()
    }

    /// Privilege change, or context change that must be reported precisely (`ppccd`, 4.2).
    pub(crate) fn changes_from(&self, before: &Self) -> bool {
        self.privilege != before.privilege || self.changes_context(before)
    }

    fn changes_context(&self, before: &Self) -> bool {
        self.context != before.context
            && matches!(self.ctype, CType::Precise | CType::AsynchronousDiscontinuity)
    }

    /// Context change together with a jump that no instruction made.
    pub(crate) fn is_torn_from(&self, before: &Self) -> bool {
        self.context != before.context && self.ctype == CType::AsynchronousDiscontinuity
    }

    /// Context change that may be reported later (`cci`).
    pub(crate) fn changes_context_imprecisely(&self, before: &Self) -> bool {
        self.context != before.context && self.ctype == CType::Imprecise
    }
}
