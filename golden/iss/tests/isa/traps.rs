//! Exceptions: cause, value, handler, and return from the handler.

use crate::machine::{CODE, Code, DATA, M, M_HANDLER, Machine, RAM, S, S_HANDLER, SIZE, U, csr};
use hartrace_etrace::ingress::IType;
use hartrace_iss::{Exit, HartConfig, Misaligned, Xlen};

const END: u64 = RAM + SIZE;

#[test]
fn causes_and_values() {
    let trap = Misaligned::Trap;
    let works = Misaligned::Supported;
    // Level, misaligned accesses, instruction, a1; cause and value.
    let table: &[(u8, Misaligned, Code, u64, u64, u64)] = &[
        (U, trap, ("ecall", 0x0000_0073), 0, 8, 0),
        (S, trap, ("ecall", 0x0000_0073), 0, 9, 0),
        (M, trap, ("ecall", 0x0000_0073), 0, 11, 0),
        (U, trap, ("ebreak", 0x0010_0073), 0, 3, CODE),
        (M, trap, ("c.ebreak", 0x9002), 0, 3, CODE),
        (U, trap, ("mret", 0x3020_0073), 0, 2, 0x3020_0073),
        (S, trap, ("mret", 0x3020_0073), 0, 2, 0x3020_0073),
        (U, trap, ("sret", 0x1020_0073), 0, 2, 0x1020_0073),
        (U, trap, ("wfi", 0x1050_0073), 0, 2, 0x1050_0073),
        (U, trap, ("sfence.vma", 0x1200_0073), 0, 2, 0x1200_0073),
        (U, trap, ("csrr a0,mstatus", 0x3000_2573), 0, 2, 0x3000_2573),
        (S, trap, ("csrr a0,mstatus", 0x3000_2573), 0, 2, 0x3000_2573),
        (U, trap, ("csrr a0,cycle", 0xc000_2573), 0, 2, 0xc000_2573),
        (M, trap, ("csrw cycle,a1", 0xc005_9073), 0, 2, 0xc005_9073),
        (M, trap, ("csrr a0,0x7c0", 0x7c00_2573), 0, 2, 0x7c00_2573),
        (M, trap, ("c.unimp", 0), 0, 2, 0),
        (M, trap, ("c.addiw x0,1", 0x2005), 0, 2, 0x2005),
        (M, trap, ("lw a0,0(a1)", 0x0005_a503), DATA + 2, 4, DATA + 2),
        (M, trap, ("lh a0,1(a1)", 0x0015_9503), DATA, 4, DATA + 1),
        (M, trap, ("sd a0,0(a1)", 0x00a5_b023), DATA + 4, 6, DATA + 4),
        (M, trap, ("c.lw a0,4(a1)", 0x41c8), DATA + 2, 4, DATA + 6),
        (M, trap, ("c.sd a0,0(a1)", 0xe188), DATA + 4, 6, DATA + 4),
        (M, works, ("lw a0,0(a1)", 0x0005_a503), END, 5, END),
        (M, works, ("sw a0,0(a1)", 0x00a5_a023), END, 7, END),
        // The part that has no memory.
        (M, works, ("lw a0,0(a1)", 0x0005_a503), END - 2, 5, END),
        (M, works, ("sw a0,0(a1)", 0x00a5_a023), END - 2, 7, END),
        (M, works, ("lw a0,-4(a1)", 0xffc5_a503), 0, 5, -4i64 as u64),
    ];
    for &(level, misaligned, code, a1, cause, tval) in table {
        let mut machine = Machine::with(HartConfig { misaligned, ..HartConfig::default() });
        machine.enter(level, 0);
        machine.place(CODE, &[code]);
        machine.hart.set_register(11, a1);
        machine.store(END - 8, 0);
        machine.go(1);
        let step = machine.steps[0];
        let trap = step.trap.expect("a trap");
        let found = (trap.cause, trap.tval, trap.epc);
        assert_eq!(found, (cause, tval, CODE), "{} at {level}: {found:x?}", code.0);
        assert_eq!(
            (step.kind, step.privilege.0, step.next_pc),
            (IType::Exception, level, M_HANDLER)
        );
        assert_eq!(step.retires, matches!(cause, 3 | 8..=11), "{}", code.0);
        assert_eq!((machine.level(), machine.pc()), (M, M_HANDLER));
        let registers = [csr::MCAUSE, csr::MTVAL, csr::MEPC].map(|number| machine.csr(number));
        assert_eq!(registers, [cause, tval, CODE], "{}", code.0);
        assert_eq!(machine.load(END - 8), 0, "nothing is stored before the trap");
    }
}

