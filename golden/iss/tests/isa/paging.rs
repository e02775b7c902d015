//! Sv39.

use crate::machine::{CODE, DATA, M, Machine, RAM, S, U, csr};
use hartrace_iss::Xlen;

const ROOT: u64 = RAM + 0x8000;
const MIDDLE: u64 = RAM + 0x9000;
const LEAVES: u64 = RAM + 0xa000;
/// A page that is mapped by three levels, and the one before it, which is not.
const PAGE: u64 = 0x4000_1000;

const V: u64 = 1;
const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const USER: u64 = 16;
const A_: u64 = 64;
const D: u64 = 128;
const ALL: u64 = V | R | W | X | A_ | D;
const SUM: u64 = 1 << 18;
const MXR: u64 = 1 << 19;
const MPRV: u64 = 1 << 17;

const fn entry(address: u64, bits: u64) -> u64 {
    address >> 12 << 10 | bits
}

/// Maps [`PAGE`] to [`DATA`] with these bits; memory itself is identity-mapped, for `level`.
fn machine(level: u8, bits: u64, mstatus: u64) -> Machine {
    let mut machine = Machine::new(Xlen::Rv64);
    let user = if level == U { USER } else { 0 };
    machine.store(ROOT + 2 * 8, entry(0x8000_0000, ALL | user));
    machine.store(ROOT + 8, entry(MIDDLE, V));
    machine.store(MIDDLE, entry(LEAVES, V));
    machine.store(LEAVES + 8, entry(DATA, bits));
    machine.store(DATA, 0x1122_3344_5566_7788);
    machine.set_csr(csr::SATP, 8 << 60 | ROOT >> 12);
    machine.enter(level, mstatus);
    machine.hart.set_register(11, PAGE);
    machine
}

#[test]
fn permissions() {
    let load = ("ld a0,0(a1)", 0x0005_b503);
    let store = ("sd a2,0(a1)", 0x00c5_b023);
    let swap = ("amoswap.d a0,a2,(a1)", 0x08c5_b52f);
    let jump = ("jr a1", 0x0005_8067);
    let conditional = ("sc.d a0,a2,(a1)", 0x18c5_b52f);
    let table = [
        // Level, bits, mstatus, instruction; the cause of its fault.
        (S, ALL, 0, load, None),
        (S, ALL, 0, store, None),
        (S, ALL, 0, swap, None),
        (S, 0, 0, load, Some(13)),
        (S, ALL & !V, 0, store, Some(15)),
        (S, ALL & !R & !X, 0, load, Some(13)),
        (S, ALL & !W, 0, store, Some(15)),
        (S, ALL & !W, 0, swap, Some(15)),
        (S, ALL & !W, 0, conditional, Some(15)),
        (S, ALL & !X, 0, jump, Some(12)),
        (S, ALL & !A_, 0, load, Some(13)),
        (S, ALL & !A_, 0, jump, Some(12)),
        (S, ALL & !D, 0, load, None),
        (S, ALL & !D, 0, store, Some(15)),
        (S, ALL & !R & !W, 0, load, Some(13)),
        (S, ALL & !R & !W, MXR, load, None),
        (S, ALL | USER, 0, load, Some(13)),
        (S, ALL | USER, SUM, load, None),
        (S, ALL | USER, SUM, jump, Some(12)),
        (U, ALL | USER, 0, load, None),
        (U, ALL, 0, load, Some(13)),
        (U, ALL, 0, jump, Some(12)),
        // Bits that are reserved.
        (S, ALL | 1 << 54, 0, load, Some(13)),
        (S, V | R | X << 60, 0, load, Some(13)),
    ];
    for (level, bits, mstatus, code, cause) in table {
        let mut machine = machine(level, bits, mstatus);
        machine.place(CODE, &[code]);
        machine.place(DATA, &[("nop", 0x0000_0013)]);
        machine.go(2);
        let trap = machine.steps.iter().find_map(|step| step.trap.filter(|trap| trap.tval == PAGE));
        let what = format!("{level} {bits:x} {mstatus:x} {}", code.0);
        assert_eq!(trap.map(|trap| trap.cause), cause, "{what}");
    }
}

