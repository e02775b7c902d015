//! A bundled program makes the round trip, with nothing but the library.

use hartrace_sources::executed::round::{Line, RoundError, Table, Trial};
use hartrace_sources::executed::{Problem, Program, modes};

const CALLS: &[u8] = include_bytes!("../../../tests/programs/elf/calls.elf");

#[test]
fn every_instruction_comes_back() {
    let program = Program::new("calls", CALLS.to_vec()).unwrap();
    assert!(program.is_bare() && program.knows_trap_vectors());
    let named = |name| modes::named(name).unwrap();
    let modes = [named("delta"), named("ir")];
    let trial = Trial { program: &program, modes: &modes, limit: 20_000 };
    let mut half_words = 0;
    let lines = trial
        .run::<RoundError>(
            |_| Ok(None),
            |rows| {
                half_words += rows.iter().map(|row| u64::from(row.iretire)).sum::<u64>();
                Ok(())
            },
        )
        .unwrap();
    assert!(lines.iter().all(Line::is_verified), "{lines:?}");
    assert!(lines.iter().all(|line| line.figures.decoded == line.instructions));
    assert!((lines[0].instructions..=2 * lines[0].instructions).contains(&half_words));
    let bytes = |line: &Line| line.figures.bytes;
    assert!(bytes(&lines[1]) < bytes(&lines[0]), "returns need no packets");

    let mut out = Vec::new();
    let mut table = Table::new(&mut out, false);
    assert!(table.print(&lines).unwrap());
    let mut missing = lines[0].clone();
    missing.figures.decoded -= 1;
    assert!(!table.print(&[missing]).unwrap());
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