#[test]
fn misaligned_accesses_that_work() {
    const BYTES: u64 = 0x8877_6655_4433_2281;
    // Instruction, offset; a0. On two pages as well as on one.
    let loads: &[(Code, u64, u64)] = &[
        (("lh a0,0(a1)", 0x0005_9503), 1, 0x3322),
        (("lh a0,0(a1)", 0x0005_9503), 7, 0xffff_ffff_ffff_8188),
        (("lhu a0,0(a1)", 0x0005_d503), 7, 0x8188),
        (("lw a0,0(a1)", 0x0005_a503), 2, 0x6655_4433),
        (("lw a0,0(a1)", 0x0005_a503), 7, 0x3322_8188),
        (("lwu a0,0(a1)", 0x0005_e503), 5, 0x8188_7766),
        (("ld a0,0(a1)", 0x0005_b503), 3, 0x3322_8188_7766_5544),
    ];
    for page in [DATA, DATA + 0xffc] {
        for &(code, offset, want) in loads {
            let mut machine = Machine::new(Xlen::Rv64);
            machine.store(page, BYTES);
            machine.store(page + 8, BYTES);
            machine.place(CODE, &[code]);
            machine.hart.set_register(11, page + offset);
            machine.go(1);
            assert_eq!((machine.trap(), machine.x(10)), (None, want), "{} {offset}", code.0);
        }
        let stores: &[(Code, u64, u64, u64)] = &[
            // Contents of both words afterwards.
            (("sh a2,0(a1)", 0x00c5_9023), 7, 0x0800_0000_0000_0000, 0x07),
            (("sw a2,0(a1)", 0x00c5_a023), 5, 0x0607_0800_0000_0000, 0x05),
            (("sd a2,0(a1)", 0x00c5_b023), 3, 0x0405_0607_0800_0000, 0x01_0203),
        ];
        for &(code, offset, first, second) in stores {
            let mut machine = Machine::new(Xlen::Rv64);
            machine.place(CODE, &[code]);
            machine.hart.set_register(11, page + offset);
            machine.hart.set_register(12, 0x0102_0304_0506_0708);
            machine.go(1);
            let found = (machine.trap(), machine.load(page), machine.load(page + 8));
            assert_eq!(found, (None, first, second), "{} {found:x?}", code.0);
        }
    }
}

#[test]
fn misaligned_accesses_of_floating_point() {
    let code = [("flw fa0,0(a1)", 0x0005_a507), ("fsd fa0,8(a1)", 0x00a5_b427)];
    for misaligned in [Misaligned::Supported, Misaligned::Trap] {
        let mut machine = Machine::with(HartConfig { misaligned, ..HartConfig::default() });
        machine.enter(M, 1 << 13);
        machine.store(DATA, 0x3f80_0000 << 8);
        machine.place(CODE, &code);
        machine.hart.set_register(11, DATA + 1);
        machine.go(2);
        if misaligned == Misaligned::Supported {
            assert_eq!(machine.trap(), None);
            assert_eq!(machine.hart.registers().f[10], 0xffff_ffff_3f80_0000);
            assert_eq!(machine.load(DATA + 9), 0xffff_ffff_3f80_0000);
            continue;
        }
        let trap = machine.steps[0].trap.expect("a trap");
        assert_eq!((trap.cause, trap.tval), (4, DATA + 1));
        machine.hart.set_pc(CODE + 4);
        machine.go(1);
        let trap = machine.trap().expect("a trap");
        assert_eq!((trap.cause, trap.tval), (6, DATA + 9));
    }
}

#[test]
fn addresses_of_rv32_wrap() {
    let mut machine = Machine::new(Xlen::Rv32);
    machine.place(CODE, &[("lw a0,-4(zero)", 0xffc0_2503)]);
    machine.go(1);
    assert_eq!(machine.trap().map(|trap| trap.tval), Some(0xffff_fffc));
    assert_eq!(machine.csr(csr::MTVAL), 0xffff_ffff_ffff_fffc, "in a register it is sign-extended");
}

