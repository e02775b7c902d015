//! Small programs whose structure costs much: tables that many others refer to, sections that overlap, names within
//! names. Each is a plain program with something added, so that its captures can be decoded.

mod dwarf;
mod elf;

pub use dwarf::{Abbreviation, Entry, Unit, line_program};
pub use elf::{Elf, Section};

use dwarf::{FLAG, ORIGIN, PC, RANGES, STATEMENTS, unit_with};

/// An address without code in the plain program.
const ELSEWHERE: u64 = 0x9000_0000;

/// Makes a hostile program from a plain one.
pub type Shape = fn(Elf) -> Vec<u8>;

/// All shapes, by name.
pub const SHAPES: [(&str, Shape); 15] = [
    ("abbreviations-shared", abbreviations_shared),
    ("abbreviations-overlapping", abbreviations_overlapping),
    ("attributes-without-bytes", attributes_without_bytes),
    ("lines-shared", lines_shared),
    ("file-names-long", file_names_long),
    ("origins-in-a-circle", origins_in_a_circle),
    ("inlined-deep", inlined_deep),
    ("ranges-shared", ranges_shared),
    ("size-past-the-last-address", size_past_the_last_address),
    ("debug-compressed", debug_compressed),
    ("sections-overlapping", sections_overlapping),
    ("sections-with-long-names", sections_with_long_names),
    ("rows-beside-sections", rows_beside_sections),
    ("names-overlapping", names_overlapping),
    ("notes-overlapping", notes_overlapping),
];

/// Thousands of units with one large table.
fn abbreviations_shared(elf: Elf) -> Vec<u8> {
    let table: Vec<_> = (1..=20_000).map(|code| Abbreviation::new(code, 0x11, &[])).collect();
    let units = vec![Unit { table: 0, entries: vec![Entry::new(1)] }; 2000];
    elf.debug(&table, &units, b"").finish()
}

/// Each unit starts one abbreviation later in the same table.
fn abbreviations_overlapping(elf: Elf) -> Vec<u8> {
    let table: Vec<_> = (1..=20_000).map(|code| Abbreviation::new(code, 0x11, &[])).collect();
    let (mut units, mut written) = (Vec::new(), Vec::new());
    for abbreviation in &table {
        let entries = vec![Entry::new(abbreviation.code)];
        units.push(Unit { table: written.len() as u32, entries });
        abbreviation.write(&mut written);
    }
    elf.debug(&table, &units, b"").finish()
}

/// Entries of a byte, with attributes that are all in the table.
fn attributes_without_bytes(elf: Elf) -> Vec<u8> {
    let many = vec![FLAG; 30_000];
    let table = [Abbreviation::new(1, 0x11, &[]).parent(), Abbreviation::new(2, 0x34, &many)];
    let mut entries = vec![Entry::new(1)];
    entries.extend(vec![Entry::new(2); 60_000]);
    elf.debug(&table, &[Unit { table: 0, entries }], b"").finish()
}

/// Thousands of units with one long line program.
fn lines_shared(elf: Elf) -> Vec<u8> {
    let table = [Abbreviation::new(1, 0x11, &[PC[0], PC[1], STATEMENTS])];
    let entry = Entry::new(1).number(8, 0x8000_0000).number(8, 0x458).number(4, 0);
    let units = vec![Unit { table: 0, entries: vec![entry] }; 1000];
    let lines = line_program(&["a.c"], ELSEWHERE, 100_000);
    elf.bare_code(ELSEWHERE, 1 << 20).debug(&table, &units, &lines).finish()
}

/// Many files of one line program, in a folder with a very long name.
fn file_names_long(elf: Elf) -> Vec<u8> {
    let table = [Abbreviation::new(1, 0x11, &[STATEMENTS, dwarf::FOLDER])];
    let long = "a/".repeat(200_000);
    let entry = Entry::new(1).number(4, 0).text(&long);
    let lines = line_program(&["b"; 50_000], ELSEWHERE, 50_000);
    elf.bare_code(ELSEWHERE, 1 << 20).debug(&table, &unit_with(entry), &lines).finish()
}

/// Inlined functions that are copies of each other, and of themselves.
fn origins_in_a_circle(elf: Elf) -> Vec<u8> {
    let table = [
        Abbreviation::new(1, 0x11, &[]).parent(),
        Abbreviation::new(2, 0x2e, &[PC[0], PC[1], ORIGIN]).parent(),
        Abbreviation::new(3, 0x1d, &[PC[0], PC[1], ORIGIN]),
    ];
    let copy =
        |code, origin| Entry::new(code).number(8, 0x8000_0000).number(8, 16).number(4, origin);
    // The header of a unit has 11 bytes, its first entry one, and each of the others 21.
    let mut entries = vec![Entry::new(1), copy(2, 12 + 21)];
    entries.extend((1..20_000).map(|number| copy(3, 12 + 21 * (number % 7))));
    elf.debug(&table, &[Unit { table: 0, entries }], b"").finish()
}

