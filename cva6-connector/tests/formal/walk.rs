//! Walks over everything inside the connector, from the oldest to the newest.

use hartrace_rtl::{Expr, concat, lit, zero};

/// Width of numbers: enough for more half-words than are inside at any time, which is also
/// proven.
pub(crate) const NUMBER: u32 = 6;

/// What the prover chose to follow.
pub(crate) struct Chosen {
    /// Whether there is an instruction.
    pub(crate) some: Expr,
    /// Half-words that were committed before it and have not been output.
    pub(crate) ahead: Expr,
    pub(crate) pc: Expr,
    pub(crate) wide: Expr,
    /// Whether it does not end a block.
    pub(crate) plain: Expr,
    pub(crate) itype: Expr,
    pub(crate) level: Expr,
    /// Whether there is a trap.
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

/// Progress of the walk, and whether what was chosen is at its right place.
pub(crate) struct Walk<'c> {
    chosen: &'c Chosen,
    /// Half-words so far.
    pub(crate) half_words: Expr,
    /// Traps so far.
    pub(crate) traps: Expr,
    /// Whether the chosen instruction is as it was committed, if the walk has passed it.
    pub(crate) right: Expr,
    /// The same for the chosen trap.
    pub(crate) trap_right: Expr,
}

/// Consecutive instructions.
pub(crate) struct Run {
    /// Number of half-words; 0 if there is none.
    pub(crate) count: Expr,
    pub(crate) start: Expr,
    pub(crate) last_wide: Expr,
    /// How it ends; none if it has not ended yet.
    pub(crate) itype: Option<Expr>,
    pub(crate) level: Expr,
}

/// One instruction.
pub(crate) struct Instruction {
    pub(crate) valid: Expr,
    pub(crate) pc: Expr,
    pub(crate) wide: Expr,
    pub(crate) itype: Expr,
    /// Whether a block ends with it.
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
        // An open run contains no instruction that ends a block.
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

/// Number of half-words of an instruction.
pub(crate) fn half_words(wide: &Expr) -> Expr {
    wide.mux(lit(NUMBER, 2), lit(NUMBER, 1))
}
