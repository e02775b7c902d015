//! Compressed instructions, from the tables of the specification.

use super::wide::Base;

/// Positions of the bits of an immediate: from, to.
type Places = &'static [(u32, u32)];

/// Operands of a compressed instruction. `C` stands for the eight registers `x8` to `x15`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `rd`, which is also read, and any 6-bit immediate.
    Imm,
    /// The same with an immediate other than zero.
    ImmNotZero,
    /// A shift by less than XLEN.
    Shift,
    /// The same for `C`.
    ShiftC,
    ImmC,
    /// `C` and `C`.
    PairC,
    /// `rd`, and `rs2` that is not `x0`.
    Pair,
    /// `C` = `sp` plus a multiple of 4, not zero.
    AddSp,
    LoadC,
    StoreC,
    LoadSp,
    StoreSp,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct Insn {
    pub(crate) name: &'static str,
    pub(crate) bits: u16,
    pub(crate) form: Form,
    pub(crate) base: Base,
    /// For an access: its size, and whether the register is a floating-point one.
    pub(crate) size: u32,
    pub(crate) float: bool,
}

const SIX: Places = &[(5, 12), (4, 6), (3, 5), (2, 4), (1, 3), (0, 2)];
const ADD_SP: Places = &[(5, 12), (4, 11), (9, 10), (8, 9), (7, 8), (6, 7), (2, 6), (3, 5)];
const WORD: Places = &[(5, 12), (4, 11), (3, 10), (2, 6), (6, 5)];
const DOUBLE: Places = &[(5, 12), (4, 11), (3, 10), (7, 6), (6, 5)];
const WORD_FROM_SP: Places = &[(5, 12), (4, 6), (3, 5), (2, 4), (7, 3), (6, 2)];
const DOUBLE_FROM_SP: Places = &[(5, 12), (4, 6), (3, 5), (8, 4), (7, 3), (6, 2)];
const WORD_TO_SP: Places = &[(5, 12), (4, 11), (3, 10), (2, 9), (7, 8), (6, 7)];
const DOUBLE_TO_SP: Places = &[(5, 12), (4, 11), (3, 10), (8, 9), (7, 8), (6, 7)];
const ADJUST_SP: Places = &[(9, 12), (4, 6), (6, 5), (8, 4), (7, 3), (5, 2)];
const BRANCH: Places = &[(8, 12), (4, 11), (3, 10), (7, 6), (6, 5), (2, 4), (1, 3), (5, 2)];
const JUMP: Places =
    &[(11, 12), (4, 11), (9, 10), (8, 9), (10, 8), (6, 7), (7, 6), (3, 5), (2, 4), (1, 3), (5, 2)];

fn scatter(value: u32, places: Places) -> u16 {
    places.iter().fold(0, |bits, (from, to)| bits | ((value >> from & 1) as u16) << to)
}

impl Insn {
    /// Encodes the instruction. `a` is the destination or the stored register; `b` is the other
    /// register.
    pub(crate) fn encode(&self, a: u32, b: u32, imm: u32) -> u16 {
        let (full_a, full_b) = ((a << 7) as u16, (b << 2) as u16);
        let (high, low) = (((a & 7) << 7) as u16, ((b & 7) << 2) as u16);
        let double = self.size == 8;
        let either = |wide, narrow| scatter(imm, if double { wide } else { narrow });
        self.bits
            | match self.form {
                Form::Imm | Form::ImmNotZero | Form::Shift => full_a | scatter(imm, SIX),
                Form::ShiftC | Form::ImmC => high | scatter(imm, SIX),
                Form::PairC => high | low,
                Form::Pair => full_a | full_b,
                Form::AddSp => ((a & 7) << 2) as u16 | scatter(imm, ADD_SP),
                Form::LoadC | Form::StoreC => {
                    ((a & 7) << 2 | (b & 7) << 7) as u16 | either(DOUBLE, WORD)
                }
                Form::LoadSp => full_a | either(DOUBLE_FROM_SP, WORD_FROM_SP),
                Form::StoreSp => (a << 2) as u16 | either(DOUBLE_TO_SP, WORD_TO_SP),
            }
    }
}

const fn plain(name: &'static str, bits: u16, form: Form) -> Insn {
    Insn { name, bits, form, base: Base::Both, size: 0, float: false }
}

