//! Instructions that change the flow of control, and how they change it.
//!
//! A plain mask/match table over the encodings. It deliberately shares no code with any other
//! classifier in this workspace, because the classifiers are compared with each other.
//!
//! Spec: E-Trace 2.0, 4.1.1 "Jump classification and target inference"; RISC-V unprivileged and
//! privileged ISA manuals for the encodings.

pub use hartrace_etrace::ingress::Xlen;

/// The encodings that exist.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Isa {
    /// Base instruction set.
    pub xlen: Xlen,
    /// Whether Zcmp and Zcmt are implemented; otherwise their encodings mean c.fsdsp.
    pub zcm: bool,
}

impl Isa {
    /// A hart without Zcmp and Zcmt.
    pub const fn new(xlen: Xlen) -> Self {
        Self { xlen, zcm: false }
    }
}

/// Where execution continues after an instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// With the next instruction.
    Next,
    /// Conditionally at this offset from its own address.
    Branch(i64),
    /// At this offset from its own address.
    Jump(i64),
    /// At this absolute address: `jalr rd, imm(x0)`.
    Absolute(i64),
    /// At the sum of a register and an offset.
    Indirect {
        /// Source register.
        rs1: u8,
        /// Offset.
        offset: i64,
    },
    /// At an address from memory: cm.popret, cm.popretz, cm.jt, cm.jalt.
    Memory,
    /// At the address in an `xepc` register.
    TrapReturn,
    /// In a trap handler: ecall, ebreak, c.ebreak.
    Trap,
}

/// Effect of a jump on the call stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// Nothing.
    None,
    /// The next address is pushed.
    Call,
    /// The top entry is popped.
    Return,
    /// Co-routine swap.
    Swap,
}

/// A constant loaded by lui, c.lui or auipc.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// Destination register.
    pub rd: u8,
    /// The constant.
    pub value: i64,
    /// Whether it is relative to the instruction's address.
    pub pc_relative: bool,
}

/// One instruction, reduced to what matters for tracing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insn {
    /// Length in bytes.
    pub size: u8,
    /// Where execution continues.
    pub flow: Flow,
    /// Effect on the call stack.
    pub link: Link,
    /// The constant it loads.
    pub constant: Option<Constant>,
}

impl Insn {
    const fn plain(size: u8) -> Self {
        Self { size, flow: Flow::Next, link: Link::None, constant: None }
    }

    const fn flow(size: u8, flow: Flow) -> Self {
        Self { size, flow, link: Link::None, constant: None }
    }

    /// Whether this is a conditional branch.
    pub const fn is_branch(&self) -> bool {
        matches!(self.flow, Flow::Branch(_))
    }

    /// Whether the target cannot be known from the instruction alone.
    pub const fn is_uninferable(&self) -> bool {
        matches!(self.flow, Flow::Indirect { .. } | Flow::Memory | Flow::TrapReturn)
    }

    /// Decodes the instruction at the low end of `word`. Returns `None` if its length is not 2 or
    /// 4 bytes.
    pub fn decode(word: u32, isa: Isa) -> Option<Self> {
        if word & 3 != 3 {
            Some(decode16(word as u16, isa))
        } else if word & 0x1c != 0x1c {
            Some(decode32(word))
        } else {
            None
        }
    }
}

/// Bits `hi..=lo` of `word`.
const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & ((1u32 << (hi - lo + 1)) - 1)
}

/// Sign-extends a value of `width` bits.
const fn signed(value: u32, width: u32) -> i64 {
    let shift = 64 - width;
    ((value as i64) << shift) >> shift
}

const fn is_link(reg: u8) -> bool {
    reg == 1 || reg == 5
}

/// Classes of `jalr rd, rs1`.
const fn link_of(rd: u8, rs1: u8) -> Link {
    match (is_link(rd), is_link(rs1)) {
        (true, true) if rd != rs1 => Link::Swap,
        (true, _) => Link::Call,
        (false, true) => Link::Return,
        (false, false) => Link::None,
    }
}

