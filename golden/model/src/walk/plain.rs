//! Random instructions that only compute.

use crate::walk::asm::{self, Reg};
use fastrand::Rng;
use hartrace_etrace::ingress::Xlen;

/// Whether an instruction may raise load or store faults.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    None,
    Load,
    Store,
}

fn reg(rng: &mut Rng) -> Reg {
    rng.u8(..32)
}

/// Not x0.
fn some_reg(rng: &mut Rng) -> Reg {
    rng.u8(1..32)
}

fn imm12(rng: &mut Rng) -> i64 {
    rng.i64(-2048..2048)
}

/// A 32-bit instruction.
pub(crate) fn wide(rng: &mut Rng, xlen: Xlen) -> (u32, Access) {
    let rv64 = xlen == Xlen::Rv64;
    let word = match rng.u8(..12) {
        0 => asm::NOP,
        1 => asm::FENCE,
        2 => asm::i_type(0x13, 1, reg(rng), reg(rng), rng.i64(0..32)),
        3 => asm::i_type(0x73, 2, reg(rng), 0, [0xc00, 0xc01, 0xc02, 0x001][rng.usize(..4)]),
        4 => asm::r_type(0x33, rng.u32(..8), 1, reg(rng), reg(rng), reg(rng)),
        5 => asm::r_type(0x33, rng.u32(..8), 0, reg(rng), reg(rng), reg(rng)),
        6 if rv64 => asm::i_type(0x1b, 0, reg(rng), reg(rng), imm12(rng)),
        7 | 8 => {
            let size = if rv64 { [0, 1, 2, 3, 4, 5, 6] } else { [0, 1, 2, 4, 5, 2, 2] };
            let word = asm::i_type(0x03, size[rng.usize(..7)], reg(rng), reg(rng), imm12(rng));
            return (word, Access::Load);
        }
        9 => {
            let size = rng.u32(..if rv64 { 4 } else { 3 });
            let word = asm::s_type(0x23, size, reg(rng), reg(rng), imm12(rng));
            return (word, Access::Store);
        }
        10 => {
            let funct5 = [0x00, 0x01, 0x04, 0x08, 0x0c][rng.usize(..5)];
            let word = asm::r_type(0x2f, 2, funct5 << 2, reg(rng), reg(rng), reg(rng));
            return (word, Access::Store);
        }
        _ => {
            let funct3 = [0, 2, 3, 4, 6, 7][rng.usize(..6)];
            asm::i_type(0x13, funct3, reg(rng), reg(rng), imm12(rng))
        }
    };
    (word, Access::None)
}

/// A 16-bit instruction.
pub(crate) fn narrow(rng: &mut Rng, xlen: Xlen) -> (u32, Access) {
    let rv64 = xlen == Xlen::Rv64;
    // c.ldsp and friends are RV64 only; their encodings are floating point on RV32.
    let wide = if rv64 { rng.u32(..2) } else { 0 };
    let word = match rng.u8(..13) {
        0 => asm::C_NOP,
        1 => asm::c_imm6(0, some_reg(rng), [-16, -1, 1, 31][rng.usize(..4)]),
        // The same encoding as c.jal on RV32.
        2 if rv64 => asm::c_imm6(1, some_reg(rng), rng.i64(-32..32)),
        3 => asm::c_move(rng.bool(), some_reg(rng), some_reg(rng)),
        4 => asm::c_arith(rng.u32(..4), rng.u8(..8), rng.u8(..8)),
        5 => asm::c_slli(some_reg(rng), rng.u32(1..32)),
        6 => asm::c_addi4spn(rng.u8(..8), rng.u32(1..256)),
        7 => asm::c_addi16sp(rng.i64(1..32) * if rng.bool() { -1 } else { 1 }),
        8 => {
            let word = asm::c_memory(2 + wide, rng.u8(..8), rng.u8(..8), rng.u32(..32));
            return (word, Access::Load);
        }
        9 => {
            let word = asm::c_memory(6 + wide, rng.u8(..8), rng.u8(..8), rng.u32(..32));
            return (word, Access::Store);
        }
        10 => {
            return (asm::c_load_stack(2 + wide, some_reg(rng), rng.u32(..64)), Access::Load);
        }
        11 => {
            return (asm::c_store_stack(6 + wide, reg(rng), rng.u32(..64)), Access::Store);
        }
        _ => asm::c_imm6(2, some_reg(rng), rng.i64(-32..32)),
    };
    (word, Access::None)
}
