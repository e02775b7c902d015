//! Programs with debug information, sections and names that refer to each other in any way, and descriptions with keys and
//! tables of any shape: all are read or refused, within a memory limit.
#![no_main]

use arbitrary::Arbitrary;
use hartrace_capture::description::Description;
use hartrace_capture::limits::{DEBUG_ANYWAY, DEBUG_PER_BYTE};
use hartrace_capture::programs::{Programs, Row};
use hartrace_isa::Xlen;
use hartrace_tests::hostile::{Abbreviation, Elf, Entry, Section, Unit, line_program};
use libfuzzer_sys::fuzz_target;
use std::fmt::Write;

/// The plain program that something is added to.
const PLAIN: &[u8] = include_bytes!("../../tests/programs/elf/calls.elf");

/// Where its code is.
const CODE: u64 = 0x8000_0000;

#[derive(Arbitrary, Debug)]
enum Input {
    Program(Shape),
    Description(Vec<Line>),
}

#[derive(Arbitrary, Debug)]
struct Shape {
    table: Vec<Abbreviated>,
    /// Each with where its table is, its entries, and how often it is there.
    units: Vec<(u8, Vec<Value>, u8)>,
    files: Vec<u8>,
    rows: u8,
    sections: Vec<Extra>,
    symbols: Vec<(u16, u8, u8)>,
    strings: Vec<u8>,
    /// Other sections of debug information.
    ranges: Vec<u8>,
    /// How often names and rows are repeated.
    times: u8,
}

#[derive(Arbitrary, Debug)]
struct Abbreviated {
    code: u8,
    tag: u8,
    parent: bool,
    attributes: Vec<(u8, u8)>,
    times: u8,
}

#[derive(Arbitrary, Debug)]
enum Value {
    Code(u8),
    Address(u8),
    Offset(u16),
    Bytes(Vec<u8>),
    /// The values so far once more, up to this number of times.
    Again(u8),
}

#[derive(Arbitrary, Debug)]
struct Extra {
    name: u8,
    kind: u8,
    flags: u8,
    address: u16,
    offset: u16,
    size: u16,
    times: u8,
}

#[derive(Arbitrary, Debug)]
enum Line {
    Key(Vec<u8>, u8),
    Table(Vec<u8>),
    Tables(Vec<u8>),
    Programs(u8),
    Vectors(u8),
}

/// Tags, attributes and forms that are read; others come as numbers.
const TAGS: [u16; 6] = [0x11, 0x2e, 0x1d, 0x34, 0x3c, 0x41];
const NAMES: [u16; 16] = [
    0x03, 0x10, 0x11, 0x12, 0x1b, 0x31, 0x3a, 0x3b, 0x47, 0x52, 0x55, 0x58, 0x59, 0x6e, 0x72, 0x3f,
];
const FORMS: [u8; 16] = [
    0x01, 0x07, 0x06, 0x08, 0x0e, 0x10, 0x13, 0x17, 0x19, 0x0f, 0x0b, 0x05, 0x1a, 0x1b, 0x1f, 0x23,
];
const KEYS: [&str; 12] = [
    "version",
    "command",
    "xlen",
    "parameters",
    "options",
    "framing",
    "kind",
    "trap-vectors",
    "m",
    "programs",
    "file",
    "iaddress_width_p",
];
const VALUES: [&str; 8] =
    ["1", "64", "\"x\"", "\"0x80000000\"", "true", "[]", "{}", "[{a = {b = [1]}}]"];

fuzz_target!(|input: Input| match input {
    Input::Program(shape) => program(&shape),
    Input::Description(lines) => description(&lines),
});

fn program(shape: &Shape) {
    let elf = elf(shape);
    let size = elf.len();
    let mut programs = Programs::new(Xlen::Rv64);
    if programs.add_elf(elf, 0).is_err() {
        return;
    }
    let symbols = programs.all_symbols();
    let functions = symbols.functions();
    for address in functions.iter().map(|function| function.range.start).chain([CODE]).take(64) {
        let _ = (symbols.place(address), symbols.source(address));
    }
    let sources = programs.sources();
    let most = (DEBUG_PER_BYTE * size + DEBUG_ANYWAY) / size_of::<Row>();
    assert!(sources.rows().len() <= most && sources.instances().len() <= most);
    assert!(sources.rows().is_sorted_by(|a, b| a.range.end <= b.range.start));
    let _ = (programs.warnings(), programs.arm_code().instructions(&(CODE..CODE + 64)));
}

