//! 4-byte instructions from registers to a register, as tables from the specification. They share
//! nothing with the decoders that are tested with them.

use super::wide::Base;

/// Operands of an instruction, the destination first. `F` stands for floating-point registers, `Rm`
/// for a rounding mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Xxx,
    XxImm,
    /// A shift by less than XLEN.
    XxShift,
    /// A shift by less than 32.
    XxShift5,
    Xx,
    XUpper,
    FfffRm,
    FffRm,
    FfRm,
    Fff,
    Xff,
    Xf,
    XfRm,
    Fx,
    FxRm,
}

/// One instruction without its operands.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Insn {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) form: Form,
    pub(crate) base: Base,
}

/// Operands; those that an instruction does not use are ignored.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Operands {
    pub(crate) rd: u32,
    pub(crate) rs1: u32,
    pub(crate) rs2: u32,
    pub(crate) rs3: u32,
    pub(crate) imm: u32,
    pub(crate) rm: u32,
}

impl Insn {
    pub(crate) fn encode(&self, xlen: u32, o: Operands) -> u32 {
        let (rd, rs1, rs2, rm) = (o.rd << 7, o.rs1 << 15, o.rs2 << 20, o.rm << 12);
        self.bits
            | match self.form {
                Form::Xxx | Form::Fff | Form::Xff => rd | rs1 | rs2,
                Form::XxImm => rd | rs1 | o.imm << 20,
                Form::XxShift => rd | rs1 | (o.imm & (xlen - 1)) << 20,
                Form::XxShift5 => rd | rs1 | (o.imm & 31) << 20,
                Form::Xx | Form::Xf | Form::Fx => rd | rs1,
                Form::XUpper => rd | o.imm << 12,
                Form::FfffRm => rd | rs1 | rs2 | o.rs3 << 27 | rm,
                Form::FffRm => rd | rs1 | rs2 | rm,
                Form::FfRm | Form::XfRm | Form::FxRm => rd | rs1 | rm,
            }
    }
}

const OP_IMM: u32 = 0x13;
const OP_IMM_32: u32 = 0x1b;
const OP: u32 = 0x33;
const OP_32: u32 = 0x3b;
const OP_FP: u32 = 0x53;
const S: u32 = 0;
const D: u32 = 1;

const fn make(name: &'static str, bits: u32, form: Form, base: Base) -> Insn {
    Insn { name, bits, form, base }
}

/// `funct7`, `funct3`.
const fn r(name: &'static str, funct7: u32, funct3: u32) -> Insn {
    make(name, funct7 << 25 | funct3 << 12 | OP, Form::Xxx, Base::Both)
}

/// The same on words, in RV64.
const fn rw(name: &'static str, funct7: u32, funct3: u32) -> Insn {
    make(name, funct7 << 25 | funct3 << 12 | OP_32, Form::Xxx, Base::Rv64)
}

const fn i(name: &'static str, funct3: u32) -> Insn {
    make(name, funct3 << 12 | OP_IMM, Form::XxImm, Base::Both)
}

/// `funct6` before the amount.
const fn shift(name: &'static str, funct6: u32, funct3: u32) -> Insn {
    make(name, funct6 << 26 | funct3 << 12 | OP_IMM, Form::XxShift, Base::Both)
}

const fn shiftw(name: &'static str, funct7: u32, funct3: u32) -> Insn {
    make(name, funct7 << 25 | funct3 << 12 | OP_IMM_32, Form::XxShift5, Base::Rv64)
}

/// `funct12` in place of an immediate.
const fn unary(name: &'static str, funct12: u32, funct3: u32, base: Base) -> Insn {
    make(name, funct12 << 20 | funct3 << 12 | OP_IMM, Form::Xx, base)
}

const fn unaryw(name: &'static str, funct12: u32) -> Insn {
    make(name, funct12 << 20 | 1 << 12 | OP_IMM_32, Form::Xx, Base::Rv64)
}

/// `funct5`, format, the fields of `rs2` and `rm` where they are fixed.
const fn fp(name: &'static str, funct5: u32, fmt: u32, rs2: u32, rm: u32, form: Form) -> Insn {
    fp_of(name, funct5, fmt, rs2, rm, form, Base::Both)
}

const fn fp_of(
    name: &'static str,
    funct5: u32,
    fmt: u32,
    rs2: u32,
    rm: u32,
    form: Form,
    base: Base,
) -> Insn {
    make(name, funct5 << 27 | fmt << 25 | rs2 << 20 | rm << 12 | OP_FP, form, base)
}

const fn fma(name: &'static str, opcode: u32, fmt: u32) -> Insn {
    make(name, fmt << 25 | opcode, Form::FfffRm, Base::Both)
}

