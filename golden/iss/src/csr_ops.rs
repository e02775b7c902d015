//! Instructions that read and write control and status registers.

use crate::config::Xlen;
use crate::hart::Hart;
use crate::op::{CsrOp, Op};
use crate::privileged::{Level, interrupt, status};
use crate::stop::Stop;

/// Exceptions that can be delegated: all but `ecall` from M mode.
const DELEGABLE: u64 = 0xb3ff;

impl Hart {
    pub(crate) fn csr_instruction(&mut self, op: Op, which: CsrOp) -> Result<(), Stop> {
        let number = op.imm as u32;
        self.look_at_clock();
        let (source, writes) = match which {
            CsrOp::Write => (self.x[op.rs1 as usize], true),
            CsrOp::Set | CsrOp::Clear => (self.x[op.rs1 as usize], op.rs1 != 0),
            CsrOp::WriteImm => (op.rs1.into(), true),
            CsrOp::SetImm | CsrOp::ClearImm => (op.rs1.into(), op.rs1 != 0),
        };
        let allowed = (number >> 8 & 3) as u8 <= self.level.0 && !(writes && number >> 10 == 3);
        let old = self.read_csr(number).filter(|_| allowed);
        let old = old.ok_or_else(|| Stop::illegal(op))?;
        if writes {
            let new = match which {
                CsrOp::Write | CsrOp::WriteImm => source,
                CsrOp::Set | CsrOp::SetImm => old | source,
                CsrOp::Clear | CsrOp::ClearImm => old & !source,
            };
            // A change of mip applies to the bits that software sets, not to those that the
            // timer adds.
            let new = match (number, which) {
                (0x344 | 0x144, CsrOp::Set | CsrOp::SetImm) => self.csr.mip | source,
                (0x344 | 0x144, CsrOp::Clear | CsrOp::ClearImm) => self.csr.mip & !source,
                _ => new,
            };
            self.write_csr(number, new);
        }
        self.x[op.rd as usize] = self.extend(old);
        Ok(())
    }

    /// Returns `None` if there is no such register, or none in this state.
    fn read_csr(&self, number: u32) -> Option<u64> {
        let csr = &self.csr;
        let rv32 = self.xlen == Xlen::Rv32;
        Some(match number {
            0x001..=0x003 if csr.mstatus & status::FS == 0 => return None,
            0x001 => csr.fflags.into(),
            0x002 => csr.frm.into(),
            0x003 => u64::from(csr.frm) << 5 | u64::from(csr.fflags),
            0x100 => self.status(status::SUPERVISOR | 3 << 32),
            0x104 => csr.mie & csr.mideleg,
            0x105 => csr.stvec,
            0x106 => csr.scounteren,
            0x140 => csr.sscratch,
            0x141 => csr.sepc,
            0x142 => csr.scause,
            0x143 => csr.stval,
            0x144 => self.pending() & csr.mideleg,
            0x180 if self.level == Level::S && csr.mstatus & status::TVM != 0 => return None,
            0x180 => csr.satp,
            0x300 => self.status(!0),
            0x310 if rv32 => 0,
            0x301 => self.misa(),
            0x302 => csr.medeleg,
            0x303 => csr.mideleg,
            0x304 => csr.mie,
            0x305 => csr.mtvec,
            0x306 => csr.mcounteren,
            0x320 => 0,
            0x323..=0x33f => 0,
            0x340 => csr.mscratch,
            0x341 => csr.mepc,
            0x342 => csr.mcause,
            0x343 => csr.mtval,
            0x344 => self.pending(),
            0x3a0..=0x3a3 if rv32 || number & 1 == 0 => csr.pmpcfg[number as usize - 0x3a0],
            0x3b0..=0x3bf => csr.pmpaddr[number as usize - 0x3b0],
            0xb00 | 0xb02..=0xb1f => self.counter(number & 31),
            0xb80 | 0xb82..=0xb9f if rv32 => self.counter(number & 31) >> 32,
            0xc00..=0xc1f if self.may_count(number) => self.counter(number & 31),
            0xc80..=0xc9f if rv32 && self.may_count(number) => self.counter(number & 31) >> 32,
            0xf11..=0xf15 => 0,
            _ => return None,
        })
    }

