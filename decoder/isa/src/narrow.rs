//! Instructions of 16 bits.

use crate::{Isa, Kind, Link, Xlen};

/// Classifies a half-word whose two lowest bits are not both set.
pub(crate) const fn kind(isa: Isa, half: u16) -> Kind {
    // Quadrant and funct3.
    match half & 0xe003 {
        // c.jal; c.addiw on RV64
        0x2001 if matches!(isa.xlen, Xlen::Rv32) => {
            Kind::Jump { offset: cj_immediate(half), link: Link::Call }
        }
        0x6001 => lui(half),
        0xa001 => Kind::Jump { offset: cj_immediate(half), link: Link::Jump }, // c.j
        0xc001 | 0xe001 => Kind::Branch { offset: cb_immediate(half) },        // c.beqz c.bnez
        0x8002 => jump_register(half),
        0xa002 => zcm(isa, half),
        _ => Kind::Plain,
    }
}

/// Bits 11:7.
const fn register(half: u16) -> u8 {
    ((half >> 7) & 31) as u8
}

/// `c.lui`, and the encodings that share its opcode: a hint (rd 0), `c.addi16sp` (rd 2), and
/// reserved encodings or Zcmop (immediate 0).
const fn lui(half: u16) -> Kind {
    match register(half) {
        0 | 2 => Kind::Plain,
        _ if half & 0x107c == 0 => Kind::Plain,
        rd => Kind::Lui { rd, value: sign(half) << 17 | ((half as i32) << 10) & 0x1_f000 },
    }
}

/// `c.jr`, `c.jalr`, `c.ebreak`, and the encodings that share their opcode: `c.mv` and `c.add` (rs2
/// not 0).
const fn jump_register(half: u16) -> Kind {
    match (half & 0x107c, register(half)) {
        (0x1000, 0) => Kind::EnvironmentTrap,
        (0x0000, 0) => Kind::Plain, // reserved
        (0x0000, rs1) => Kind::IndirectJump { rs1, offset: 0, link: Link::indirect(0, rs1) },
        (0x1000, rs1) => Kind::IndirectJump { rs1, offset: 0, link: Link::indirect(1, rs1) },
        _ => Kind::Plain,
    }
}

/// The encodings of `c.fsdsp` that Zcmp and Zcmt reuse.
const fn zcm(isa: Isa, half: u16) -> Kind {
    match (half >> 8) & 0x1f {
        0x00..=0x03 if isa.zcmt => Kind::TableJump { index: (half >> 2) as u8 },
        // cm.popretz cm.popret; register lists 0 to 3 are reserved
        0x1c | 0x1e if isa.zcmp && half & 0xf0 >= 0x40 => Kind::PopReturn,
        _ => Kind::Plain,
    }
}

/// Copies of bit 12.
const fn sign(half: u16) -> i32 {
    if half & 0x1000 != 0 { -1 } else { 0 }
}

/// Immediate of format CJ: `11|4|9:8|10|6|7|3:1|5` in bits 12:2.
const fn cj_immediate(half: u16) -> i32 {
    let low = (half >> 2) & 0x00e
        | (half >> 7) & 0x010
        | (half << 3) & 0x020
        | (half >> 1) & 0x340
        | (half << 1) & 0x080
        | (half << 2) & 0x400;
    sign(half) << 11 | low as i32
}