#[test]
fn code_without_memory() {
    // The second half of the instruction is missing.
    let mut machine = Machine::new(Xlen::Rv64);
    machine.hart.write_memory(END - 2, &[0x13, 0]);
    machine.hart.set_pc(END - 2);
    machine.go(1);
    let trap = machine.trap().expect("a trap");
    assert_eq!((trap.cause, trap.tval, trap.epc), (1, END, END - 2));
    assert_eq!(machine.steps[0].size, 0);
}

const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
const SIE: u64 = 1 << 1;
const SPIE: u64 = 1 << 5;
const SPP: u64 = 1 << 8;

#[test]
fn machine_traps_stack_and_return() {
    for (level, before) in [(U, MIE), (S, 0), (M, MIE), (M, 0)] {
        let mut machine = Machine::new(Xlen::Rv64);
        // `enter` itself is a return: MPIE becomes MIE.
        machine.enter(level, if before == MIE { MPIE } else { 0 });
        machine.place(CODE, &[("ecall", 0x0000_0073)]);
        machine.place(M_HANDLER, &[("csrr a0,mstatus", 0x3000_2573), ("mret", 0x3020_0073)]);
        machine.go(1);
        machine.go(1);
        let stacked = machine.x(10) & (MIE | MPIE | 3 << 11);
        assert_eq!(stacked, before << 4 | u64::from(level) << 11, "level {level}");
        machine.go(1);
        let step = machine.steps[0];
        assert_eq!((step.kind, step.privilege.0, step.next_pc), (IType::TrapReturn, M, CODE));
        assert_eq!(machine.level(), level);
        machine.go(1);
        // The previous level of the second trap is that of the first, so the hart returned to it.
        assert_eq!(machine.csr(csr::MSTATUS) >> 11 & 3, level.into());
    }
}

#[test]
fn mret_leaves_user_and_enabled_behind() {
    let mut machine = Machine::new(Xlen::Rv64);
    let mprv = 1 << 17;
    machine.set_csr(csr::MSTATUS, 1 << 11 | mprv | MIE);
    machine.set_csr(csr::MEPC, CODE);
    machine.place(CODE, &[("ecall", 0x0000_0073)]);
    machine.hart.set_pc(DATA);
    machine.place(DATA, &[("mret", 0x3020_0073)]);
    machine.go(2);
    let status = machine.csr(csr::MSTATUS);
    assert_eq!(status & mprv, 0, "a return to less than M ends MPRV");
    assert_eq!(status >> 11 & 3, S.into());
    assert_eq!(status & (MIE | MPIE), 0, "MIE was MPIE, which was clear");
    // MPP accepts legal values only.
    machine.set_csr(csr::MSTATUS, 0);
    machine.set_csr(csr::MSTATUS, 2 << 11);
    assert_eq!(machine.csr(csr::MSTATUS) >> 11 & 3, 0);
}

#[test]
fn delegated_traps_go_to_supervisor_mode() {
    for level in [U, S] {
        let mut machine = Machine::new(Xlen::Rv64);
        machine.set_csr(csr::MEDELEG, u64::MAX);
        assert_eq!(machine.csr(csr::MEDELEG) >> 11 & 1, 0, "not that one");
        machine.enter(level, SIE);
        machine.place(CODE, &[("c.unimp", 0)]);
        let handler = [
            ("csrr a0,sstatus", 0x1000_2573),
            ("csrr a1,scause", 0x1420_25f3),
            ("csrr a2,sepc", 0x1410_2673),
            ("sret", 0x1020_0073),
        ];
        machine.place(S_HANDLER, &handler);
        machine.go(1);
        assert_eq!((machine.level(), machine.pc()), (S, S_HANDLER));
        machine.go(3);
        let stacked = machine.x(10) & (SIE | SPIE | SPP);
        assert_eq!(stacked, SPIE | if level == S { SPP } else { 0 });
        assert_eq!((machine.x(11), machine.x(12)), (2, CODE));
        machine.go(1);
        assert_eq!((machine.level(), machine.pc()), (level, CODE));
    }
    // Never downwards.
    let mut machine = Machine::new(Xlen::Rv64);
    machine.set_csr(csr::MEDELEG, u64::MAX);
    machine.place(CODE, &[("c.unimp", 0)]);
    machine.go(1);
    assert_eq!((machine.level(), machine.pc()), (M, M_HANDLER));
}

