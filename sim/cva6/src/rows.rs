//! Converts the core's record into what a hart reports to its trace encoder.

use crate::{Commit, Event};
use hartrace_etrace::ingress::{IType, Privilege, Retired};
use hartrace_isa::{Insn, Isa, Xlen, decode};

/// Converts the commits of one hart into rows of the ingress port, one instruction or trap each.
///
/// The kind of an instruction is taken from its encoding, not from the core's classification. `cycles`
/// counts from the previous row. Debug mode is not traced: entering it gives a row without an instruction
/// that reports `halted`, and instructions in debug mode give no rows.
#[derive(Clone, Debug)]
pub struct Rows {
    isa: Isa,
    /// The instruction that retired directly before, and its address.
    before: Option<(Insn, u64)>,
    cycle: Option<u64>,
}

impl Default for Rows {
    fn default() -> Self {
        Self::new(Xlen::Rv64)
    }
}

impl Rows {
    /// Starts with the rows of a core of this width.
    #[must_use]
    pub fn new(xlen: Xlen) -> Self {
        Self { isa: Isa::new(xlen), before: None, cycle: None }
    }

    /// Returns the row of a commit, if it has one.
    pub fn row(&mut self, commit: &Commit) -> Option<Retired> {
        if commit.debug {
            return None;
        }
        let passed = self.cycle.map_or(1, |before| commit.cycle.saturating_sub(before));
        self.cycle = Some(commit.cycle);
        let row = Retired {
            privilege: Privilege(commit.privilege.0),
            cycles: passed.try_into().unwrap_or(u32::MAX),
            ..Retired::plain(commit.pc)
        };
        let trap = Retired { iretire: 0, cause: commit.cause, ..row };
        let before = self.before.take();
        Some(match commit.event {
            Event::Retired => {
                let insn = decode(self.isa, commit.insn);
                self.before = insn.map(|insn| (insn, commit.pc));
                let itype = insn.and_then(|insn| IType::try_from(insn.itype(commit.taken)).ok());
                let sijump = before.zip(insn).is_some_and(|((before, pc), insn)| {
                    insn.sequential_target(self.isa.xlen, before, pc).is_some()
                });
                Retired {
                    itype: itype.unwrap_or_default(),
                    iretire: u32::from(commit.size) / 2,
                    ilastsize: u8::from(commit.size == 4),
                    sijump,
                    ..row
                }
            }
            Event::Exception => Retired { itype: IType::Exception, tval: commit.tval, ..trap },
            Event::Interrupt => Retired { itype: IType::Interrupt, ..trap },
            Event::Debug => Retired { iretire: 0, halted: true, ..row },
        })
    }
}
