//! A bundled program makes the round trip, with nothing but the library.

use hartrace_executions::executed::round::{Line, RoundError, Table, Trial};
use hartrace_executions::executed::{Problem, Program, modes};

const CALLS: &[u8] = include_bytes!("../../tests/programs/elf/calls.elf");

#[test]
fn every_instruction_comes_back() {
    let program = Program::new("calls", CALLS.to_vec()).unwrap();
    assert!(program.is_bare() && program.knows_trap_vectors());
    let named = |name| modes::named(name).unwrap();
    let modes = [named("delta"), named("ir")];
    let trial = Trial { program: &program, modes: &modes, limit: 20_000 };
    let mut half_words = 0;
    let mut lines = trial
        .run::<RoundError>(
            |_| Ok(None),
            |rows| {
                half_words += rows.iter().map(|row| u64::from(row.iretire)).sum::<u64>();
                Ok(())
            },
        )
        .unwrap()
        .lines;
    assert!(lines.iter().all(Line::is_verified), "{lines:?}");
    assert!(lines.iter().all(|line| line.figures.decoded == line.instructions));
    assert!((lines[0].instructions..=2 * lines[0].instructions).contains(&half_words));
    let bytes = |line: &Line| line.figures.bytes;
    assert!(bytes(&lines[1]) < bytes(&lines[0]), "returns need no packets");

    let mut out = Vec::new();
    let mut table = Table::new(&mut out, false);
    assert!(table.print(&lines).unwrap());
    lines[0].figures.decoded -= 1;
    assert!(!table.print(&lines[..1]).unwrap());
    let text = String::from_utf8(out).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.ends_with("NO: another number of instructions"), "{text}");
}

#[test]
fn errors_name_the_program() {
    let error = Program::new("text", b"no ELF file".to_vec()).unwrap_err();
    assert!(matches!(error.problem, Problem::Elf(_)));
    assert!(error.to_string().starts_with("text: not an ELF file: "), "{error}");
    let program = Program::of_file("a/calls.elf".as_ref(), CALLS.to_vec()).unwrap();
    assert_eq!(program.name(), "calls");
    let error = program.arguments(&["x".into()]).unwrap_err();
    assert_eq!(error.to_string(), "a/calls.elf: a bare-metal program takes no arguments");
}

/// An ELF file with one segment: this code, from its first instruction on.
fn elf(code: &[u16]) -> Vec<u8> {
    let mut file = vec![0; 120];
    file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
    let size = 2 * code.len() as u64;
    let mut put = |at: usize, value: u64, len: usize| {
        file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    // e_type, e_machine, e_version, e_entry, e_phoff, e_ehsize, e_phentsize, e_phnum, e_shentsize
    for (at, value, len) in [(16, 2, 2), (18, 243, 2), (20, 1, 4), (24, 0x10000, 8), (32, 64, 8)] {
        put(at, value, len);
    }
    for (at, value) in [(52, 64), (54, 56), (56, 1), (58, 64)] {
        put(at, value, 2);
    }
    // p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz
    for (at, value, len) in [(64, 1, 4), (68, 5, 4), (72, 120, 8), (80, 0x10000, 8)] {
        put(at, value, len);
    }
    for (at, value) in [(88, 0x10000), (96, size), (104, size)] {
        put(at, value, 8);
    }
    file.extend(code.iter().flat_map(|half| half.to_le_bytes()));
    file
}

/// Most bare-metal programs end in a loop without a branch. No trace says how often it was executed.
#[test]
fn a_program_may_end_in_a_loop() {
    // c.nop; c.nop; loop: c.nop; c.j loop
    let program = Program::new("loop", elf(&[0x0001, 0x0001, 0x0001, 0xbffd])).unwrap();
    let modes = [modes::named("delta").unwrap(), modes::named("ir+bp").unwrap()];
    // Long enough that it would be noticed if every turn used memory.
    let trial = Trial { program: &program, modes: &modes, limit: 1_000_001 };
    let lines = trial.run::<RoundError>(|_| Ok(None), |_| Ok(())).unwrap().lines;
    for line in &lines {
        assert_eq!(line.figures.difference, None);
        assert!(line.is_verified(), "{line:?}");
        assert_eq!(line.figures.decoded + line.figures.idle, line.instructions);
        assert!(line.figures.idle > 999_000, "{line:?}");
    }
    let mut out = Vec::new();
    assert!(Table::new(&mut out, false).print(&lines).unwrap());
    let text = String::from_utf8(out).unwrap();
    let said = "yes, up to the limit, but for 999998 in loops without branches, whose turns no trace tells\n";
    assert!(text.contains(said), "{text}");
    // A loop with a branch in it is in the trace.
    // loop: c.nop; c.beqz a1,.+4; c.nop; c.j loop
    let code = [0x0001, 0xc191, 0x0001, 0xbfed];
    let program = Program::new("branch", elf(&code)).unwrap();
    let trial = Trial { program: &program, modes: &modes, limit: 10_000 };
    let lines = trial.run::<RoundError>(|_| Ok(None), |_| Ok(())).unwrap().lines;
    assert!(lines.iter().all(Line::is_verified), "{lines:?}");
    assert!(lines.iter().all(|line| line.figures.idle < 8), "{lines:?}");
}
