use super::*;
use crate::Image;
use hartrace_isa::{Isa, Xlen};
use std::path::Path;

const BASE: u64 = 0x8000_0000;

fn table(code: &[(u64, &[u16])], span_bits: u32) -> BlockTable {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    for (at, halves) in code {
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        image.add(BASE + at, &bytes);
    }
    BlockTable::build(&image, &[BASE], span_bits)
}

/// Start from the base, span, end, target of every entry.
fn rows(table: &BlockTable) -> Vec<(u64, u32, Ends, u32)> {
    let row = |entry: &Entry| (entry.start - BASE, entry.span, entry.ends, entry.target);
    table.entries().iter().map(row).collect()
}

#[test]
fn blocks_of_a_loop() {
    // addi a0, a0, -1; bnez a0, .-2; c.nop; ret
    let table = table(&[(0, &[0x157d, 0xfd7d, 0x0001, 0x8082])], 6);
    let expected = [(0, 1, Ends::Branch, 0), (4, 1, Ends::Return, 0), (8, 0, Ends::NoCode, 0)];
    assert_eq!(rows(&table), expected);
    assert_eq!(table.find(BASE + 6), Some(1));
    assert_eq!((table.find(BASE - 1), table.find(BASE + 100)), (None, Some(2)));
}

#[test]
fn jumps_split_blocks() {
    // c.nop; c.j .+4; c.nop; c.nop; c.j .-4
    let table = table(&[(0, &[0x0001, 0xa011, 0x0001, 0x0001, 0xbff5])], 6);
    let expected = [
        (0, 1, Ends::Jump, 2),
        (4, 0, Ends::Next, 0),
        (6, 1, Ends::Jump, 1),
        (10, 0, Ends::NoCode, 0),
    ];
    assert_eq!(rows(&table), expected);
}

/// auipc t1, 0; jalr x0, 8(t1); c.nop
const SEQUENTIAL: [u16; 5] = [0x0317, 0x0000, 0x0067, 0x0083, 0x0001];

#[test]
fn a_sequentially_inferable_jump_has_a_target() {
    let table = table(&[(0, &SEQUENTIAL)], 6);
    let expected = [(0, 2, Ends::Indirect, 1), (8, 0, Ends::Next, 0), (10, 0, Ends::NoCode, 0)];
    assert_eq!(rows(&table), expected);
    assert!(table.entries()[0].sequential && table.entries()[0].wide);
}

#[test]
fn long_blocks_are_cut() {
    let table = table(&[(0, &[1; 10])], 2);
    let starts: Vec<_> = table.entries().iter().map(|entry| entry.start - BASE).collect();
    assert_eq!(starts, [0, 8, 16, 20]);
}

#[test]
fn places_without_code_are_entries() {
    // c.j .+0x100, where nothing is; another piece of code, far away.
    let table = table(&[(0, &[0xa201]), (0x1000, &[0x8082])], 6);
    let expected = [
        (0, 0, Ends::Jump, 3),
        (2, 0, Ends::NoCode, 0),
        (0x1000, 0, Ends::Return, 0),
        (0x1002, 0, Ends::NoCode, 0),
    ];
    assert_eq!(rows(&table), expected);
}

#[test]
fn words_hold_everything_the_walker_needs() {
    let table = table(&[(0, &SEQUENTIAL)], 6);
    let layout = WordLayout { start_bits: 8, span_bits: 4, index_bits: 3 };
    // From the left: target (3), sequential (1), ends (3), span (4), start (8).
    let expected =
        [0b001_1100_0010_0000_0000, 0b000_0000_0000_0000_0100, 0b000_0111_0000_0000_0101];
    assert_eq!(table.words(&layout), Ok(expected.to_vec()));
    let mut text = Vec::new();
    table.write_hex(&layout, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.ends_with("\n1c200\n00004\n07005\n"), "{text}");
    let mut bytes = Vec::new();
    table.write_binary(&layout, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 9);
    let summary = table.summary(&WordLayout::new(1 << 10, 1 << 20));
    assert_eq!((summary.width, summary.depth, summary.block_rams), (40, 1024, 2));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let table = table(&[(0, &[0x0001, 0x8082]), (0x1000, &[0x8082])], 6);
    let layout = table.layout();
    assert_eq!(layout, WordLayout { start_bits: 12, span_bits: 1, index_bits: 2 });
    assert!(table.words(&layout).is_ok());
    let near = WordLayout { start_bits: 11, ..layout };
    assert!(matches!(table.words(&near), Err(TableError::TooFar { needed: 12, bits: 11, .. })));
    let few = WordLayout { index_bits: 1, ..layout };
    assert_eq!(table.words(&few), Err(TableError::TooMany { entries: 4, depth: 2 }));
    let none = WordLayout { index_bits: 0, ..layout };
    assert_eq!(table.words(&none), Err(TableError::Layout(none)));
    let empty = BlockTable::build(&Image::new(Isa::new(Xlen::Rv64)), &[], 6);
    assert_eq!(empty.words(&layout), Err(TableError::NoCode));
}

/// Entries of real programs meet, and end with what they say.
#[test]
fn entries_are_what_the_code_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf");
    for name in ["sort", "interp", "user", "calls"] {
        let elf = std::fs::read(folder.join(format!("{name}.elf"))).unwrap();
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add_elf(&elf, 0).unwrap();
        let table = BlockTable::build(&image, &[], 6);
        assert!(table.entries().len() > 20, "{name}");
        for pair in table.entries().windows(2) {
            let (entry, next) = (pair[0], pair[1]);
            assert!(entry.start < next.start, "{name}: {entry:x?}");
            if entry.ends == Ends::NoCode {
                continue;
            }
            assert_eq!(entry.end(), next.start, "{name}: {entry:x?}");
            let mut at = entry.start;
            while at != entry.last() {
                let insn = image.insn(at).unwrap();
                assert!(code::ends(insn) == Ends::Next, "{name}: {at:#x} in {entry:x?}");
                at += u64::from(insn.size);
            }
            let insn = image.insn(at).unwrap();
            assert_eq!(code::ends(insn), entry.ends, "{name}: {entry:x?}");
            if let Some(target) = insn.target(Xlen::Rv64, at) {
                let found = table.entries()[entry.target as usize];
                let leaves_code = found.ends == Ends::NoCode && image.insn(target).is_none();
                assert!(found.start == target || leaves_code, "{name}: {entry:x?}");
            }
        }
    }
}