fn decode32(word: u32) -> Insn {
    let rd = bits(word, 11, 7) as u8;
    let rs1 = bits(word, 19, 15) as u8;
    let upper = signed(word & 0xffff_f000, 32);
    match word {
        // beq bne blt bge bltu bgeu: funct3 2 and 3 are not branches
        w if w & 0x7f == 0x63 && bits(w, 14, 13) != 1 => {
            let offset = bits(w, 31, 31) << 12
                | bits(w, 7, 7) << 11
                | bits(w, 30, 25) << 5
                | bits(w, 11, 8) << 1;
            Insn::flow(4, Flow::Branch(signed(offset, 13)))
        }
        // jal
        w if w & 0x7f == 0x6f => {
            let offset = bits(w, 31, 31) << 20
                | bits(w, 19, 12) << 12
                | bits(w, 20, 20) << 11
                | bits(w, 30, 21) << 1;
            let link = if is_link(rd) { Link::Call } else { Link::None };
            Insn { link, ..Insn::flow(4, Flow::Jump(signed(offset, 21))) }
        }
        // jalr
        w if w & 0x707f == 0x67 => {
            let offset = signed(bits(w, 31, 20), 12);
            let flow =
                if rs1 == 0 { Flow::Absolute(offset) } else { Flow::Indirect { rs1, offset } };
            Insn { link: link_of(rd, rs1), ..Insn::flow(4, flow) }
        }
        // lui, auipc
        w if w & 0x7f == 0x37 => Insn {
            constant: Some(Constant { rd, value: upper, pc_relative: false }),
            ..Insn::plain(4)
        },
        w if w & 0x7f == 0x17 => Insn {
            constant: Some(Constant { rd, value: upper, pc_relative: true }),
            ..Insn::plain(4)
        },
        // uret sret mret, mnret, dret
        0x0020_0073 | 0x1020_0073 | 0x3020_0073 | 0x7020_0073 | 0x7b20_0073 => {
            Insn::flow(4, Flow::TrapReturn)
        }
        // ecall, ebreak
        0x0000_0073 | 0x0010_0073 => Insn::flow(4, Flow::Trap),
        _ => Insn::plain(4),
    }
}

fn decode16(half: u16, isa: Isa) -> Insn {
    let w = u32::from(half);
    let rd = bits(w, 11, 7) as u8;
    match (w & 3, bits(w, 15, 13)) {
        // c.jal on RV32 (c.addiw on RV64), c.j
        (1, 1) if isa.xlen == Xlen::Rv32 => {
            Insn { link: Link::Call, ..Insn::flow(2, Flow::Jump(cj_offset(w))) }
        }
        (1, 5) => Insn::flow(2, Flow::Jump(cj_offset(w))),
        // c.beqz, c.bnez
        (1, 6 | 7) => {
            let offset = bits(w, 12, 12) << 8
                | bits(w, 6, 5) << 6
                | bits(w, 2, 2) << 5
                | bits(w, 11, 10) << 3
                | bits(w, 4, 3) << 1;
            Insn::flow(2, Flow::Branch(signed(offset, 9)))
        }
        // c.lui, except rd 0 (hint), rd 2 (c.addi16sp) and immediate 0 (reserved, or Zcmop)
        (1, 3) if rd != 0 && rd != 2 && w & 0x107c != 0 => {
            let value = signed(bits(w, 12, 12) << 17 | bits(w, 6, 2) << 12, 18);
            let constant = Some(Constant { rd, value, pc_relative: false });
            Insn { constant, ..Insn::plain(2) }
        }
        // c.jr, c.jalr, c.ebreak; rs2 must be 0
        (2, 4) if bits(w, 6, 2) == 0 => match (bits(w, 12, 12), rd) {
            (1, 0) => Insn::flow(2, Flow::Trap),
            (0, 0) => Insn::plain(2), // reserved
            (linked, rs1) => {
                let link = link_of(linked as u8, rs1);
                Insn { link, ..Insn::flow(2, Flow::Indirect { rs1, offset: 0 }) }
            }
        },
        // cm.popretz, cm.popret; cm.jt (index below 32), cm.jalt
        (2, 5) if isa.zcm => match bits(w, 12, 8) {
            0b11100 | 0b11110 if bits(w, 7, 4) >= 4 => {
                Insn { link: Link::Return, ..Insn::flow(2, Flow::Memory) }
            }
            0b00000..=0b00011 => {
                let link = if bits(w, 9, 2) < 32 { Link::None } else { Link::Call };
                Insn { link, ..Insn::flow(2, Flow::Memory) }
            }
            _ => Insn::plain(2),
        },
        _ => Insn::plain(2),
    }
}

