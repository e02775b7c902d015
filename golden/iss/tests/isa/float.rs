//! Floating-point instructions: rounding, flags, boxing. The unit tests compare the arithmetic
//! itself with another implementation.

use crate::machine::{CODE, Code, DATA, M, Machine, U};
use hartrace_iss::Xlen;

const NX: u32 = 1;
const UF: u32 = 2;
const OF: u32 = 4;
const DZ: u32 = 8;
const NV: u32 = 16;

const NAN: u64 = 0x7ff8_0000_0000_0000;
const SIGNALLING: u64 = 0x7ff0_0000_0000_0001;
const NAN32: u64 = 0xffff_ffff_7fc0_0000;
const MINUS_ZERO: u64 = 1 << 63;
const MAX: u64 = 0x7fef_ffff_ffff_ffff;

fn double(value: f64) -> u64 {
    value.to_bits()
}

/// A single in its box.
fn single(value: f32) -> u64 {
    0xffff_ffff_0000_0000 | u64::from(value.to_bits())
}

/// `fa1`, `fa2` and `fcsr` are set and `code` executes.
fn machine(code: Code, a: u64, b: u64, fcsr: u64) -> Machine {
    let mut machine = Machine::new(Xlen::Rv64);
    machine.enter(M, 3 << 13);
    machine.hart.set_register(11, a);
    machine.hart.set_register(12, b);
    machine.set_csr(3, fcsr);
    machine.place(CODE, &[("fmv.d.x fa1,a1", 0xf205_85d3), ("fmv.d.x fa2,a2", 0xf206_0653), code]);
    machine.go(3);
    machine
}

/// `fa0` and the flags.
fn float(code: Code, a: u64, b: u64, frm: u64) -> (u64, u32) {
    let machine = machine(code, a, b, frm << 5);
    assert_eq!(machine.trap(), None, "{}", code.0);
    let registers = machine.hart.registers();
    (registers.f[10], registers.fcsr & 31)
}

/// `a0` and the flags.
fn integer(code: Code, a: u64, b: u64) -> (u64, u32) {
    let machine = machine(code, a, b, 0);
    assert_eq!(machine.trap(), None, "{}", code.0);
    (machine.x(10), machine.hart.registers().fcsr & 31)
}

#[test]
fn rounding_modes_of_instruction_and_register() {
    // 1 / 3 and its negative; the last digit shows the direction of rounding.
    let (down, up) = (0x3fd5_5555_5555_5555, 0x3fd5_5555_5555_5556);
    let minus = |bits: u64| bits | 1 << 63;
    for (frm, plus, negative) in
        [(0, down, down), (1, down, down), (2, down, up), (3, up, down), (4, down, down)]
    {
        let dynamic = ("fdiv.d fa0,fa1,fa2", 0x1ac5_f553);
        assert_eq!(float(dynamic, double(1.0), double(3.0), frm), (plus, NX), "frm {frm}");
        assert_eq!(float(dynamic, double(-1.0), double(3.0), frm), (minus(negative), NX));
    }
    // The mode in the instruction takes precedence.
    assert_eq!(
        float(("fdiv.d fa0,fa1,fa2,rup", 0x1ac5_b553), double(1.0), double(3.0), 1),
        (up, NX)
    );
    // Ties: 2^53 + 1 is between two numbers.
    for (frm, want) in [(0, 0.0), (4, 2.0)] {
        let tie = float(
            ("fadd.d fa0,fa1,fa2", 0x02c5_f553),
            double(9_007_199_254_740_992.0),
            double(1.0),
            frm,
        );
        assert_eq!(tie, (double(9_007_199_254_740_992.0 + want), NX));
    }
    // Reserved modes are illegal, in either place.
    for (code, fcsr) in
        [(("fadd.d fa0,fa1,fa2", 0x02c5_f553), 5 << 5), (("fadd.d rm=5", 0x02c5_d553), 0)]
    {
        let trap = machine(code, 0, 0, fcsr).trap().expect("a trap");
        assert_eq!((trap.cause, trap.tval), (2, code.1.into()), "{}", code.0);
    }
    // A reserved frm does not matter where nothing is rounded.
    assert_eq!(float(("fsgnj.d fa0,fa1,fa2", 0x22c5_8553), double(1.0), 0, 7), (double(1.0), 0));
}

