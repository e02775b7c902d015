//! Records, written out, and what the predictor costs.

use super::*;
use crate::test_bits::parse;
use branches::Sureness;
use hartrace_decoder::Image;
use hartrace_isa::{Isa, Xlen};
use targets::From;

const LAYOUT: Layout = Layout { xlen: 32, records: 3, place_bits: 6 };
const WEAK: Class = Class::Branch(Sureness::Base { strong: false, doubted: false });
const STRONG: Class = Class::Branch(Sureness::Tagged { strength: 3, useful: true, agreed: true });
const JUMP: Class = Class::Jump(From::Base);
const RETURN: Class = Class::Jump(From::Stack);

/// Runs of two classes at the same time: two right predictions fill a run at first, and records are in the order of their starts.
#[test]
fn runs_are_independent() {
    let mut out = Bits::default();
    let mut writer = RunWriter::new(LAYOUT);
    writer.start(0x8000_0004, &mut out);
    // The first run starts first and ends last, with a wrong prediction after a right one.
    for (class, wrong) in [(STRONG, false), (WEAK, false), (WEAK, false), (STRONG, true)] {
        writer.retire();
        writer.decide(class, wrong, &mut out);
    }
    // A run that the end of the packet cuts.
    writer.retire();
    writer.decide(WEAK, false, &mut out);
    writer.end(&mut out);
    let start = format!("{:031b}", 0x4000_0002);
    assert_eq!(out, parse(&(start + "  0  0 1  1  1")));
}

/// Three records fill a packet; an address and a trap end one.
#[test]
fn packets_end() {
    let mut out = Bits::default();
    let mut writer = RunWriter::new(LAYOUT);
    for class in [JUMP, RETURN] {
        writer.retire();
        writer.decide(class, true, &mut out);
        match class {
            JUMP => writer.place(5, &mut out),
            _ => writer.address(false, 0x1_0000, 0x1_0008, &mut out),
        }
    }
    // A jump whose second record does not fit: the instruction starts a packet.
    (0..2).for_each(|_| writer.decide(WEAK, true, &mut out));
    writer.retire();
    writer.decide(JUMP, true, &mut out);
    writer.address(true, 0x1_0000, 0x8000_0000, &mut out);
    (0..18).for_each(|_| writer.retire());
    writer.trap(Some(0x100), &mut out);
    writer.trap(None, &mut out);
    let text = [
        "0  00  1 000101  00".into(),
        format!("0 {:019b}", 0x8004),
        // The first record of a class has one bit for its number, the next none.
        "0  00  0  0".into(),
        "0  0".into(),
        format!("1 {:031b}", 0x4000_0000),
        format!("1  1 0010 0 0001  1 {:031b}", 0x80),
        "1  0 0000  0".into(),
    ];
    assert_eq!(out, parse(&text.join(" ")));
}

/// A trace that ends too early or too late is refused.
#[test]
fn what_was_announced_must_come() {
    let code = Code::new(&{
        let mut image = Image::new(Isa::new(Xlen::Rv32));
        image.add(0x1000, &[0x13, 0, 0, 0, 0x13, 0, 0, 0]); // nop; nop
        image
    });
    let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
    let start = format!("{:031b}", 0x800);
    let refused = |rest: &str, count| {
        let bits = parse(&format!("{start} {rest}"));
        let taken = Tage::default().decompressor(&setup).decompress(&bits, count, &mut |_| ());
        taken.map_err(|error| error.fault)
    };
    assert_eq!(refused("0", 2), Ok(()));
    assert_eq!(refused("0", 3), Err(Fault::NoCode(0x1008)));
    assert_eq!(refused("00", 2), Err(Fault::LeftOver(1)));
    assert_eq!(refused("", 2), Err(Fault::Truncated));
    // A trap after three instructions, of which there are two.
    let late = refused("1  0 0011  0", 2);
    assert_eq!(late, Err(Fault::Malformed("a packet ends before what it announces")));
}

/// The interval of a range coder has a carry into bytes that are all ones.
#[test]
fn carries_reach_back() {
    for bits in 0..1_u64 << 10 {
        let mut out = Bits::default();
        let mut writer = RangeWriter::new(LAYOUT);
        writer.start(0xffff_fffe, &mut out);
        let wrong = |at: u32| bits >> at & 1 != 0;
        (0..10).for_each(|at| writer.decide(WEAK, wrong(at), &mut out));
        writer.end(&mut out);
        let mut from = BitSource::new(&out);
        let (mut reader, start) = RangeReader::start(LAYOUT, &mut from).unwrap();
        assert_eq!(start, 0xffff_fffe);
        for at in 0..10 {
            assert_eq!(reader.decide(WEAK, &mut from), Ok(wrong(at)), "{bits:b}");
            reader.settle(&mut from).unwrap();
        }
        assert_eq!((reader.end(&from), from.left()), (Ok(()), 0));
    }
}

/// Every bit counts; with addresses of 64 bits they are fewer than those of E-Trace with all tables.
#[test]
fn storage() {
    let runs = Tage::default();
    let range = Tage { coder: TageCoding::Range, ..runs };
    // Counters, tagged entries, history; targets, places by jump and by path, path; return stack and its top; handler.
    let tables = 512 + 4 * 32 * 12 + 32 + 64 * 19 + 32 * 6 + 64 * 14 + 16 + (16 * 19 + 4) + 63;
    // Eight runs, twenty records, instructions; output buffer.
    assert_eq!(runs.cost(64).bits(), tables + 8 * 22 + 20 * 16 + 16 + 256);
    assert_eq!(range.cost(64).bits(), tables + 16 * 28 + 105 + 256);
    let etrace = crate::Etrace { ir: true, bp: true, jtc: true, ..crate::Etrace::default() };
    assert!(runs.cost(64).bits() < etrace.cost(64).bits());
    assert!(range.cost(64).bits() < etrace.cost(64).bits());
}
