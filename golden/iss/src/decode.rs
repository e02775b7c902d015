//! Decodes instructions of 4 bytes into [`Op`]s.

use crate::compressed;
use crate::config::Xlen;
use crate::fields::{bits, immediate_b, immediate_i, immediate_j, immediate_s, register, target};
use crate::op::{
    AmoOp, BitOp, Code, CsrOp, FloatOp, MulOp, NOWHERE, Op, kind_of_jal, kind_of_jalr,
};
use hartrace_etrace::ingress::IType;

/// Decodes the instruction at the low end of `word`. Anything but an instruction of 2 or 4 bytes is
/// illegal.
pub(crate) fn decode(word: u32, xlen: Xlen) -> Op {
    if word & 3 == 3 {
        wide(word, xlen).unwrap_or(Op::new(Code::Illegal, 4, word))
    } else {
        let half = word & 0xffff;
        compressed::decode(half, xlen).unwrap_or(Op::new(Code::Illegal, 2, half))
    }
}

fn wide(word: u32, xlen: Xlen) -> Option<Op> {
    let rv64 = xlen == Xlen::Rv64;
    let (raw_rd, rs1) = (register(word, 7), register(word, 15));
    let op = Op {
        rd: target(raw_rd),
        rs1,
        rs2: register(word, 20),
        imm: immediate_i(word),
        ..Op::new(Code::Illegal, 4, word)
    };
    let funct3 = bits(word, 14, 12);
    let upper = (word & 0xffff_f000) as i32;
    Some(match word & 0x7f {
        0x37 => Op { code: Code::Lui, imm: upper, ..op },
        0x17 => Op { code: Code::Auipc, imm: upper, ..op },
        0x6f => Op { code: Code::Jal, imm: immediate_j(word), kind: kind_of_jal(raw_rd), ..op },
        0x67 if funct3 == 0 => Op { code: Code::Jalr, kind: kind_of_jalr(raw_rd, rs1), ..op },
        0x63 => {
            let code = match funct3 {
                0 => Code::Beq,
                1 => Code::Bne,
                4 => Code::Blt,
                5 => Code::Bge,
                6 => Code::Bltu,
                7 => Code::Bgeu,
                _ => return None,
            };
            Op { code, imm: immediate_b(word), kind: IType::NotTaken, rd: NOWHERE, ..op }
        }
        0x03 => {
            let code = match funct3 {
                0 => Code::Lb,
                1 => Code::Lh,
                2 => Code::Lw,
                3 if rv64 => Code::Ld,
                4 => Code::Lbu,
                5 => Code::Lhu,
                6 if rv64 => Code::Lwu,
                _ => return None,
            };
            Op { code, ..op }
        }
        0x23 => {
            let code = match funct3 {
                0 => Code::Sb,
                1 => Code::Sh,
                2 => Code::Sw,
                3 if rv64 => Code::Sd,
                _ => return None,
            };
            Op { code, imm: immediate_s(word), rd: NOWHERE, ..op }
        }
        0x13 => return immediate(word, op, rv64),
        0x1b if rv64 => return immediate_word(word, op),
        0x33 => Op { code: register_register(word, rv64)?, ..op },
        0x3b if rv64 => Op { code: register_word(word)?, ..op },
        0x0f => match funct3 {
            0 => Op { code: Code::Fence, rd: NOWHERE, ..op },
            1 => Op { code: Code::FenceI, rd: NOWHERE, ..op },
            _ => return None,
        },
        0x73 => return system(word, op),
        0x2f => return atomic(word, op, rv64),
        0x07 | 0x27 | 0x43 | 0x47 | 0x4b | 0x4f | 0x53 => return float(word, op, rv64),
        _ => return None,
    })
}

fn immediate(word: u32, op: Op, rv64: bool) -> Option<Op> {
    let code = match bits(word, 14, 12) {
        0 if rv64 => Code::Addi,
        0 => Code::Addiw,
        2 => Code::Slti,
        3 => Code::Sltiu,
        4 => Code::Xori,
        6 => Code::Ori,
        7 => Code::Andi,
        funct3 => return shift(word, op, funct3 == 5, rv64),
    };
    Some(Op { code, ..op })
}

