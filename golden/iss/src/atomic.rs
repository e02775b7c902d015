//! Atomic memory operations.

use crate::hart::Hart;
use crate::integer::word;
use crate::op::{AmoOp, Op};
use crate::privileged::cause;
use crate::stop::Stop;
use crate::tlb::Purpose;

impl Hart {
    /// Executes `op`. Returns `true` if the main loop must check devices.
    pub(crate) fn atomic(&mut self, which: AmoOp, op: Op) -> Result<bool, Stop> {
        if op.imm == 8 { self.atomic_of::<8>(which, op) } else { self.atomic_of::<4>(which, op) }
    }

    fn atomic_of<const N: usize>(&mut self, which: AmoOp, op: Op) -> Result<bool, Stop> {
        let address = self.reg(op.rs1) & self.mask;
        let source = self.reg(op.rs2);
        if !address.is_multiple_of(N as u64) {
            let load = which == AmoOp::Lr;
            let cause = if load { cause::LOAD_MISALIGNED } else { cause::STORE_MISALIGNED };
            return Err(Stop::Trap { cause, tval: address });
        }
        let sized = |value| if N == 4 { word(value) } else { value };
        match which {
            AmoOp::Lr => {
                let value = self.load::<N>(address)?;
                let physical = self.translate(address, Purpose::Load)?;
                self.reservation = Some(physical);
                self.set(op.rd, sized(value));
                return Ok(false);
            }
            AmoOp::Sc => {
                // A conditional store traps like a store, whether or not it would succeed.
                let physical = self.translate(address, Purpose::Store)?;
                let valid = self.reservation.take() == Some(physical);
                let look = if valid { self.store::<N>(address, source)? } else { false };
                self.set(op.rd, u64::from(!valid));
                return Ok(look);
            }
            _ => {}
        }
        // Any fault is that of a store.
        self.translate(address, Purpose::Store)?;
        let old = self.load::<N>(address).map_err(|stop| match stop {
            Stop::Trap { cause: cause::LOAD_ACCESS, tval } => {
                Stop::Trap { cause: cause::STORE_ACCESS, tval }
            }
            Stop::Trap { cause: cause::LOAD_PAGE, tval } => {
                Stop::Trap { cause: cause::STORE_PAGE, tval }
            }
            other => other,
        })?;
        let (a, b) = (sized(old), sized(source));
        let new = match which {
            AmoOp::Add => a.wrapping_add(b),
            AmoOp::Xor => a ^ b,
            AmoOp::And => a & b,
            AmoOp::Or => a | b,
            AmoOp::Min => (a as i64).min(b as i64) as u64,
            AmoOp::Max => (a as i64).max(b as i64) as u64,
            // Sign-extended words keep their order as unsigned numbers.
            AmoOp::Minu => a.min(b),
            AmoOp::Maxu => a.max(b),
            AmoOp::Swap | AmoOp::Lr | AmoOp::Sc => b,
        };
        let look = self.store::<N>(address, new)?;
        self.set(op.rd, a);
        Ok(look)
    }
}
