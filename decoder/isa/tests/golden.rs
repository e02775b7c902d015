//! Equality with the classifier of the golden model, which shares no code with this one.

use hartrace_golden::isa as golden;
use hartrace_isa::{Insn, Isa, Kind, Link, Xlen, decode};
use std::num::NonZero;
use std::thread;

const XLENS: [Xlen; 2] = [Xlen::Rv32, Xlen::Rv64];

/// Every set of encodings that both support.
fn isas() -> impl Iterator<Item = (Isa, golden::Isa)> {
    XLENS.into_iter().flat_map(|xlen| {
        [false, true].map(|zcm| {
            let isa = Isa::new(xlen).with_zcmp(zcm).with_zcmt(zcm);
            (isa, golden::Isa { xlen, zcm })
        })
    })
}

/// The result of the golden model for the same instruction.
fn translate(insn: Insn) -> golden::Insn {
    let constant = |rd, value, pc_relative| {
        Some(golden::Constant { rd, value: i64::from(value), pc_relative })
    };
    let (flow, constant) = match insn.kind {
        Kind::Plain => (golden::Flow::Next, None),
        Kind::Lui { rd, value } => (golden::Flow::Next, constant(rd, value, false)),
        Kind::Auipc { rd, value } => (golden::Flow::Next, constant(rd, value, true)),
        Kind::Branch { offset } => (golden::Flow::Branch(offset.into()), None),
        Kind::Jump { offset, .. } => (golden::Flow::Jump(offset.into()), None),
        Kind::AbsoluteJump { target, .. } => (golden::Flow::Absolute(target.into()), None),
        Kind::IndirectJump { rs1, offset, .. } => {
            (golden::Flow::Indirect { rs1, offset: offset.into() }, None)
        }
        Kind::TableJump { .. } | Kind::PopReturn => (golden::Flow::Memory, None),
        Kind::TrapReturn => (golden::Flow::TrapReturn, None),
        Kind::EnvironmentTrap => (golden::Flow::Trap, None),
    };
    let link = match insn.link() {
        None | Some(Link::Jump | Link::Other) => golden::Link::None,
        Some(Link::Call) => golden::Link::Call,
        Some(Link::Return) => golden::Link::Return,
        Some(Link::Swap) => golden::Link::Swap,
    };
    golden::Insn { size: insn.size, flow, link, constant }
}

/// `itype` by the table in E-Trace 2.0 4.1.1, from the result of the golden model; branches are
/// taken.
fn itype(insn: golden::Insn, word: u32) -> u8 {
    // Compressed jumps link x1, which makes them calls, or nothing.
    let other = if insn.size == 4 && word & 0xf80 != 0 { 14 } else { 10 };
    let jump = |inferable: u8| match insn.link {
        golden::Link::Call => 8 + inferable,
        golden::Link::None => other + inferable,
        golden::Link::Swap => 12,
        golden::Link::Return => 13,
    };
    match insn.flow {
        golden::Flow::Next => 0,
        golden::Flow::Trap => 1,
        golden::Flow::TrapReturn => 3,
        golden::Flow::Branch(_) => 5,
        golden::Flow::Jump(_) | golden::Flow::Absolute(_) => jump(1),
        golden::Flow::Indirect { .. } | golden::Flow::Memory => jump(0),
    }
}

fn check(isa: Isa, theirs: golden::Isa, word: u32) {
    let ours = decode(isa, word);
    let expected = golden::Insn::decode(word, theirs);
    match (&ours, &expected) {
        (None, None) => {}
        // Most are plain, and this is faster than a translation.
        (
            Some(Insn { size: 4, kind: Kind::Plain }),
            Some(golden::Insn {
                size: 4,
                flow: golden::Flow::Next,
                link: golden::Link::None,
                constant: None,
            }),
        ) => {}
        (Some(ours), Some(expected)) => check_flow(*ours, *expected, word),
        _ => panic!("{word:#010x} with {isa:?}: {ours:?}, expected {expected:?}"),
    }
}

fn check_flow(ours: Insn, mut expected: golden::Insn, word: u32) {
    // The golden model clears bit 0 of an absolute target later, when it jumps there.
    if let golden::Flow::Absolute(target) = &mut expected.flow {
        *target &= !1;
    }
    assert!(translate(ours) == expected, "{word:#010x}: {ours:?}, expected {expected:?}");
    assert_eq!(ours.is_branch(), expected.is_branch(), "{word:#010x}");
    assert_eq!(ours.is_uninferable(), expected.is_uninferable(), "{word:#010x}");
    assert_eq!(ours.itype(true), itype(expected, word), "{word:#010x}");
}

/// Checks all words `make(0..count)`, on all cores.
fn sweep(count: u32, isas: &[(Isa, golden::Isa)], make: impl Fn(u32) -> u32 + Sync) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // A power of two, so that it divides `count`.
    let threads = 1 << cores.ilog2().min(8);
    thread::scope(|scope| {
        for first in 0..threads {
            let make = &make;
            scope.spawn(move || {
                for n in (count / threads * first)..(count / threads * (first + 1)) {
                    for &(isa, theirs) in isas {
                        check(isa, theirs, make(n));
                    }
                }
            });
        }
    });
}

#[test]
fn every_half_word() {
    let isas: Vec<_> = isas().collect();
    sweep(1 << 16, &isas, |half| half);
    // A half-word in the upper half changes nothing unless the instruction has 32 bits.
    sweep(1 << 16, &isas, |half| half | 0x8067_0000);
}

/// Opcode, rd, funct3 and rs1 in all combinations, with immediates that have each bit set and clear
/// next to each other.
#[test]
fn every_word_with_chosen_immediates() {
    let isas: Vec<_> = isas().collect();
    for immediate in [0x000, 0x001, 0x002, 0x102, 0x302, 0x555, 0x702, 0x7b2, 0x7ff, 0x800, 0xaaa] {
        sweep(1 << 18, &isas, |low| immediate << 20 | low << 2 | 3);
    }
}

/// All 2^30 words of 32 bits and longer.
#[test]
fn every_word() {
    let isa = Isa::new(Xlen::Rv64);
    let theirs = golden::Isa::new(Xlen::Rv64);
    sweep(1 << 30, &[(isa, theirs)], |upper| upper << 2 | 3);
}
