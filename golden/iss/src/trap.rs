//! Taking traps and returning from them.

use crate::config::Xlen;
use crate::hart::Hart;
use crate::op::Op;
use crate::privileged::{Level, interrupt, status};
use crate::step::Trap;
use crate::stop::Stop;

impl Hart {
    /// Enters the handler. Returns the trap to report.
    pub(crate) fn take_trap(&mut self, cause: u64, interrupt: bool, tval: u64) -> Trap {
        let epc = self.pc;
        let delegated = if interrupt { self.csr.mideleg } else { self.csr.medeleg };
        let code = match self.xlen {
            Xlen::Rv32 => cause | u64::from(interrupt) << 31,
            Xlen::Rv64 => cause | u64::from(interrupt) << 63,
        };
        let from = u64::from(self.level.0);
        let csr = &mut self.csr;
        let s = &mut csr.mstatus;
        let vector = if self.level != Level::M && delegated >> cause & 1 == 1 {
            let enabled = *s & status::SIE != 0;
            *s &= !(status::SIE | status::SPIE | status::SPP);
            *s |= if enabled { status::SPIE } else { 0 } | from << 8;
            (csr.sepc, csr.scause, csr.stval) = (epc, code, tval);
            self.level = Level::S;
            csr.stvec
        } else {
            let enabled = *s & status::MIE != 0;
            *s &= !(status::MIE | status::MPIE | status::MPP);
            *s |= if enabled { status::MPIE } else { 0 } | from << 11;
            (csr.mepc, csr.mcause, csr.mtval) = (epc, code, tval);
            self.level = Level::M;
            csr.mtvec
        };
        let vectored = interrupt && vector & 1 == 1;
        let offset = if vectored { cause * 4 } else { 0 };
        self.pc = (vector & !1).wrapping_add(offset) & self.mask;
        self.forget_translations();
        Trap { cause, interrupt, tval, epc }
    }

    /// The interrupt to take now, if any.
    pub(crate) fn next_interrupt(&self) -> Option<u64> {
        let pending = self.pending() & self.csr.mie;
        if pending == 0 {
            return None;
        }
        let enabled = |level: Level, bit| {
            self.level < level || self.level == level && self.csr.mstatus & bit != 0
        };
        let machine = pending & !self.csr.mideleg;
        let supervisor = pending & self.csr.mideleg;
        let chosen = if machine != 0 && enabled(Level::M, status::MIE) {
            machine
        } else if enabled(Level::S, status::SIE) {
            supervisor
        } else {
            0
        };
        use interrupt::*;
        [MEI, MSI, MTI, SEI, SSI, STI].into_iter().find(|&cause| chosen >> cause & 1 == 1)
    }

    /// Executes `mret`. Returns the next address.
    pub(crate) fn return_from_machine(&mut self, op: Op) -> Result<u64, Stop> {
        if self.level != Level::M {
            return Err(Stop::illegal(op));
        }
        let s = &mut self.csr.mstatus;
        let to = Level((*s >> 11 & 3) as u8);
        let enabled = *s & status::MPIE != 0;
        *s &= !(status::MIE | status::MPP);
        *s |= status::MPIE | if enabled { status::MIE } else { 0 };
        if to != Level::M {
            *s &= !status::MPRV;
        }
        self.level = to;
        self.forget_translations();
        Ok(self.csr.mepc)
    }

    /// Executes `sret`. Returns the next address.
    pub(crate) fn return_from_supervisor(&mut self, op: Op) -> Result<u64, Stop> {
        let s = &mut self.csr.mstatus;
        let trapped = self.level == Level::S && *s & status::TSR != 0;
        if self.level < Level::S || trapped {
            return Err(Stop::illegal(op));
        }
        let to = Level((*s >> 8 & 1) as u8);
        let enabled = *s & status::SPIE != 0;
        *s &= !(status::SIE | status::SPP | status::MPRV);
        *s |= status::SPIE | if enabled { status::SIE } else { 0 };
        self.level = to;
        self.forget_translations();
        Ok(self.csr.sepc)
    }
}
