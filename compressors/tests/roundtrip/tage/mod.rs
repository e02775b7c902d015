//! A second compressor for TAGE, written from `docs/design/extension-mode.md`, which shares no code with the first one. It is slow
//! and says what the document says, section by section.

mod coding;
mod predictor;

use coding::{Coder, Packets, Ranges};
use hartrace_compressors::{Bits, Code, Scheme, SchemeSetup};
use hartrace_etrace::ingress::Retired;
use hartrace_etrace::{Ioptions, Params, Payload, Records};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::{Program, ProgramError};
use hartrace_golden::{Encoded, Encoder, EncoderConfig};
use hartrace_isa::{Insn, Kind, Link};
use predictor::{Parameters, bits_of, state};
use std::num::NonZeroU64;

/// What happened: an instruction retired, and then perhaps a trap.
struct Step {
    pc: u64,
    insn: Insn,
    /// Where it led, if that can be known.
    next: Option<u64>,
    /// The handler of the trap after it.
    trap: Option<u64>,
}
/// A trace, synchronised after every so many instructions.
fn trace(p: &Parameters, steps: &[Step], every: usize, code: &Code) -> Vec<u64> {
    let mut out = Vec::new();
    // Where the instruction before leads, and the handler of the trap after it.
    let (mut start, mut trap) = (steps[0].pc, None);
    for part in steps.chunks(every) {
        out.extend(self::part(p, part, start, trap, code).0);
        let Some(Step { pc, insn, next, trap: after }) = part.last() else { break };
        start = next.unwrap_or(insn.next(code.xlen(), *pc));
        trap = *after;
    }
    out
}

/// A part between synchronisations. A trap after its last instruction belongs to the next one.
fn part(
    p: &Parameters,
    steps: &[Step],
    start: u64,
    trap: Option<u64>,
    code: &Code,
) -> (Vec<u64>, Vec<Vec<u64>>) {
    let xlen = code.xlen();
    let width = xlen.bits();
    let first: Vec<u64> = bits_of(start >> 1, width - 1).into_iter().rev().collect();
    let mut coder = if p.range {
        let mut ranges =
            Ranges { out: vec![], low: 0, range: (1 << 32) - 1, z: [57_344; 28], instructions: 0 };
        ranges.plain(first);
        Coder::Ranges(ranges)
    } else {
        Coder::Packets(Packets { out: first, s: [4; 8], ..Packets::default() })
    };
    let mut state = state(p);
    let mut at = start;
    let mut trap = trap;
    for Step { pc, insn, next, trap: after_it } in steps {
        if let Some(handler) = trap {
            coder.trap(&mut state, at, handler, width);
        }
        let (pc, insn, next) = (*pc, *insn, *next);
        coder.retire();
        let after = insn.next(xlen, pc);
        let returns = matches!(insn.kind, Kind::TrapReturn) || insn.link().is_some_and(Link::pops);
        at = insn.target(xlen, pc).unwrap_or(after);
        if insn.is_branch() {
            let taken = next.map(|next| next != after && Some(next) == insn.target(xlen, pc));
            let (report, taken) = state.branch(p, pc, taken);
            coder.report(p, report);
            at = if taken { at } else { after };
        } else if insn.is_uninferable() {
            let (report, to) = state.jump(p, pc, returns, next, width);
            coder.report(p, report);
            at = to;
        }
        if returns && !state.r.is_empty() {
            state.top = (state.top + state.r.len() - 1) % state.r.len();
        }
        if insn.link().is_some_and(Link::pushes) {
            state.push(after);
        }
        trap = *after_it;
    }
    coder.end()
}

/// The instructions of rows. A trap must follow an instruction, and another one must follow it.
fn steps(rows: &[Retired], code: &Code) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut trapped = false;
    for row in rows {
        match steps.last_mut() {
            Some(last) if trapped => last.trap = Some(row.iaddr),
            Some(last) => last.next = Some(row.iaddr),
            None => {}
        }
        assert!(!trapped || row.iretire > 0, "two traps after one instruction");
        let (mut pc, mut left) = (row.iaddr, row.iretire);
        while left > 0 {
            let insn = code.insn(pc).expect("an instruction");
            left -= u32::from(insn.size / 2);
            let after = code.xlen().wrap(pc + u64::from(insn.size));
            let next = (left > 0).then_some(after);
            steps.push(Step { pc, insn, next, trap: None });
            pc = after;
        }
        trapped = row.itype.is_trap();
    }
    steps
}

