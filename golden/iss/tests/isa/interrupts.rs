//! The CLINT, interrupts, waiting.

use crate::machine::{CODE, M, M_HANDLER, Machine, S, S_HANDLER, U, csr};
use hartrace_etrace::ingress::IType;
use hartrace_iss::{Clock, Exit, HartConfig, Xlen};

const MSIP: u64 = 0x200_0000;
const MTIMECMP: u64 = 0x200_4000;
const MTIME: u64 = 0x200_bff8;
const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
const SIE: u64 = 1 << 1;

/// One tick per instruction.
fn machine() -> Machine {
    Machine::with(HartConfig { clock: Clock::Instructions(1), ..HartConfig::default() })
}

#[test]
fn software_interrupt_is_taken_after_the_store() {
    let mut machine = machine();
    machine
        .place(CODE, &[("sw a2,0(a1)", 0x00c5_a023), ("nop", 0x0000_0013), ("j .", 0x0000_006f)]);
    machine.hart.set_register(11, MSIP);
    machine.hart.set_register(12, 1);
    machine.set_csr(csr::MIE, 1 << 3);
    machine.set_csr(csr::MSTATUS, MIE);
    machine.go(2);
    let step = machine.steps[1];
    assert_eq!((step.kind, step.pc, step.next_pc), (IType::Interrupt, CODE + 4, M_HANDLER));
    assert_eq!((step.retires, step.retired().iretire), (false, 0));
    let trap = step.trap.expect("a trap");
    assert_eq!((trap.cause, trap.interrupt, trap.epc), (3, true, CODE + 4));
    assert_eq!(machine.csr(csr::MCAUSE), 1 << 63 | 3);
    assert_eq!(machine.csr(csr::MIP), 1 << 3);
    assert_eq!(machine.csr(csr::MSTATUS) & (MIE | MPIE), MPIE);
}

#[test]
fn vectored_handlers() {
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        let mut machine = Machine::new(xlen);
        machine.set_csr(csr::MTVEC, M_HANDLER | 1);
        machine.place(CODE, &[("c.unimp", 0)]);
        machine.go(1);
        assert_eq!(machine.pc(), M_HANDLER, "exceptions go to the base");
        machine.hart.set_pc(CODE);
        machine.place(
            CODE,
            &[
                ("csrw mie,a1", 0x3045_9073),
                ("csrw mip,a1", 0x3445_9073),
                ("csrw mstatus,a2", 0x3006_1073),
            ],
        );
        machine.hart.set_register(11, 1 << 9);
        machine.hart.set_register(12, MIE);
        machine.go(4);
        assert_eq!(machine.pc(), M_HANDLER + 4 * 9);
        let bit = if xlen == Xlen::Rv32 { !0 << 31 } else { 1 << 63 };
        assert_eq!(machine.csr(csr::MCAUSE), bit | 9);
    }
}

#[test]
fn the_timer_interrupts_a_loop_on_time() {
    let mut machine = machine();
    machine.set_csr(csr::MIE, 1 << 7);
    machine.place(
        CODE,
        &[("sd a2,0(a1)", 0x00c5_b023), ("csrw mstatus,a3", 0x3006_9073), ("j .", 0x0000_006f)],
    );
    machine.hart.set_register(11, MTIMECMP);
    machine.hart.set_register(12, machine.hart.retired() + 10);
    machine.hart.set_register(13, MIE);
    let start = machine.hart.retired();
    machine.go(11);
    let step = machine.steps[10];
    assert_eq!((step.kind, step.pc), (IType::Interrupt, CODE + 8));
    assert_eq!(machine.hart.retired() - start, 10);
    assert_eq!(step.trap.map(|trap| trap.cause), Some(7));
}

#[test]
fn the_caller_says_when_the_timer_interrupts() {
    let clock = Clock::Instructions(u64::MAX);
    let mut machine = Machine::with(HartConfig { clock, ..HartConfig::default() });
    machine
        .place(CODE, &[("sd a2,0(a1)", 0x00c5_b023), ("nop", 0x0000_0013), ("j .-4", 0xffdf_f06f)]);
    machine.hart.set_register(11, MTIMECMP);
    machine.hart.set_register(12, 10);
    machine.set_csr(csr::MIE, 1 << 7);
    machine.set_csr(csr::MSTATUS, MIE);
    machine.go(1000);
    assert!(machine.steps.iter().all(|step| step.kind != IType::Interrupt), "time stands still");
    machine.hart.set_time(10);
    machine.go(1);
    let trap = machine.trap().expect("a trap");
    assert_eq!((trap.interrupt, trap.cause, trap.epc), (true, 7, machine.steps[0].pc));
    // Back to the previous state: nothing is pending any more.
    assert_eq!(machine.csr(csr::MIP), 1 << 7);
    machine.hart.set_time(0);
    assert_eq!(machine.csr(csr::MIP), 0);
}