/// Shifts by a constant, and instructions that share their opcode.
fn shift(word: u32, op: Op, right: bool, rv64: bool) -> Option<Op> {
    use BitOp::*;
    let unary = match (right, bits(word, 31, 20)) {
        (false, 0x600) => Some(if rv64 { Clz } else { Clzw }),
        (false, 0x601) => Some(if rv64 { Ctz } else { Ctzw }),
        (false, 0x602) => Some(if rv64 { Cpop } else { Cpopw }),
        (false, 0x604) => Some(SextB),
        (false, 0x605) => Some(SextH),
        (true, 0x287) => Some(OrcB),
        (true, 0x6b8) if rv64 => Some(Rev8),
        (true, 0x698) if !rv64 => Some(Rev8w),
        _ => None,
    };
    if let Some(unary) = unary {
        return Some(Op { code: Code::Bit(unary), ..op });
    }
    let amount = bits(word, 25, 20);
    if !rv64 && amount > 31 {
        return None;
    }
    let code = match (right, word >> 26) {
        (false, 0x00) if rv64 => Code::Slli,
        (false, 0x00) => Code::Slliw,
        (false, 0x0a) => Code::Bit(Bseti),
        (false, 0x12) => Code::Bit(Bclri),
        (false, 0x1a) => Code::Bit(Binvi),
        (true, 0x00) if rv64 => Code::Srli,
        (true, 0x00) => Code::Srliw,
        (true, 0x10) if rv64 => Code::Srai,
        (true, 0x10) => Code::Sraiw,
        (true, 0x12) => Code::Bit(Bexti),
        (true, 0x18) if rv64 => Code::Bit(Rori),
        (true, 0x18) => Code::Bit(Roriw),
        _ => return None,
    };
    Some(Op { code, imm: amount as i32, ..op })
}

fn immediate_word(word: u32, op: Op) -> Option<Op> {
    let amount = bits(word, 24, 20) as i32;
    let shifted = |code| Some(Op { code, imm: amount, ..op });
    match (bits(word, 14, 12), word >> 25) {
        (0, _) => Some(Op { code: Code::Addiw, ..op }),
        (1, 0x00) => shifted(Code::Slliw),
        (1, 0x04 | 0x05) => {
            Some(Op { code: Code::Bit(BitOp::SlliUw), imm: bits(word, 25, 20) as i32, ..op })
        }
        (1, 0x30) => match amount {
            0 => shifted(Code::Bit(BitOp::Clzw)),
            1 => shifted(Code::Bit(BitOp::Ctzw)),
            2 => shifted(Code::Bit(BitOp::Cpopw)),
            _ => None,
        },
        (5, 0x00) => shifted(Code::Srliw),
        (5, 0x20) => shifted(Code::Sraiw),
        (5, 0x30) => shifted(Code::Bit(BitOp::Roriw)),
        _ => None,
    }
}

