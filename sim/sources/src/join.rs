//! From instructions in a row to what a hart reports: how an instruction ended is known when the
//! next one is.

use hartrace_ingress::{IType, Privilege, Retired};
use hartrace_isa::{Insn, Isa, Kind, decode};
use std::ops::ControlFlow;

/// What was read.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Retired instructions.
    pub instructions: u64,
    /// Exceptions and interrupts.
    pub traps: u64,
    /// Of these, those that only a jump in the addresses tells of: reported as exceptions with
    /// cause 0.
    pub unexplained: u64,
    /// The last instruction is a branch, whose outcome nothing tells: reported as not taken.
    pub open_end: bool,
    /// The sink ended the reading.
    pub stopped: bool,
}

/// One retired instruction.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Step {
    pub(crate) pc: u64,
    pub(crate) word: u32,
    pub(crate) privilege: Privilege,
    /// Clock cycles since the row before.
    pub(crate) cycles: u32,
    /// Outcome of a branch, if the log has it.
    pub(crate) taken: Option<bool>,
}

/// A trap.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) interrupt: bool,
    pub(crate) cause: u64,
    pub(crate) epc: u64,
    pub(crate) tval: u64,
    /// Before the trap, if the log has it.
    pub(crate) privilege: Option<Privilege>,
    pub(crate) cycles: u32,
}

/// Puts steps and traps together.
#[derive(Debug)]
pub(crate) struct Join<S> {
    isa: Isa,
    sink: S,
    /// The step whose successor is not known yet.
    current: Option<(Step, Option<Insn>)>,
    /// The instruction retired immediately before it, and its address.
    before: Option<(Insn, u64)>,
    privilege: Privilege,
    pub(crate) summary: Summary,
}

impl<S: FnMut(&Retired) -> ControlFlow<()>> Join<S> {
    pub(crate) fn new(isa: Isa, sink: S) -> Self {
        let summary = Summary::default();
        Self { isa, sink, current: None, before: None, privilege: Privilege::M, summary }
    }

    pub(crate) fn step(&mut self, step: Step) -> ControlFlow<()> {
        self.finish(Some(step.pc))?;
        self.current = Some((step, decode(self.isa, step.word)));
        ControlFlow::Continue(())
    }

    pub(crate) fn trap(&mut self, trap: Trap) -> ControlFlow<()> {
        self.finish(Some(trap.epc))?;
        self.emit_trap(trap)
    }

    /// There is nothing more.
    pub(crate) fn end(&mut self) -> ControlFlow<()> {
        self.finish(None)
    }

    /// The step that is not finished turned out not to have retired.
    pub(crate) fn drop_current(&mut self) {
        self.current = None;
    }

    fn finish(&mut self, next: Option<u64>) -> ControlFlow<()> {
        let Some((step, insn)) = self.current.take() else {
            return ControlFlow::Continue(());
        };
        self.privilege = step.privilege;
        let xlen = self.isa.xlen;
        let size = if step.word & 3 == 3 { 4 } else { 2 };
        let fall = xlen.wrap(step.pc.wrapping_add(size));
        let target = insn.and_then(|insn| insn.target(xlen, step.pc));
        let branch = insn.is_some_and(Insn::is_branch);
        let jumped = branch && next != Some(fall) && next.is_some() && next == target;
        let taken = step.taken.unwrap_or(jumped);
        self.summary.open_end = branch && next.is_none() && step.taken.is_none();
        let sijump = match (self.before, insn) {
            (Some((before, pc)), Some(insn)) => insn.sequential_target(xlen, before, pc).is_some(),
            _ => false,
        };
        let explained = match (next, insn) {
            (None, _) => true,
            (Some(_), Some(insn)) if insn.is_uninferable() => true,
            // Logged as retired: its own row has the exception.
            (Some(_), Some(insn)) if insn.kind == Kind::EnvironmentTrap => true,
            (Some(next), _) => (target.is_none() || branch) && next == fall || Some(next) == target,
        };
        self.before = insn.map(|insn| (insn, step.pc));
        self.summary.instructions += 1;
        (self.sink)(&Retired {
            itype: insn
                .and_then(|insn| IType::try_from(insn.itype(taken)).ok())
                .unwrap_or_default(),
            iretire: (size / 2) as u32,
            ilastsize: u8::from(size == 4),
            sijump,
            privilege: step.privilege,
            cycles: step.cycles,
            ..Retired::plain(step.pc)
        })?;
        if explained {
            return ControlFlow::Continue(());
        }
        self.summary.unexplained += 1;
        let epc = if branch { fall } else { target.unwrap_or(fall) };
        let privilege = Some(step.privilege);
        self.emit_trap(Trap { interrupt: false, cause: 0, epc, tval: 0, privilege, cycles: 0 })
    }

    fn emit_trap(&mut self, trap: Trap) -> ControlFlow<()> {
        self.summary.traps += 1;
        self.before = None;
        (self.sink)(&Retired {
            itype: if trap.interrupt { IType::Interrupt } else { IType::Exception },
            iretire: 0,
            privilege: trap.privilege.unwrap_or(self.privilege),
            cause: trap.cause,
            tval: trap.tval,
            cycles: trap.cycles,
            ..Retired::plain(trap.epc)
        })
    }
}
