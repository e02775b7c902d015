//! Converts single instructions into what a hart reports: how an instruction ended is known only
//! when the next one is.

use crate::{Guesses, Row};
use hartrace_etrace::ingress::{IType, Privilege, Retired};
use hartrace_isa::{Insn, Isa, Kind, decode};
use std::collections::VecDeque;

/// One retired instruction.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Step {
    pub(crate) line: u64,
    pub(crate) pc: u64,
    pub(crate) word: u32,
    pub(crate) privilege: Privilege,
    /// Clock cycles since the previous row.
    pub(crate) cycles: u32,
    /// Outcome of a branch, if the log contains it.
    pub(crate) taken: Option<bool>,
    /// Whether an interrupt was taken directly before it.
    pub(crate) interrupted: bool,
}

/// A trap.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) line: u64,
    pub(crate) interrupt: bool,
    /// The cause, if the log contains it.
    pub(crate) cause: Option<u64>,
    pub(crate) epc: u64,
    pub(crate) tval: u64,
    /// Privilege before the trap, if the log contains it.
    pub(crate) privilege: Option<Privilege>,
    pub(crate) cycles: u32,
}

/// Combines steps and traps into rows. Each of them adds at most two rows, so a caller that removes
/// them before adding the next needs no more room.
#[derive(Debug)]
pub(crate) struct Join {
    isa: Isa,
    rows: VecDeque<Row>,
    /// The step whose successor is not known yet.
    current: Option<(Step, Option<Insn>)>,
    /// The instruction that retired directly before it, and its address.
    before: Option<(Insn, u64)>,
    privilege: Privilege,
    pub(crate) guesses: Guesses,
}

impl Join {
    pub(crate) fn new(isa: Isa) -> Self {
        Self {
            isa,
            rows: VecDeque::new(),
            current: None,
            before: None,
            privilege: Privilege::M,
            guesses: Guesses::default(),
        }
    }

    /// Removes the oldest complete row.
    pub(crate) fn take(&mut self) -> Option<Row> {
        self.rows.pop_front()
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.finish(Some(step.pc), step.interrupted);
        self.current = Some((step, decode(self.isa, step.word)));
    }

    pub(crate) fn trap(&mut self, trap: Trap) {
        self.finish(Some(trap.epc), false);
        self.emit_trap(trap);
    }

    /// Ends the input.
    pub(crate) fn end(&mut self) {
        self.finish(None, false);
    }

    /// The step that is not complete.
    pub(crate) fn current(&self) -> Option<Step> {
        self.current.map(|(step, _)| step)
    }

    /// Drops the incomplete step, which turned out not to have retired.
    pub(crate) fn drop_current(&mut self) {
        self.current = None;
    }

    fn finish(&mut self, next: Option<u64>, interrupted: bool) {
        let Some((step, insn)) = self.current.take() else {
            return;
        };
        self.privilege = step.privilege;
        let xlen = self.isa.xlen;
        let size = if step.word & 3 == 3 { 4 } else { 2 };
        let fall = xlen.wrap(step.pc.wrapping_add(size));
        let target = insn.and_then(|insn| insn.target(xlen, step.pc));
        let branch = insn.is_some_and(Insn::is_branch);
        let jumped = branch && next != Some(fall) && next.is_some() && next == target;
        let taken = step.taken.unwrap_or(jumped);
        self.guesses.open_end = branch && next.is_none() && step.taken.is_none();
        let sijump = match (self.before, insn) {
            (Some((before, pc)), Some(insn)) => insn.sequential_target(xlen, before, pc).is_some(),
            _ => false,
        };
        let explained = match (next, insn) {
            (None, _) => true,
            (Some(_), Some(insn)) if insn.is_uninferable() => true,
            // Logged as retired: its own row contains the exception.
            (Some(_), Some(insn)) if insn.kind == Kind::EnvironmentTrap => true,
            _ if interrupted => false,
            (Some(next), _) => (target.is_none() || branch) && next == fall || Some(next) == target,
        };
        self.before = insn.map(|insn| (insn, step.pc));
        let retired = Retired {
            itype: insn
                .and_then(|insn| IType::try_from(insn.itype(taken)).ok())
                .unwrap_or_default(),
            iretire: (size / 2) as u32,
            ilastsize: u8::from(size == 4),
            sijump,
            privilege: step.privilege,
            cycles: step.cycles,
            ..Retired::plain(step.pc)
        };
        let word = if size == 4 { step.word } else { step.word & 0xffff };
        self.rows.push_back(Row { word: Some(word), ..Row::at(step.line, retired) });
        if !explained {
            let epc = if branch { fall } else { target.unwrap_or(fall) };
            self.emit_trap(Trap {
                line: step.line,
                interrupt: interrupted,
                cause: None,
                epc,
                tval: 0,
                privilege: Some(step.privilege),
                cycles: 0,
            });
        }
    }

    fn emit_trap(&mut self, trap: Trap) {
        if trap.cause.is_none() {
            self.guesses.traps += 1;
            self.guesses.first.get_or_insert(trap.line);
        }
        self.before = None;
        let retired = Retired {
            itype: if trap.interrupt { IType::Interrupt } else { IType::Exception },
            iretire: 0,
            privilege: trap.privilege.unwrap_or(self.privilege),
            cause: trap.cause.unwrap_or(0),
            tval: trap.tval,
            cycles: trap.cycles,
            ..Retired::plain(trap.epc)
        };
        self.rows.push_back(Row::at(trap.line, retired));
    }
}