/// Immediate of format CB: `8|4:3` in bits 12:10, `7:6|2:1|5` in bits 6:2.
const fn cb_immediate(half: u16) -> i32 {
    let low = (half >> 2) & 0x06 | (half >> 7) & 0x18 | (half << 3) & 0x20 | (half << 1) & 0xc0;
    sign(half) << 8 | low as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const RV32: Isa = Isa::new(Xlen::Rv32);
    const RV64: Isa = Isa::new(Xlen::Rv64);

    // Words as printed by an assembler.
    #[test]
    fn direct_jumps_and_branches() {
        let jump = |offset, link| Kind::Jump { offset, link };
        assert_eq!(kind(RV64, 0xa001), jump(0, Link::Jump)); // c.j .
        assert_eq!(kind(RV64, 0xbffd), jump(-2, Link::Jump)); // c.j .-2
        assert_eq!(kind(RV64, 0xb001), jump(-2048, Link::Jump)); // c.j .-2048
        assert_eq!(kind(RV64, 0xaffd), jump(2046, Link::Jump)); // c.j .+2046
        assert_eq!(kind(RV32, 0x3ffd), jump(-2, Link::Call)); // c.jal .-2
        assert_eq!(kind(RV64, 0x3ffd), Kind::Plain); // c.addiw t6, -1
        assert_eq!(kind(RV64, 0xdd7d), Kind::Branch { offset: -2 }); // c.beqz a0, .-2
        assert_eq!(kind(RV64, 0xed7d), Kind::Branch { offset: 254 }); // c.bnez a0, .+254
    }

    #[test]
    fn indirect_jumps() {
        let jump = |rs1, link| Kind::IndirectJump { rs1, offset: 0, link };
        assert_eq!(kind(RV64, 0x8082), jump(1, Link::Return)); // c.jr ra
        assert_eq!(kind(RV64, 0x8282), jump(5, Link::Return)); // c.jr t0
        assert_eq!(kind(RV64, 0x8502), jump(10, Link::Jump)); // c.jr a0
        assert_eq!(kind(RV64, 0x9082), jump(1, Link::Call)); // c.jalr ra
        assert_eq!(kind(RV64, 0x9282), jump(5, Link::Swap)); // c.jalr t0
        assert_eq!(kind(RV64, 0x9502), jump(10, Link::Call)); // c.jalr a0
        assert_eq!(kind(RV64, 0x8002), Kind::Plain); // c.jr x0 is reserved
        assert_eq!(kind(RV64, 0x9002), Kind::EnvironmentTrap); // c.ebreak
        assert_eq!(kind(RV64, 0x852e), Kind::Plain); // c.mv a0, a1
        assert_eq!(kind(RV64, 0x952e), Kind::Plain); // c.add a0, a1
    }

    #[test]
    fn constants() {
        assert_eq!(kind(RV64, 0x72fd), Kind::Lui { rd: 5, value: -4096 }); // c.lui t0, 0xfffff
        assert_eq!(kind(RV64, 0x62fd), Kind::Lui { rd: 5, value: 0x1_f000 }); // c.lui t0, 31
        assert_eq!(kind(RV64, 0x7281), Kind::Lui { rd: 5, value: -0x2_0000 }); // c.lui t0, 0xfffe0
        assert_eq!(kind(RV64, 0x6281), Kind::Plain); // c.mop.5
        assert_eq!(kind(RV64, 0x6105), Kind::Plain); // c.addi16sp 32
        assert_eq!(kind(RV64, 0x6005), Kind::Plain); // c.lui x0, 1 is a hint
    }

    #[test]
    fn zcm_encodings_are_stores_without_the_extension() {
        let zcmp = RV32.with_zcmp(true);
        let zcmt = RV64.with_zcmt(true);
        for half in [0xbe42, 0xbc42, 0xbef2] {
            assert_eq!(kind(zcmp, half), Kind::PopReturn); // cm.popret, cm.popretz
            assert_eq!(kind(zcmt, half), Kind::Plain);
        }
        for (half, index) in [(0xa002, 0), (0xa07e, 31), (0xa082, 32), (0xa3fe, 255)] {
            assert_eq!(kind(zcmt, half), Kind::TableJump { index }); // cm.jt, cm.jalt
            assert_eq!(kind(zcmp, half), Kind::Plain);
        }
        let both = zcmp.with_zcmt(true);
        // cm.popret with list 3 (reserved), cm.pop, cm.push, cm.mva01s, cm.mvsa01
        for half in [0xbe32, 0xba42, 0xb842, 0xac62, 0xac22] {
            assert_eq!(kind(both, half), Kind::Plain);
        }
    }

    #[test]
    fn zcmp_and_zcmt_do_not_depend_on_each_other() {
        for isa in [RV32, RV64] {
            for half in (0..=0xffff).filter(|half| half & 3 != 3) {
                let plain = kind(isa, half);
                let both = kind(isa.with_zcmp(true).with_zcmt(true), half);
                let zcmp = if both == Kind::PopReturn { both } else { plain };
                let zcmt = if both == Kind::PopReturn { plain } else { both };
                assert_eq!(kind(isa.with_zcmp(true), half), zcmp, "{half:#06x}");
                assert_eq!(kind(isa.with_zcmt(true), half), zcmt, "{half:#06x}");
            }
        }
    }
}
