//! Rows put together by hand: what follows a long run of predicted branches, and returns into another level.
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

    fn exception(&mut self, handler: u64) {
        let (privilege, trap) = (self.privilege, Retired::plain(self.pc));
        self.rows.push(Retired {
            itype: IType::Exception,
            iretire: 0,
            cause: 2,
            privilege,
            ..trap
        });
        self.pc = handler;
    }

    fn change_level(&mut self) {
        self.privilege = if self.privilege == Privilege::M { Privilege::U } else { Privilege::M };
    }
}

/// Every end of a run of this many predicted branches, twice, so that tables know the targets. The width of
/// *itype* has to be 4.
pub(crate) fn after_branches(number: u64) -> Vec<Retired> {
    let start = 0x8000_0000;
    let mut rows = Rows { rows: Vec::new(), pc: start, privilege: Privilege::M };
    for round in 0..8 {
        let target = TARGETS[round % 2];
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
        rows.exception(start + 0x5000);
        rows.push(IType::None, start);
        // A return to another place, and into another level.
        rows.push(IType::InferableCall, start + 0x1000);
        rows.push(IType::Return, target);
        rows.change_level();
        rows.push(IType::None, start);
    }
    rows.rows
}
