//! Atomic memory operations.

use crate::machine::{CODE, Code, DATA, Machine};
use hartrace_iss::{AccessKind, HartConfig, Misaligned, Xlen};

/// `a0` and memory at `a1` = [`DATA`] after `code`, with `a2`.
fn run(code: &[Code], memory: u64, a2: u64) -> (u64, u64) {
    let mut machine = Machine::new(Xlen::Rv64);
    machine.store(DATA, memory);
    machine.place(CODE, code);
    machine.hart.set_register(11, DATA);
    machine.hart.set_register(12, a2);
    machine.go(code.len() as u64);
    assert_eq!(machine.trap(), None);
    (machine.x(10), machine.load(DATA))
}

#[test]
fn operations_return_the_old_value_and_store_the_new() {
    const MIN32: u64 = 0xffff_ffff_8000_0000;
    let table: &[(Code, u64, u64, u64, u64)] = &[
        // Memory before, a2; a0, memory after.
        (("amoswap.w a0,a2,(a1)", 0x08c5_a52f), 0x7_8000_0000, 5, MIN32, 0x7_0000_0005),
        (("amoadd.w a0,a2,(a1)", 0x00c5_a52f), 0xffff_ffff, 1, u64::MAX, 0),
        (("amoadd.d a0,a2,(a1)", 0x00c5_b52f), 0xffff_ffff, 1, 0xffff_ffff, 0x1_0000_0000),
        (("amoxor.d a0,a2,(a1)", 0x20c5_b52f), 0b1100, 0b1010, 0b1100, 0b0110),
        (("amoand.d a0,a2,(a1)", 0x60c5_b52f), 0b1100, 0b1010, 0b1100, 0b1000),
        (("amoor.d a0,a2,(a1)", 0x40c5_b52f), 0b1100, 0b1010, 0b1100, 0b1110),
        (("amomin.w a0,a2,(a1)", 0x80c5_a52f), 0x8000_0000, 1, MIN32, 0x8000_0000),
        (("amomax.w a0,a2,(a1)", 0xa0c5_a52f), 0x8000_0000, 1, MIN32, 1),
        (("amominu.w a0,a2,(a1)", 0xc0c5_a52f), 0x8000_0000, 1, MIN32, 1),
        (("amomaxu.w a0,a2,(a1)", 0xe0c5_a52f), 0x8000_0000, 1, MIN32, 0x8000_0000),
        // The upper half of the operand is ignored.
        (("amomaxu.w a0,a2,(a1)", 0xe0c5_a52f), 0x8000_0000, 0xf_0000_0000, MIN32, 0x8000_0000),
        (("amomin.d a0,a2,(a1)", 0x80c5_b52f), 1 << 63, 1, 1 << 63, 1 << 63),
        (("amominu.d a0,a2,(a1)", 0xc0c5_b52f), 1 << 63, 1, 1 << 63, 1),
        (("amomax.d a0,a2,(a1)", 0xa0c5_b52f), 1 << 63, 1, 1 << 63, 1),
        (("amomaxu.d a0,a2,(a1)", 0xe0c5_b52f), 1 << 63, 1, 1 << 63, 1 << 63),
    ];
    for &(code, memory, a2, a0, after) in table {
        let found = run(&[code], memory, a2);
        assert_eq!(found, (a0, after), "{} {memory:x} {a2:x}: {found:x?}", code.0);
    }
}

#[test]
fn conditional_stores_need_their_reservation() {
    let (lr, sc) = (("lr.w t0,(a1)", 0x1005_a2af), ("sc.w a0,a2,(a1)", 0x18c5_a52f));
    assert_eq!(run(&[lr, sc], 7, 9), (0, 9));
    assert_eq!(run(&[sc], 7, 9), (1, 7));
    // Once only.
    assert_eq!(run(&[lr, sc, sc], 7, 9), (1, 9));
    // Another address.
    let elsewhere = [("addi t1,a1,8", 0x0085_8313), ("lr.w t0,(t1)", 0x1003_22af), sc];
    assert_eq!(run(&elsewhere, 7, 9), (1, 7));
    // A store by the hart itself need not make it fail.
    let store = ("sw zero,0(a1)", 0x0005_a023);
    assert_eq!(run(&[lr, store, sc], 7, 9), (0, 9));
    // A double-word, with other instructions in between.
    let double = [
        ("lr.d t0,(a1)", 0x1005_b2af),
        ("add a2,a2,t0", 0x0056_0633),
        ("sc.d a0,a2,(a1)", 0x18c5_b52f),
    ];
    assert_eq!(run(&double, 1 << 40, 2), (0, 1 << 40 | 2));
    assert_eq!(run(&[("lr.w a0,(a1)", 0x1005_a52f)], 0x8000_0000, 0).0, 0xffff_ffff_8000_0000);
}

