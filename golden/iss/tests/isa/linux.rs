//! Linux programs.

use crate::machine::{Code, Screen, elf};
use hartrace_iss::{Environment, Exit, Hart, HartConfig, LoadError, Step, Xlen};

pub(crate) fn hart(xlen: Xlen) -> Hart {
    let environment = Environment::Linux {
        arguments: vec!["program".to_owned()],
        variables: Vec::new(),
        input: b"typed".to_vec(),
        files: vec![("a.txt".to_owned(), b"0123456789".to_vec())],
    };
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
        (222, &[0x1000, 4096, 3, anonymous | 0x10], error(12)),
        (222, &[0, 4096, 3, 2, 3], error(9)),
        (129, &[1, 0], Ok(0)),
        (129, &[1, 0x7fff_ffff], error(22)),
        (131, &[1, 1, 6], Err(Exit::Killed(6))),
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

/// A hart that makes one system call after the other, with memory for names and results.
pub(crate) struct Caller {
    pub(crate) hart: Hart,
    xlen: Xlen,
}

impl Caller {
    const NAME: u64 = 0x7f10_0000;
    pub(crate) const BUFFER: u64 = 0x7f20_0000;

    pub(crate) fn new(xlen: Xlen) -> Self {
        let mut hart = hart(xlen);
        // ecall, and back to it.
        let code = [("ecall", 0x0000_0073), ("j .-4", 0xffdf_f06f)];
        hart.load_elf(&elf(xlen, 0x1_0000, &code)).expect("a program");
        Self { hart, xlen }
    }

    pub(crate) fn name(&mut self, name: &str) -> u64 {
        assert!(self.hart.write_memory(Self::NAME, &[name.as_bytes(), b"\0"].concat()));
        Self::NAME
    }

    pub(crate) fn call(&mut self, number: u64, arguments: &[u64]) -> i64 {
        assert_eq!(self.ends(number, arguments), Exit::Limit, "{number} {arguments:x?}");
        match (self.hart.registers().x[10], self.xlen) {
            (value, Xlen::Rv32) => i64::from(value as i32),
            (value, _) => value as i64,
        }
    }

    /// Makes a call, and returns how the run ended.
    pub(crate) fn ends(&mut self, number: u64, arguments: &[u64]) -> Exit {
        self.hart.set_register(17, number);
        for (value, register) in arguments.iter().zip(10..) {
            self.hart.set_register(register, *value);
        }
        self.hart.run(2, &mut |_: &Step| {})
    }

    pub(crate) fn bytes(&self, at: u64, size: u64) -> &[u8] {
        self.hart.read_memory(at, size).expect("memory")
    }
}

#[test]
fn files_are_read() {
    const HERE: u64 = -100_i64 as u64;
    for xlen in [Xlen::Rv64, Xlen::Rv32] {
        let mut caller = Caller::new(xlen);
        let (buffer, far) = (Caller::BUFFER, Caller::BUFFER + 64);
        let name = caller.name("./a.txt");
        assert_eq!(caller.call(48, &[HERE, name, 4]), 0);
        // For reading, for writing, and created.
        let file = caller.call(56, &[HERE, name, 0]) as u64;
        assert_eq!(file, 3);
        assert_eq!(caller.call(56, &[HERE, name, 1]), -30);
        assert_eq!(caller.call(56, &[HERE, name, 0o100]), -30);
        assert_eq!(caller.call(63, &[file, buffer, 4]), 4);
        assert_eq!(caller.bytes(buffer, 4), b"0123");
        let seek = |caller: &mut Caller, offset: i64, whence: u64| match xlen {
            Xlen::Rv64 => caller.call(62, &[file, offset as u64, whence]),
            Xlen::Rv32 => {
                let halves = [(offset >> 32) as u32, offset as u32].map(u64::from);
                match caller.call(62, &[file, halves[0], halves[1], far, whence]) {
                    0 => {
                        let bytes = caller.bytes(far, 8).try_into().expect("eight bytes");
                        i64::from_le_bytes(bytes)
                    }
                    error => error,
                }
            }
        };
        assert_eq!(seek(&mut caller, 0, 1), 4);
        assert_eq!(seek(&mut caller, -3, 2), 7);
        assert_eq!(seek(&mut caller, 1, 1), 8);
        assert_eq!(seek(&mut caller, -1, 0), -22);
        assert_eq!(seek(&mut caller, 0, 3), -22);
        assert_eq!(caller.call(63, &[file, buffer, 100]), 2);
        assert_eq!(caller.bytes(buffer, 2), b"89");
        assert_eq!(caller.call(63, &[file, buffer, 100]), 0);
        // The size of the file, by descriptor and by name.
        assert_eq!(caller.call(80, &[file, buffer]), 0);
        assert_eq!(caller.bytes(buffer + 48, 8), 10_u64.to_le_bytes());
        assert_eq!(caller.call(79, &[HERE, name, buffer, 0]), 0);
        assert_eq!(caller.bytes(buffer + 48, 8), 10_u64.to_le_bytes());
        assert_eq!(caller.call(57, &[file]), 0);
        for (number, arguments) in
            [(57, vec![file]), (63, vec![file, buffer, 1]), (80, vec![file, buffer])]
        {
            assert_eq!(caller.call(number, &arguments), -9, "{number} after it was closed");
        }
        let name = caller.name("b.txt");
        assert_eq!(caller.call(56, &[HERE, name, 0]), -2);
        assert_eq!(caller.call(79, &[HERE, name, buffer, 0]), -2);
        assert_eq!(caller.call(48, &[HERE, name, 4]), -2);
        assert_eq!(caller.call(56, &[HERE, 16, 0]), -14);
    }
}

#[test]
fn standard_input_is_read_once() {
    let mut caller = Caller::new(Xlen::Rv64);
    let buffer = Caller::BUFFER;
    // Two pieces of memory: the second is larger than what is left.
    let words = [buffer, 2, buffer + 8, 100].map(u64::to_le_bytes).concat();
    assert!(caller.hart.write_memory(Caller::NAME, &words));
    assert_eq!(caller.call(65, &[0, Caller::NAME, 2]), 5);
    assert_eq!(caller.bytes(buffer, 2), b"ty");
    assert_eq!(caller.bytes(buffer + 8, 3), b"ped");
    assert_eq!(caller.call(63, &[0, buffer, 10]), 0);
    assert_eq!(caller.call(62, &[0, 0, 0]), -29);
    assert_eq!(caller.call(80, &[0, buffer]), 0);
}

#[test]
fn unknown_calls_are_remembered() {
    let mut caller = Caller::new(Xlen::Rv64);
    for number in [5000, 24, 172, 5000] {
        caller.call(number, &[]);
    }
    assert_eq!(caller.hart.unknown_calls().collect::<Vec<_>>(), [(24, 1), (5000, 2)]);
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
