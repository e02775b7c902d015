//! The meaning of an instruction for a trace.

use crate::Xlen;

/// The effect of a jump on the call stack.
///
/// `x1` and `x5` are the link registers. Spec: E-Trace 2.0 4.1.1, table of `itype` values.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// None, and no return address is kept: a jump, or a tail call.
    Jump,
    /// None, but the return address is kept in a register that is not a link register.
    Other,
    /// The next address is pushed.
    Call,
    /// The top entry is popped.
    Return,
    /// Co-routine swap: the top entry is popped, then the next address is pushed.
    Swap,
}

impl Link {
    /// Class of `jal rd`, and of `jalr rd` without a source register.
    pub(crate) const fn direct(rd: u8) -> Self {
        match rd {
            0 => Self::Jump,
            1 | 5 => Self::Call,
            _ => Self::Other,
        }
    }

    /// Class of `jalr rd, rs1`.
    pub(crate) const fn indirect(rd: u8, rs1: u8) -> Self {
        match (rd, rs1) {
            (1, 5) | (5, 1) => Self::Swap,
            (1 | 5, _) => Self::Call,
            (_, 1 | 5) => Self::Return,
            _ => Self::direct(rd),
        }
    }

    /// The next address is pushed.
    #[inline]
    pub const fn pushes(self) -> bool {
        matches!(self, Self::Call | Self::Swap)
    }

    /// The top entry is popped.
    #[inline]
    pub const fn pops(self) -> bool {
        matches!(self, Self::Return | Self::Swap)
    }
}

/// How an instruction continues, and the constant it loads.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// With the next instruction; also every reserved or unknown encoding.
    Plain,
    /// `lui`, `c.lui`: with the next instruction, after loading a constant.
    Lui {
        /// Destination; if it is 0, nothing is loaded.
        rd: u8,
        /// The constant, to be sign-extended.
        value: i32,
    },
    /// `auipc`: with the next instruction, after loading its own address plus a constant.
    Auipc {
        /// Destination; if it is 0, nothing is loaded.
        rd: u8,
        /// The constant, to be sign-extended.
        value: i32,
    },
    /// Conditional branch.
    Branch {
        /// Target, relative to the instruction.
        offset: i32,
    },
    /// `jal`, `c.j`, `c.jal`.
    Jump {
        /// Target, relative to the instruction.
        offset: i32,
        /// Effect on the call stack.
        link: Link,
    },
    /// `jalr rd, imm(x0)`: at an absolute address. Errata E7.
    AbsoluteJump {
        /// Target, to be sign-extended; bit 0 is already clear.
        target: i32,
        /// Effect on the call stack.
        link: Link,
    },
    /// `jalr` otherwise, `c.jr`, `c.jalr`: at the sum of a register and an offset.
    IndirectJump {
        /// Source register, not 0.
        rs1: u8,
        /// Offset; bit 0 of the sum is cleared.
        offset: i32,
        /// Effect on the call stack.
        link: Link,
    },
    /// `cm.jt`, `cm.jalt`: at an address from the jump table in memory.
    TableJump {
        /// Entry of the table: 0 to 31 jump, 32 to 255 call.
        index: u8,
    },
    /// `cm.popret`, `cm.popretz`: at an address from the stack in memory.
    PopReturn,
    /// `mret`, `sret`, `uret`, `mnret`, `dret`.
    TrapReturn,
    /// `ecall`, `ebreak`, `c.ebreak`: always an exception, so the next instruction is the handler's.
    EnvironmentTrap,
}

/// One instruction, as far as tracing is concerned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insn {
    /// Length in bytes: 2 or 4.
    pub size: u8,
    /// How it continues.
    pub kind: Kind,
}

const _: () = assert!(size_of::<Insn>() <= 16);

impl Insn {
    /// A conditional branch.
    #[inline]
    pub const fn is_branch(self) -> bool {
        matches!(self.kind, Kind::Branch { .. })
    }

    /// Continues with the next instruction, always.
    #[inline]
    pub const fn is_sequential(self) -> bool {
        matches!(self.kind, Kind::Plain | Kind::Lui { .. } | Kind::Auipc { .. })
    }

    /// The target is not part of the instruction: jumps by register or memory and trap returns.
    #[inline]
    pub const fn is_uninferable(self) -> bool {
        matches!(
            self.kind,
            Kind::IndirectJump { .. } | Kind::TableJump { .. } | Kind::PopReturn | Kind::TrapReturn
        )
    }

