//! Instruction encoders: the words themselves, no policy.
//!
//! Immediates are taken modulo their field; the layout has checked the range before.

/// A register number, 0 to 31.
pub(crate) type Reg = u8;

const fn field(value: i64, low: u32, width: u32, at: u32) -> u32 {
    ((value >> low) as u32 & ((1u32 << width) - 1)) << at
}

const fn reg(r: Reg, at: u32) -> u32 {
    (r as u32 & 31) << at
}

/// `rd' = x8 + n`: the 3-bit register fields of compressed instructions.
const fn small(r: Reg, at: u32) -> u32 {
    (r as u32 & 7) << at
}

pub(crate) const ECALL: u32 = 0x0000_0073;
pub(crate) const EBREAK: u32 = 0x0010_0073;
pub(crate) const SRET: u32 = 0x1020_0073;
pub(crate) const MRET: u32 = 0x3020_0073;
pub(crate) const FENCE: u32 = 0x0ff0_000f;
pub(crate) const NOP: u32 = 0x0000_0013;
pub(crate) const C_EBREAK: u32 = 0x9002;
pub(crate) const C_NOP: u32 = 0x0001;

pub(crate) const fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: Reg, a: Reg, b: Reg) -> u32 {
    opcode | reg(rd, 7) | funct3 << 12 | reg(a, 15) | reg(b, 20) | funct7 << 25
}

pub(crate) const fn i_type(opcode: u32, funct3: u32, rd: Reg, rs1: Reg, imm: i64) -> u32 {
    opcode | reg(rd, 7) | funct3 << 12 | reg(rs1, 15) | field(imm, 0, 12, 20)
}

pub(crate) const fn s_type(opcode: u32, funct3: u32, rs1: Reg, rs2: Reg, imm: i64) -> u32 {
    opcode | field(imm, 0, 5, 7) | funct3 << 12 | reg(rs1, 15) | reg(rs2, 20) | field(imm, 5, 7, 25)
}

/// `funct3` 0, 1, 4 to 7: beq, bne, blt, bge, bltu, bgeu.
pub(crate) const fn branch(funct3: u32, rs1: Reg, rs2: Reg, offset: i64) -> u32 {
    0x63 | field(offset, 11, 1, 7)
        | field(offset, 1, 4, 8)
        | funct3 << 12
        | reg(rs1, 15)
        | reg(rs2, 20)
        | field(offset, 5, 6, 25)
        | field(offset, 12, 1, 31)
}

pub(crate) const fn jal(rd: Reg, offset: i64) -> u32 {
    0x6f | reg(rd, 7)
        | field(offset, 12, 8, 12)
        | field(offset, 11, 1, 20)
        | field(offset, 1, 10, 21)
        | field(offset, 20, 1, 31)
}

pub(crate) const fn jalr(rd: Reg, rs1: Reg, imm: i64) -> u32 {
    i_type(0x67, 0, rd, rs1, imm)
}

/// `imm` is the value of the upper bits, a multiple of 4096.
pub(crate) const fn lui(rd: Reg, imm: i64) -> u32 {
    0x37 | reg(rd, 7) | field(imm, 12, 20, 12)
}

/// `imm` is the value of the upper bits, a multiple of 4096.
pub(crate) const fn auipc(rd: Reg, imm: i64) -> u32 {
    0x17 | reg(rd, 7) | field(imm, 12, 20, 12)
}

/// Quadrant 1 with a 6-bit immediate and a full register: c.addi, c.addiw, c.li, c.lui.
pub(crate) const fn c_imm6(funct3: u32, rd: Reg, imm: i64) -> u32 {
    1 | funct3 << 13 | field(imm, 5, 1, 12) | reg(rd, 7) | field(imm, 0, 5, 2)
}

/// `imm` is the value of the upper bits, a multiple of 4096, not 0; `rd` is not x0 or x2.
pub(crate) const fn c_lui(rd: Reg, imm: i64) -> u32 {
    c_imm6(3, rd, imm >> 12)
}

/// `funct3` 5 c.j, 1 c.jal (RV32 only).
pub(crate) const fn c_jump(funct3: u32, offset: i64) -> u32 {
    1 | funct3 << 13
        | field(offset, 11, 1, 12)
        | field(offset, 4, 1, 11)
        | field(offset, 8, 2, 9)
        | field(offset, 10, 1, 8)
        | field(offset, 6, 1, 7)
        | field(offset, 7, 1, 6)
        | field(offset, 1, 3, 3)
        | field(offset, 5, 1, 2)
}

/// `funct3` 6 c.beqz, 7 c.bnez.
pub(crate) const fn c_branch(funct3: u32, rs1: Reg, offset: i64) -> u32 {
    1 | funct3 << 13
        | field(offset, 8, 1, 12)
        | field(offset, 3, 2, 10)
        | small(rs1, 7)
        | field(offset, 6, 2, 5)
        | field(offset, 1, 2, 3)
        | field(offset, 5, 1, 2)
}

/// c.jr; `rs1` is not x0.
pub(crate) const fn c_jr(rs1: Reg) -> u32 {
    0x8002 | reg(rs1, 7)
}

