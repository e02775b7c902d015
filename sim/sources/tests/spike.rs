//! Logs of Spike, as it writes them with its options, and broken ones.

use hartrace_ingress::{IType, Privilege};
use hartrace_isa::{Isa, Xlen};
use hartrace_sources::{Retired, SpikeOptions, Summary, cva6, open, spike};
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

const OPTIONS: SpikeOptions = SpikeOptions::new(Isa::new(Xlen::Rv64));

/// A loop, a call by constant and jump, an illegal instruction and an interrupt, with every line
/// that Spike can write; another hart in between.
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
core   0: 3 0x0000000080000002 (0xfe059fe3)
core   0: 0x0000000080000006 (0x00000000) c.unimp
core   0: exception trap_illegal_instruction, epc 0x0000000080000006
core   0:           tval 0x0000000000000000
core   0: 3 0x0000000080000100 (0x30200073)
core   0: exception interrupt #7, epc 0x0000000080000008
core   0: 1 0x0000000080000200 (0x8082)
";

fn rows(text: &str) -> Result<(Vec<Retired>, Summary), String> {
    let mut rows = Vec::new();
    let summary = spike(text.as_bytes(), "spike.log", OPTIONS, |row| {
        rows.push(*row);
        ControlFlow::Continue(())
    });
    summary.map(|summary| (rows, summary)).map_err(|error| error.to_string())
}

#[test]
fn everything_that_spike_writes() {
    let (rows, summary) = rows(FULL).unwrap();
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
    assert_eq!((summary.instructions, summary.traps, summary.unexplained), (8, 2, 0));
}

#[test]
fn started_instructions_alone() {
    let text = "\
core   0: 0x80000000 (0x00000013) nop
core   0: 0x80000004 (0x00000073) ecall
core   0: exception trap_user_ecall, epc 0x80000004
core   0: 0x80000100 (0x00000013) nop
";
    let (rows, summary) = rows(text).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.iaddr, row.itype, row.cause)).collect();
    let trap = (0x8000_0004, IType::Exception, 8);
    assert_eq!(found, [(0x8000_0000, IType::None, 0), trap, (0x8000_0100, IType::None, 0)]);
    assert_eq!((rows[1].privilege, summary.instructions), (Privilege::U, 2));
}

#[test]
fn commits_alone_show_traps_as_gaps() {
    let text = "\
core   0: 3 0x0000000080000000 (0x00000013)
core   0: 3 0x0000000080000100 (0x00000013)
core   0: 3 0x0000000080000104 (0xfe059ee3)
";
    let (rows, summary) = rows(text).unwrap();
    let trap = rows[1];
    assert_eq!((trap.itype, trap.iaddr, trap.iretire), (IType::Exception, 0x8000_0004, 0));
    assert_eq!((summary.unexplained, summary.open_end), (1, true));
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
    assert!(rows("").unwrap_err().contains("no line of a hart"));
    assert!(rows("hello\n").unwrap_err().contains("no line of a hart"));
    let binary = spike(&b"core\xff\n"[..], "x", OPTIONS, |_| ControlFlow::Continue(()));
    assert!(binary.unwrap_err().to_string().starts_with("x:1: not text"));
}

#[test]
fn the_sink_can_end_it() {
    let mut left = 3;
    let summary = spike(FULL.as_bytes(), "x", OPTIONS, |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(summary.unwrap().stopped);
}

#[test]
fn compressed_by_extension_and_cut_off() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(FULL.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(FULL.as_bytes(), 0).unwrap();
    for (extension, bytes) in [("gz", gz), ("zst", zst)] {
        let path = folder.join("spike.log").with_extension(extension);
        fs::write(&path, &bytes).unwrap();
        let mut count = 0;
        let mut sink = |_: &Retired| {
            count += 1;
            ControlFlow::Continue(())
        };
        spike(open(&path).unwrap(), "x", OPTIONS, &mut sink).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let cut = spike(open(&path).unwrap(), "x", OPTIONS, &mut sink).unwrap_err();
        assert!(cut.to_string().contains("cannot read"), "{cut}");
        assert!(count >= 10);
    }
    assert!(open(&folder.join("missing")).err().unwrap().to_string().contains("cannot open"));
}

proptest! {
    #[test]
    fn noise_does_not_panic(picks in prop::collection::vec((0usize..12, any::<u64>()), 0..80)) {
        let mut text = String::new();
        for (pick, number) in picks {
            let (long, short) = (format!("0x{number:x} "), format!("{number:x}"));
            text += match pick {
                0 => "core   0: ",
                1 => "core   0: 3 ",
                2 => "exception trap_machine_ecall, epc ",
                3 => "exception interrupt #",
                4 => "          tval ",
                5 => "\n",
                6 => "\ncore   0: ",
                7 => ") ",
                8 => " (0x",
                9 => &long,
                10 => &short,
                _ => "\u{fffd}",
            };
        }
        let _ = rows(&text);
        let _ = cva6(text.as_bytes(), "x", |_| ControlFlow::Continue(()));
        let csv = format!("cycle,event,pc,insn,priv,taken_ex,cause,tval\n{text}");
        let _ = cva6(csv.as_bytes(), "x", |_| ControlFlow::Continue(()));
    }
}
