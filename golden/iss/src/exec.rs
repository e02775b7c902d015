//! Execution of instructions: integers, memory and jumps here, the rest in other modules.

use crate::hart::Hart;
use crate::integer::{multiply, word};
use crate::op::{Code, Op};
use crate::privileged::{Level, cause, status};
use crate::stop::Stop;

impl Hart {
    /// Sign-extends a value from XLEN bits, as registers hold it.
    #[inline(always)]
    pub(crate) const fn extend(&self, value: u64) -> u64 {
        ((value << self.narrow) as i64 >> self.narrow) as u64
    }

    #[inline(always)]
    pub(crate) const fn reg(&self, number: u8) -> u64 {
        self.x[(number & 63) as usize]
    }

    #[inline(always)]
    pub(crate) const fn set(&mut self, number: u8, value: u64) {
        self.x[(number & 63) as usize] = value;
    }

    /// Executes `op` at `pc`. Returns the address at which to continue.
    #[inline(always)]
    pub(crate) fn execute(&mut self, op: Op, pc: u64) -> Result<u64, Stop> {
        let next = pc.wrapping_add(op.size.into()) & self.mask;
        let imm = i64::from(op.imm) as u64;
        let (a, b) = (self.reg(op.rs1), self.reg(op.rs2));
        let place = a.wrapping_add(imm);
        let value = match op.code {
            Code::Addi => place,
            Code::Add => a.wrapping_add(b),
            Code::Lui => imm,
            Code::Auipc => self.extend(pc.wrapping_add(imm)),
            Code::Addiw => word(place),
            Code::Addw => word(a.wrapping_add(b)),
            Code::Sub => a.wrapping_sub(b),
            Code::Subw => word(a.wrapping_sub(b)),
            Code::Slti => u64::from((a as i64) < imm as i64),
            Code::Sltiu => u64::from(a < imm),
            Code::Slt => u64::from((a as i64) < b as i64),
            Code::Sltu => u64::from(a < b),
            Code::Xori => a ^ imm,
            Code::Ori => a | imm,
            Code::Andi => a & imm,
            Code::Xor => a ^ b,
            Code::Or => a | b,
            Code::And => a & b,
            Code::Slli => a << (imm & 63),
            Code::Srli => a >> (imm & 63),
            Code::Srai => (a as i64 >> (imm & 63)) as u64,
            Code::Slliw => word(a << (imm & 31)),
            Code::Srliw => word(u64::from(a as u32 >> (imm & 31))),
            Code::Sraiw => word((a as i32 >> (imm & 31)) as u64),
            Code::Sll => a << (b & 63),
            Code::Srl => a >> (b & 63),
            Code::Sra => (a as i64 >> (b & 63)) as u64,
            Code::Sllw => word(a << (b & 31)),
            Code::Srlw => word(u64::from(a as u32 >> (b & 31))),
            Code::Sraw => word((a as i32 >> (b & 31)) as u64),
            Code::Mul => a.wrapping_mul(b),
            Code::Mulw => word(a.wrapping_mul(b)),
            Code::Lb => self.load::<1>(place)? as i8 as u64,
            Code::Lh => self.load::<2>(place)? as i16 as u64,
            Code::Lw => word(self.load::<4>(place)?),
            Code::Ld => self.load::<8>(place)?,
            Code::Lbu => self.load::<1>(place)?,
            Code::Lhu => self.load::<2>(place)?,
            Code::Lwu => self.load::<4>(place)?,
            Code::Beq => return Ok(self.branch(a == b, op, pc, next)),
            Code::Bne => return Ok(self.branch(a != b, op, pc, next)),
            Code::Blt => return Ok(self.branch((a as i64) < b as i64, op, pc, next)),
            Code::Bge => return Ok(self.branch(a as i64 >= b as i64, op, pc, next)),
            Code::Bltu => return Ok(self.branch(a < b, op, pc, next)),
            Code::Bgeu => return Ok(self.branch(a >= b, op, pc, next)),
            Code::Sb => return after(self.store::<1>(place, b), next),
            Code::Sh => return after(self.store::<2>(place, b), next),
            Code::Sw => return after(self.store::<4>(place, b), next),
            Code::Sd => return after(self.store::<8>(place, b), next),
            Code::Jal => {
                self.set(op.rd, self.extend(next));
                let target = pc.wrapping_add(imm) & self.mask;
                return if imm == 0 { Err(Stop::Spin(target)) } else { Ok(target) };
            }
            Code::Jalr => {
                self.set(op.rd, self.extend(next));
                return Ok(place & self.mask & !1);
            }
            _ => return self.execute_rarely(op, pc, next),
        };
        self.set(op.rd, value);
        Ok(next)
    }

