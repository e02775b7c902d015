//! Multiplication, division and bit manipulation.

use crate::config::Xlen;
use crate::hart::Hart;
use crate::op::{BitOp, MulOp, Op};

/// Sign-extends a word.
#[inline(always)]
pub(crate) const fn word(value: u64) -> u64 {
    value as i32 as u64
}

/// The remaining operations of the M extension. Division by zero and overflow do not trap.
pub(crate) fn multiply(which: MulOp, a: u64, b: u64) -> u64 {
    let (sa, sb) = (a as i64, b as i64);
    let (wa, wb) = (a as i32, b as i32);
    match which {
        MulOp::Mulh => ((i128::from(sa) * i128::from(sb)) >> 64) as u64,
        MulOp::Mulhsu => ((i128::from(sa) * i128::from(b)) >> 64) as u64,
        MulOp::Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        MulOp::Mulh32 => word(((i64::from(wa) * i64::from(wb)) >> 32) as u64),
        MulOp::Mulhsu32 => word(((i64::from(wa) * i64::from(b as u32)) >> 32) as u64),
        MulOp::Mulhu32 => word((u64::from(a as u32) * u64::from(b as u32)) >> 32),
        MulOp::Div if b == 0 => u64::MAX,
        MulOp::Div => sa.wrapping_div(sb) as u64,
        MulOp::Divu => a.checked_div(b).unwrap_or(u64::MAX),
        MulOp::Rem if b == 0 => a,
        MulOp::Rem => sa.wrapping_rem(sb) as u64,
        MulOp::Remu => a.checked_rem(b).unwrap_or(a),
        MulOp::Divw if wb == 0 => u64::MAX,
        MulOp::Divw => wa.wrapping_div(wb) as u64,
        MulOp::Divuw => word((a as u32).checked_div(b as u32).unwrap_or(u32::MAX).into()),
        MulOp::Remw if wb == 0 => wa as u64,
        MulOp::Remw => wa.wrapping_rem(wb) as u64,
        MulOp::Remuw => word((a as u32).checked_rem(b as u32).unwrap_or(a as u32).into()),
    }
}

/// The carry-less product, of 128 bits.
fn carryless(a: u64, b: u64) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u128::from(a) << bit)
}

impl Hart {
    /// The caller must sign-extend the result from XLEN bits.
    pub(crate) fn bit_operation(&self, which: BitOp, op: Op, a: u64, b: u64) -> u64 {
        let (xlen, unsigned) = match self.xlen {
            Xlen::Rv32 => (32, 0xffff_ffff),
            Xlen::Rv64 => (64, u64::MAX),
        };
        let low = a & 0xffff_ffff;
        let imm = op.imm as u32;
        let bit = 1u64 << (b & (xlen - 1));
        let bit_imm = 1u64 << (u64::from(imm) & (xlen - 1));
        match which {
            BitOp::Sh1add => (a << 1).wrapping_add(b),
            BitOp::Sh2add => (a << 2).wrapping_add(b),
            BitOp::Sh3add => (a << 3).wrapping_add(b),
            BitOp::AddUw => low.wrapping_add(b),
            BitOp::Sh1addUw => (low << 1).wrapping_add(b),
            BitOp::Sh2addUw => (low << 2).wrapping_add(b),
            BitOp::Sh3addUw => (low << 3).wrapping_add(b),
            BitOp::SlliUw => low << (imm & 63),
            BitOp::Andn => a & !b,
            BitOp::Orn => a | !b,
            BitOp::Xnor => !(a ^ b),
            BitOp::Clz => a.leading_zeros().into(),
            BitOp::Ctz => a.trailing_zeros().into(),
            BitOp::Cpop => a.count_ones().into(),
            BitOp::Clzw => (a as u32).leading_zeros().into(),
            BitOp::Ctzw => (a as u32).trailing_zeros().into(),
            BitOp::Cpopw => (a as u32).count_ones().into(),
            BitOp::Max => (a as i64).max(b as i64) as u64,
            BitOp::Maxu => a.max(b),
            BitOp::Min => (a as i64).min(b as i64) as u64,
            BitOp::Minu => a.min(b),
            BitOp::SextB => a as i8 as u64,
            BitOp::SextH => a as i16 as u64,
            BitOp::ZextH => a & 0xffff,
            BitOp::Rol => a.rotate_left(b as u32 & 63),
            BitOp::Ror => a.rotate_right(b as u32 & 63),
            BitOp::Rori => a.rotate_right(imm & 63),
            BitOp::Rolw => word((a as u32).rotate_left(b as u32 & 31).into()),
            BitOp::Rorw => word((a as u32).rotate_right(b as u32 & 31).into()),
            BitOp::Roriw => word((a as u32).rotate_right(imm & 31).into()),
            BitOp::OrcB => {
                u64::from_le_bytes(a.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff }))
            }
            BitOp::Rev8 => a.swap_bytes(),
            BitOp::Rev8w => (a as u32).swap_bytes().into(),
            BitOp::Clmul => carryless(a, b) as u64,
            BitOp::Clmulh => (carryless(a & unsigned, b & unsigned) >> xlen) as u64,
            BitOp::Clmulr => (carryless(a & unsigned, b & unsigned) >> (xlen - 1)) as u64,
            BitOp::Bclr => a & !bit,
            BitOp::Bext => u64::from(a & bit != 0),
            BitOp::Binv => a ^ bit,
            BitOp::Bset => a | bit,
            BitOp::Bclri => a & !bit_imm,
            BitOp::Bexti => u64::from(a & bit_imm != 0),
            BitOp::Binvi => a ^ bit_imm,
            BitOp::Bseti => a | bit_imm,
        }
    }
}