#[test]
fn results_and_flags() {
    let table: &[(Code, u64, u64, u64, u32)] = &[
        (("fadd.d fa0,fa1,fa2", 0x02c5_f553), double(1.5), double(2.25), double(3.75), 0),
        (("fsub.d fa0,fa1,fa2", 0x0ac5_f553), double(1.0), double(1.0), 0, 0),
        (
            ("fsub.d fa0,fa1,fa2", 0x0ac5_f553),
            double(f64::INFINITY),
            double(f64::INFINITY),
            NAN,
            NV,
        ),
        (("fsub.d fa0,fa1,fa2,rdn", 0x0ac5_a553), double(1.0), double(1.0), MINUS_ZERO, 0),
        (("fmul.d fa0,fa1,fa2", 0x12c5_f553), MAX, double(2.0), double(f64::INFINITY), OF | NX),
        (("fmul.d fa0,fa1,fa2,rtz", 0x12c5_9553), MAX, double(2.0), MAX, OF | NX),
        (("fmul.d fa0,fa1,fa2", 0x12c5_f553), 1, double(0.5), 0, UF | NX),
        (("fmul.d fa0,fa1,fa2,rup", 0x12c5_b553), 1, double(0.5), 1, UF | NX),
        (("fdiv.d fa0,fa1,fa2", 0x1ac5_f553), double(-1.0), 0, double(f64::NEG_INFINITY), DZ),
        (("fdiv.d fa0,fa1,fa2", 0x1ac5_f553), 0, MINUS_ZERO, NAN, NV),
        (("fsqrt.d fa0,fa1", 0x5a05_f553), double(-1.0), 0, NAN, NV),
        (("fsqrt.d fa0,fa1", 0x5a05_f553), MINUS_ZERO, 0, MINUS_ZERO, 0),
        (("fsqrt.d fa0,fa1", 0x5a05_f553), double(2.0), 0, double(std::f64::consts::SQRT_2), NX),
        (("fadd.d fa0,fa1,fa2", 0x02c5_f553), NAN | 5, double(1.0), NAN, 0),
        (("fadd.d fa0,fa1,fa2", 0x02c5_f553), SIGNALLING, double(1.0), NAN, NV),
        (("fmadd.d fa0,fa1,fa2,fa1", 0x5ac5_f543), double(3.0), double(2.0), double(9.0), 0),
        (("fmsub.d fa0,fa1,fa2,fa1", 0x5ac5_f547), double(3.0), double(2.0), double(3.0), 0),
        (("fnmsub.d fa0,fa1,fa2,fa1", 0x5ac5_f54b), double(3.0), double(2.0), double(-3.0), 0),
        (("fnmadd.d fa0,fa1,fa2,fa1", 0x5ac5_f54f), double(3.0), double(2.0), double(-9.0), 0),
        // Infinity times zero is invalid even if a quiet NaN is added.
        (("fmadd.d fa0,fa1,fa2,fa1", 0x5ac5_f543), double(f64::INFINITY), 0, NAN, NV),
        (("fmin.d fa0,fa1,fa2", 0x2ac5_8553), 0, MINUS_ZERO, MINUS_ZERO, 0),
        (("fmax.d fa0,fa1,fa2", 0x2ac5_9553), MINUS_ZERO, 0, 0, 0),
        (("fmin.d fa0,fa1,fa2", 0x2ac5_8553), NAN, double(1.0), double(1.0), 0),
        (("fmax.d fa0,fa1,fa2", 0x2ac5_9553), double(1.0), SIGNALLING, double(1.0), NV),
        (("fmin.d fa0,fa1,fa2", 0x2ac5_8553), NAN | 1, NAN | 1 << 63, NAN, 0),
        (("fsgnjn.d fa0,fa1,fa2", 0x22c5_9553), double(1.0), double(1.0), double(-1.0), 0),
        (("fsgnjx.d fa0,fa1,fa2", 0x22c5_a553), SIGNALLING, MINUS_ZERO, SIGNALLING | 1 << 63, 0),
        // Singles: a value that is not boxed is a NaN.
        (("fadd.s fa0,fa1,fa2", 0x00c5_f553), single(1.5), single(2.0), single(3.5), 0),
        (("fadd.s fa0,fa1,fa2", 0x00c5_f553), 0x3fc0_0000, single(2.0), NAN32, 0),
        (("fsgnj.s fa0,fa1,fa2", 0x20c5_8553), 0x3fc0_0000, single(-2.0), NAN32 | 1 << 31, 0),
        (("fmin.s fa0,fa1,fa2", 0x28c5_8553), 0x3fc0_0000, single(2.0), single(2.0), 0),
        (("fcvt.s.d fa0,fa1", 0x4015_f553), double(1e300), 0, single(f32::INFINITY), OF | NX),
        (("fcvt.s.d fa0,fa1", 0x4015_f553), SIGNALLING, 0, NAN32, NV),
        (("fcvt.s.d fa0,fa1", 0x4015_f553), double(0.1), 0, single(0.1), NX),
        (("fcvt.d.s fa0,fa1", 0x4205_8553), single(0.5), 0, double(0.5), 0),
        (("fcvt.d.s fa0,fa1", 0x4205_8553), 0x3f00_0000, 0, NAN, 0),
        // From integers, which are in a1.
        (("fcvt.d.w fa0,a1", 0xd205_8553), 0xffff_ffff, 0, double(-1.0), 0),
        (("fcvt.d.wu fa0,a1", 0xd215_8553), u64::MAX, 0, double(4_294_967_295.0), 0),
        (("fcvt.d.lu fa0,a1", 0xd235_f553), u64::MAX, 0, double(18_446_744_073_709_551_616.0), NX),
        (("fcvt.d.lu fa0,a1,rtz", 0xd235_9553), u64::MAX, 0, 0x43ef_ffff_ffff_ffff, NX),
        (("fcvt.s.l fa0,a1", 0xd025_f553), u64::MAX, 0, single(-1.0), 0),
        (("fmv.w.x fa0,a1", 0xf005_8553), 0x1_3f80_0000, 0, single(1.0), 0),
    ];
    for &(code, a, b, want, flags) in table {
        let found = float(code, a, b, 0);
        assert_eq!(found, (want, flags), "{} {a:x} {b:x}: {found:x?}", code.0);
    }
}