    #[inline(always)]
    fn branch(&mut self, taken: bool, op: Op, pc: u64, next: u64) -> u64 {
        self.taken = taken;
        if taken { pc.wrapping_add(i64::from(op.imm) as u64) & self.mask } else { next }
    }

    #[inline(never)]
    fn execute_rarely(&mut self, op: Op, pc: u64, next: u64) -> Result<u64, Stop> {
        let (a, b) = (self.reg(op.rs1), self.reg(op.rs2));
        let place = a.wrapping_add(i64::from(op.imm) as u64);
        match op.code {
            Code::Mulx(which) => self.set(op.rd, multiply(which, a, b)),
            Code::Bit(which) => {
                let result = self.bit_operation(which, op, a, b);
                self.set(op.rd, self.extend(result));
            }
            Code::Amo(which) => {
                let look = self.atomic(which, op);
                return after(look, next);
            }
            Code::Flw | Code::Fld | Code::Fsw | Code::Fsd | Code::Float(..)
                if self.csr.mstatus & status::FS == 0 =>
            {
                return Err(Stop::illegal(op));
            }
            Code::Flw => {
                let value = self.load::<4>(place)?;
                self.set_single(op.rd, value);
            }
            Code::Fld => {
                let value = self.load::<8>(place)?;
                self.set_double(op.rd, value);
            }
            Code::Fsw => {
                let look = self.store::<4>(place, self.f[(op.rs2 & 31) as usize]);
                return after(look, next);
            }
            Code::Fsd => {
                let look = self.store::<8>(place, self.f[(op.rs2 & 31) as usize]);
                return after(look, next);
            }
            Code::Float(which, double) => self.float_operation(which, double, op)?,
            // Decoded instructions are updated at every store, so there is nothing to
            // wait for.
            Code::Fence | Code::FenceI => {}
            Code::Csr(which) => {
                // Interrupts raised by a store to a device are taken before this
                // instruction.
                if std::mem::take(&mut self.device_changed) {
                    return Err(Stop::LookFirst);
                }
                self.csr_instruction(op, which)?;
                return Err(Stop::Look(next));
            }
            Code::Ecall => {
                let cause = cause::USER_ECALL + u64::from(self.level.0);
                return Err(Stop::Trap { cause, tval: 0 });
            }
            Code::Ebreak => return Err(Stop::Trap { cause: cause::BREAKPOINT, tval: pc }),
            Code::Mret => return Err(Stop::Look(self.return_from_machine(op)?)),
            Code::Sret => return Err(Stop::Look(self.return_from_supervisor(op)?)),
            Code::Wfi => {
                // Waiting in U mode may never end, so it traps and S mode decides.
                let waits = match self.level {
                    Level::M => true,
                    Level::S => self.csr.mstatus & status::TW == 0,
                    _ => false,
                };
                return Err(if waits { Stop::Wait(next) } else { Stop::illegal(op) });
            }
            Code::SfenceVma => {
                let traps = self.level == Level::S && self.csr.mstatus & status::TVM != 0;
                if self.level == Level::U || traps {
                    return Err(Stop::illegal(op));
                }
                self.forget_translations();
            }
            _ => return Err(Stop::illegal(op)),
        }
        Ok(next)
    }
}

/// After a store, the main loop may have to check devices.
#[inline(always)]
fn after(look: Result<bool, Stop>, next: u64) -> Result<u64, Stop> {
    if look? { Err(Stop::Look(next)) } else { Ok(next) }
}
