//! Logs of Spike, as versions since 2015 write them, and broken ones.

use hartrace_etrace::ingress::{IType, Privilege};
use hartrace_executions::{Format, Guesses, Options, Retired, Source};
use hartrace_isa::Xlen;

const OPTIONS: Options = Options {
    format: Some(Format::Spike),
    xlen: None,
    hart: 0,
    flavour: hartrace_etrace::ingress::Flavour::Single,
    itype_width: hartrace_etrace::ingress::ITypeWidth::Four,
};

/// A loop, a call by constant and jump, an illegal instruction and an interrupt, with every kind of
/// line that Spike can write, and another hart in between.
const FULL: &str = "\
warning: something that the program printed
core   0: 0x0000000000001000 (0x00000297) auipc   t0, 0x0
core   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000
core   0: 0x0000000000001004 (0x00028067) jr      t0
core   0: 3 0x0000000000001004 (0x00028067)
core   1: 3 0x0000000000009000 (0x0001)
core   0: >>>>  _start
core   0: 0x0000000080000000 (0x000015fd) c.addi  a1, -1
core   0: 3 0x0000000080000000 (0x15fd) x11 0x0000000000000000
core   0: 0x0000000080000002 (0xfedff06f) j       pc - 0x14
core   0: 3 0x0000000080000002 (0xfe059fe3)
core   0: 3 0x0000000080000000 (0x15fd) x11 0x0000000000000001 mem 0x0000000080001000
core   0: 3 0x0000000080000002 (0xfe059fe3) c768_mstatus 0x8000000a00006000 f16 0x7ff8000000000000
core   0: 0x0000000080000006 (0x00000000) c.unimp
core   0: exception trap_illegal_instruction, epc 0x0000000080000006
core   0:           tval 0x0000000000000000
core   0: 3 0x0000000080000100 (0x30200073)
core   0: exception interrupt #7, epc 0x0000000080000008
core   0: 1 0x0000000080000200 (0x8082)
";

type Read = (Vec<Retired>, Guesses);

fn read(text: &str, options: &Options) -> Result<Read, String> {
    let list = || {
        let mut source = Source::new(text.as_bytes(), "spike.log", options)?;
        let mut rows = Vec::new();
        while let Some(row) = source.next_row()? {
            rows.push(row.retired);
        }
        Ok((rows, source.guesses()))
    };
    list().map_err(|error: hartrace_executions::SourceError| error.to_string())
}

fn rows(text: &str) -> Result<Read, String> {
    read(text, &OPTIONS)
}

fn shape(rows: &[Retired]) -> Vec<(u64, IType, u64)> {
    rows.iter().map(|row| (row.iaddr, row.itype, row.cause)).collect()
}

#[test]
fn everything_that_spike_writes() {
    let (rows, guesses) = rows(FULL).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.iaddr, row.itype, row.iretire)).collect();
    let expected = [
        (0x1000, IType::None, 2),
        // t0 is a link register
        (0x1004, IType::Return, 2),
        (0x8000_0000, IType::None, 1),
        (0x8000_0002, IType::Taken, 2),
        (0x8000_0000, IType::None, 1),
        (0x8000_0002, IType::NotTaken, 2),
        (0x8000_0006, IType::Exception, 0),
        (0x8000_0100, IType::TrapReturn, 2),
        (0x8000_0008, IType::Interrupt, 0),
        (0x8000_0200, IType::Return, 1),
    ];
    assert_eq!(found, expected);
    assert!(rows[1].sijump && !rows[9].sijump);
    assert_eq!((rows[6].cause, rows[8].cause), (2, 7));
    assert_eq!((rows[8].privilege, rows[9].privilege), (Privilege::M, Privilege::S));
    assert_eq!(guesses, Guesses::default());
}