#[test]
fn words_of_rv32() {
    // Memory before, a2; a0, memory after.
    let table: &[(Code, u32, u32, u32, u32)] = &[
        (("amoadd.w a0,a2,(a1)", 0x00c5_a52f), u32::MAX, 2, u32::MAX, 1),
        (("amomin.w a0,a2,(a1)", 0x80c5_a52f), 1 << 31, 1, 1 << 31, 1 << 31),
        (("amomaxu.w a0,a2,(a1)", 0xe0c5_a52f), 1 << 31, 1, 1 << 31, 1 << 31),
        (("amominu.w.aqrl a0,a2,(a1)", 0xc6c5_a52f), 1 << 31, 1, 1 << 31, 1),
        (("sc.w.rl a0,a2,(a1)", 0x1ac5_a52f), 7, 9, 1, 7),
    ];
    for &(code, memory, a2, a0, after) in table {
        let mut machine = Machine::new(Xlen::Rv32);
        machine.store(DATA, 0x5a5a_5a5a << 32 | u64::from(memory));
        machine.place(CODE, &[code]);
        machine.hart.set_register(11, DATA);
        machine.hart.set_register(12, a2.into());
        machine.go(1);
        assert_eq!(machine.trap(), None, "{}", code.0);
        assert_eq!(machine.x(10), a0 as i32 as u64, "{}", code.0);
        assert_eq!(machine.load(DATA), 0x5a5a_5a5a << 32 | u64::from(after), "{}", code.0);
    }
}

#[test]
fn accesses_are_reported() {
    let mut machine = Machine::new(Xlen::Rv64);
    machine.store(DATA, 0xffff_ffff_0000_0001);
    let code = [
        ("amoadd.w a0,a2,(a1)", 0x00c5_a52f),
        ("sc.w x0,a2,(a1)", 0x18c5_a02f),
        ("lb a0,7(a1)", 0x0075_8503),
    ];
    machine.place(CODE, &code);
    machine.hart.set_register(11, DATA);
    machine.hart.set_register(12, 2);
    machine.go(3);
    let seen: Vec<_> = machine.steps.iter().map(|step| step.access).collect();
    let amo = seen[0].expect("an access");
    assert_eq!((amo.kind, amo.address, amo.size, amo.value), (AccessKind::Atomic, DATA, 4, 3));
    assert_eq!(seen[1], None, "a conditional store that fails");
    let load = seen[2].expect("an access");
    assert_eq!((load.kind, load.address, load.value), (AccessKind::Load, DATA + 7, 0xff));
}

#[test]
fn misaligned_and_missing_addresses_trap() {
    let nowhere = 0x1_0000_0000;
    let table: &[(Code, u64, u64)] = &[
        (("lr.w a0,(a1)", 0x1005_a52f), DATA + 2, 4),
        (("lr.d a0,(a1)", 0x1005_b52f), DATA + 4, 4),
        (("sc.w a0,a2,(a1)", 0x18c5_a52f), DATA + 1, 6),
        (("amoadd.w a0,a2,(a1)", 0x00c5_a52f), DATA + 2, 6),
        (("amoadd.d a0,a2,(a1)", 0x00c5_b52f), DATA + 4, 6),
        (("lr.w a0,(a1)", 0x1005_a52f), nowhere, 5),
        (("amoadd.w a0,a2,(a1)", 0x00c5_a52f), nowhere, 7),
    ];
    for misaligned in [Misaligned::Supported, Misaligned::Trap] {
        for &(code, address, cause) in table {
            let mut machine = Machine::with(HartConfig { misaligned, ..HartConfig::default() });
            machine.place(CODE, &[code]);
            machine.hart.set_register(11, address);
            machine.go(1);
            let trap = machine.trap().expect("a trap");
            assert_eq!((trap.cause, trap.tval), (cause, address), "{}", code.0);
        }
    }
}