const fn of64(name: &'static str, bits: u16, form: Form) -> Insn {
    Insn { name, bits, form, base: Base::Rv64, size: 0, float: false }
}

/// An access; if `float`, of a floating-point register.
const fn memory(
    name: &'static str,
    bits: u16,
    form: Form,
    size: u32,
    float: bool,
    base: Base,
) -> Insn {
    Insn { name, bits, form, base, size, float }
}

pub(crate) const ALL: &[Insn] = &[
    plain("c.addi4spn", 0x0000, Form::AddSp),
    plain("c.addi", 0x0001, Form::Imm),
    of64("c.addiw", 0x2001, Form::Imm),
    plain("c.li", 0x4001, Form::Imm),
    plain("c.lui", 0x6001, Form::ImmNotZero),
    plain("c.srli", 0x8001, Form::ShiftC),
    plain("c.srai", 0x8401, Form::ShiftC),
    plain("c.andi", 0x8801, Form::ImmC),
    plain("c.sub", 0x8c01, Form::PairC),
    plain("c.xor", 0x8c21, Form::PairC),
    plain("c.or", 0x8c41, Form::PairC),
    plain("c.and", 0x8c61, Form::PairC),
    of64("c.subw", 0x9c01, Form::PairC),
    of64("c.addw", 0x9c21, Form::PairC),
    plain("c.slli", 0x0002, Form::Shift),
    plain("c.mv", 0x8002, Form::Pair),
    plain("c.add", 0x9002, Form::Pair),
    memory("c.fld", 0x2000, Form::LoadC, 8, true, Base::Both),
    memory("c.lw", 0x4000, Form::LoadC, 4, false, Base::Both),
    memory("c.flw", 0x6000, Form::LoadC, 4, true, Base::Rv32),
    memory("c.ld", 0x6000, Form::LoadC, 8, false, Base::Rv64),
    memory("c.fsd", 0xa000, Form::StoreC, 8, true, Base::Both),
    memory("c.sw", 0xc000, Form::StoreC, 4, false, Base::Both),
    memory("c.fsw", 0xe000, Form::StoreC, 4, true, Base::Rv32),
    memory("c.sd", 0xe000, Form::StoreC, 8, false, Base::Rv64),
    memory("c.fldsp", 0x2002, Form::LoadSp, 8, true, Base::Both),
    memory("c.lwsp", 0x4002, Form::LoadSp, 4, false, Base::Both),
    memory("c.flwsp", 0x6002, Form::LoadSp, 4, true, Base::Rv32),
    memory("c.ldsp", 0x6002, Form::LoadSp, 8, false, Base::Rv64),
    memory("c.fsdsp", 0xa002, Form::StoreSp, 8, true, Base::Both),
    memory("c.swsp", 0xc002, Form::StoreSp, 4, false, Base::Both),
    memory("c.fswsp", 0xe002, Form::StoreSp, 4, true, Base::Rv32),
    memory("c.sdsp", 0xe002, Form::StoreSp, 8, false, Base::Rv64),
];

pub(crate) const NOP: u16 = 0x0001;
pub(crate) const J: u16 = 0xa001;
/// Only in RV32.
pub(crate) const JAL: u16 = 0x2001;

/// `c.addi16sp`, a multiple of 16 that is not zero.
pub(crate) fn adjust_sp(imm: i32) -> u16 {
    0x6101 | scatter(imm as u32, ADJUST_SP)
}

/// `c.beqz` or `c.bnez`, of `x8` to `x15`.
pub(crate) fn branch(not_zero: bool, register: u32) -> u16 {
    0xc001 | u16::from(not_zero) << 13 | ((register & 7) << 7) as u16
}

pub(crate) fn branch_offset(offset: i64) -> Option<u16> {
    (-256..256).contains(&offset).then(|| scatter(offset as u32, BRANCH))
}

pub(crate) fn jump_offset(offset: i64) -> Option<u16> {
    (-2048..2048).contains(&offset).then(|| scatter(offset as u32, JUMP))
}

/// `c.jr`, or `c.jalr`, which links `x1`.
pub(crate) fn jump_register(register: u32, link: bool) -> u16 {
    0x8002 | u16::from(link) << 12 | (register << 7) as u16
}