    /// Effect on the call stack; `None` if this is not a jump.
    #[inline]
    pub const fn link(self) -> Option<Link> {
        match self.kind {
            Kind::Jump { link, .. }
            | Kind::AbsoluteJump { link, .. }
            | Kind::IndirectJump { link, .. } => Some(link),
            Kind::TableJump { index: 0..=31 } => Some(Link::Jump),
            Kind::TableJump { .. } => Some(Link::Call),
            Kind::PopReturn => Some(Link::Return),
            _ => None,
        }
    }

    /// Address of the instruction after this one, which is at `pc`.
    #[inline]
    pub const fn next(self, xlen: Xlen, pc: u64) -> u64 {
        xlen.wrap(pc.wrapping_add(self.size as u64))
    }

    /// The target of this instruction, at `pc`: for jumps with a known target, and for branches if
    /// taken.
    #[inline]
    pub const fn target(self, xlen: Xlen, pc: u64) -> Option<u64> {
        match self.kind {
            Kind::Branch { offset } | Kind::Jump { offset, .. } => {
                Some(xlen.wrap(pc.wrapping_add_signed(offset as i64)))
            }
            Kind::AbsoluteJump { target, .. } => Some(xlen.wrap(target as i64 as u64)),
            _ => None,
        }
    }

    /// The target of an indirect jump if its source register holds `base`.
    pub const fn indirect_target(self, xlen: Xlen, base: u64) -> Option<u64> {
        match self.kind {
            Kind::IndirectJump { offset, .. } => {
                Some(xlen.wrap(base.wrapping_add_signed(offset as i64)) & !1)
            }
            _ => None,
        }
    }

    /// The target of a sequentially inferable jump: an indirect jump whose source register is loaded
    /// by `before`, at `pc`, the instruction that retired immediately before it.
    pub const fn sequential_target(self, xlen: Xlen, before: Self, pc: u64) -> Option<u64> {
        match (self.kind, before.constant(xlen, pc)) {
            (Kind::IndirectJump { rs1, .. }, Some((rd, base))) if rs1 == rd => {
                self.indirect_target(xlen, base)
            }
            _ => None,
        }
    }

    /// The register this instruction, at `pc`, loads with a constant, and the constant.
    pub const fn constant(self, xlen: Xlen, pc: u64) -> Option<(u8, u64)> {
        match self.kind {
            Kind::Lui { rd, value } => Some((rd, xlen.wrap(value as i64 as u64))),
            Kind::Auipc { rd, value } => {
                Some((rd, xlen.wrap(pc.wrapping_add_signed(value as i64))))
            }
            _ => None,
        }
    }