#[test]
fn machine_mode_can_keep_supervisor_from() {
    let (tvm, tw, tsr) = (1 << 20, 1 << 21, 1 << 22);
    for (bit, code) in [
        (tvm, ("sfence.vma", 0x1200_0073)),
        (tvm, ("csrr a0,satp", 0x1800_2573)),
        (tw, ("wfi", 0x1050_0073)),
        (tsr, ("sret", 0x1020_0073)),
    ] {
        for (mstatus, traps) in [(0, false), (bit, true)] {
            let mut machine = Machine::new(Xlen::Rv64);
            machine.enter(S, mstatus);
            machine.place(CODE, &[code]);
            machine.go(1);
            assert_eq!(machine.trap().is_some(), traps, "{} {mstatus:x}", code.0);
        }
    }
}

#[test]
fn counters_are_opened_one_level_at_a_time() {
    for (machine_on, supervisor_on, level, works) in
        [(0, 0, S, false), (4, 0, S, true), (4, 0, U, false), (0, 4, U, false), (4, 4, U, true)]
    {
        let mut machine = Machine::new(Xlen::Rv64);
        machine.set_csr(0x306, machine_on);
        machine.set_csr(0x106, supervisor_on);
        machine.enter(level, 0);
        machine.place(CODE, &[("csrr a0,instret", 0xc020_2573)]);
        machine.go(1);
        assert_eq!(machine.trap().is_none(), works, "{machine_on} {supervisor_on} {level}");
    }
    // A written counter has that value for the next instruction.
    let mut machine = Machine::new(Xlen::Rv64);
    machine.place(
        CODE,
        &[
            ("csrw minstret,a1", 0xb025_9073),
            ("csrr a0,minstret", 0xb020_2573),
            ("csrr a2,minstret", 0xb020_2673),
        ],
    );
    machine.hart.set_register(11, 1000);
    machine.go(3);
    assert_eq!((machine.x(10), machine.x(12)), (1000, 1001));
}

#[test]
fn programs_without_handlers_end() {
    let mut machine = Machine::new(Xlen::Rv64);
    machine.set_csr(csr::MTVEC, 0);
    machine.place(CODE, &[("nop", 0x0000_0013), ("lw a0,0(zero)", 0x0000_2503)]);
    assert_eq!(machine.go(100), Exit::Fault { pc: CODE + 4, cause: 5, tval: 0 });
    // The very first instruction, at the handler.
    let mut machine = Machine::new(Xlen::Rv64);
    machine.set_csr(csr::MTVEC, CODE);
    machine.place(CODE, &[("all ones", u32::MAX)]);
    assert_eq!(machine.go(100), Exit::Unsupported { pc: CODE, encoding: u32::MAX });
    // The same address at another level is not the handler that traps.
    let mut machine = Machine::new(Xlen::Rv64);
    machine.set_csr(csr::MTVEC, CODE);
    machine.enter(U, 0);
    machine.place(CODE, &[("csrr a0,mstatus", 0x3000_2573), ("j .", 0x0000_006f)]);
    assert_eq!(machine.go(100), Exit::Stuck { pc: CODE + 4 });
    assert_eq!(machine.steps.len(), 3);
}

#[test]
fn stores_to_code_are_seen_with_and_without_fence() {
    for fence in [("nop", 0x0000_0013), ("fence.i", 0x0000_100f)] {
        let mut machine = Machine::new(Xlen::Rv64);
        // The last instruction runs twice, the first time unchanged.
        let code = [
            ("j .+12", 0x00c0_006f),
            ("sw a1,8(a2)", 0x00b6_2423),
            fence,
            ("li a0,1", 0x0010_0513),
            ("j .-12", 0xff5f_f06f),
        ];
        machine.place(CODE, &code);
        machine.hart.set_register(11, 0x0020_0513); // li a0,2
        machine.hart.set_register(12, CODE + 4);
        machine.go(2);
        assert_eq!(machine.x(10), 1);
        machine.go(4);
        assert_eq!(machine.x(10), 2, "{}", fence.0);
    }
    // Half of an instruction that crosses into the next page.
    let mut machine = Machine::new(Xlen::Rv64);
    let at = CODE + 0xffe;
    machine.place(
        at,
        &[("li a0,1", 0x0010_0513), ("sh a1,0(a2)", 0x00b6_1023), ("j .-8", 0xff9f_f06f)],
    );
    machine.hart.set_register(11, 0x0020); // the upper half of li a0,2
    machine.hart.set_register(12, at + 2);
    machine.hart.set_pc(at);
    machine.go(1);
    assert_eq!(machine.x(10), 1);
    machine.go(3);
    assert_eq!(machine.x(10), 2);
}