fn cj_offset(w: u32) -> i64 {
    let offset = bits(w, 12, 12) << 11
        | bits(w, 8, 8) << 10
        | bits(w, 10, 9) << 8
        | bits(w, 6, 6) << 7
        | bits(w, 7, 7) << 6
        | bits(w, 2, 2) << 5
        | bits(w, 11, 11) << 4
        | bits(w, 5, 3) << 1;
    signed(offset, 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RV64: Isa = Isa::new(Xlen::Rv64);
    const RV32: Isa = Isa::new(Xlen::Rv32);

    fn flow(word: u32, isa: Isa) -> Flow {
        Insn::decode(word, isa).unwrap().flow
    }

    fn link(word: u32, isa: Isa) -> Link {
        Insn::decode(word, isa).unwrap().link
    }

    // Words as printed by an assembler.
    #[test]
    fn wide_encodings() {
        assert_eq!(flow(0xfe05_0ee3, RV64), Flow::Branch(-4)); // beqz a0, .-4
        assert_eq!(flow(0x0000_2063, RV64), Flow::Next); // branch opcode, funct3 2
        assert_eq!(flow(0x0080_00ef, RV64), Flow::Jump(8)); // jal ra, .+8
        assert_eq!(flow(0xffdf_f06f, RV64), Flow::Jump(-4)); // j .-4
        assert_eq!(flow(0x0000_8067, RV64), Flow::Indirect { rs1: 1, offset: 0 }); // ret
        assert_eq!(flow(0xff00_0067, RV64), Flow::Absolute(-16)); // jalr x0, -16(x0)
        assert_eq!(flow(0x3020_0073, RV64), Flow::TrapReturn); // mret
        assert_eq!(flow(0x1050_0073, RV64), Flow::Next); // wfi
        assert_eq!(flow(0x0000_0073, RV64), Flow::Trap); // ecall
        let auipc = Insn::decode(0xffff_f297, RV64).unwrap(); // auipc t0, 0xfffff
        assert_eq!(auipc.constant, Some(Constant { rd: 5, value: -4096, pc_relative: true }));
        assert_eq!(Insn::decode(0x0000_001f, RV64), None); // 48-bit encoding
    }

    #[test]
    fn narrow_encodings() {
        assert_eq!(flow(0xa001, RV64), Flow::Jump(0)); // c.j .
        assert_eq!(flow(0xbffd, RV64), Flow::Jump(-2)); // c.j .-2
        assert_eq!(flow(0x2001, RV32), Flow::Jump(0)); // c.jal .
        assert_eq!(link(0x2001, RV32), Link::Call);
        assert_eq!(flow(0x2001, RV64), Flow::Next); // c.addiw
        assert_eq!(flow(0xdd7d, RV64), Flow::Branch(-2)); // c.beqz a0, .-2
        assert_eq!(flow(0x9002, RV64), Flow::Trap); // c.ebreak
        assert_eq!(flow(0x8082, RV64), Flow::Indirect { rs1: 1, offset: 0 }); // ret
        assert_eq!(flow(0x8002, RV64), Flow::Next); // c.jr x0 is reserved
        let clui = Insn::decode(0x72fd, RV64).unwrap(); // c.lui t0, 0xfffff
        assert_eq!(clui.constant, Some(Constant { rd: 5, value: -4096, pc_relative: false }));
        assert_eq!(Insn::decode(0x6105, RV64).unwrap().constant, None); // c.addi16sp
    }

    #[test]
    fn call_stack_classes() {
        assert_eq!(link(0x0000_80e7, RV64), Link::Call); // jalr ra, ra
        assert_eq!(link(0x0002_80e7, RV64), Link::Swap); // jalr ra, t0
        assert_eq!(link(0x0000_82e7, RV64), Link::Swap); // jalr t0, ra
        assert_eq!(link(0x0002_8067, RV64), Link::Return); // jr t0
        assert_eq!(link(0x0005_0067, RV64), Link::None); // jr a0
        assert_eq!(link(0x0005_0567, RV64), Link::None); // jalr a0, a0
        assert_eq!(link(0x9282, RV64), Link::Swap); // c.jalr t0
        assert_eq!(link(0x9502, RV64), Link::Call); // c.jalr a0
        assert_eq!(link(0x8282, RV64), Link::Return); // c.jr t0
    }

    #[test]
    fn zcm_encodings() {
        let zcm = Isa { zcm: true, ..RV32 };
        assert_eq!(link(0xbe42, zcm), Link::Return); // cm.popret {ra}, 16
        assert_eq!(link(0xbc42, zcm), Link::Return); // cm.popretz {ra}, 16
        assert_eq!(flow(0xba42, zcm), Flow::Next); // cm.pop
        assert_eq!((flow(0xa07e, zcm), link(0xa07e, zcm)), (Flow::Memory, Link::None)); // cm.jt 31
        assert_eq!(link(0xa082, zcm), Link::Call); // cm.jalt 32
        assert_eq!(flow(0xa082, RV32), Flow::Next); // c.fsdsp
    }
}