/// Before September 2020 commits did not name the hart, and before 2017 tval had another name.
#[test]
fn older_versions() {
    let number = |line: &str| match line.split_once(": 3 ").or_else(|| line.split_once(": 1 ")) {
        Some((_, rest)) => format!("{} {rest}\n", if line.contains(": 1 ") { 1 } else { 3 }),
        None => format!("{}\n", line.replace("tval", "badaddr")),
    };
    let old: String =
        FULL.lines().filter(|line| !line.starts_with("core   1")).map(number).collect();
    assert!(old.contains("\n3 0x0000000080000002 (0xfe059fe3)\n") && old.contains(" badaddr 0x"));
    assert_eq!(rows(&old), rows(FULL));
    // The hart of a commit is that of the previous line.
    let two = "core   1: 0x0000000000001000 (0x00000013) nop\n3 0x0000000000001000 (0x00000013)\n\
               core   0: 0x0000000000002000 (0x00000013) nop\n3 0x0000000000002000 (0x00000013)\n";
    assert_eq!(shape(&rows(two).unwrap().0), [(0x2000, IType::None, 0)]);
    let one = read(two, &Options { hart: 1, ..OPTIONS }).unwrap().0;
    assert_eq!(shape(&one), [(0x1000, IType::None, 0)]);
}

#[test]
fn started_instructions_alone() {
    let text = "\
core   0: 0x0000000080000000 (0x00000013) nop
core   0: 0x0000000080000004 (0x00000073) ecall
core   0: exception trap_user_ecall, epc 0x0000000080000004
core   0: 0x0000000080000100 (0x00000013) nop
";
    let (rows, _) = rows(text).unwrap();
    let trap = (0x8000_0004, IType::Exception, 8);
    assert_eq!(shape(&rows), [(0x8000_0000, IType::None, 0), trap, (0x8000_0100, IType::None, 0)]);
    assert_eq!(rows[1].privilege, Privilege::U);
}

/// With `-l`, a jump to itself is printed once, followed by how often it was executed. If an
/// interrupt ended it, that line follows the interrupt.
#[test]
fn loops_that_are_not_repeated() {
    let text = "\
core   0: 0x0000000080000000 (0x0000006f) j       pc + 0x0
core   0: exception interrupt #7, epc 0x0000000080000000
core   0: >>>>  handler
core   0: Executed 3 times
core   0: 0x0000000080000100 (0x0000a001) c.j     pc + 0
core   0: Executed 2 times
core   0: 0x0000000080000200 (0x00000013) nop
";
    let (rows, _) = rows(text).unwrap();
    let (jump, short) =
        ((0x8000_0000, IType::InferableTailCall, 0), (0x8000_0100, IType::InferableTailCall, 0));
    let expected = [jump, jump, jump, (0x8000_0000, IType::Interrupt, 7), short, short];
    // The last one led elsewhere, without an explanation.
    assert_eq!(shape(&rows)[..6], expected);
    // All commits are present.
    let both = "core   0: 0x0000000080000000 (0x0000006f) j       pc + 0x0\n\
                core   0: 3 0x0000000080000000 (0x0000006f)\n\
                core   0: 3 0x0000000080000000 (0x0000006f)\n\
                core   0: Executed 2 times\n";
    assert_eq!(self::rows(both).unwrap().0.len(), 2);
    let alone = "core   0: Executed 4000000000 times\n";
    assert_eq!(self::rows(alone).unwrap().0.len(), 0);
    let damaged = "core   0: Executed 99999999999999 times\n";
    assert!(self::rows(damaged).unwrap_err().contains("cannot understand"));
}

/// A vector load that faults at its second element is logged as retired, and then as trapping.
#[test]
fn vector_accesses_that_trap_have_not_retired() {
    let text = "\
core   0: 3 0x0000000080000000 (0x00000013)
core   0: 0x0000000080000004 (0x02056007) vle32.v v0, (a0)
core   0: 3 0x0000000080000004 (0x02056007) e32 m1 l4 v0  0x00000000000000000000000000000001
core   0: exception trap_load_page_fault, epc 0x0000000080000004
core   0:           tval 0x0000000080003000
core   0: 3 0x0000000080000100 (0x30200073)
";
    let (rows, guesses) = rows(text).unwrap();
    let trap = (0x8000_0004, IType::Exception, 13);
    let expected = [(0x8000_0000, IType::None, 0), trap, (0x8000_0100, IType::TrapReturn, 0)];
    assert_eq!((shape(&rows), guesses), (expected.into(), Guesses::default()));
    assert_eq!(rows[1].tval, 0x8000_3000);
}

