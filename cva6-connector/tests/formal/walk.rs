//! From the oldest to the newest of what is inside.

use hartrace_rtl::{Expr, concat, lit, zero};

/// Width of numbers: of more half-words than are inside at any time, which is proven too.
pub(crate) const NUMBER: u32 = 6;

/// What the prover chose to follow.
pub(crate) struct Chosen {
    /// There is an instruction.
    pub(crate) some: Expr,
    /// Half-words that were committed before it and have not come out.
    pub(crate) ahead: Expr,
    pub(crate) pc: Expr,
    pub(crate) wide: Expr,
    /// It does not end a block.
    pub(crate) plain: Expr,
    pub(crate) itype: Expr,
    pub(crate) level: Expr,
    /// There is a trap.
    pub(crate) trap: Expr,
    /// Half-words before the trap.
    pub(crate) trap_ahead: Expr,
    /// Traps before it.
    pub(crate) traps_ahead: Expr,
    pub(crate) trap_pc: Expr,
    pub(crate) trap_itype: Expr,
    pub(crate) trap_level: Expr,
    pub(crate) cause: Expr,
    pub(crate) tval: Expr,
}

/// How far the walk got, and whether what was chosen is where it has to be.
pub(crate) struct Walk<'c> {
    chosen: &'c Chosen,
    /// Half-words so far.
    pub(crate) half_words: Expr,
    /// Traps so far.
    pub(crate) traps: Expr,
    /// The chosen instruction is as it was committed, if it is among what was passed.
    pub(crate) right: Expr,
    /// So is the chosen trap.
    pub(crate) trap_right: Expr,
}

/// Instructions one behind the other.
pub(crate) struct Run {
    /// Half-words; 0 if there is none.
    pub(crate) count: Expr,
    pub(crate) start: Expr,
    pub(crate) last_wide: Expr,
    /// How it ends; none if it is not at its end yet.
    pub(crate) itype: Option<Expr>,
    pub(crate) level: Expr,
}

/// One instruction.
pub(crate) struct Instruction {
    pub(crate) valid: Expr,
    pub(crate) pc: Expr,
    pub(crate) wide: Expr,
    pub(crate) itype: Expr,
    /// A block ends with it.
    pub(crate) ends: Expr,
    pub(crate) level: Expr,
}

/// A trap.
pub(crate) struct Trap {
    pub(crate) valid: Expr,
    pub(crate) pc: Expr,
    pub(crate) itype: Expr,
    pub(crate) level: Expr,
    pub(crate) cause: Expr,
    pub(crate) tval: Expr,
}

impl<'c> Walk<'c> {
    pub(crate) fn new(chosen: &'c Chosen) -> Self {
        let yes = lit(1, 1);
        Self {
            chosen,
            half_words: zero(NUMBER),
            traps: zero(NUMBER),
            right: yes.clone(),
            trap_right: yes,
        }
    }

    pub(crate) fn run(&mut self, run: &Run) {
        let c = self.chosen;
        let count = run.count.zext(NUMBER);
        let end = &self.half_words + &count;
        let offset = &c.ahead - &self.half_words;
        let behind = &offset + half_words(&c.wide);
        let here = &c.some & c.ahead.ge(&self.half_words) & c.ahead.lt(&end);
        let distance = concat(&[&offset, &lit(1, 0)]).zext(run.start.width());
        // An open run has no instruction with which a block ends.
        let ends = run.itype.as_ref().map_or_else(|| c.plain.clone(), |itype| itype.eq(&c.itype));
        let last = run.last_wide.eq(&c.wide) & ends;
        let within = behind.eq(&count).mux(last, &c.plain & behind.lt(&count));
        let same = (&run.start + distance).eq(&c.pc) & run.level.eq(&c.level);
        self.right = &self.right & here.implies(within & same);
        self.half_words = end;
    }

    pub(crate) fn instruction(&mut self, instruction: &Instruction) {
        let c = self.chosen;
        let Instruction { valid, pc, wide, itype, ends, level } = instruction;
        let end = &self.half_words + valid.gate(half_words(wide));
        let here = &c.some & c.ahead.ge(&self.half_words) & c.ahead.lt(&end);
        let same = pc.eq(&c.pc) & wide.eq(&c.wide) & itype.eq(&c.itype) & level.eq(&c.level);
        let same = same & (ends | &c.plain) & c.ahead.eq(&self.half_words);
        self.right = &self.right & here.implies(same);
        self.half_words = end;
    }

    pub(crate) fn trap(&mut self, trap: &Trap) {
        let c = self.chosen;
        let here = &c.trap & &trap.valid & c.traps_ahead.eq(&self.traps);
        let same = trap.pc.eq(&c.trap_pc)
            & trap.itype.eq(&c.trap_itype)
            & trap.level.eq(&c.trap_level)
            & trap.cause.eq(&c.cause)
            & trap.tval.eq(&c.tval)
            & c.trap_ahead.eq(&self.half_words);
        self.trap_right = &self.trap_right & here.implies(same);
        self.traps = &self.traps + trap.valid.zext(NUMBER);
    }
}

/// Half-words of an instruction.
pub(crate) fn half_words(wide: &Expr) -> Expr {
    wide.mux(lit(NUMBER, 2), lit(NUMBER, 1))
}
