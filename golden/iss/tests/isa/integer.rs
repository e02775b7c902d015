//! Division, multiplication, bit manipulation, shifts.

use crate::machine::{Code, result};
use hartrace_iss::Xlen::{self, Rv32, Rv64};

const MIN: u64 = 1 << 63;
const MIN32: u64 = 0xffff_ffff_8000_0000;
const ONES: u64 = u64::MAX;

#[test]
fn results_are_those_of_the_specification() {
    let table: &[(Xlen, Code, u64, u64, u64)] = &[
        // Division by zero and overflow.
        (Rv64, ("div a0,a1,a2", 0x02c5_c533), 7, 0, ONES),
        (Rv64, ("div a0,a1,a2", 0x02c5_c533), MIN, ONES, MIN),
        (Rv64, ("div a0,a1,a2", 0x02c5_c533), -7i64 as u64, 2, -3i64 as u64),
        (Rv64, ("divu a0,a1,a2", 0x02c5_d533), 7, 0, ONES),
        (Rv64, ("rem a0,a1,a2", 0x02c5_e533), 7, 0, 7),
        (Rv64, ("rem a0,a1,a2", 0x02c5_e533), MIN, ONES, 0),
        (Rv64, ("rem a0,a1,a2", 0x02c5_e533), -7i64 as u64, 2, ONES),
        (Rv64, ("remu a0,a1,a2", 0x02c5_f533), 7, 0, 7),
        (Rv64, ("divw a0,a1,a2", 0x02c5_c53b), 7, 1 << 32, ONES),
        (Rv64, ("divw a0,a1,a2", 0x02c5_c53b), 0x8000_0000, ONES, MIN32),
        (Rv64, ("divuw a0,a1,a2", 0x02c5_d53b), 0x8000_0000, 1, MIN32),
        (Rv64, ("divuw a0,a1,a2", 0x02c5_d53b), 7, 0, ONES),
        (Rv64, ("remw a0,a1,a2", 0x02c5_e53b), 0x8000_0000, ONES, 0),
        (Rv64, ("remw a0,a1,a2", 0x02c5_e53b), 0x8000_0000, 0, MIN32),
        (Rv64, ("remuw a0,a1,a2", 0x02c5_f53b), 0xffff_fff0, 0, -16i64 as u64),
        (Rv32, ("div a0,a1,a2", 0x02c5_c533), MIN32, ONES, MIN32),
        (Rv32, ("div a0,a1,a2", 0x02c5_c533), 1, 0, ONES),
        (Rv32, ("divu a0,a1,a2", 0x02c5_d533), ONES, 1, ONES),
        (Rv32, ("remu a0,a1,a2", 0x02c5_f533), ONES, 0, ONES),
        (Rv32, ("rem a0,a1,a2", 0x02c5_e533), MIN32, ONES, 0),
        // High halves of products.
        (Rv64, ("mulh a0,a1,a2", 0x02c5_9533), MIN, MIN, 1 << 62),
        (Rv64, ("mulhsu a0,a1,a2", 0x02c5_a533), ONES, ONES, ONES),
        (Rv64, ("mulhu a0,a1,a2", 0x02c5_b533), ONES, ONES, ONES - 1),
        (Rv64, ("mulw a0,a1,a2", 0x02c5_853b), 0x1_0000, 0x8000, MIN32),
        (Rv32, ("mulh a0,a1,a2", 0x02c5_9533), MIN32, MIN32, 1 << 30),
        (Rv32, ("mulhsu a0,a1,a2", 0x02c5_a533), ONES, ONES, ONES),
        (Rv32, ("mulhu a0,a1,a2", 0x02c5_b533), ONES, ONES, ONES - 1),
        // Shifts use 5 or 6 bits of the amount.
        (Rv64, ("sll a0,a1,a2", 0x00c5_9533), 1, 65, 2),
        (Rv64, ("sraw a0,a1,a2", 0x40c5_d53b), 0x8000_0000, 33, 0xffff_ffff_c000_0000),
        (Rv64, ("srlw a0,a1,a2", 0x00c5_d53b), 0xf_8000_0000, 32, MIN32),
        (Rv32, ("sll a0,a1,a2", 0x00c5_9533), 1, 31, MIN32),
        (Rv32, ("srl a0,a1,a2", 0x00c5_d533), MIN32, 36, 0x800_0000),
        (Rv32, ("sra a0,a1,a2", 0x40c5_d533), MIN32, 31, ONES),
        (Rv64, ("addiw a0,a1,1", 0x0015_851b), 0x7fff_ffff, 0, MIN32),
        (Rv32, ("addi a0,a1,1", 0x0015_8513), 0x7fff_ffff, 0, MIN32),
        (Rv64, ("sltiu a0,a1,-1", 0xfff5_b513), ONES - 1, 0, 1),
        // Zba.
        (Rv64, ("sh1add a0,a1,a2", 0x20c5_a533), MIN | 3, 1, 7),
        (Rv64, ("sh2add a0,a1,a2", 0x20c5_c533), 3, 1, 13),
        (Rv64, ("sh3add a0,a1,a2", 0x20c5_e533), 3, 1, 25),
        (Rv64, ("add.uw a0,a1,a2", 0x08c5_853b), ONES, 1, 1 << 32),
        (Rv64, ("sh3add.uw a0,a1,a2", 0x20c5_e53b), ONES, 0, 0x7_ffff_fff8),
        (Rv64, ("slli.uw a0,a1,36", 0x0a45_951b), ONES, 0, 0xffff_fff0_0000_0000),
        (Rv32, ("sh3add a0,a1,a2", 0x20c5_e533), 0x1000_0000, 1, MIN32 | 1),
        // Zbb.
        (Rv64, ("andn a0,a1,a2", 0x40c5_f533), 0xff, 0x0f, 0xf0),
        (Rv64, ("orn a0,a1,a2", 0x40c5_e533), 0, 0x0f, !0x0f),
        (Rv64, ("xnor a0,a1,a2", 0x40c5_c533), 5, 5, ONES),
        (Rv64, ("clz a0,a1", 0x6005_9513), 0, 0, 64),
        (Rv64, ("ctz a0,a1", 0x6015_9513), 0, 0, 64),
        (Rv64, ("clzw a0,a1", 0x6005_951b), MIN | 1, 0, 31),
        (Rv64, ("ctzw a0,a1", 0x6015_951b), MIN, 0, 32),
        (Rv64, ("cpopw a0,a1", 0x6025_951b), ONES, 0, 32),
        (Rv64, ("cpop a0,a1", 0x6025_9513), ONES, 0, 64),
        (Rv32, ("clz a0,a1", 0x6005_9513), 0, 0, 32),
        (Rv32, ("ctz a0,a1", 0x6015_9513), MIN32, 0, 31),
        (Rv32, ("cpop a0,a1", 0x6025_9513), ONES, 0, 32),
        (Rv64, ("max a0,a1,a2", 0x0ac5_e533), ONES, 1, 1),
        (Rv64, ("maxu a0,a1,a2", 0x0ac5_f533), ONES, 1, ONES),
        (Rv64, ("min a0,a1,a2", 0x0ac5_c533), ONES, 1, ONES),
        (Rv32, ("minu a0,a1,a2", 0x0ac5_d533), ONES, 1, 1),
        (Rv64, ("sext.b a0,a1", 0x6045_9513), 0x180, 0, -128i64 as u64),
        (Rv64, ("sext.h a0,a1", 0x6055_9513), 0x1_8000, 0, -32768i64 as u64),
        (Rv64, ("zext.h a0,a1", 0x0805_c53b), ONES, 0, 0xffff),
        (Rv32, ("zext.h a0,a1", 0x0805_c533), ONES, 0, 0xffff),
        (Rv64, ("rol a0,a1,a2", 0x60c5_9533), MIN, 65, 1),
        (Rv64, ("rori a0,a1,63", 0x63f5_d513), 1, 0, 2),
        (Rv64, ("rolw a0,a1,a2", 0x60c5_953b), 0x4000_0000, 33, MIN32),
        (Rv64, ("roriw a0,a1,1", 0x6015_d51b), 1, 0, MIN32),
        (Rv32, ("ror a0,a1,a2", 0x60c5_d533), 1, 33, MIN32),
        (Rv32, ("rori a0,a1,31", 0x61f5_d513), MIN32, 0, 1),
        (Rv64, ("orc.b a0,a1", 0x2875_d513), 0x0100_0000_8000_0001, 0, 0xff00_0000_ff00_00ff),
        (Rv32, ("orc.b a0,a1", 0x2875_d513), 0x8000_0001 | MIN32, 0, 0xffff_ffff_ff00_00ff),
        (Rv64, ("rev8 a0,a1", 0x6b85_d513), 0x0123_4567_89ab_cdef, 0, 0xefcd_ab89_6745_2301),
        (Rv32, ("rev8 a0,a1", 0x6985_d513), 0x8000_0080, 0, MIN32 | 0x80),
        // Zbc: (x + 1)(x + 1) = x^2 + 1; the top bits of x^63 * x^63 and of the 32-bit one.
        (Rv64, ("clmul a0,a1,a2", 0x0ac5_9533), 3, 3, 5),
        (Rv64, ("clmulh a0,a1,a2", 0x0ac5_b533), MIN, MIN, 1 << 62),
        (Rv64, ("clmulr a0,a1,a2", 0x0ac5_a533), MIN, MIN, MIN),
        (Rv32, ("clmulh a0,a1,a2", 0x0ac5_b533), MIN32, MIN32, 1 << 30),
        (Rv32, ("clmulr a0,a1,a2", 0x0ac5_a533), MIN32, MIN32, MIN32),
        (Rv32, ("clmul a0,a1,a2", 0x0ac5_9533), ONES, 3, 0x1),
        // Zbs.
        (Rv64, ("bset a0,a1,a2", 0x28c5_9533), 0, 127, MIN),
        (Rv64, ("bclri a0,a1,63", 0x4bf5_9513), ONES, 0, ONES >> 1),
        (Rv64, ("binv a0,a1,a2", 0x68c5_9533), 1, 64, 0),
        (Rv64, ("bexti a0,a1,63", 0x4bf5_d513), MIN, 0, 1),
        (Rv32, ("bset a0,a1,a2", 0x28c5_9533), 0, 63, MIN32),
        (Rv32, ("bext a0,a1,a2", 0x48c5_d533), MIN32, 31, 1),
    ];
    for &(xlen, code, a, b, want) in table {
        let found = result(xlen, code, a, b);
        assert_eq!(found, Some(want), "{xlen:?} {} {a:x} {b:x}: {found:x?}", code.0);
    }
}

