//! Memory accesses and register writes, for sinks that request them. They are observed from
//! outside, by reading before and after an instruction, and not by the code that executes it.

use crate::hart::Hart;
use crate::op::{AmoOp, Code, FloatOp, NOWHERE, Op};
use crate::step::{Access, AccessKind, Register, Step};

impl Hart {
    /// The access that `op` is about to make, with the value of a store.
    pub(crate) fn access_before(&self, op: Op) -> Option<Access> {
        let (kind, size) = match op.code {
            Code::Lb | Code::Lbu => (AccessKind::Load, 1),
            Code::Lh | Code::Lhu => (AccessKind::Load, 2),
            Code::Lw | Code::Lwu | Code::Flw => (AccessKind::Load, 4),
            Code::Ld | Code::Fld => (AccessKind::Load, 8),
            Code::Sb => (AccessKind::Store, 1),
            Code::Sh => (AccessKind::Store, 2),
            Code::Sw | Code::Fsw => (AccessKind::Store, 4),
            Code::Sd | Code::Fsd => (AccessKind::Store, 8),
            Code::Amo(AmoOp::Lr) => (AccessKind::Load, op.imm as u8),
            Code::Amo(AmoOp::Sc) => (AccessKind::Store, op.imm as u8),
            Code::Amo(_) => (AccessKind::Atomic, op.imm as u8),
            _ => return None,
        };
        let offset = if matches!(op.code, Code::Amo(_)) { 0 } else { i64::from(op.imm) as u64 };
        let source = match op.code {
            Code::Fsw | Code::Fsd => self.f[(op.rs2 & 31) as usize],
            _ => self.reg(op.rs2),
        };
        let address = self.reg(op.rs1).wrapping_add(offset) & self.mask;
        Some(Access { kind, address, size, value: low(source, size) })
    }

    /// Completes `step` after `op` has executed.
    pub(crate) fn add_detail(&mut self, op: Op, access: Option<Access>, step: &mut Step) {
        step.access = access.and_then(|access| self.access_after(op, access));
        let float = match op.code {
            Code::Flw | Code::Fld => true,
            Code::Float(which, _) => !matches!(
                which,
                FloatOp::Equal
                    | FloatOp::Less
                    | FloatOp::LessEqual
                    | FloatOp::Class
                    | FloatOp::ToInt
                    | FloatOp::MoveToInt
            ),
            _ => false,
        };
        step.write = match op.rd {
            rd if float => Some((Register::Float(rd), self.f[(rd & 31) as usize])),
            NOWHERE => None,
            rd => Some((Register::Integer(rd), self.reg(rd))),
        };
    }

    fn access_after(&mut self, op: Op, access: Access) -> Option<Access> {
        let value = match (op.code, access.kind) {
            (Code::Flw | Code::Fld, _) => self.f[(op.rd & 31) as usize],
            // A conditional store that failed did not touch memory.
            (Code::Amo(AmoOp::Sc), _) if self.reg(op.rd) != 0 => return None,
            (_, AccessKind::Load) => self.reg(op.rd),
            (_, AccessKind::Store) => access.value,
            (_, AccessKind::Atomic) if access.size == 8 => self.load::<8>(access.address).ok()?,
            (_, AccessKind::Atomic) => self.load::<4>(access.address).ok()?,
        };
        Some(Access { value: low(value, access.size), ..access })
    }
}

/// The low `size` bytes.
fn low(value: u64, size: u8) -> u64 {
    value & u64::MAX >> (64 - 8 * u32::from(size))
}
