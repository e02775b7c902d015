//! The registers that an instruction reads and writes, as far as addresses depend on them.

use hartrace_isa::Xlen;

/// The effect of an instruction on integer registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Accesses memory at `base + offset`; the loaded value goes to `rd`, if that is an integer
    /// register.
    Memory { base: u8, offset: i64, rd: u8 },
    /// `rd` depends only on the sources; source 0 is always known.
    Compute { rd: u8, sources: [u8; 2] },
    /// `rd` depends only on the instruction and its address: upper immediates and return addresses.
    Constant { rd: u8 },
    /// `rd` has another origin.
    Foreign { rd: u8 },
    /// A system call or breakpoint.
    Environment,
    /// Writes no integer register.
    None,
}

/// The bits `from..from + width` of an encoding.
fn field(encoding: u32, from: u32, width: u32) -> u32 {
    encoding >> from & ((1 << width) - 1)
}

/// A register.
fn reg(encoding: u32, from: u32) -> u8 {
    field(encoding, from, 5) as u8
}

/// One of the eight registers that compressed instructions name in three bits.
fn small(encoding: u32, from: u32) -> u8 {
    8 + field(encoding, from, 3) as u8
}

pub(super) fn role(encoding: u32, xlen: Xlen) -> Role {
    if encoding & 3 == 3 { wide(encoding) } else { narrow(encoding, xlen) }
}

fn wide(encoding: u32) -> Role {
    let (rd, rs1, rs2) = (reg(encoding, 7), reg(encoding, 15), reg(encoding, 20));
    let immediate = i64::from(encoding as i32 >> 20);
    match field(encoding, 0, 7) {
        0x03 => Role::Memory { base: rs1, offset: immediate, rd },
        0x07 => Role::Memory { base: rs1, offset: immediate, rd: 0 },
        0x23 | 0x27 => Role::Memory { base: rs1, offset: immediate & !0x1f | i64::from(rd), rd: 0 },
        0x2f => Role::Memory { base: rs1, offset: 0, rd },
        0x37 | 0x17 | 0x6f | 0x67 => Role::Constant { rd },
        0x13 | 0x1b => Role::Compute { rd, sources: [rs1, 0] },
        0x33 | 0x3b => Role::Compute { rd, sources: [rs1, rs2] },
        // Comparisons, conversions to integers, moves to integer registers.
        0x53 if [0x14, 0x18, 0x1c].contains(&field(encoding, 27, 5)) => Role::Foreign { rd },
        0x73 if field(encoding, 12, 3) != 0 => Role::Foreign { rd },
        0x73 if field(encoding, 7, 25) & !(1 << 13) == 0 => Role::Environment,
        _ => Role::None,
    }
}