fn register_register(word: u32, rv64: bool) -> Option<Code> {
    use BitOp::*;
    let either = |wide, narrow| if rv64 { wide } else { narrow };
    let mul = |wide, narrow| Code::Mulx(if rv64 { wide } else { narrow });
    Some(match (word >> 25, bits(word, 14, 12)) {
        (0x00, 0) => either(Code::Add, Code::Addw),
        (0x00, 1) => either(Code::Sll, Code::Sllw),
        (0x00, 2) => Code::Slt,
        (0x00, 3) => Code::Sltu,
        (0x00, 4) => Code::Xor,
        (0x00, 5) => either(Code::Srl, Code::Srlw),
        (0x00, 6) => Code::Or,
        (0x00, 7) => Code::And,
        (0x20, 0) => either(Code::Sub, Code::Subw),
        (0x20, 5) => either(Code::Sra, Code::Sraw),
        (0x01, 0) => either(Code::Mul, Code::Mulw),
        (0x01, 1) => mul(MulOp::Mulh, MulOp::Mulh32),
        (0x01, 2) => mul(MulOp::Mulhsu, MulOp::Mulhsu32),
        (0x01, 3) => mul(MulOp::Mulhu, MulOp::Mulhu32),
        (0x01, 4) => mul(MulOp::Div, MulOp::Divw),
        (0x01, 5) => mul(MulOp::Divu, MulOp::Divuw),
        (0x01, 6) => mul(MulOp::Rem, MulOp::Remw),
        (0x01, 7) => mul(MulOp::Remu, MulOp::Remuw),
        (0x04, 4) if !rv64 && bits(word, 24, 20) == 0 => Code::Bit(ZextH),
        (0x05, 1) => Code::Bit(Clmul),
        (0x05, 2) => Code::Bit(Clmulr),
        (0x05, 3) => Code::Bit(Clmulh),
        (0x05, 4) => Code::Bit(Min),
        (0x05, 5) => Code::Bit(Minu),
        (0x05, 6) => Code::Bit(Max),
        (0x05, 7) => Code::Bit(Maxu),
        (0x10, 2) => Code::Bit(Sh1add),
        (0x10, 4) => Code::Bit(Sh2add),
        (0x10, 6) => Code::Bit(Sh3add),
        (0x14, 1) => Code::Bit(Bset),
        (0x20, 4) => Code::Bit(Xnor),
        (0x20, 6) => Code::Bit(Orn),
        (0x20, 7) => Code::Bit(Andn),
        (0x24, 1) => Code::Bit(Bclr),
        (0x24, 5) => Code::Bit(Bext),
        (0x30, 1) => Code::Bit(if rv64 { Rol } else { Rolw }),
        (0x30, 5) => Code::Bit(if rv64 { Ror } else { Rorw }),
        (0x34, 1) => Code::Bit(Binv),
        _ => return None,
    })
}

fn register_word(word: u32) -> Option<Code> {
    use BitOp::*;
    Some(match (word >> 25, bits(word, 14, 12)) {
        (0x00, 0) => Code::Addw,
        (0x00, 1) => Code::Sllw,
        (0x00, 5) => Code::Srlw,
        (0x20, 0) => Code::Subw,
        (0x20, 5) => Code::Sraw,
        (0x01, 0) => Code::Mulw,
        (0x01, 4) => Code::Mulx(MulOp::Divw),
        (0x01, 5) => Code::Mulx(MulOp::Divuw),
        (0x01, 6) => Code::Mulx(MulOp::Remw),
        (0x01, 7) => Code::Mulx(MulOp::Remuw),
        (0x04, 0) => Code::Bit(AddUw),
        (0x04, 4) if bits(word, 24, 20) == 0 => Code::Bit(ZextH),
        (0x10, 2) => Code::Bit(Sh1addUw),
        (0x10, 4) => Code::Bit(Sh2addUw),
        (0x10, 6) => Code::Bit(Sh3addUw),
        (0x30, 1) => Code::Bit(Rolw),
        (0x30, 5) => Code::Bit(Rorw),
        _ => return None,
    })
}

fn system(word: u32, op: Op) -> Option<Op> {
    let code = match bits(word, 14, 12) {
        0 => match word {
            0x0000_0073 => Code::Ecall,
            0x0010_0073 => Code::Ebreak,
            0x3020_0073 => {
                return Some(Op { code: Code::Mret, kind: IType::TrapReturn, ..op });
            }
            0x1020_0073 => {
                return Some(Op { code: Code::Sret, kind: IType::TrapReturn, ..op });
            }
            0x1050_0073 => Code::Wfi,
            w if w & 0xfe00_7fff == 0x1200_0073 => Code::SfenceVma,
            _ => return None,
        },
        1 => Code::Csr(CsrOp::Write),
        2 => Code::Csr(CsrOp::Set),
        3 => Code::Csr(CsrOp::Clear),
        5 => Code::Csr(CsrOp::WriteImm),
        6 => Code::Csr(CsrOp::SetImm),
        7 => Code::Csr(CsrOp::ClearImm),
        _ => return None,
    };
    Some(Op { code, imm: bits(word, 31, 20) as i32, ..op })
}