#[test]
fn tiny_is_what_is_tiny_after_rounding() {
    // (1 - 2^-27) (1 + 2^-27) 2^-1022 is just below the normal numbers, and closest to the first.
    let a = double(1.0 - 2f64.powi(-27));
    let b = double((1.0 + 2f64.powi(-27)) * f64::MIN_POSITIVE);
    let (subnormal, normal) = (0x000f_ffff_ffff_ffff, 0x0010_0000_0000_0000);
    let mul = ("fmul.d fa0,fa1,fa2", 0x12c5_f553);
    // With an exponent of any size it would be rounded to that normal number, or not.
    for (frm, want, flags) in
        [(0, normal, NX), (1, subnormal, UF | NX), (2, subnormal, UF | NX), (3, normal, NX)]
    {
        assert_eq!(float(mul, a, b, frm), (want, flags), "frm {frm}");
    }
    // (1 - 2^-53) 2^-1022 needs no rounding then, so it is tiny, though the result is normal.
    let exact = double(1.0 - f64::EPSILON / 2.0);
    assert_eq!(float(mul, exact, double(f64::MIN_POSITIVE), 0), (normal, UF | NX));
}

#[test]
fn results_in_integer_registers() {
    const MAX32: u64 = 0x7fff_ffff;
    const MIN32: u64 = 0xffff_ffff_8000_0000;
    let table: &[(Code, u64, u64, u64, u32)] = &[
        (("fcvt.w.d a0,fa1", 0xc205_f553), double(3e9), 0, MAX32, NV),
        (("fcvt.w.d a0,fa1", 0xc205_f553), double(-3e9), 0, MIN32, NV),
        (("fcvt.w.d a0,fa1", 0xc205_f553), NAN | 1 << 63, 0, MAX32, NV),
        (("fcvt.w.d a0,fa1", 0xc205_f553), double(2.5), 0, 2, NX),
        (("fcvt.w.d a0,fa1,rmm", 0xc205_c553), double(2.5), 0, 3, NX),
        (("fcvt.w.d a0,fa1,rdn", 0xc205_a553), double(-2.5), 0, -3i64 as u64, NX),
        (("fcvt.wu.d a0,fa1", 0xc215_f553), double(3e9), 0, 3_000_000_000u32 as i32 as u64, 0),
        (("fcvt.wu.d a0,fa1", 0xc215_f553), double(-1.0), 0, 0, NV),
        (("fcvt.wu.d a0,fa1,rtz", 0xc215_9553), double(-0.9), 0, 0, NX),
        (("fcvt.wu.d a0,fa1", 0xc215_f553), double(5e9), 0, u64::MAX, NV),
        (("fcvt.l.d a0,fa1", 0xc225_f553), double(1e19), 0, i64::MAX as u64, NV),
        (("fcvt.l.d a0,fa1", 0xc225_f553), double(f64::NEG_INFINITY), 0, 1 << 63, NV),
        (("fcvt.lu.d a0,fa1", 0xc235_f553), double(1e19), 0, 10_000_000_000_000_000_000, 0),
        (("fcvt.lu.d a0,fa1", 0xc235_f553), NAN, 0, u64::MAX, NV),
        (("fcvt.w.s a0,fa1", 0xc005_f553), single(1e10), 0, MAX32, NV),
        (("fcvt.w.s a0,fa1", 0xc005_f553), 0, 0, MAX32, NV),
        (("feq.d a0,fa1,fa2", 0xa2c5_a553), 0, MINUS_ZERO, 1, 0),
        (("feq.d a0,fa1,fa2", 0xa2c5_a553), NAN, NAN, 0, 0),
        (("feq.d a0,fa1,fa2", 0xa2c5_a553), SIGNALLING, 0, 0, NV),
        (("flt.d a0,fa1,fa2", 0xa2c5_9553), NAN, 0, 0, NV),
        (("flt.d a0,fa1,fa2", 0xa2c5_9553), MINUS_ZERO, 0, 0, 0),
        (("fle.d a0,fa1,fa2", 0xa2c5_8553), 0, MINUS_ZERO, 1, 0),
        (("flt.d a0,fa1,fa2", 0xa2c5_9553), double(-2.0), double(-1.0), 1, 0),
        (("fclass.d a0,fa1", 0xe205_9553), double(f64::NEG_INFINITY), 0, 1 << 0, 0),
        (("fclass.d a0,fa1", 0xe205_9553), double(-1.0), 0, 1 << 1, 0),
        (("fclass.d a0,fa1", 0xe205_9553), 1 << 63 | 1, 0, 1 << 2, 0),
        (("fclass.d a0,fa1", 0xe205_9553), MINUS_ZERO, 0, 1 << 3, 0),
        (("fclass.d a0,fa1", 0xe205_9553), 0, 0, 1 << 4, 0),
        (("fclass.d a0,fa1", 0xe205_9553), 1, 0, 1 << 5, 0),
        (("fclass.d a0,fa1", 0xe205_9553), double(1.0), 0, 1 << 6, 0),
        (("fclass.d a0,fa1", 0xe205_9553), double(f64::INFINITY), 0, 1 << 7, 0),
        (("fclass.d a0,fa1", 0xe205_9553), SIGNALLING, 0, 1 << 8, 0),
        (("fclass.d a0,fa1", 0xe205_9553), NAN, 0, 1 << 9, 0),
        (("fclass.s a0,fa1", 0xe005_9553), 0x3f80_0000, 0, 1 << 9, 0),
        // Moves copy the bits unchanged, boxed or not.
        (("fmv.x.w a0,fa1", 0xe005_8553), 0x0000_0001_8000_0000, 0, MIN32, 0),
        (("fmv.x.d a0,fa1", 0xe205_8553), SIGNALLING, 0, SIGNALLING, 0),
    ];
    for &(code, a, b, want, flags) in table {
        let found = integer(code, a, b);
        assert_eq!(found, (want, flags), "{} {a:x} {b:x}: {found:x?}", code.0);
    }
}

