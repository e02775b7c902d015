//! Rows put together by hand: what follows a long run of predicted branches, returns into another level, and fields
//! with long runs of equal bits, of which compression has to find the end.
//!
//! No program is behind them, which an encoder does not need.

use hartrace_etrace::ingress::{IType, Privilege, Retired};

/// Where jumps lead: near enough for an index of the jump target cache to be no longer than the address, or far.
const TARGETS: [u64; 2] = [0x8000_4000, 0x4_8000_4000];

/// Rows of a hart, one for each cycle.
struct Rows {
    rows: Vec<Retired>,
    pc: u64,
    privilege: Privilege,
}

impl Rows {
    fn push(&mut self, itype: IType, to: u64) {
        let privilege = self.privilege;
        self.rows.push(Retired { itype, privilege, ..Retired::plain(self.pc) });
        self.pc = to;
    }

    /// Branches that are not taken, as the predictor expects of those that it does not know.
    fn branches(&mut self, number: u64) {
        (0..number).for_each(|_| self.push(IType::NotTaken, self.pc + 4));
    }

    fn exception(&mut self, tval: u64, handler: u64) {
        let (privilege, trap) = (self.privilege, Retired::plain(self.pc));
        let (itype, cause) = (IType::Exception, 2);
        self.rows.push(Retired { itype, iretire: 0, cause, tval, privilege, ..trap });
        self.pc = handler;
    }

    fn change_level(&mut self) {
        self.privilege = if self.privilege == Privilege::M { Privilege::U } else { Privilege::M };
    }
}

/// The same rows, of which two retire in a cycle where that is possible, from the first or from the second on.
pub(crate) fn paired(rows: &[Retired], from: usize) -> Vec<Retired> {
    let mut paired: Vec<Retired> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let joins = paired.last().is_some_and(|last| {
            number > from
                && last.cycles > 0
                && last.privilege == row.privilege
                && !last.itype.is_trap()
        });
        paired.push(Retired { cycles: u32::from(!joins), ..*row });
    }
    paired
}

/// Traps with values of which one bit differs from all others, at addresses of which most bits are equal.
pub(crate) fn trap_values() -> Vec<Retired> {
    let mut rows = Rows { rows: Vec::new(), pc: 0x1000, privilege: Privilege::M };
    for bit in 0..64 {
        for tval in [1 << bit, !(1 << bit)] {
            rows.push(IType::None, 0x1004);
            rows.exception(tval, 0x2000);
            rows.push(IType::None, 0x2004);
            rows.push(IType::TrapReturn, 0x1000);
        }
    }
    rows.rows
}

/// A program in user mode, its traps into machine mode, and traps within that.
pub(crate) fn user_and_machine() -> Vec<Retired> {
    let mut rows = Rows { rows: Vec::new(), pc: 0x1_0000, privilege: Privilege::U };
    for round in 0..20 {
        rows.push(IType::None, rows.pc + 4);
        rows.push(IType::Taken, rows.pc + 0x20);
        if round % 3 == 0 {
            // The trap is at the target of a jump.
            rows.push(IType::UninferableJump, 0x2_0000 + 0x100 * round);
        }
        rows.exception(0xbad0_0000 + round, 0x8000_0000);
        rows.change_level();
        rows.push(IType::None, 0x8000_0004 + 0x10 * round);
        if round % 2 == 0 {
            rows.exception(0xbae0_0000 + round, 0x8000_0000);
            rows.push(IType::None, 0x8000_1004);
        }
        rows.push(IType::TrapReturn, 0x1_0000 + 0x40 * round);
        rows.change_level();
    }
    rows.rows
}

/// Maps of branches of which one differs from all others, and jumps to targets that are known or not.
pub(crate) fn branch_maps() -> Vec<Retired> {
    let start = 0x8000_0000;
    let mut rows = Rows { rows: Vec::new(), pc: start, privilege: Privilege::M };
    for number in [3, 10, 18, 26, 30] {
        for odd in 0..number {
            for (usual, other) in [(IType::Taken, IType::NotTaken), (IType::NotTaken, IType::Taken)]
            {
                for branch in 0..number {
                    rows.push(if branch == odd { other } else { usual }, rows.pc + 4);
                }
                rows.push(IType::UninferableJump, TARGETS[odd % 2]);
                rows.push(IType::None, start);
            }
        }
    }
    rows.rows
}

/// Branches of which each 31st, which fills the map, is not as predicted.
pub(crate) fn mispredicted() -> Vec<Retired> {
    let mut rows = Rows { rows: Vec::new(), pc: 0x8000_0000, privilege: Privilege::M };
    // The first instruction is in no map.
    rows.push(IType::None, rows.pc + 4);
    for round in 0..60 {
        rows.branches(30);
        // Others of the same entry of the predictor are not taken.
        rows.push(IType::Taken, rows.pc + 4 + 4 * (round % 5));
    }
    rows.rows
}

/// Every end of a run of this many predicted branches, twice, so that tables know the targets. The width of
/// *itype* has to be 4.
pub(crate) fn after_branches(number: u64) -> Vec<Retired> {
    let start = 0x8000_0000;
    let mut rows = Rows { rows: Vec::new(), pc: start, privilege: Privilege::M };
    for round in 0..8 {
        let target = TARGETS[round % 2];
        // A branch that is not as predicted.
        rows.branches(number);
        rows.push(IType::Taken, start);
        // A jump, to a branch that is not as predicted, or to something else.
        for itype in [IType::Taken, IType::None] {
            rows.branches(number);
            rows.push(IType::UninferableTailCall, target);
            rows.push(itype, start);
        }
        // A return to another place than that of the call.
        rows.push(IType::InferableCall, start + 0x1000);
        rows.branches(number);
        rows.push(IType::Return, target);
        rows.push(IType::None, start);
        // A change of level in between.
        rows.branches(number);
        rows.change_level();
        rows.push(IType::None, start);
        // A call right after a return, and a trap that makes it worth reporting.
        rows.branches(number);
        rows.push(IType::InferableCall, start + 0x2000);
        let link = start + 4 * number + 4;
        rows.push(IType::Return, link);
        rows.push(IType::InferableCall, start + 0x3000);
        rows.push(IType::None, start + 0x3004);
        rows.exception(0, start + 0x5000);
        rows.push(IType::None, start);
        // A return to another place, and into another level.
        rows.push(IType::InferableCall, start + 0x1000);
        rows.push(IType::Return, target);
        rows.change_level();
        rows.push(IType::None, start);
    }
    rows.rows
}