#[test]
fn waiting_moves_time_on() {
    let mut machine = machine();
    machine.set_csr(csr::MIE, 1 << 7);
    let code = [
        ("sd a2,0(a1)", 0x00c5_b023),
        ("wfi", 0x1050_0073),
        ("ld a0,0(a3)", 0x0006_b503),
        ("csrw mie,zero", 0x3040_1073),
        ("nop", 0x0000_0013),
        ("wfi", 0x1050_0073),
    ];
    machine.place(CODE, &code);
    machine.hart.set_register(11, MTIMECMP);
    machine.hart.set_register(12, 1_000_000);
    machine.hart.set_register(13, MTIME);
    // Interrupts are disabled: the wait ends, but no interrupt is taken.
    let exit = machine.go(100);
    assert_eq!((machine.steps.len(), machine.trap()), (6, None));
    assert_eq!(machine.x(10), 1_000_000);
    assert_eq!(exit, Exit::Stuck { pc: CODE + 20 }, "where it waits");
}

#[test]
fn setting_the_timer_does_not_lose_time() {
    let mut machine = Machine::new(Xlen::Rv64);
    // Two instructions per round; a tick takes a hundred.
    machine.place(CODE, &[("sd a2,0(a1)", 0x00c5_b023), ("j .-4", 0xffdf_f06f)]);
    machine.hart.set_register(11, MTIMECMP);
    machine.hart.set_register(12, u64::MAX);
    machine.go(1000);
    machine.place(CODE, &[("csrr a0,time", 0xc010_2573)]);
    machine.hart.set_pc(CODE);
    machine.go(1);
    assert_eq!(machine.x(10), 10);
}

#[test]
fn levels_and_delegation() {
    // Delegated; level; mstatus; where it is taken, if it is.
    let table: &[(bool, u8, u64, Option<u64>)] = &[
        (false, M, 0, None),
        (false, S, 0, Some(M_HANDLER)),
        (false, U, 0, Some(M_HANDLER)),
        (true, M, MPIE, None),
        (true, S, 0, None),
        (true, S, SIE, Some(S_HANDLER)),
        (true, U, 0, Some(S_HANDLER)),
    ];
    for &(delegated, level, mstatus, handler) in table {
        let mut machine = machine();
        machine.set_csr(csr::MIDELEG, if delegated { 1 << 1 } else { 0 });
        machine.set_csr(csr::MIE, 1 << 1);
        machine.place(CODE, &[("nop", 0x0000_0013), ("j .", 0x0000_006f)]);
        machine.set_csr(csr::MIP, 1 << 1);
        // The interrupt may come as soon as the level changes.
        machine.enter(level, mstatus);
        let exit = machine.go(2);
        let place = format!("{delegated} {level} {mstatus:x}");
        match handler {
            Some(handler) => assert_eq!(machine.steps[0].next_pc, handler, "{place}"),
            None => assert_eq!(exit, Exit::Stuck { pc: CODE + 4 }, "{place}"),
        }
    }
}

#[test]
fn the_order_of_interrupts() {
    let all = 1 << 1 | 1 << 5 | 1 << 9;
    let mut machine = machine();
    machine.set_csr(csr::MIE, 0xaaa);
    machine.set_csr(csr::MIP, 0xfff);
    assert_eq!(machine.csr(csr::MIP), all, "the others belong to devices");
    let (mut pending, mut order) = (all, Vec::new());
    while pending != 0 {
        machine.set_csr(csr::MIP, pending);
        machine.enter(U, 0);
        machine.go(1);
        let cause = machine.trap().map_or(0, |trap| trap.cause);
        order.push(cause);
        pending &= !(1 << cause);
    }
    assert_eq!(order, [9, 1, 5]);
}
