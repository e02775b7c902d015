//! Threads and mappings of Linux programs.

use crate::linux::{Caller, hart};
use crate::machine::{Code, elf};
use hartrace_etrace::ingress::IType;
use hartrace_iss::{Exit, Mapping, Step, Xlen};

/// Flags of `clone` for a thread.
const THREAD: u64 = 0x1_0900;

/// A thread is started, which counts for ever. The first counts as far as `s2` says and ends.
fn program(end: Code) -> Vec<u8> {
    let code = [
        ("ecall", 0x0000_0073),
        ("bnez a0,.+12", 0x0005_1663),
        ("addi s0,s0,1", 0x0014_0413),
        ("j .-4", 0xffdf_f06f),
        ("addi s1,s1,1", 0x0014_8493),
        ("bne s1,s2,.-4", 0xff24_9ee3),
        end,
        ("li a0,7", 0x0070_0513),
        ("ecall", 0x0000_0073),
    ];
    elf(Xlen::Rv64, 0x1_0000, &code)
}

/// Executes it for as many steps.
fn run(end: Code, flags: u64, turns: u64, limit: u64) -> (Exit, Vec<Step>) {
    let mut hart = hart(Xlen::Rv64);
    hart.load_elf(&program(end)).expect("a program");
    for (register, value) in [(17, 220), (10, flags), (11, 0x7f40_0000), (18, turns)] {
        hart.set_register(register, value);
    }
    let mut steps = Vec::new();
    let exit = hart.run(limit, &mut |step: &Step| steps.push(*step));
    (exit, steps)
}

const EXIT: Code = ("li a7,93", 0x05d0_0893);
const EXIT_GROUP: Code = ("li a7,94", 0x05e0_0893);

#[test]
fn threads_take_turns_at_traps() {
    let (exit, steps) = run(EXIT_GROUP, THREAD, 100_000, 1 << 30);
    assert_eq!(exit, Exit::Exited(7));
    let mut turns = vec![0];
    for pair in steps.windows(2) {
        let [before, after] = pair else { continue };
        assert_eq!(before.next_pc, after.pc);
        if before.context != after.context {
            assert!(before.kind.is_trap(), "{before:?}");
            turns.push(0);
        }
        *turns.last_mut().expect("a turn") += u64::from(after.retires);
    }
    assert_eq!(steps.iter().map(|step| step.context).max(), Some(1));
    // The first slice starts with the thread, and the last ends with the program.
    let (last, all) = turns.split_last().expect("turns");
    assert!(all.len() > 10 && *last <= 20_000, "{turns:?}");
    assert!(all.iter().all(|turn| *turn == 20_000), "{turns:?}");
    let timer = steps.iter().find(|step| step.kind == IType::Interrupt).and_then(|step| step.trap);
    assert!(timer.is_some_and(|trap| trap.cause == 5 && trap.epc >= 0x1_0000));
    assert_eq!(run(EXIT_GROUP, THREAD, 100_000, 1 << 30).1, steps, "every run is the same");
}

/// A program goes on without its first thread. Another process is refused.
#[test]
fn ends_of_threads_and_processes() {
    let (exit, steps) = run(EXIT, THREAD, 10, 100_000);
    assert_eq!(exit, Exit::Limit);
    assert!(steps.last().is_some_and(|step| step.context == 1));
    let (exit, steps) = run(EXIT, 17, 10, 100_000);
    assert!(matches!(exit, Exit::NewProcess { .. }), "{exit:?}");
    assert_eq!(steps.len(), 1);
}

#[test]
fn futexes_of_one_thread() {
    let word = Caller::BUFFER;
    let mut caller = Caller::new(Xlen::Rv64);
    let time = word + 64;
    let table: &[(&[u64], i64)] = &[
        (&[word, 0, 1, 0], -11),
        (&[word + 1, 0, 0, 0], -22),
        (&[16, 0, 0, 0], -14),
        (&[word, 1, 1, 0], 0),
        (&[word, 9, 0, 0, 0, 0], -22),
        (&[word, 10, 0, 0, 0, 0], -22),
        (&[word, 3, 1, 1, word + 8, 0], 0),
        (&[word, 4, 1, 1, word + 8, 5], -11),
        (&[word, 6, 0, 0], -38),
        // Waits for a microsecond, and for a time that is over.
        (&[word, 0x80, 0, time], -110),
        (&[word, 0x89, 0, time, 0, 1], -110),
        (&[word, 0, 0, 16], -14),
    ];
    assert!(caller.hart.write_memory(time + 8, &1000_u64.to_le_bytes()));
    for (arguments, want) in table {
        assert_eq!(caller.call(98, arguments), *want, "{arguments:x?}");
    }
    // Sets the word to 3, and would wake others.
    assert_eq!(caller.call(98, &[word + 8, 5, 1, 1, word, 3 << 12]), 0);
    assert_eq!(caller.bytes(word, 4), 3_u32.to_le_bytes());
    assert_eq!(caller.call(178, &[]), 1);
    assert_eq!(caller.call(101, &[time, 0]), 0);
    caller.hart.set_register(17, 98);
    for (register, value) in [(10, word), (11, 0), (12, 3), (13, 0)] {
        caller.hart.set_register(register, value);
    }
    let exit = caller.hart.run(2, &mut |_: &Step| {});
    assert!(matches!(exit, Exit::Deadlock { threads: 1, .. }), "{exit:?}");
}

#[test]
fn files_are_mapped() {
    const HERE: u64 = -100_i64 as u64;
    let mut caller = Caller::new(Xlen::Rv64);
    let name = caller.name("a.txt");
    let file = caller.call(56, &[HERE, name, 0]) as u64;
    let (read, execute, private, fixed) = (1, 5, 2, 0x10);
    let first = caller.call(222, &[0, 8192, execute, private, file, 0]) as u64;
    assert_eq!(caller.bytes(first, 12), b"0123456789\0\0");
    let mapping = Mapping { file: "a.txt".into(), address: first, size: 8192, offset: 0 };
    assert_eq!(caller.hart.mapped_code(), [mapping]);
    // Beyond its end, at a fixed address, and for others to see.
    assert_eq!(caller.call(222, &[first, 4096, read, private | fixed, file, 4096]) as u64, first);
    assert_eq!(caller.bytes(first, 4), [0; 4]);
    assert_eq!(caller.call(222, &[0, 4096, 3, 1, file, 0]), -13);
    assert_eq!(caller.call(222, &[0, 4096, read, private, file, 1]), -22);
    // Memory is used again and is zero; addresses of code are not.
    let second = caller.call(222, &[0, 4096, 3, 0x22, 0, 0]) as u64;
    assert_eq!(second, first + 8192);
    assert!(caller.hart.write_memory(second, b"text"));
    assert_eq!(caller.call(215, &[first, 3 * 4096]), 0);
    assert_eq!(caller.call(222, &[0, 4096, 3, 0x22, 0, 0]) as u64, second);
    assert_eq!(caller.bytes(second, 4), [0; 4]);
}
