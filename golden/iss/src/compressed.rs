//! Decodes instructions of 2 bytes into [`Op`]s.
//!
//! Spec: RISC-V unprivileged ISA, "C". Hints execute as ordinary instructions; reserved encodings
//! are illegal.

use crate::config::Xlen;
use crate::fields::{bits, register, target};
use crate::op::{Code, NOWHERE, Op, kind_of_jal, kind_of_jalr};
use hartrace_etrace::ingress::IType;

/// One of the eight registers that three bits can name.
const fn short(half: u32, lo: u32) -> u8 {
    8 + (half >> lo & 7) as u8
}

/// Sign-extends a value of `width` bits.
const fn signed(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

/// Returns `None` if the encoding is illegal.
pub(crate) fn decode(half: u32, xlen: Xlen) -> Option<Op> {
    let rv64 = xlen == Xlen::Rv64;
    let op = Op::new(Code::Illegal, 2, half);
    match (half & 3, bits(half, 15, 13)) {
        (0, funct3) => memory(half, op, funct3, rv64),
        (1, funct3) => immediate(half, op, funct3, rv64),
        (_, 4) => moves(half, op, rv64),
        (_, funct3) => stack(half, op, funct3, rv64),
    }
}

/// Quadrant 0: c.addi4spn, loads and stores.
fn memory(half: u32, op: Op, funct3: u32, rv64: bool) -> Option<Op> {
    let word = (bits(half, 12, 10) << 3 | bits(half, 6, 6) << 2 | bits(half, 5, 5) << 6) as i32;
    let double = (bits(half, 12, 10) << 3 | bits(half, 6, 5) << 6) as i32;
    let (rs1, other) = (short(half, 7), short(half, 2));
    let load = |code, imm| Some(Op { code, rd: other, rs1, imm, ..op });
    let store = |code, imm| Some(Op { code, rs1, rs2: other, imm, ..op });
    match funct3 {
        0 => {
            let imm = bits(half, 12, 11) << 4
                | bits(half, 10, 7) << 6
                | bits(half, 6, 6) << 2
                | bits(half, 5, 5) << 3;
            let code = if rv64 { Code::Addi } else { Code::Addiw };
            (imm != 0).then_some(Op { code, rd: other, rs1: 2, imm: imm as i32, ..op })
        }
        1 => load(Code::Fld, double),
        2 => load(Code::Lw, word),
        3 if rv64 => load(Code::Ld, double),
        3 => load(Code::Flw, word),
        5 => store(Code::Fsd, double),
        6 => store(Code::Sw, word),
        7 if rv64 => store(Code::Sd, double),
        7 => store(Code::Fsw, word),
        _ => None,
    }
}

/// Quadrant 1.
fn immediate(half: u32, op: Op, funct3: u32, rv64: bool) -> Option<Op> {
    let rd = register(half, 7);
    let imm = signed(bits(half, 12, 12) << 5 | bits(half, 6, 2), 6);
    let addi = if rv64 { Code::Addi } else { Code::Addiw };
    let to_rd = Op { rd: target(rd), rs1: rd, imm, ..op };
    let branch = |code| {
        let imm = bits(half, 12, 12) << 8
            | bits(half, 6, 5) << 6
            | bits(half, 2, 2) << 5
            | bits(half, 11, 10) << 3
            | bits(half, 4, 3) << 1;
        let (rs1, imm) = (short(half, 7), signed(imm, 9));
        Some(Op { code, rs1, imm, kind: IType::NotTaken, ..op })
    };
    match funct3 {
        0 => Some(Op { code: addi, ..to_rd }),
        1 if rv64 => (rd != 0).then_some(Op { code: Code::Addiw, ..to_rd }),
        1 => jump(half, op, 1),
        2 => Some(Op { code: addi, rs1: 0, ..to_rd }),
        3 if imm == 0 => None,
        3 if rd == 2 => {
            let imm = bits(half, 12, 12) << 9
                | bits(half, 6, 6) << 4
                | bits(half, 5, 5) << 6
                | bits(half, 4, 3) << 7
                | bits(half, 2, 2) << 5;
            Some(Op { code: addi, imm: signed(imm, 10), ..to_rd })
        }
        3 => Some(Op { code: Code::Lui, imm: imm << 12, rs1: 0, ..to_rd }),
        4 => arithmetic(half, op, imm, rv64),
        5 => jump(half, op, 0),
        6 => branch(Code::Beq),
        _ => branch(Code::Bne),
    }
}

fn jump(half: u32, op: Op, rd: u8) -> Option<Op> {
    let imm = bits(half, 12, 12) << 11
        | bits(half, 8, 8) << 10
        | bits(half, 10, 9) << 8
        | bits(half, 6, 6) << 7
        | bits(half, 7, 7) << 6
        | bits(half, 2, 2) << 5
        | bits(half, 11, 11) << 4
        | bits(half, 5, 3) << 1;
    let kind = kind_of_jal(rd);
    Some(Op { code: Code::Jal, rd: target(rd), imm: signed(imm, 12), kind, ..op })
}

fn arithmetic(half: u32, op: Op, imm: i32, rv64: bool) -> Option<Op> {
    let rd = short(half, 7);
    let op = Op { rd, rs1: rd, rs2: short(half, 2), imm, ..op };
    let either = |wide, narrow| if rv64 { wide } else { narrow };
    let amount = imm & 63;
    let shift = |code| (rv64 || amount < 32).then_some(Op { code, imm: amount, ..op });
    let code = match (bits(half, 11, 10), bits(half, 12, 12), bits(half, 6, 5)) {
        (0, ..) => return shift(either(Code::Srli, Code::Srliw)),
        (1, ..) => return shift(either(Code::Srai, Code::Sraiw)),
        (2, ..) => Code::Andi,
        (_, 0, 0) => either(Code::Sub, Code::Subw),
        (_, 0, 1) => Code::Xor,
        (_, 0, 2) => Code::Or,
        (_, 0, _) => Code::And,
        (_, _, 0) if rv64 => Code::Subw,
        (_, _, 1) if rv64 => Code::Addw,
        _ => return None,
    };
    Some(Op { code, ..op })
}

/// Quadrant 2: c.slli, loads and stores relative to the stack pointer.
fn stack(half: u32, op: Op, funct3: u32, rv64: bool) -> Option<Op> {
    let rd = register(half, 7);
    let load_word =
        (bits(half, 12, 12) << 5 | bits(half, 6, 4) << 2 | bits(half, 3, 2) << 6) as i32;
    let load_double =
        (bits(half, 12, 12) << 5 | bits(half, 6, 5) << 3 | bits(half, 4, 2) << 6) as i32;
    let store_word = (bits(half, 12, 9) << 2 | bits(half, 8, 7) << 6) as i32;
    let store_double = (bits(half, 12, 10) << 3 | bits(half, 9, 7) << 6) as i32;
    let load = |code, imm| (rd != 0).then_some(Op { code, rd, rs1: 2, imm, ..op });
    let load_float = |code, imm| Some(Op { code, rd, rs1: 2, imm, ..op });
    let store = |code, imm| Some(Op { code, rs1: 2, rs2: register(half, 2), imm, ..op });
    match funct3 {
        0 => {
            let amount = bits(half, 12, 12) << 5 | bits(half, 6, 2);
            let code = if rv64 { Code::Slli } else { Code::Slliw };
            let op = Op { code, rd: target(rd), rs1: rd, imm: amount as i32, ..op };
            (rv64 || amount < 32).then_some(op)
        }
        1 => load_float(Code::Fld, load_double),
        2 => load(Code::Lw, load_word),
        3 if rv64 => load(Code::Ld, load_double),
        3 => load_float(Code::Flw, load_word),
        5 => store(Code::Fsd, store_double),
        6 => store(Code::Sw, store_word),
        7 if rv64 => store(Code::Sd, store_double),
        _ => store(Code::Fsw, store_word),
    }
}

/// Quadrant 2: c.jr, c.mv, c.ebreak, c.jalr, c.add.
fn moves(half: u32, op: Op, rv64: bool) -> Option<Op> {
    let (rd, rs2) = (register(half, 7), register(half, 2));
    let add = if rv64 { Code::Add } else { Code::Addw };
    let to_rd = Op { rd: target(rd), rs2, ..op };
    Some(match (bits(half, 12, 12), rd, rs2) {
        (0, 0, 0) => return None,
        (0, rs1, 0) => Op { code: Code::Jalr, rs1, kind: kind_of_jalr(0, rs1), rd: NOWHERE, ..op },
        (0, ..) => Op { code: add, rs1: 0, ..to_rd },
        (_, 0, 0) => Op { code: Code::Ebreak, ..op },
        (_, rs1, 0) => Op { code: Code::Jalr, rd: 1, rs1, kind: kind_of_jalr(1, rs1), ..op },
        _ => Op { code: add, rs1: rd, ..to_rd },
    })
}