/// Number of entries of [`INTEGER`] that belong to I and M.
pub(crate) const I_AND_M: usize = 43;

/// I, M, Zba, Zbb, Zbc, Zbs: from registers to a register.
pub(crate) const INTEGER: &[Insn] = &[
    make("lui", 0x37, Form::XUpper, Base::Both),
    make("auipc", 0x17, Form::XUpper, Base::Both),
    i("addi", 0),
    i("slti", 2),
    i("sltiu", 3),
    i("xori", 4),
    i("ori", 6),
    i("andi", 7),
    make("addiw", OP_IMM_32, Form::XxImm, Base::Rv64),
    shift("slli", 0x00, 1),
    shift("srli", 0x00, 5),
    shift("srai", 0x10, 5),
    shiftw("slliw", 0x00, 1),
    shiftw("srliw", 0x00, 5),
    shiftw("sraiw", 0x20, 5),
    r("add", 0x00, 0),
    r("sub", 0x20, 0),
    r("sll", 0x00, 1),
    r("slt", 0x00, 2),
    r("sltu", 0x00, 3),
    r("xor", 0x00, 4),
    r("srl", 0x00, 5),
    r("sra", 0x20, 5),
    r("or", 0x00, 6),
    r("and", 0x00, 7),
    rw("addw", 0x00, 0),
    rw("subw", 0x20, 0),
    rw("sllw", 0x00, 1),
    rw("srlw", 0x00, 5),
    rw("sraw", 0x20, 5),
    r("mul", 0x01, 0),
    r("mulh", 0x01, 1),
    r("mulhsu", 0x01, 2),
    r("mulhu", 0x01, 3),
    r("div", 0x01, 4),
    r("divu", 0x01, 5),
    r("rem", 0x01, 6),
    r("remu", 0x01, 7),
    rw("mulw", 0x01, 0),
    rw("divw", 0x01, 4),
    rw("divuw", 0x01, 5),
    rw("remw", 0x01, 6),
    rw("remuw", 0x01, 7),
    r("sh1add", 0x10, 2),
    r("sh2add", 0x10, 4),
    r("sh3add", 0x10, 6),
    rw("add.uw", 0x04, 0),
    rw("sh1add.uw", 0x10, 2),
    rw("sh2add.uw", 0x10, 4),
    rw("sh3add.uw", 0x10, 6),
    make("slli.uw", 0x02 << 26 | 1 << 12 | OP_IMM_32, Form::XxShift, Base::Rv64),
    r("andn", 0x20, 7),
    r("orn", 0x20, 6),
    r("xnor", 0x20, 4),
    r("min", 0x05, 4),
    r("minu", 0x05, 5),
    r("max", 0x05, 6),
    r("maxu", 0x05, 7),
    r("rol", 0x30, 1),
    r("ror", 0x30, 5),
    shift("rori", 0x18, 5),
    rw("rolw", 0x30, 1),
    rw("rorw", 0x30, 5),
    shiftw("roriw", 0x30, 5),
    unary("clz", 0x600, 1, Base::Both),
    unary("ctz", 0x601, 1, Base::Both),
    unary("cpop", 0x602, 1, Base::Both),
    unary("sext.b", 0x604, 1, Base::Both),
    unary("sext.h", 0x605, 1, Base::Both),
    unary("orc.b", 0x287, 5, Base::Both),
    unary("rev8", 0x6b8, 5, Base::Rv64),
    unary("rev8", 0x698, 5, Base::Rv32),
    unaryw("clzw", 0x600),
    unaryw("ctzw", 0x601),
    unaryw("cpopw", 0x602),
    make("zext.h", 0x04 << 25 | 4 << 12 | OP_32, Form::Xx, Base::Rv64),
    make("zext.h", 0x04 << 25 | 4 << 12 | OP, Form::Xx, Base::Rv32),
    r("clmul", 0x05, 1),
    r("clmulr", 0x05, 2),
    r("clmulh", 0x05, 3),
    r("bset", 0x14, 1),
    r("bclr", 0x24, 1),
    r("bext", 0x24, 5),
    r("binv", 0x34, 1),
    shift("bseti", 0x0a, 1),
    shift("bclri", 0x12, 1),
    shift("bexti", 0x12, 5),
    shift("binvi", 0x1a, 1),
];

