//! 4-byte instructions that access memory, jump or prepare values, from the tables of the specification.

/// The base that has an instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Both,
    Rv32,
    Rv64,
}

impl Base {
    pub(crate) fn has(self, xlen: u32) -> bool {
        self == Self::Both || (self == Self::Rv32) == (xlen == 32)
    }
}

const OP_IMM: u32 = 0x13;
const OP: u32 = 0x33;

/// Accesses: `bits`, and whether the register is a floating-point one.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Access {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) float: bool,
    pub(crate) base: Base,
}

const fn access(name: &'static str, opcode: u32, funct3: u32, base: Base) -> Access {
    Access { name, bits: funct3 << 12 | opcode, float: opcode & 4 != 0, base }
}

pub(crate) const LOADS: &[Access] = &[
    access("lb", 0x03, 0, Base::Both),
    access("lh", 0x03, 1, Base::Both),
    access("lw", 0x03, 2, Base::Both),
    access("ld", 0x03, 3, Base::Rv64),
    access("lbu", 0x03, 4, Base::Both),
    access("lhu", 0x03, 5, Base::Both),
    access("lwu", 0x03, 6, Base::Rv64),
    access("flw", 0x07, 2, Base::Both),
    access("fld", 0x07, 3, Base::Both),
];

pub(crate) const STORES: &[Access] = &[
    access("sb", 0x23, 0, Base::Both),
    access("sh", 0x23, 1, Base::Both),
    access("sw", 0x23, 2, Base::Both),
    access("sd", 0x23, 3, Base::Rv64),
    access("fsw", 0x27, 2, Base::Both),
    access("fsd", 0x27, 3, Base::Both),
];

/// `rd`, `imm(rs1)`.
pub(crate) fn load(bits: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    bits | rd << 7 | rs1 << 15 | (imm as u32) << 20
}

/// `rs2`, `imm(rs1)`.
pub(crate) fn store(bits: u32, rs2: u32, rs1: u32, imm: i32) -> u32 {
    let imm = imm as u32;
    bits | (imm >> 5) << 25 | rs2 << 20 | rs1 << 15 | (imm & 31) << 7
}

/// Names and `funct5`.
pub(crate) const AMO: [(&str, u32); 9] = [
    ("amoadd", 0),
    ("amoswap", 1),
    ("amoxor", 4),
    ("amoor", 8),
    ("amoand", 12),
    ("amomin", 16),
    ("amomax", 20),
    ("amominu", 24),
    ("amomaxu", 28),
];
pub(crate) const LR: u32 = 2;
pub(crate) const SC: u32 = 3;

/// `order` is `aq` and `rl`.
pub(crate) fn amo(funct5: u32, order: u32, wide: bool, [rd, rs2, rs1]: [u32; 3]) -> u32 {
    let funct3 = 2 + u32::from(wide);
    funct5 << 27 | order << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x2f
}

/// `funct3` of the six branches.
pub(crate) const BRANCHES: [(&str, u32); 6] =
    [("beq", 0), ("bne", 1), ("blt", 4), ("bge", 5), ("bltu", 6), ("bgeu", 7)];

pub(crate) fn branch(funct3: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | funct3 << 12 | 0x63
}

/// The offset of a branch.
pub(crate) fn branch_offset(offset: i64) -> Option<u32> {
    (-4096..4096).contains(&offset).then(|| {
        let o = offset as u32;
        (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7
    })
}

pub(crate) fn jal(rd: u32, offset: i64) -> u32 {
    let o = offset as u32;
    let low = (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12;
    (o >> 20 & 1) << 31 | low | rd << 7 | 0x6f
}

pub(crate) fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | rd << 7 | 0x67
}

pub(crate) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | rd << 7 | OP_IMM
}

pub(crate) fn andi(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | 7 << 12 | rd << 7 | OP_IMM
}

pub(crate) fn slli(rd: u32, rs1: u32, amount: u32) -> u32 {
    amount << 20 | rs1 << 15 | 1 << 12 | rd << 7 | OP_IMM
}

pub(crate) fn bseti(rd: u32, rs1: u32, bit: u32) -> u32 {
    0x0a << 26 | slli(rd, rs1, bit)
}

pub(crate) fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | OP
}

pub(crate) fn sub(rd: u32, rs1: u32, rs2: u32) -> u32 {
    0x20 << 25 | add(rd, rs1, rs2)
}

/// `funct3` 1 to 3 with a register, 5 to 7 with a number.
pub(crate) fn csr(funct3: u32, number: u32, rd: u32, source: u32) -> u32 {
    number << 20 | source << 15 | funct3 << 12 | rd << 7 | 0x73
}

pub(crate) const FFLAGS: u32 = 1;
pub(crate) const FRM: u32 = 2;
pub(crate) const FCSR: u32 = 3;
pub(crate) const ECALL: u32 = 0x73;
pub(crate) const FENCE: u32 = 0x0ff0_000f;
pub(crate) const FENCE_I: u32 = 0x100f;
pub(crate) const NOP: u32 = 0x13;