#[test]
fn tables_that_are_broken() {
    // A table entry that marks a table as accessed, a misaligned large page, an address that is not
    // canonical, a table that is not in memory.
    let cases: [(u64, u64, u64, u64); 4] = [
        (ROOT + 8, entry(MIDDLE, V | A_), PAGE, 13),
        (MIDDLE, entry(DATA, ALL), PAGE, 13),
        (ROOT + 8, entry(MIDDLE, V), PAGE | 1 << 39, 13),
        (ROOT + 8, entry(0x1000_0000, V), PAGE, 5),
    ];
    for (place, value, address, cause) in cases {
        let mut machine = machine(S, ALL, 0);
        machine.store(place, value);
        machine.hart.set_register(11, address);
        machine.place(CODE, &[("ld a0,0(a1)", 0x0005_b503)]);
        machine.go(1);
        let trap = machine.trap().expect("a trap");
        assert_eq!((trap.cause, trap.tval), (cause, address), "{value:x}");
    }
}

#[test]
fn accesses_across_pages_fault_at_the_page() {
    // The next page is not mapped; then the one before.
    for (address, code, tval, cause) in [
        (PAGE + 0xffd, ("ld a0,0(a1)", 0x0005_b503), PAGE + 0x1000, 13),
        (PAGE + 0xffd, ("sd a2,0(a1)", 0x00c5_b023), PAGE + 0x1000, 15),
        (PAGE - 3, ("ld a0,0(a1)", 0x0005_b503), PAGE - 3, 13),
        (PAGE - 3, ("sd a2,0(a1)", 0x00c5_b023), PAGE - 3, 15),
    ] {
        let mut machine = machine(S, ALL, 0);
        machine.hart.set_register(11, address);
        machine.hart.set_register(12, u64::MAX);
        machine.place(CODE, &[code]);
        machine.go(1);
        let trap = machine.trap().expect("a trap");
        assert_eq!((trap.cause, trap.tval), (cause, tval), "{} {address:x}", code.0);
        let untouched = [DATA, DATA + 0xff8].map(|at| machine.load(at));
        assert_eq!(untouched, [0x1122_3344_5566_7788, 0], "nothing is written");
    }
    // An instruction whose second half is on an unmapped page.
    let mut machine = machine(S, ALL, 0);
    machine.hart.write_memory(DATA + 0xffe, &[0x13, 0]);
    machine.hart.set_pc(PAGE + 0xffe);
    machine.go(1);
    let trap = machine.trap().expect("a trap");
    assert_eq!((trap.cause, trap.tval, trap.epc), (12, PAGE + 0x1000, PAGE + 0xffe));
}

#[test]
fn machine_mode_may_load_as_another() {
    for (mstatus, want) in [(MPRV | 1 << 11, None), (0, Some(5))] {
        let mut machine = machine(M, ALL, 0);
        machine.set_csr(csr::MSTATUS, mstatus);
        machine.place(CODE, &[("ld a0,0(a1)", 0x0005_b503)]);
        machine.go(1);
        assert_eq!(machine.trap().map(|trap| trap.cause), want);
    }
}

#[test]
fn a_fence_makes_new_tables_valid() {
    let mut machine = machine(S, ALL, 0);
    let code = [
        ("ld a0,0(a1)", 0x0005_b503),
        ("sd zero,8(a2)", 0x0006_3423),
        ("sfence.vma", 0x1200_0073),
        ("ld a0,0(a1)", 0x0005_b503),
    ];
    machine.place(CODE, &code);
    machine.hart.set_register(12, LEAVES);
    machine.go(4);
    assert_eq!(machine.trap().map(|trap| trap.cause), Some(13));
    // Modes that do not exist are not written to satp.
    let satp = machine.csr(csr::SATP);
    machine.set_csr(csr::SATP, 9 << 60);
    assert_eq!(machine.csr(csr::SATP), satp);
    let mut narrow = Machine::new(Xlen::Rv32);
    narrow.set_csr(csr::SATP, 1 << 31);
    assert_eq!(narrow.csr(csr::SATP), 0);
}
