//! Traps and their returns.

use crate::walk::asm;
use crate::walk::layout::{Insn, Kind};
use crate::walk::plain::Access;
use crate::walk::plan::{chance, pick};
use crate::walk::walker::{Frame, Last, Walker};
use hartrace_etrace::ingress::{IType, Privilege, Retired};

impl Walker<'_> {
    /// Whether a trap happens before the next instruction, and of which kind.
    pub(crate) fn trap_now(&mut self, forced: bool) -> Option<IType> {
        let s = self.shape;
        if !s.traps() {
            return None;
        }
        let first = s.trap_first && self.rows.is_empty();
        let last = s.trap_last && self.rows.len() + 1 >= s.steps;
        if !(forced || first || last) && self.traps.len() >= s.max_trap_depth.into() {
            return None;
        }
        let nested = self.last == Last::Trap && chance(self.rng, s.nested_traps);
        if forced || first || last || nested {
            let total = u32::from(s.exceptions) + u32::from(s.interrupts);
            let interrupt = self.rng.u32(..total) < s.interrupts.into();
            return Some(if interrupt { IType::Interrupt } else { IType::Exception });
        }
        let boost = match self.last {
            Last::Special | Last::Start => 4,
            Last::Plain | Last::Trap => 1,
        };
        if chance(self.rng, s.exceptions.saturating_mul(boost)) {
            Some(IType::Exception)
        } else if chance(self.rng, s.interrupts.saturating_mul(boost)) {
            Some(IType::Interrupt)
        } else {
            None
        }
    }

    /// Takes a trap instead of executing the instruction.
    pub(crate) fn trap(&mut self, insn: &Insn, itype: IType) {
        let target = self.trap_target();
        let (cause, tval) = match itype {
            IType::Interrupt => (self.interrupt_cause(target), 0),
            _ => self.exception_cause(insn),
        };
        let row = Retired { iretire: 0, ilastsize: 0, ..Retired::plain(insn.addr) };
        self.enter(Retired { itype, cause, tval, ..row }, target, false);
    }

    /// ecall, ebreak, c.ebreak.
    pub(crate) fn raise(&mut self, insn: &Insn) {
        let target = self.trap_target();
        let (cause, tval) = match insn.word {
            asm::ECALL => (8 + u64::from(self.privilege.0 & 3), 0),
            _ => (3, insn.addr),
        };
        let mut row = Retired { iretire: 0, ilastsize: 0, ..Retired::plain(insn.addr) };
        if self.shape.ecall_retires {
            self.fill_size(&mut row, insn);
        }
        self.enter(Retired { itype: IType::Exception, cause, tval, ..row }, target, true);
    }

    fn enter(&mut self, row: Retired, target: Privilege, raised: bool) {
        let interrupt = row.itype == IType::Interrupt;
        let (privilege, epc, base) = (self.privilege, self.at, self.base);
        self.traps.push(Frame { epc, itype: row.itype, raised, privilege, base });
        self.base = self.stack.len();
        self.barrier = None;
        self.last = Last::Trap;
        self.privilege = target;
        let handler = self.code.handlers.iter().find(|&&(p, _)| p == target);
        let entry = handler.map_or(self.code.boot, |&(_, n)| n);
        let slot = if interrupt && self.shape.vectored { row.cause as usize } else { 0 };
        self.at = entry + slot;
        self.emit(Retired { privilege, ..row });
    }

    /// Executes mret or sret; the hart is free to choose the target, which a decoder cannot infer.
    pub(crate) fn trap_return(&mut self) {
        let Some(frame) = self.traps.pop() else {
            // The boot code starts a program.
            self.privilege = self.some_privilege();
            self.at = self.root();
            return;
        };
        self.stack.truncate(self.base);
        self.base = frame.base;
        if self.traps.is_empty() && chance(self.rng, self.shape.reschedules) {
            let to = if self.rng.bool() { self.root() } else { self.anywhere() };
            // A different place, or it would look like a normal return.
            if to != frame.epc && to != frame.epc + 1 {
                self.leave_all();
                self.privilege = self.some_privilege();
                self.at = to;
                return;
            }
        }
        self.privilege = frame.privilege;
        let skip = match frame.itype {
            IType::Interrupt => false,
            _ if frame.raised => self.rng.u8(..8) != 0,
            _ => self.rng.u8(..3) == 0,
        };
        self.at = frame.epc + usize::from(skip && self.falls_through(frame.epc));
    }

    /// Whether the next instruction directly follows and belongs to the same function.
    fn falls_through(&self, at: usize) -> bool {
        match (self.code.insns.get(at), self.code.insns.get(at + 1)) {
            (Some(a), Some(b)) => a.function == b.function,
            _ => false,
        }
    }

    fn trap_target(&mut self) -> Privilege {
        let delegated = self.shape.supervisor && self.privilege != Privilege::M && self.rng.bool();
        if delegated { Privilege::S } else { Privilege::M }
    }

    fn interrupt_cause(&mut self, target: Privilege) -> u64 {
        let first = if target == Privilege::S { 1 } else { 3 };
        first + 4 * self.rng.u64(..3)
    }

    fn exception_cause(&mut self, insn: &Insn) -> (u64, u64) {
        let mask = self.shape.address_mask();
        let access = match insn.kind {
            Kind::Plain(access) => access,
            _ => Access::None,
        };
        let causes: &[u64] = match access {
            Access::Load => &[4, 5, 13],
            Access::Store => &[6, 7, 15],
            Access::None => &[1, 2, 12],
        };
        match pick(self.rng, causes).unwrap_or(2) {
            2 => (2, u64::from(insn.word)),
            cause @ (1 | 12) => (cause, insn.addr),
            cause => (cause, (self.rng.u64(..) >> self.rng.u32(..64)) & mask),
        }
    }
}