/// c.jalr; `rs1` is not x0.
pub(crate) const fn c_jalr(rs1: Reg) -> u32 {
    0x9002 | reg(rs1, 7)
}

/// c.mv (`add` false) or c.add; neither register is x0.
pub(crate) const fn c_move(add: bool, rd: Reg, rs2: Reg) -> u32 {
    0x8002 | (add as u32) << 12 | reg(rd, 7) | reg(rs2, 2)
}

/// Quadrant 1 arithmetic on two small registers: c.sub, c.xor, c.or, c.and.
pub(crate) const fn c_arith(op: u32, rd: Reg, rs2: Reg) -> u32 {
    0x8c01 | small(rd, 7) | (op & 3) << 5 | small(rs2, 2)
}

/// Quadrant 0 loads and stores: 2 c.lw, 3 c.ld (RV64), 6 c.sw, 7 c.sd (RV64); `bits` fills the offset.
pub(crate) const fn c_memory(funct3: u32, data: Reg, base: Reg, bits: u32) -> u32 {
    funct3 << 13 | (bits & 7) << 10 | small(base, 7) | (bits >> 3 & 3) << 5 | small(data, 2)
}

/// Quadrant 2 stack loads: 2 c.lwsp, 3 c.ldsp (RV64); `rd` is not x0; `bits` fills the offset.
pub(crate) const fn c_load_stack(funct3: u32, rd: Reg, bits: u32) -> u32 {
    2 | funct3 << 13 | (bits & 1) << 12 | reg(rd, 7) | (bits >> 1 & 31) << 2
}

/// Quadrant 2 stack stores: 6 c.swsp, 7 c.sdsp (RV64); `bits` fills the offset.
pub(crate) const fn c_store_stack(funct3: u32, rs2: Reg, bits: u32) -> u32 {
    2 | funct3 << 13 | (bits & 63) << 7 | reg(rs2, 2)
}

/// c.slli; `rd` is not x0, `shift` is 1 to 31.
pub(crate) const fn c_slli(rd: Reg, shift: u32) -> u32 {
    2 | reg(rd, 7) | (shift & 31) << 2
}

/// c.addi4spn; `bits` is not 0.
pub(crate) const fn c_addi4spn(rd: Reg, bits: u32) -> u32 {
    (bits & 0xff) << 5 | small(rd, 2)
}

/// c.addi16sp with an immediate of 16 times 1 to 31.
pub(crate) const fn c_addi16sp(times: i64) -> u32 {
    let imm = times << 4;
    0x6101
        | field(imm, 9, 1, 12)
        | field(imm, 4, 1, 6)
        | field(imm, 6, 1, 5)
        | field(imm, 7, 2, 3)
        | field(imm, 5, 1, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words printed by GNU objdump.
    #[test]
    fn known_words() {
        assert_eq!(jalr(0, 1, 0), 0x0000_8067, "ret");
        assert_eq!(jal(1, 0x10), 0x0100_00ef, "jal ra, .+16");
        assert_eq!(jal(0, -4), 0xffdf_f06f, "j .-4");
        assert_eq!(branch(1, 10, 0, -8), 0xfe05_1ce3, "bnez a0, .-8");
        assert_eq!(branch(0, 10, 11, 0x10), 0x00b5_0863, "beq a0, a1, .+16");
        assert_eq!(lui(10, 0x1_2345 << 12), 0x1234_5537, "lui a0, 0x12345");
        assert_eq!(auipc(2, 0x9 << 12), 0x0000_9117, "auipc sp, 0x9");
        assert_eq!(c_jr(1), 0x8082, "c.jr ra");
        assert_eq!(c_jalr(15), 0x9782, "c.jalr a5");
        assert_eq!(c_jump(5, -2), 0xbffd, "c.j .-2");
        assert_eq!(c_jump(5, 0x20), 0xa005, "c.j .+32");
        assert_eq!(c_branch(6, 7, 6), 0xc399, "c.beqz a5, .+6");
        assert_eq!(c_branch(7, 2, -6), 0xfd6d, "c.bnez a0, .-6");
        assert_eq!(c_lui(15, 0x10 << 12), 0x67c1, "c.lui a5, 0x10");
        assert_eq!(c_imm6(2, 10, 0), 0x4501, "c.li a0, 0");
        assert_eq!(c_imm6(0, 2, -16), 0x1141, "c.addi sp, -16");
        assert_eq!(c_addi16sp(-4), 0x7139, "c.addi16sp sp, -64");
        assert_eq!(c_move(false, 10, 15), 0x853e, "c.mv a0, a5");
        assert_eq!(c_arith(0, 0, 1), 0x8c05, "c.sub s0, s1");
        assert_eq!(i_type(0x13, 0, 2, 2, -16), 0xff01_0113, "addi sp, sp, -16");
        assert_eq!(s_type(0x23, 2, 2, 1, 12), 0x0011_2623, "sw ra, 12(sp)");
        assert_eq!(r_type(0x33, 0, 1, 10, 10, 11), 0x02b5_0533, "mul a0, a0, a1");
    }
}