#[test]
fn other_base_and_reserved_encodings_are_illegal() {
    let table: &[(Xlen, Code)] = &[
        (Rv32, ("addiw a0,a1,1", 0x0015_851b)),
        (Rv32, ("addw a0,a1,a2", 0x00c5_853b)),
        (Rv32, ("ld a0,0(a1)", 0x0005_b503)),
        (Rv32, ("lwu a0,0(a1)", 0x0005_e503)),
        (Rv32, ("sd a0,0(a1)", 0x00a5_b023)),
        (Rv32, ("slli a0,a1,32", 0x0205_9513)),
        (Rv32, ("srai a0,a1,32", 0x4205_d513)),
        (Rv32, ("rori a0,a1,32", 0x6205_d513)),
        (Rv32, ("bseti a0,a1,32", 0x2a05_9513)),
        (Rv32, ("rev8 a0,a1", 0x6b85_d513)),
        (Rv32, ("zext.h a0,a1", 0x0805_c53b)),
        (Rv32, ("lr.d a0,(a1)", 0x1005_b52f)),
        (Rv32, ("amoadd.d a0,a1,(a2)", 0x00b6_352f)),
        (Rv32, ("fcvt.l.s a0,fa1", 0xc025_f553)),
        (Rv32, ("fmv.x.d a0,fa1", 0xe205_8553)),
        (Rv64, ("rev8 a0,a1", 0x6985_d513)),
        (Rv64, ("zext.h a0,a1", 0x0805_c533)),
        (Rv64, ("slliw by 32", 0x0205_951b)),
        (Rv64, ("jalr with funct3 1", 0x0005_9567)),
        (Rv64, ("branch with funct3 2", 0x0005_a463)),
        (Rv64, ("lr.w with rs2", 0x1015_a52f)),
        (Rv64, ("all ones", 0xffff_ffff)),
    ];
    for &(xlen, code) in table {
        assert_eq!(result(xlen, code, 0x8000_4000, 0x8000_4000), None, "{xlen:?} {}", code.0);
    }
}
