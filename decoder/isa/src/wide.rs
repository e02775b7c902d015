//! Instructions of 32 bits. None of them depends on the base instruction set or on extensions.

use crate::{Kind, Link};

/// Classifies an instruction word whose two lowest bits are set.
pub(crate) const fn kind(word: u32) -> Kind {
    let rd = ((word >> 7) & 31) as u8;
    let rs1 = ((word >> 15) & 31) as u8;
    let funct3 = (word >> 12) & 7;
    match word & 0x7f {
        0x17 => Kind::Auipc { rd, value: upper(word) },
        0x37 => Kind::Lui { rd, value: upper(word) },
        // beq bne, blt bge bltu bgeu
        0x63 if matches!(funct3, 0 | 1 | 4..=7) => Kind::Branch { offset: b_immediate(word) },
        0x67 if funct3 == 0 => jalr(rd, rs1, (word as i32) >> 20),
        0x6f => Kind::Jump { offset: j_immediate(word), link: Link::direct(rd) },
        0x73 => system(word),
        _ => Kind::Plain,
    }
}

const fn jalr(rd: u8, rs1: u8, offset: i32) -> Kind {
    match rs1 {
        0 => Kind::AbsoluteJump { target: offset & !1, link: Link::direct(rd) },
        _ => Kind::IndirectJump { rs1, offset, link: Link::indirect(rd, rs1) },
    }
}

/// Opcode SYSTEM: CSR accesses, fences, `wfi` and hypervisor loads and stores are plain.
const fn system(word: u32) -> Kind {
    // funct3, rd and rs1 are 0 in all relevant instructions.
    if word & 0x000f_ff80 != 0 {
        return Kind::Plain;
    }
    match word >> 20 {
        0x000 | 0x001 => Kind::EnvironmentTrap, // ecall ebreak
        // uret sret mret, mnret (Smrnmi), dret (Sdext)
        0x002 | 0x102 | 0x302 | 0x702 | 0x7b2 => Kind::TrapReturn,
        _ => Kind::Plain,
    }
}

/// Immediate of format U.
const fn upper(word: u32) -> i32 {
    (word & 0xffff_f000) as i32
}

/// Copies of bit 31.
const fn sign(word: u32) -> i32 {
    (word as i32) >> 31
}

/// Immediate of format B: `12|10:5` in bits 31:25, `4:1|11` in bits 11:7.
const fn b_immediate(word: u32) -> i32 {
    let low = (word >> 7) & 0x01e | (word >> 20) & 0x7e0 | (word << 4) & 0x800;
    sign(word) << 12 | low as i32
}

/// Immediate of format J: `20|10:1|11|19:12` in bits 31:12.
const fn j_immediate(word: u32) -> i32 {
    let low = (word >> 20) & 0x7fe | (word >> 9) & 0x800 | word & 0xf_f000;
    sign(word) << 20 | low as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    // Words as printed by an assembler.
    #[test]
    fn branches() {
        assert_eq!(kind(0xfe05_0ee3), Kind::Branch { offset: -4 }); // beqz a0, .-4
        assert_eq!(kind(0x8000_0063), Kind::Branch { offset: -4096 });
        assert_eq!(kind(0x7e00_0fe3), Kind::Branch { offset: 4094 });
        for (funct3, branch) in (0..).zip([true, true, false, false, true, true, true, true]) {
            let expected = if branch { Kind::Branch { offset: 8 } } else { Kind::Plain };
            assert_eq!(kind(0x0000_0463 | funct3 << 12), expected);
        }
    }

    #[test]
    fn jumps() {
        let jump = |offset, link| Kind::Jump { offset, link };
        assert_eq!(kind(0x0080_00ef), jump(8, Link::Call)); // jal ra, .+8
        assert_eq!(kind(0x0080_02ef), jump(8, Link::Call)); // jal t0, .+8
        assert_eq!(kind(0xffdf_f06f), jump(-4, Link::Jump)); // j .-4
        assert_eq!(kind(0x8000_056f), jump(-0x10_0000, Link::Other)); // jal a0, .-1048576
        assert_eq!(kind(0x7fff_f06f), jump(0xf_fffe, Link::Jump)); // j .+1048574
    }

    #[test]
    fn indirect_jumps() {
        let jump = |rs1, offset, link| Kind::IndirectJump { rs1, offset, link };
        assert_eq!(kind(0x0000_8067), jump(1, 0, Link::Return)); // ret
        assert_eq!(kind(0x0002_8567), jump(5, 0, Link::Return)); // jalr a0, t0
        assert_eq!(kind(0x0000_80e7), jump(1, 0, Link::Call)); // jalr ra, ra
        assert_eq!(kind(0x0002_80e7), jump(5, 0, Link::Swap)); // jalr ra, t0
        assert_eq!(kind(0x0000_82e7), jump(1, 0, Link::Swap)); // jalr t0, ra
        assert_eq!(kind(0xfff5_0067), jump(10, -1, Link::Jump)); // jr -1(a0)
        assert_eq!(kind(0x0005_0567), jump(10, 0, Link::Other)); // jalr a0, a0
        assert_eq!(kind(0x0000_9067), Kind::Plain); // funct3 1
    }

    #[test]
    fn absolute_jumps() {
        let jump = |target, link| Kind::AbsoluteJump { target, link };
        assert_eq!(kind(0xff00_0067), jump(-16, Link::Jump)); // jalr x0, -16(x0)
        assert_eq!(kind(0x7ff0_00e7), jump(2046, Link::Call)); // jalr ra, 2047(x0)
        assert_eq!(kind(0x0040_0567), jump(4, Link::Other)); // jalr a0, 4(x0)
    }

    #[test]
    fn constants() {
        assert_eq!(kind(0xffff_f297), Kind::Auipc { rd: 5, value: -4096 });
        assert_eq!(kind(0x1234_52b7), Kind::Lui { rd: 5, value: 0x1234_5000 });
    }

    #[test]
    fn system_instructions() {
        for word in [0x0020_0073, 0x1020_0073, 0x3020_0073, 0x7020_0073, 0x7b20_0073] {
            assert_eq!(kind(word), Kind::TrapReturn);
        }
        for word in [0x0000_0073, 0x0010_0073] {
            assert_eq!(kind(word), Kind::EnvironmentTrap);
        }
        // wfi, sctrclr, sfence.vma, hfence.vvma, hlv.b, csrr a0, mepc, ecall with rd 1
        for word in [
            0x1050_0073,
            0x1040_0073,
            0x1200_0073,
            0x2200_0073,
            0x6005_4573,
            0x3410_2573,
            0x0000_00f3,
        ] {
            assert_eq!(kind(word), Kind::Plain);
        }
    }
}