fn atomic(word: u32, op: Op, rv64: bool) -> Option<Op> {
    let width = match bits(word, 14, 12) {
        2 => 4,
        3 if rv64 => 8,
        _ => return None,
    };
    let code = match word >> 27 {
        0x02 if op.rs2 == 0 => AmoOp::Lr,
        0x03 => AmoOp::Sc,
        0x01 => AmoOp::Swap,
        0x00 => AmoOp::Add,
        0x04 => AmoOp::Xor,
        0x0c => AmoOp::And,
        0x08 => AmoOp::Or,
        0x10 => AmoOp::Min,
        0x14 => AmoOp::Max,
        0x18 => AmoOp::Minu,
        0x1c => AmoOp::Maxu,
        _ => return None,
    };
    Some(Op { code: Code::Amo(code), imm: width, ..op })
}

fn float(word: u32, op: Op, rv64: bool) -> Option<Op> {
    use FloatOp::*;
    let funct3 = bits(word, 14, 12);
    let memory = |single, double| match funct3 {
        2 => Some(single),
        3 => Some(double),
        _ => None,
    };
    // Loads and most operations write a floating-point register, where register 0 is not special.
    let op = Op { rd: register(word, 7), ..op };
    let double = match bits(word, 26, 25) {
        0 => false,
        1 => true,
        _ if word & 0x7f < 0x43 => false,
        _ => return None,
    };
    let arithmetic = |float| Some(Op { code: Code::Float(float, double), ..op });
    let integer = |float| {
        let rd = target(op.rd);
        Some(Op { code: Code::Float(float, double), rd, ..op })
    };
    match word & 0x7f {
        0x07 => return Some(Op { code: memory(Code::Flw, Code::Fld)?, ..op }),
        0x27 => {
            let code = memory(Code::Fsw, Code::Fsd)?;
            return Some(Op { code, imm: immediate_s(word), rd: NOWHERE, ..op });
        }
        0x43 => return arithmetic(MulAdd),
        0x47 => return arithmetic(MulSub),
        0x4b => return arithmetic(NegMulSub),
        0x4f => return arithmetic(NegMulAdd),
        _ => {}
    }
    // Integer types 0 to 3: word, unsigned word, long, unsigned long.
    let int = op.rs2 < 2 || rv64 && op.rs2 < 4;
    match (word >> 27, funct3) {
        (0x00, _) => arithmetic(Add),
        (0x01, _) => arithmetic(Sub),
        (0x02, _) => arithmetic(Mul),
        (0x03, _) => arithmetic(Div),
        (0x0b, _) if op.rs2 == 0 => arithmetic(Sqrt),
        (0x04, 0) => arithmetic(SignCopy),
        (0x04, 1) => arithmetic(SignNot),
        (0x04, 2) => arithmetic(SignXor),
        (0x05, 0) => arithmetic(Min),
        (0x05, 1) => arithmetic(Max),
        (0x08, _) if op.rs2 == u8::from(!double) => arithmetic(Resize),
        (0x14, 2) => integer(Equal),
        (0x14, 1) => integer(Less),
        (0x14, 0) => integer(LessEqual),
        (0x1c, 1) if op.rs2 == 0 => integer(Class),
        (0x18, _) if int => integer(ToInt),
        (0x1a, _) if int => arithmetic(FromInt),
        (0x1c, 0) if op.rs2 == 0 && (rv64 || !double) => integer(MoveToInt),
        (0x1e, 0) if op.rs2 == 0 && (rv64 || !double) => arithmetic(MoveFromInt),
        _ => None,
    }
}