#[test]
fn commits_alone_show_traps_as_gaps() {
    let text = "\
core   0: 3 0x0000000080000000 (0x00000013)
core   0: 3 0x0000000080000100 (0x00000013)
core   0: 3 0x0000000080000104 (0xfe059ee3)
";
    let (rows, guesses) = rows(text).unwrap();
    let trap = rows[1];
    assert_eq!((trap.itype, trap.iaddr, trap.iretire), (IType::Exception, 0x8000_0004, 0));
    assert_eq!((guesses.traps, guesses.open_end), (1, true));
}

/// The tracer of CVA6 writes the old form, its own forms of traps, and nothing about interrupts
/// except where a handler starts.
#[test]
fn the_tracer_of_cva6() {
    let text = "\
*** [rvfi_tracer] WARNING No valid address of 'tohost'
core   0: 0x0000000080000000 (0x00000013) DASM(00000013)
3 0x0000000080000000 (0x00000013)
ENV_CALL_MMODE exception @ 0x0000000080000004 (0x00000073)
core   0: 0x0000000080000100 (0x00000013) DASM(00000013)
3 0x0000000080000100 (0x00000013) x 5 0x0000000080000000
core   INTERRUPT 0: 0x0000000080000200 (0x00006108) DASM(00006108)
3 0x0000000080000200 (0x6108) x10 0x0000000000000001 mem 0x0000000080001000
exception : 0x0000000080000202
";
    let (rows, guesses) = rows(text).unwrap();
    let expected = [
        (0x8000_0000, IType::None, 0),
        (0x8000_0004, IType::Exception, 11),
        (0x8000_0100, IType::None, 0),
        (0x8000_0104, IType::Interrupt, 0),
        (0x8000_0200, IType::None, 0),
        (0x8000_0202, IType::Exception, 0),
    ];
    assert_eq!(shape(&rows), expected);
    assert_eq!(guesses.traps, 2);
}

/// Addresses are as wide as registers, which determines the meaning of `c.jal`.
#[test]
fn width_of_registers() {
    let narrow =
        "core   0: 3 0x80000000 (0x2009) x1  0x80000002\ncore   0: 3 0x80000002 (0x0001)\n";
    assert_eq!(rows(narrow).unwrap().0[0].itype, IType::InferableCall);
    let rv64 = Options { xlen: Some(Xlen::Rv64), ..OPTIONS };
    assert_eq!(read(narrow, &rv64).unwrap().0[0].itype, IType::None);
    // Until 2021 they had 16 digits, with the sign.
    let old = narrow.replace("0x80000000 (", "0xffffffff80000000 (");
    let rv32 = Options { xlen: Some(Xlen::Rv32), ..OPTIONS };
    assert_eq!(read(&old, &rv32).unwrap().0[0].iaddr, 0x8000_0000);
}

#[test]
fn what_programs_print_in_between() {
    let text = "core 0: booting\nno line end: core   0: 3 0x0000000080000000 (0x00000013)\n\
                (spike) core   0: 3 0x0000000080000004 (0x00000013)\ncore dumped\n";
    let (rows, _) = rows(text).unwrap();
    assert_eq!(shape(&rows), [(0x8000_0000, IType::None, 0), (0x8000_0004, IType::None, 0)]);
}

#[test]
fn errors_say_where_and_what_to_try() {
    let good = "core   0: 3 0x80000000 (0x00000013)\n";
    for (bad, what) in [
        ("core   0: 3 0x8000000g (0x00000013)\n", "spike.log:2: cannot understand `core   0: 3"),
        ("core   0: 3 0x80000000\n", "cannot understand"),
        ("core   0: exception trap_of_a_new_kind, epc 0x0\n", "cannot understand"),
        ("core   0: 3 0x80000000 (0x000", "spike.log:2: ends within a line; try: a complete"),
        (&"x".repeat(70_000), "longer than 65536 bytes"),
    ] {
        let error = rows(&format!("{good}{bad}")).unwrap_err();
        assert!(error.contains(what) && error.contains("; try: "), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
    for text in ["", "hello\n", "core   1: 3 0x80000000 (0x00000013)\n"] {
        assert!(rows(text).unwrap_err().contains("no line of hart 0"));
    }
    let mut binary = Source::new(&b"core\xff\n"[..], "x", &OPTIONS).unwrap();
    assert!(binary.next_row().unwrap_err().to_string().starts_with("x:1: not text"));
}