fn narrow(encoding: u32, xlen: Xlen) -> Role {
    let bits = |from, width, to: u32| i64::from(field(encoding, from, width)) << to;
    let rv64 = xlen == Xlen::Rv64;
    let (rd, rs2) = (reg(encoding, 7), reg(encoding, 2));
    let (low, high) = (small(encoding, 2), small(encoding, 7));
    // Offsets of words and double words, from a register and from the stack.
    let word = bits(10, 3, 3) | bits(6, 1, 2) | bits(5, 1, 6);
    let double = bits(10, 3, 3) | bits(5, 2, 6);
    let memory = |base, offset, rd| Role::Memory { base, offset, rd };
    match (encoding & 3, field(encoding, 13, 3)) {
        (0, 0) => Role::Compute { rd: low, sources: [2, 0] },
        (0, 1 | 5) => memory(high, double, 0),
        (0, 2) => memory(high, word, low),
        (0, 3) if rv64 => memory(high, double, low),
        (0, 7) if rv64 => memory(high, double, 0),
        (0, 3 | 6 | 7) => memory(high, word, 0),
        (1, 1) if !rv64 => Role::Constant { rd: 1 },
        (1, 0 | 1) => Role::Compute { rd, sources: [rd, 0] },
        (1, 2) => Role::Compute { rd, sources: [0, 0] },
        (1, 3) if rd == 2 => Role::Compute { rd, sources: [2, 0] },
        (1, 3) => Role::Constant { rd },
        (1, 4) if field(encoding, 10, 2) == 3 => Role::Compute { rd: high, sources: [high, low] },
        (1, 4) => Role::Compute { rd: high, sources: [high, 0] },
        (2, 0) => Role::Compute { rd, sources: [rd, 0] },
        (2, 1) => memory(2, bits(12, 1, 5) | bits(5, 2, 3) | bits(2, 3, 6), 0),
        (2, 3) if rv64 => memory(2, bits(12, 1, 5) | bits(5, 2, 3) | bits(2, 3, 6), rd),
        (2, 2) => memory(2, bits(12, 1, 5) | bits(4, 3, 2) | bits(2, 2, 6), rd),
        (2, 3) => memory(2, bits(12, 1, 5) | bits(4, 3, 2) | bits(2, 2, 6), 0),
        (2, 5) => memory(2, bits(10, 3, 3) | bits(7, 3, 6), 0),
        (2, 7) if rv64 => memory(2, bits(10, 3, 3) | bits(7, 3, 6), 0),
        (2, 6 | 7) => memory(2, bits(9, 4, 2) | bits(7, 2, 6), 0),
        (2, 4) => match (field(encoding, 12, 1), rd, rs2) {
            (0, _, 0) => Role::None,
            (0, ..) => Role::Compute { rd, sources: [0, rs2] },
            (_, 0, 0) => Role::Environment,
            (_, _, 0) => Role::Constant { rd: 1 },
            _ => Role::Compute { rd, sources: [rd, rs2] },
        },
        _ => Role::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings printed by GNU objdump.
    #[test]
    fn roles() {
        let memory = |base, offset, rd| Role::Memory { base, offset, rd };
        for (encoding, expected) in [
            (0x0000_0073, Role::Environment),                           // ecall
            (0x0010_0073, Role::Environment),                           // ebreak
            (0x9002, Role::Environment),                                // c.ebreak
            (0x3020_0073, Role::None),                                  // mret
            (0xff01_0113, Role::Compute { rd: 2, sources: [2, 0] }),    // addi sp,sp,-16
            (0x02b5_0533, Role::Compute { rd: 10, sources: [10, 11] }), // mul a0,a0,a1
            (0x0011_2623, memory(2, 12, 0)),                            // sw ra,12(sp)
            (0xfe81_2e23, memory(2, -4, 0)),                            // sw s0,-4(sp)
            (0xffc4_2783, memory(8, -4, 15)),                           // lw a5,-4(s0)
            (0xe406, memory(2, 8, 0)),                                  // sd ra,8(sp)
            (0x60a2, memory(2, 8, 1)),                                  // ld ra,8(sp)
            (0x4398, memory(15, 0, 14)),                                // lw a4,0(a5)
            (0x6798, memory(15, 8, 14)),                                // ld a4,8(a5)
            (0xe798, memory(15, 8, 0)),                                 // sd a4,8(a5)
            (0x853e, Role::Compute { rd: 10, sources: [0, 15] }),       // mv a0,a5
            (0x1141, Role::Compute { rd: 2, sources: [2, 0] }),         // addi sp,sp,-16
            (0x7139, Role::Compute { rd: 2, sources: [2, 0] }),         // addi sp,sp,-64
            (0x8c05, Role::Compute { rd: 8, sources: [8, 9] }),         // sub s0,s0,s1
            (0x9782, Role::Constant { rd: 1 }),                         // jalr a5
            (0x8082, Role::None),                                       // ret
        ] {
            assert_eq!(role(encoding, Xlen::Rv64), expected, "{encoding:#x}");
        }
    }
}