#[test]
fn loads_box_and_stores_do_not_care() {
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        let mut machine = Machine::new(xlen);
        machine.enter(M, 1 << 13);
        machine.store(DATA, 0x1111_2222_3f80_0000);
        machine.hart.set_register(11, DATA);
        let code = [
            ("flw fa0,0(a1)", 0x0005_a507),
            ("fld fa1,0(a1)", 0x0005_b587),
            ("fsw fa1,8(a1)", 0x00b5_a427),
            ("fsd fa0,16(a1)", 0x00a5_b827),
        ];
        machine.place(CODE, &code);
        machine.go(4);
        assert_eq!(machine.hart.registers().f[10], single(1.0));
        assert_eq!(machine.load(DATA + 8), 0x3f80_0000);
        assert_eq!(machine.load(DATA + 16), single(1.0));
        // The state of the registers is dirty now.
        assert_eq!(machine.csr(crate::machine::csr::MSTATUS) >> 13 & 3, 3);
    }
}

#[test]
fn without_floating_point_all_of_it_is_illegal() {
    for code in [
        ("fadd.d fa0,fa1,fa2", 0x02c5_f553),
        ("flw fa0,0(a1)", 0x0005_a507),
        ("csrr a0,fcsr", 0x0030_2573),
        ("c.fsdsp fa0,0(sp)", 0xa02a),
    ] {
        for level in [M, U] {
            let mut machine = Machine::new(Xlen::Rv64);
            machine.enter(level, 0);
            machine.place(CODE, &[code]);
            machine.go(1);
            let trap = machine.trap().expect("a trap");
            assert_eq!((trap.cause, trap.tval), (2, code.1.into()), "{}", code.0);
        }
    }
}