/// F and D. Those of double format have D in bits 25 and 26.
pub(crate) const FLOAT: &[Insn] = &[
    fp("fadd.s", 0x00, S, 0, 0, Form::FffRm),
    fp("fsub.s", 0x01, S, 0, 0, Form::FffRm),
    fp("fmul.s", 0x02, S, 0, 0, Form::FffRm),
    fp("fdiv.s", 0x03, S, 0, 0, Form::FffRm),
    fp("fsqrt.s", 0x0b, S, 0, 0, Form::FfRm),
    fp("fsgnj.s", 0x04, S, 0, 0, Form::Fff),
    fp("fsgnjn.s", 0x04, S, 0, 1, Form::Fff),
    fp("fsgnjx.s", 0x04, S, 0, 2, Form::Fff),
    fp("fmin.s", 0x05, S, 0, 0, Form::Fff),
    fp("fmax.s", 0x05, S, 0, 1, Form::Fff),
    fp("fle.s", 0x14, S, 0, 0, Form::Xff),
    fp("flt.s", 0x14, S, 0, 1, Form::Xff),
    fp("feq.s", 0x14, S, 0, 2, Form::Xff),
    fp("fcvt.w.s", 0x18, S, 0, 0, Form::XfRm),
    fp("fcvt.wu.s", 0x18, S, 1, 0, Form::XfRm),
    fp_of("fcvt.l.s", 0x18, S, 2, 0, Form::XfRm, Base::Rv64),
    fp_of("fcvt.lu.s", 0x18, S, 3, 0, Form::XfRm, Base::Rv64),
    fp("fcvt.s.w", 0x1a, S, 0, 0, Form::FxRm),
    fp("fcvt.s.wu", 0x1a, S, 1, 0, Form::FxRm),
    fp_of("fcvt.s.l", 0x1a, S, 2, 0, Form::FxRm, Base::Rv64),
    fp_of("fcvt.s.lu", 0x1a, S, 3, 0, Form::FxRm, Base::Rv64),
    fp("fmv.x.w", 0x1c, S, 0, 0, Form::Xf),
    fp("fclass.s", 0x1c, S, 0, 1, Form::Xf),
    fp("fmv.w.x", 0x1e, S, 0, 0, Form::Fx),
    fma("fmadd.s", 0x43, S),
    fma("fmsub.s", 0x47, S),
    fma("fnmsub.s", 0x4b, S),
    fma("fnmadd.s", 0x4f, S),
    fp("fadd.d", 0x00, D, 0, 0, Form::FffRm),
    fp("fsub.d", 0x01, D, 0, 0, Form::FffRm),
    fp("fmul.d", 0x02, D, 0, 0, Form::FffRm),
    fp("fdiv.d", 0x03, D, 0, 0, Form::FffRm),
    fp("fsqrt.d", 0x0b, D, 0, 0, Form::FfRm),
    fp("fsgnj.d", 0x04, D, 0, 0, Form::Fff),
    fp("fsgnjn.d", 0x04, D, 0, 1, Form::Fff),
    fp("fsgnjx.d", 0x04, D, 0, 2, Form::Fff),
    fp("fmin.d", 0x05, D, 0, 0, Form::Fff),
    fp("fmax.d", 0x05, D, 0, 1, Form::Fff),
    // The format is that of the result.
    fp("fcvt.s.d", 0x08, S, 1, 0, Form::FfRm),
    fp("fcvt.d.s", 0x08, D, 0, 0, Form::FfRm),
    fp("fle.d", 0x14, D, 0, 0, Form::Xff),
    fp("flt.d", 0x14, D, 0, 1, Form::Xff),
    fp("feq.d", 0x14, D, 0, 2, Form::Xff),
    fp("fcvt.w.d", 0x18, D, 0, 0, Form::XfRm),
    fp("fcvt.wu.d", 0x18, D, 1, 0, Form::XfRm),
    fp_of("fcvt.l.d", 0x18, D, 2, 0, Form::XfRm, Base::Rv64),
    fp_of("fcvt.lu.d", 0x18, D, 3, 0, Form::XfRm, Base::Rv64),
    fp("fcvt.d.w", 0x1a, D, 0, 0, Form::FxRm),
    fp("fcvt.d.wu", 0x1a, D, 1, 0, Form::FxRm),
    fp_of("fcvt.d.l", 0x1a, D, 2, 0, Form::FxRm, Base::Rv64),
    fp_of("fcvt.d.lu", 0x1a, D, 3, 0, Form::FxRm, Base::Rv64),
    fp_of("fmv.x.d", 0x1c, D, 0, 0, Form::Xf, Base::Rv64),
    fp("fclass.d", 0x1c, D, 0, 1, Form::Xf),
    fp_of("fmv.d.x", 0x1e, D, 0, 0, Form::Fx, Base::Rv64),
    fma("fmadd.d", 0x43, D),
    fma("fmsub.d", 0x47, D),
    fma("fnmsub.d", 0x4b, D),
    fma("fnmadd.d", 0x4f, D),
];