    /// The `itype` a hart reports for this instruction, in 4-bit codes.
    ///
    /// `taken` matters only for branches. [`Kind::EnvironmentTrap`] has the code of the exception
    /// it raises; whether it counts as retired is the hart's choice, errata E8. Traps of other
    /// instructions do not follow from the instruction and are not known here.
    ///
    /// Spec: E-Trace 2.0 4.1.1, table of `itype` values.
    pub const fn itype(self, taken: bool) -> u8 {
        let code = match (self.kind, self.link()) {
            (Kind::EnvironmentTrap, _) => 1,
            (Kind::TrapReturn, _) => 3,
            (Kind::Branch { .. }, _) => return if taken { 5 } else { 4 },
            (_, Some(Link::Call)) => 8,
            (_, Some(Link::Jump)) => 10,
            (_, Some(Link::Swap)) => return 12,
            (_, Some(Link::Return)) => return 13,
            (_, Some(Link::Other)) => 14,
            (_, None) => 0,
        };
        match self.kind {
            Kind::Jump { .. } | Kind::AbsoluteJump { .. } => code | 1, // inferable
            _ => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, decode};

    const RV32: Isa = Isa::new(Xlen::Rv32);
    const RV64: Isa = Isa::new(Xlen::Rv64);

    fn insn(isa: Isa, word: u32) -> Insn {
        decode(isa, word).unwrap()
    }

    #[test]
    fn targets_wrap() {
        let back = insn(RV64, 0xffdf_f06f); // j .-4
        assert_eq!(back.target(Xlen::Rv64, 0), Some(0xffff_ffff_ffff_fffc));
        assert_eq!(back.target(Xlen::Rv32, 0), Some(0xffff_fffc));
        assert_eq!(back.next(Xlen::Rv64, 0xffff_ffff_ffff_fffc), 0);
        assert_eq!(back.next(Xlen::Rv32, 0xffff_fffc), 0);
        let low = insn(RV64, 0xff10_0067); // jalr x0, -15(x0)
        assert_eq!(low.target(Xlen::Rv64, 0x8000_0000), Some(0xffff_ffff_ffff_fff0));
        assert_eq!(low.target(Xlen::Rv32, 0x8000_0000), Some(0xffff_fff0));
        assert_eq!(insn(RV64, 0x8082).target(Xlen::Rv64, 0), None); // ret
    }

    #[test]
    fn sequentially_inferable_jumps() {
        let auipc = insn(RV64, 0xffff_f297); // auipc t0, 0xfffff
        let lui = insn(RV64, 0x8000_02b7); // lui t0, 0x80000
        let jump = insn(RV64, 0x0052_8067); // jalr x0, 5(t0)
        let other = insn(RV64, 0x0050_8067); // jalr x0, 5(ra)
        assert_eq!(jump.sequential_target(Xlen::Rv64, auipc, 0x1000), Some(4));
        assert_eq!(jump.sequential_target(Xlen::Rv32, auipc, 0), Some(0xffff_f004));
        assert_eq!(jump.sequential_target(Xlen::Rv64, lui, 0), Some(0xffff_ffff_8000_0004));
        assert_eq!(jump.sequential_target(Xlen::Rv32, lui, 0), Some(0x8000_0004));
        assert_eq!(other.sequential_target(Xlen::Rv64, lui, 0), None);
        assert_eq!(jump.sequential_target(Xlen::Rv64, jump, 0), None);
        assert_eq!(lui.sequential_target(Xlen::Rv64, lui, 0), None);
    }

    #[test]
    fn itypes() {
        let zcm = RV32.with_zcmp(true).with_zcmt(true);
        let rows = [
            (0x0000_0013, 0),  // nop
            (0x1234_52b7, 0),  // lui t0
            (0x0000_0073, 1),  // ecall
            (0x9002, 1),       // c.ebreak
            (0x3020_0073, 3),  // mret
            (0x0000_00e7, 9),  // jalr ra, 0(x0)
            (0x0005_00e7, 8),  // jalr ra, 0(a0)
            (0x0000_006f, 11), // j .
            (0xa001, 11),      // c.j .
            (0x2001, 9),       // c.jal .
            (0x0000_0067, 11), // jalr x0, 0(x0)
            (0x0005_0067, 10), // jr a0
            (0x8502, 10),      // c.jr a0
            (0x9502, 8),       // c.jalr a0
            (0x9282, 12),      // c.jalr t0
            (0x8082, 13),      // c.jr ra
            (0x0005_0567, 14), // jalr a0, 0(a0)
            (0x0000_056f, 15), // jal a0, .
            (0x0000_0567, 15), // jalr a0, 0(x0)
            (0xbe42, 13),      // cm.popret {ra}, 16
            (0xa07e, 10),      // cm.jt 31
            (0xa082, 8),       // cm.jalt 32
        ];
        for (word, itype) in rows {
            assert_eq!(insn(zcm, word).itype(false), itype, "{word:#x}");
            assert_eq!(insn(zcm, word).itype(true), itype, "{word:#x}");
        }
        let beqz = insn(RV64, 0xfe05_0ee3); // beqz a0, .-4
        assert_eq!((beqz.itype(false), beqz.itype(true)), (4, 5));
    }

    #[test]
    fn classes_exclude_each_other() {
        for word in [0x0000_0013, 0x0000_02b7, 0x0000_0297] {
            assert!(insn(RV64, word).is_sequential());
        }
        for word in [0x0000_8067, 0x8082, 0x3020_0073] {
            assert!(insn(RV64, word).is_uninferable() && !insn(RV64, word).is_sequential());
        }
        for word in [0xfe05_0ee3, 0x0000_006f, 0x0000_0067, 0x0000_0073] {
            assert!(!insn(RV64, word).is_uninferable() && !insn(RV64, word).is_sequential());
        }
        assert!(insn(RV64, 0xfe05_0ee3).is_branch());
    }

    #[test]
    fn call_stack_effects() {
        let effects = |link: Link| (link.pops(), link.pushes());
        assert_eq!(effects(Link::Jump), (false, false));
        assert_eq!(effects(Link::Other), (false, false));
        assert_eq!(effects(Link::Call), (false, true));
        assert_eq!(effects(Link::Return), (true, false));
        assert_eq!(effects(Link::Swap), (true, true));
        assert_eq!(insn(RV64, 0x0000_0013).link(), None);
        assert_eq!(insn(RV64, 0x3020_0073).link(), None); // mret
    }
}
