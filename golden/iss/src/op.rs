//! Decoded instructions.

use hartrace_etrace::ingress::IType;

/// Slot for results written to `x0`: it follows the real registers and is never read.
pub(crate) const NOWHERE: u8 = 32;

/// Operation of an instruction. RV32 instructions use the codes of the RV64 instructions on words,
/// because registers hold words sign-extended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Not in the cache.
    Undecoded,
    Illegal,
    Lui,
    Auipc,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Ld,
    Lbu,
    Lhu,
    Lwu,
    Sb,
    Sh,
    Sw,
    Sd,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Addiw,
    Slliw,
    Srliw,
    Sraiw,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Addw,
    Subw,
    Sllw,
    Srlw,
    Sraw,
    Mul,
    Mulw,
    /// Other multiplications and divisions.
    Mulx(MulOp),
    Bit(BitOp),
    Fence,
    FenceI,
    Ecall,
    Ebreak,
    Mret,
    Sret,
    Wfi,
    SfenceVma,
    Csr(CsrOp),
    Amo(AmoOp),
    Flw,
    Fld,
    Fsw,
    Fsd,
    /// The flag selects the double format.
    Float(FloatOp, bool),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum MulOp {
    Mulh,
    Mulhsu,
    Mulhu,
    /// The high words of RV32.
    Mulh32,
    Mulhsu32,
    Mulhu32,
    Div,
    Divu,
    Rem,
    Remu,
    Divw,
    Divuw,
    Remw,
    Remuw,
}

/// Zba, Zbb, Zbc, Zbs. Immediate forms carry their operand in `imm`, with `rs2` 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum BitOp {
    Sh1add,
    Sh2add,
    Sh3add,
    AddUw,
    Sh1addUw,
    Sh2addUw,
    Sh3addUw,
    SlliUw,
    Andn,
    Orn,
    Xnor,
    Clz,
    Ctz,
    Cpop,
    Clzw,
    Ctzw,
    Cpopw,
    Max,
    Maxu,
    Min,
    Minu,
    SextB,
    SextH,
    ZextH,
    Rol,
    Ror,
    Rori,
    Rolw,
    Rorw,
    Roriw,
    OrcB,
    Rev8,
    Rev8w,
    Clmul,
    Clmulh,
    Clmulr,
    Bclr,
    Bext,
    Binv,
    Bset,
    Bclri,
    Bexti,
    Binvi,
    Bseti,
}

/// The CSR number is in `imm`; immediate forms carry their operand in the number `rs1`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum CsrOp {
    Write,
    Set,
    Clear,
    WriteImm,
    SetImm,
    ClearImm,
}

/// The width is in `imm`: 4 or 8 bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum AmoOp {
    Lr,
    Sc,
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

/// The rounding mode and the third operand are in the encoding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    MulAdd,
    MulSub,
    NegMulSub,
    NegMulAdd,
    SignCopy,
    SignNot,
    SignXor,
    Min,
    Max,
    /// From the other format.
    Resize,
    Equal,
    Less,
    LessEqual,
    Class,
    /// To the integer type in `rs2`.
    ToInt,
    /// From the integer type in `rs2`.
    FromInt,
    MoveToInt,
    MoveFromInt,
}

/// One instruction, ready to execute.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Op {
    pub(crate) code: Code,
    /// [`NOWHERE`] for `x0`, if it is an integer register.
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    /// Length in bytes.
    pub(crate) size: u8,
    /// Kind to report; branches have [`IType::NotTaken`] here.
    pub(crate) kind: IType,
    pub(crate) imm: i32,
    /// The instruction word; its low half if compressed.
    pub(crate) encoding: u32,
}

impl Op {
    /// An empty slot of the cache.
    pub(crate) const UNDECODED: Self = Self::new(Code::Undecoded, 4, 0);

    pub(crate) const fn new(code: Code, size: u8, encoding: u32) -> Self {
        Self { code, rd: NOWHERE, rs1: 0, rs2: 0, size, kind: IType::None, imm: 0, encoding }
    }
}

const fn is_link(register: u8) -> bool {
    register == 1 || register == 5
}

/// Kind to report for `jal rd`.
///
/// Spec: E-Trace 2.0, 4.1.1 "Jump classification and target inference".
pub(crate) const fn kind_of_jal(rd: u8) -> IType {
    match rd {
        0 => IType::InferableTailCall,
        rd if is_link(rd) => IType::InferableCall,
        _ => IType::OtherInferableJump,
    }
}

/// Kind to report for `jalr rd, rs1`. The target is inferable if it is relative to `x0`.
pub(crate) const fn kind_of_jalr(rd: u8, rs1: u8) -> IType {
    match (rd, rs1) {
        (rd, 0) => kind_of_jal(rd),
        (rd, rs1) if is_link(rd) && is_link(rs1) && rd != rs1 => IType::CoRoutineSwap,
        (rd, _) if is_link(rd) => IType::UninferableCall,
        (_, rs1) if is_link(rs1) => IType::Return,
        (0, _) => IType::UninferableTailCall,
        _ => IType::OtherUninferableJump,
    }
}