/// How often something is repeated: a few times, or, once in 64 times, often. What repeats a lot takes long, and most
/// findings need only one thing that does.
fn times(number: u8) -> usize {
    match number {
        ..0xfc => 1 + usize::from(number % 4),
        _ => usize::from(number - 0xfb) * 64,
    }
}

fn elf(shape: &Shape) -> Vec<u8> {
    let mut elf = Elf::new(PLAIN);
    if !shape.symbols.is_empty() {
        let mut strings = shape.strings.repeat(times(shape.times));
        strings.push(0);
        elf.replace(".strtab", &strings);
        let mut table = vec![0; 24];
        for (name, address, kind) in shape.symbols.iter().cycle().take(shape.symbols.len() * 8) {
            table.extend(u32::from(*name).to_le_bytes());
            table.extend([*kind, 0, 1, 0]);
            table.extend([CODE + u64::from(*address), 2].into_iter().flat_map(u64::to_le_bytes));
        }
        elf.replace(".symtab", &table);
    }
    let here = elf.blob(&[0x01, 0xc1].repeat(1 << 10));
    for Extra { name, kind, flags, address, offset, size, times: again } in &shape.sections {
        for number in 0..times(*again) as u64 {
            elf.push(Section {
                name: (*name).into(),
                kind: (*kind).into(),
                flags: (*flags).into(),
                address: CODE + 0x1000 + u64::from(*address) * (1 + number % 3),
                offset: here + u64::from(*offset) % 0x400,
                size: (*size).into(),
                align: 4,
                ..Section::default()
            });
        }
    }
    for name in [".debug_ranges", ".debug_rnglists", ".debug_str", ".debug_str_offsets"] {
        elf.add(name, &shape.ranges);
    }
    let mut table = Vec::new();
    for Abbreviated { code, tag, parent, attributes, times: again } in &shape.table {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(name, form)| (NAMES[usize::from(name % 16)], FORMS[usize::from(form % 16)]))
            .collect();
        let attributes = attributes.repeat(times(*again));
        let tag = TAGS[usize::from(tag % 6)];
        table.push(Abbreviation { code: (*code).into(), tag, parent: *parent, attributes });
    }
    let mut units = Vec::new();
    for (at, values, again) in &shape.units {
        let unit = Unit { table: (*at).into(), entries: vec![Entry(entries(values))] };
        units.extend(vec![unit; times(*again)]);
    }
    let names: Vec<String> = shape.files.iter().map(|file| format!("f{file}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lines = line_program(&names, CODE, times(shape.rows) * times(shape.times));
    elf.bare_code(CODE, 1 << 16).debug(&table, &units, &lines).finish()
}

fn entries(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        match value {
            Value::Code(code) => bytes.push(*code),
            Value::Address(offset) => bytes.extend((CODE + u64::from(*offset)).to_le_bytes()),
            Value::Offset(offset) => bytes.extend(u32::from(*offset).to_le_bytes()),
            Value::Bytes(other) => bytes.extend(other),
            Value::Again(times) => {
                let most = (1 << 14) / (bytes.len() + 1);
                bytes = bytes.repeat(self::times(*times).min(most).max(1));
            }
        }
    }
    bytes
}

fn description(lines: &[Line]) {
    let path = |keys: &[u8]| {
        let keys = keys.iter().map(|key| KEYS[usize::from(key % 12)]);
        let keys: Vec<&str> = keys.collect();
        if keys.is_empty() { "a".to_owned() } else { keys.join(".") }
    };
    let mut text = String::new();
    for line in lines {
        let _ = match line {
            Line::Key(keys, value) => {
                writeln!(text, "{} = {}", path(keys), VALUES[usize::from(value % 8)])
            }
            Line::Table(keys) => writeln!(text, "[{}]", path(keys)),
            Line::Tables(keys) => writeln!(text, "[[{}]]", path(keys)),
            Line::Programs(times) => {
                let all = "[[programs]]\nfile = \"x\"\n".repeat(16 * self::times(*times));
                writeln!(text, "{all}")
            }
            Line::Vectors(times) => {
                let all: String = (0..self::times(*times)).map(|n| format!("{n} = 1\n")).collect();
                writeln!(text, "[trap-vectors]\n{all}")
            }
        };
    }
    match Description::parse(&text, "file") {
        Ok(description) => {
            let written = description.to_string();
            let again = Description::parse(&written, "again").expect(&written);
            assert_eq!(again.to_string(), written);
        }
        Err(error) => assert!(error.to_string().starts_with("file"), "{error}"),
    }
}
