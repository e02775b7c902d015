//! Records, and the gate counts of the source.

use super::*;
use crate::test_bits::parse;
use hartrace_decoder::Image;
use hartrace_isa::{Isa, Xlen};

#[test]
fn records() {
    let code = Code::new(&Image::new(Isa::new(Xlen::Rv32)));
    let mut coder = Tmbp::BASE.coder(&code, None);
    let mut out = Bits::default();
    coder.put_trap(3, 0x8000_0004, false, &mut out);
    coder.put_trap(4, 0x1000, false, &mut out);
    let text = format!("0 000 0 11 {:032b}  0 000 10 000100 {:032b}", 0x8000_0004_u32, 0x1000);
    assert_eq!(out, parse(&text));
}

/// With differences, a second trap to the same handler is short; where a decompressor may start, the address is whole.
#[test]
fn handlers_as_differences() {
    let code = Code::new(&Image::new(Isa::new(Xlen::Rv32)));
    let mut coder = Tmbp { trap_differences: true, ..Tmbp::BASE }.coder(&code, None);
    let mut out = Bits::default();
    coder.put_trap(0, 0x1000, true, &mut out);
    coder.put_trap(3, 0x1104, false, &mut out);
    coder.put_trap(1, 0x1104, false, &mut out);
    let start = format!("0 000 0 00 111110 {:032b}", 0x1000);
    assert_eq!(out, parse(&(start + "0 000 0 11 0 0 000100000100  0 000 0 01 0 0 000000000000")));
}

/// A target whose upper bits differ from those of the last one is sent whole. The next one, near it, is a difference.
#[test]
fn a_target_far_away_is_sent_whole() {
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    image.add(0x1000, &0x0005_0067_u32.to_le_bytes()); // jr a0
    let code = Code::new(&image);
    let insn = code.insn(0x1000).unwrap();
    let records = |config: Tmbp| {
        let (mut coder, mut out) = (config.coder(&code, None), Bits::default());
        for to in [0x0010_0000, 0x0010_0100] {
            coder.event(&Event::Retired { pc: 0x1000, insn, next: Some(to) }, &mut out).unwrap();
        }
        out
    };
    let start = format!("0 000 0 00 {:032b}", 0x1000);
    let near = "0 001  0 0 000100000000";
    let whole = format!("0 001  111110 {:032b} {near}", 0x0010_0000);
    assert_eq!(records(Tmbp::BASE), parse(&(start.clone() + &whole)));
    let difference = format!("0 001  1110 0 {:024b} {near}", 0x0010_0000);
    let config = Tmbp { whole_targets: false, ..Tmbp::BASE };
    assert_eq!(records(config), parse(&(start + &difference)));
}

/// Four correctly predicted branches, then two mispredicted ones: records of 5 and of 1.
#[test]
fn branches_are_counted_up_to_the_wrong_one() {
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    image.add(0x1000, &0x0000_0463_u32.to_le_bytes()); // beqz x0, .+8
    let code = Code::new(&image);
    let insn = code.insn(0x1000).unwrap();
    let mut coder = Tmbp::BASE.coder(&code, None);
    let mut out = Bits::default();
    for right in [true, true, true, true, false, false] {
        let state = coder.state.clone().unwrap_or(State::new(Tmbp::BASE, &code));
        let expected = state.predictor.predict(0x1000, insn);
        let taken = (expected == Some(Predicted::Outcome(true))) == right;
        let next = Some(if taken { 0x1008 } else { 0x1004 });
        coder.event(&Event::Retired { pc: 0x1000, insn, next }, &mut out).unwrap();
    }
    let start = format!("0 000 0 00 {:032b}", 0x1000);
    assert_eq!(out, parse(&(start + " 0 101  0 001")));
}

#[test]
fn the_history_is_as_long_as_the_index() {
    let bits = |entries, bhr_bits| Tmbp { entries, bhr_bits, ..Tmbp::BASE }.history_bits();
    assert_eq!((bits(512, None), bits(4096, None), bits(4096, Some(9))), (9, 12, 9));
    assert!(Tmbp { bhr_bits: Some(0), ..Tmbp::BASE }.check().is_ok());
    assert!(Tmbp { bhr_bits: Some(10), ..Tmbp::BASE }.check().is_err());
}

/// Storage of 18 bits per target, as for 4-byte instructions, and the gates of the source, which counts neither valid bits nor
/// orders. The gates of control are those that tTMBP leaves open, so that only the other two say anything.
#[test]
fn gates_of_the_source() {
    let gates = |config: Tmbp| {
        let cost = config.cost_of(32, 2);
        cost.gates() - cost.gates_of(PartKind::Valid) - cost.gates_of(PartKind::Order)
    };
    assert!((2_750.0..2_850.0).contains(&gates(Tmbp::TINY)));
    assert!((3_950.0..4_100.0).contains(&gates(Tmbp::SMALL)));
    assert!((5_200.0..5_350.0).contains(&gates(Tmbp::BASE)));
}