/// Functions inlined into each other, deeper than any stack.
fn inlined_deep(elf: Elf) -> Vec<u8> {
    let table = [
        Abbreviation::new(1, 0x11, &[STATEMENTS]).parent(),
        Abbreviation::new(2, 0x2e, &PC).parent(),
        Abbreviation::new(3, 0x1d, &PC).parent(),
    ];
    let mut entries = vec![Entry::new(1).number(4, 0)];
    entries.push(Entry::new(2).number(8, 0x8000_0000).number(8, 0x458));
    entries.extend(vec![Entry::new(3).number(8, 0x8000_0000).number(8, 0x458); 100_000]);
    let lines = line_program(&["a.c"], 0x8000_0000, 0x400);
    elf.debug(&table, &[Unit { table: 0, entries }], &lines).finish()
}

/// A function whose size leads past the last address.
fn size_past_the_last_address(elf: Elf) -> Vec<u8> {
    let table =
        [Abbreviation::new(1, 0x11, &[]).parent(), Abbreviation::new(2, 0x2e, &[PC[0], PC[1]])];
    let function = Entry::new(2).number(8, u64::MAX - 8).number(8, 0x458);
    elf.debug(&table, &[Unit { table: 0, entries: vec![Entry::new(1), function] }], b"").finish()
}

/// Thousands of functions with one long list of ranges.
fn ranges_shared(mut elf: Elf) -> Vec<u8> {
    let table = [Abbreviation::new(1, 0x11, &[]).parent(), Abbreviation::new(2, 0x2e, &[RANGES])];
    let mut entries = vec![Entry::new(1)];
    entries.extend(vec![Entry::new(2).number(4, 0); 20_000]);
    let pair = |at: u64| [0x8000_0000 + at % 64, 0x8000_0042 + at % 64].map(u64::to_le_bytes);
    let list: Vec<u8> = (0..20_000).flat_map(pair).flatten().chain([0; 16]).collect();
    elf.add(".debug_ranges", &list);
    elf.debug(&table, &[Unit { table: 0, entries }], b"").finish()
}

/// Debug information that claims to be compressed, with a huge size.
fn debug_compressed(mut elf: Elf) -> Vec<u8> {
    let claims: Vec<u8> = [1u64, 1 << 50, 8].into_iter().flat_map(u64::to_le_bytes).collect();
    for name in [".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"] {
        elf.add(name, &claims).flags = 0x800;
    }
    elf.finish()
}

/// Executable sections over the same bytes.
fn sections_overlapping(mut elf: Elf) -> Vec<u8> {
    let offset = elf.blob(&[0x01, 0xc1].repeat(32 << 10));
    for number in 0..1000 {
        // Half of them at one address, half at other ones.
        let address = ELSEWHERE + (number % 2) * number * 0x10000;
        elf.push(Section {
            kind: 1,
            flags: 6,
            address,
            offset,
            size: 64 << 10,
            ..Section::default()
        });
    }
    elf.finish()
}

/// As many sections as there can be, whose names overlap.
fn sections_with_long_names(mut elf: Elf) -> Vec<u8> {
    let at = elf.name(&"a".repeat(600_000));
    for number in 0..60_000 {
        elf.push(Section { name: at + number, kind: 1, ..Section::default() });
    }
    elf.finish()
}

/// Many sections of a byte beside many rows.
fn rows_beside_sections(mut elf: Elf) -> Vec<u8> {
    for number in 0..30_000 {
        let address = ELSEWHERE + number;
        elf.push(Section { kind: 8, flags: 6, address, size: 1, ..Section::default() });
    }
    let table = [Abbreviation::new(1, 0x11, &[STATEMENTS])];
    let lines = line_program(&["a.c"], 0xa000_0000, 600_000);
    elf.debug(&table, &unit_with(Entry::new(1).number(4, 0)), &lines).finish()
}

/// Symbols at one address, whose names overlap.
fn names_overlapping(mut elf: Elf) -> Vec<u8> {
    elf.replace(".strtab", format!("\0{}\0", "a".repeat(600_000)).as_bytes());
    let mut symbols = vec![0; 24];
    for number in 0..100_000u32 {
        symbols.extend((1 + number * 5).to_le_bytes());
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend([0x8000_0000u64, 2].into_iter().flat_map(u64::to_le_bytes));
    }
    elf.replace(".symtab", &symbols);
    elf.finish()
}

/// Notes, of which none is a build ID, in sections over the same bytes.
fn notes_overlapping(mut elf: Elf) -> Vec<u8> {
    let note: Vec<u8> = [0u32, 0, 1].into_iter().flat_map(u32::to_le_bytes).collect();
    let notes = note.repeat(10_000);
    let (offset, size) = (elf.blob(&notes), notes.len() as u64);
    for _ in 0..30_000 {
        elf.push(Section { kind: 7, offset, size, align: 4, ..Section::default() });
    }
    elf.finish()
}