    fn write_csr(&mut self, number: u32, value: u64) {
        let rv32 = self.xlen == Xlen::Rv32;
        let before = self.csr.mstatus;
        let csr = &mut self.csr;
        // Sign-extended and other wide values of RV32 registers.
        let value = value & self.mask;
        match number {
            0x001 => csr.fflags = value as u8 & 31,
            0x002 => csr.frm = value as u8 & 7,
            0x003 => (csr.frm, csr.fflags) = ((value >> 5) as u8 & 7, value as u8 & 31),
            0x100 => merge(&mut csr.mstatus, value, status::SUPERVISOR),
            0x104 => merge(&mut csr.mie, value, csr.mideleg),
            0x105 => csr.stvec = value & !2,
            0x106 => csr.scounteren = value & 0xffff_ffff,
            0x140 => csr.sscratch = value,
            0x141 => csr.sepc = value & !1,
            0x142 => csr.scause = value,
            0x143 => csr.stval = value,
            0x144 => merge(&mut csr.mip, value, csr.mideleg & 1 << interrupt::SSI),
            0x180 => self.write_satp(value),
            0x300 => {
                merge(&mut csr.mstatus, value, status::MACHINE);
                // There is no level 2.
                if csr.mstatus & status::MPP == 2 << 11 {
                    merge(&mut csr.mstatus, before, status::MPP);
                }
            }
            0x302 => csr.medeleg = value & DELEGABLE,
            0x303 => csr.mideleg = value & interrupt::SUPERVISOR,
            0x304 => csr.mie = value & interrupt::ALL,
            0x305 => csr.mtvec = value & !2,
            0x306 => csr.mcounteren = value & 0xffff_ffff,
            0x340 => csr.mscratch = value,
            0x341 => csr.mepc = value & !1,
            0x342 => csr.mcause = value,
            0x343 => csr.mtval = value,
            0x344 => csr.mip = value & interrupt::SUPERVISOR,
            0x3a0..=0x3a3 => csr.pmpcfg[number as usize - 0x3a0] = value,
            0x3b0..=0x3bf => {
                let bits = if rv32 { value } else { value & ((1 << 54) - 1) };
                csr.pmpaddr[number as usize - 0x3b0] = bits;
            }
            // The write replaces the increment by this instruction.
            0xb00 | 0xb02 | 0xb80 | 0xb82 => {
                let now = self.counter(number & 31);
                let new = match number {
                    0xb80 | 0xb82 => now & 0xffff_ffff | value << 32,
                    _ if rv32 => now & !0xffff_ffff | value,
                    _ => value,
                };
                let offset = new.wrapping_sub(self.retired).wrapping_sub(1);
                match number & 31 {
                    0 => self.csr.mcycle = offset,
                    _ => self.csr.minstret = offset,
                }
            }
            _ => {}
        }
        if matches!(number, 0x001..=0x003) {
            self.csr.mstatus |= status::FS;
        }
        let memory = status::MPRV | status::SUM | status::MXR | status::MPP;
        if (before ^ self.csr.mstatus) & memory != 0 {
            self.forget_translations();
        }
    }

    fn write_satp(&mut self, value: u64) {
        // Modes that do not exist leave the register unchanged.
        let mode = if self.xlen == Xlen::Rv32 { value >> 31 } else { value >> 60 };
        if matches!(mode, 0 | 8) {
            self.csr.satp = value;
            self.forget_translations();
        }
    }

    /// `mstatus` including the bits that follow from others.
    fn status(&self, which: u64) -> u64 {
        let mut value = self.csr.mstatus & which;
        let dirty = self.csr.mstatus & status::FS == status::FS;
        match self.xlen {
            Xlen::Rv32 => value = value & 0xffff_ffff | u64::from(dirty) << 31,
            // UXL and SXL indicate 64 bits.
            Xlen::Rv64 => value |= u64::from(dirty) << 63 | 0xa_0000_0000 & (which | 3 << 32),
        }
        value
    }

    fn misa(&self) -> u64 {
        let letters = "ACDFIMSU".bytes().fold(0, |bits, letter| bits | 1 << (letter - b'A'));
        match self.xlen {
            Xlen::Rv32 => letters | 1 << 30,
            Xlen::Rv64 => letters | 2 << 62,
        }
    }

    /// Whether `cycle`, `time`, `instret` or another counter may be read at this level.
    fn may_count(&self, number: u32) -> bool {
        let bit = number & 31;
        let machine = self.csr.mcounteren >> bit & 1 == 1;
        let supervisor = self.csr.scounteren >> bit & 1 == 1;
        match self.level {
            Level::M => true,
            Level::S => machine,
            _ => machine && supervisor,
        }
    }

    fn counter(&self, index: u32) -> u64 {
        match index {
            0 => self.retired.wrapping_add(self.csr.mcycle),
            1 => self.clint.time,
            2 => self.retired.wrapping_add(self.csr.minstret),
            _ => 0,
        }
    }

    /// All pending interrupts, enabled or not.
    pub(crate) fn pending(&self) -> u64 {
        self.csr.mip | self.clint.pending()
    }
}

/// Replaces the bits of `mask` by those of `value`.
fn merge(register: &mut u64, value: u64, mask: u64) {
    *register = *register & !mask | value & mask;
}