const SIZES: [(&str, Parameters); 3] = [
    (
        "",
        Parameters {
            base: 256,
            tables: 4,
            entries: 32,
            tag: 8,
            history: 32,
            targets: 64,
            ras: 16,
            records: 20,
            range: false,
        },
    ),
    (
        "base=16,tables=3,entries=8,tag=5,history=27,targets=8,ras=3,records=7",
        Parameters {
            base: 16,
            tables: 3,
            entries: 8,
            tag: 5,
            history: 27,
            targets: 8,
            ras: 3,
            records: 7,
            range: false,
        },
    ),
    (
        "base=512,tables=6,entries=64,tag=9,history=100,targets=128,ras=8,records=32",
        Parameters {
            base: 512,
            tables: 6,
            entries: 64,
            tag: 9,
            history: 100,
            targets: 128,
            ras: 8,
            records: 32,
            range: false,
        },
    ),
];

/// Jumps by table, calls, loops, traps on both widths of addresses, and a Linux program.
const CHOSEN: [&str; 7] =
    ["calls", "interp", "sort", "float", "interrupts", "interrupts-rv32", "linux"];

/// The code of a bundled program, and what it retires.
fn executed(name: &str) -> (Code, Vec<Retired>) {
    let (_, elf) = PROGRAMS.iter().find(|(bundled, _)| *bundled == name).expect(name);
    let program = Program::new(name, elf.to_vec()).expect(name);
    let mut rows = Vec::new();
    let executed = program.execute(200_000, |some| {
        rows.extend_from_slice(some);
        Ok::<(), ProgramError>(())
    });
    executed.expect(name);
    (Code::new(program.image()), rows)
}

/// Section 8: payloads of the golden encoder hold the records of the scheme, packet by packet. The rest of the
/// trace are standard payloads.
#[test]
fn the_mode_of_etrace_sends_the_same_records() {
    for name in CHOSEN {
        let (code, rows) = executed(name);
        let steps = steps(&rows, &code);
        let (_, expected) = part(&SIZES[0].1, &steps, steps[0].pc, None, &code);
        let config = EncoderConfig {
            params: Params {
                iaddress_width_p: code.xlen().bits() as u8,
                hpred_size_p: 5,
                ..Params::default()
            },
            options: Ioptions { history_prediction: true, ..Ioptions::default() },
            ..EncoderConfig::default()
        };
        let mut encoder = Encoder::new(config).expect("an encoder");
        let (mut found, mut others) = (Vec::new(), 0);
        let mut take = |encoded: Encoded| match encoded.payload {
            Payload::History(history) => found.push(history.records),
            _ => others += 1,
        };
        rows.iter().for_each(|row| encoder.retire(row, &mut take));
        encoder.finish(&mut take);
        let records = |bits: &Vec<u64>| Records::new(bits.iter().map(|bit| *bit != 0));
        let expected: Vec<_> = expected.iter().map(|bits| records(bits).expect(name)).collect();
        let equal = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        let at = |all: &[Records]| all.get(equal).map(Records::to_string);
        let differ = format!("{name}, packet {equal}: {:?}, {:?}", at(&found), at(&expected));
        assert!(found == expected, "{differ}; {} of {}", found.len(), expected.len());
        assert!(found.len() > 10 && others >= 3, "{name}: {} packets", found.len());
    }
}

/// The same bits from both compressors.
#[test]
fn a_second_implementation_of_tage_agrees() {
    for name in CHOSEN {
        let (code, rows) = executed(name);
        let steps = steps(&rows, &code);
        for (number, (settings, sizes)) in SIZES.iter().enumerate() {
            for range in [false, true] {
                let p = Parameters { range, ..*sizes };
                // The first sizes without synchronisation, the others with.
                let every = [usize::MAX, 977, 10_000][number];
                let bits = trace(&p, &steps, every, &code);
                let coder = if range { "range" } else { "runs" };
                let settings = format!("coder={coder},{settings}");
                let scheme = format!("TAGE[{}]", settings.trim_end_matches(','));
                let scheme: Scheme = scheme.parse().expect("a scheme");
                let sync_every = NonZeroU64::new(every as u64).filter(|_| number > 0);
                let setup = SchemeSetup { code: &code, sync_every, tvec: &[] };
                let compressed = super::compressed(&scheme, &setup, &rows);
                let what = format!("{name}: {scheme}");
                assert_eq!(compressed.payload_bits, bits.len() as u64, "{what}");
                assert!(compressed.bits == joined(&bits), "{what}: other bits");
            }
        }
    }
}

fn joined(bits: &[u64]) -> Bits {
    let mut out = Bits::default();
    bits.iter().for_each(|bit| out.put(*bit, 1));
    out
}
