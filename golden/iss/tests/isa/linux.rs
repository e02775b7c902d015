//! Linux programs.

use crate::machine::{Code, Screen, elf};
use hartrace_iss::{Environment, Exit, Hart, HartConfig, LoadError, Step, Xlen};

fn hart(xlen: Xlen) -> Hart {
    let environment =
        Environment::Linux { arguments: vec!["program".to_owned()], variables: Vec::new() };
    Hart::new(HartConfig { xlen, environment, ..HartConfig::default() })
}

/// `a0` after the call, or how the program ended.
fn call(xlen: Xlen, number: u64, arguments: &[u64]) -> Result<u64, Exit> {
    let mut hart = hart(xlen);
    hart.load_elf(&elf(xlen, 0x1_0000, &[("ecall", 0x0000_0073), ("j .", 0x0000_006f)]))
        .expect("a program");
    hart.set_register(17, number);
    arguments.iter().zip(10..).for_each(|(&value, register)| hart.set_register(register, value));
    match hart.run(1, &mut |_: &Step| {}) {
        Exit::Limit => Ok(hart.registers().x[10]),
        exit => Err(exit),
    }
}

fn error(number: i64) -> Result<u64, Exit> {
    Ok(-number as u64)
}

#[test]
fn prints_its_name_and_ends() {
    // The first argument is where the stack points, and is eight bytes long.
    let wide = [
        ("ld a1,8(sp)", 0x0081_3583),
        ("li a0,1", 0x0010_0513),
        ("li a2,7", 0x0070_0613),
        ("li a7,64", 0x0400_0893),
        ("ecall", 0x0000_0073),
        ("li a0,3", 0x0030_0513),
        ("li a7,93", 0x05d0_0893),
        ("ecall", 0x0000_0073),
    ];
    let mut narrow = wide;
    narrow[0] = ("lw a1,4(sp)", 0x0041_2583);
    for (xlen, code) in [(Xlen::Rv64, wide), (Xlen::Rv32, narrow)] {
        let screen = Screen::default();
        let mut hart = hart(xlen);
        hart.set_console(Box::new(screen.clone()));
        hart.load_elf(&elf(xlen, 0x1_0000, &code)).expect("a program");
        let mut steps = Vec::new();
        assert_eq!(hart.run(100, &mut |step: &Step| steps.push(*step)), Exit::Exited(3));
        assert_eq!(screen.text(), "program");
        let trap = steps[4].trap.expect("a trap");
        assert_eq!((steps.len(), trap.cause, steps[4].next_pc), (8, 8, steps[4].pc + 4));
        assert!(steps.iter().all(|step| step.privilege.0 == 0));
    }
}

#[test]
fn calls_with_odd_arguments() {
    let most = u64::MAX;
    let anonymous = 0x22;
    let table: &[(u64, &[u64], Result<u64, Exit>)] = &[
        (222, &[0, 4096, 3, anonymous, most, 0], Ok(0x4000_0000)),
        // A mapping that would wrap around the end of the address space.
        (222, &[0, most - 0x4000_0000, 3, anonymous], error(12)),
        (222, &[0, most, 3, anonymous], error(12)),
        (222, &[0, 0, 3, anonymous], error(22)),
        (222, &[0x1000, 4096, 3, anonymous | 0x10], error(22)),
        (222, &[0, 4096, 3, 2, 3], error(9)),
        (129, &[1, 0], Ok(0)),
        (129, &[1, 0x7fff_ffff], Err(Exit::Exited(255))),
        (131, &[1, 1, 6], Err(Exit::Exited(134))),
        (64, &[1, 0, 1], error(14)),
        (64, &[1, most, most], error(14)),
        (64, &[9, 0x1_0000, 1], error(9)),
        (66, &[1, most, 1], error(14)),
        (278, &[0, 16], error(14)),
        (278, &[0x1_0000, 16], Ok(16)),
        (113, &[0, most], error(14)),
        (5000, &[], error(38)),
    ];
    for &(number, arguments, want) in table {
        let found = call(Xlen::Rv64, number, arguments);
        assert_eq!(found, want, "{number} {arguments:x?}: {found:x?}");
    }
    assert_eq!(call(Xlen::Rv32, 222, &[0, 0xffff_ffff, 3, anonymous]), error(12));
}

#[test]
fn files_that_are_no_programs_for_it() {
    let program: &[Code] = &[("nop", 0x0000_0013)];
    let wide = elf(Xlen::Rv64, 0x1_0000, program);
    let load = |xlen, bytes: &[u8]| hart(xlen).load_elf(bytes).map(|entry| entry.pc);
    assert_eq!(load(Xlen::Rv64, &wide), Ok(0x1_0000));
    assert_eq!(load(Xlen::Rv32, &wide), Err(LoadError::WrongClass { hart: Xlen::Rv32 }));
    assert!(matches!(load(Xlen::Rv64, b"#!/bin/sh"), Err(LoadError::NotElf(_))));
    let mut other = wide.clone();
    other[18] = 62;
    assert_eq!(load(Xlen::Rv64, &other), Err(LoadError::WrongMachine(62)));
    let far = elf(Xlen::Rv64, u64::MAX - 100, program);
    assert!(matches!(load(Xlen::Rv64, &far), Err(LoadError::OutsideMemory { .. })));
}
