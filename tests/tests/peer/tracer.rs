//! The peer's tracer on payloads from the golden encoder.

use crate::convert;
use crate::difference::Verdict;
use crate::explain::Scene;
use crate::golden::{self, Traced};
use hartrace_golden::encoder::Encoded;
use hartrace_golden::walk::{Program, Xlen};
use hartrace_tests::case::{Case, listing};
use riscv_etrace::binary::{self, Binary, error::NoInstruction};
use riscv_etrace::instruction::{Instruction, Kind, base, bits::Bits};
use riscv_etrace::tracer::{self, Tracer, item};
use riscv_etrace::types::stack::VecStack;
use std::fmt::Write;

/// The first item of the peer that differs.
#[derive(Clone, Debug)]
pub(crate) struct Divergence {
    /// The payload at which it leaves the path.
    pub(crate) payload: usize,
    /// Number of correct items before that payload.
    pub(crate) before: usize,
    /// Number of correct items when it left the path.
    pub(crate) right: usize,
    /// What the peer did instead.
    pub(crate) instead: Instead,
}

/// The possible errors of a tracer.
#[derive(Clone, Debug)]
pub(crate) enum Instead {
    /// Another item.
    Item(Traced),
    /// An error.
    Error(String),
    /// It stops at a wrong visit of the reported address, which becomes visible in a later payload.
    Visit,
}

/// An instruction as the peer decodes it.
fn fetch(program: &Program, address: u64) -> Result<Instruction, NoInstruction> {
    let set = match program.xlen {
        Xlen::Rv32 => base::Set::Rv32I,
        Xlen::Rv64 => base::Set::Rv64I,
    };
    let word = program.fetch(address).ok_or(NoInstruction)?;
    let bits = Bits::try_from(word.bits).map_err(|_| NoInstruction)?;
    Ok(Instruction::decode(bits, &set))
}

/// A tracer of the peer for the program and parameters of `case`.
pub(crate) fn tracer(
    case: &Case,
) -> Tracer<impl Binary<Option<Kind>, Error = NoInstruction>, VecStack> {
    let program = &case.walk.program;
    tracer::builder()
        .with_binary(binary::from_fn(|address| fetch(program, address)))
        .with_params(&convert::parameters(&case.encoder.params))
        .build()
        .expect("a stack of any depth")
}

/// Compares the peer's tracer with what was executed.
pub(crate) fn verdict(case: &Case) -> Verdict {
    let payloads = case.encode();
    let want = golden::executed(case);
    let ours = golden::decode(case, payloads.iter().map(|e| e.bytes.as_slice()));
    if !ours.gaps.is_empty() || !ours.traced.iter().map(|t| t.1).eq(want.iter().map(|t| t.1)) {
        let gap = ours.gaps.first().map_or(0, |(payload, _)| *payload);
        let near = listing(&payloads[gap.saturating_sub(3)..(gap + 2).min(payloads.len())]);
        return Verdict::Unknown(format!("OUR decoder differs, gaps {:?}\n{near}", ours.gaps));
    }
    let mut counts = vec![0; payloads.len()];
    for (payload, _) in &ours.traced {
        counts[*payload] += 1;
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }

    let Some(at) = run(case, &payloads, &want, &counts) else { return Verdict::Equal };
    let scene = Scene { case, payloads: &payloads, want: &want, at: &at };
    match scene.explain() {
        Some(p) => Verdict::Known(p),
        None => Verdict::Unknown(describe(&scene)),
    }
}

/// Feeds the payloads to the peer up to the first difference. `counts` contains the number of items
/// that the golden decoder has reported after each payload.
fn run(
    case: &Case,
    payloads: &[Encoded],
    want: &[(usize, Traced)],
    counts: &[usize],
) -> Option<Divergence> {
    let mut tracer = tracer(case);
    let mut right = 0;
    let mut left = None;
    for (payload, encoded) in payloads.iter().enumerate() {
        let before = right;
        if let Err(instead) = feed(&mut tracer, case, encoded, want, &mut right) {
            return left.or(Some(Divergence { payload, before, right, instead }));
        }
        left = match left {
            _ if right == counts[payload] => None,
            // The peer is ahead of our decoder, which waits at an earlier visit that is in doubt.
            None if right > counts[payload] && want[right - 1].0 as u64 <= encoded.row => None,
            None => Some(Divergence { payload, before, right, instead: Instead::Visit }),
            left => left,
        };
    }
    left
}

fn feed<B: Binary<Option<Kind>, Error = NoInstruction>>(
    tracer: &mut Tracer<B, VecStack>,
    case: &Case,
    encoded: &Encoded,
    want: &[(usize, Traced)],
    right: &mut usize,
) -> Result<(), Instead> {
    let error = |e: &dyn std::fmt::Display| Instead::Error(e.to_string());
    let payload = convert::parse(&case.encoder.params, &encoded.bytes).map_err(|e| error(&e))?;
    tracer.process_te_inst(&payload).map_err(|e| error(&e))?;
    // The items may be endless, but then they differ from those executed.
    for item in tracer {
        let item = item.map_err(|e| error(&e))?;
        let got = match item.kind() {
            item::Kind::Regular(_) => Traced::Retired(item.pc()),
            item::Kind::Trap(info) => Traced::Trap(info.ecause.into(), info.tval),
            item::Kind::Context(_) => continue,
        };
        if want.get(*right).is_none_or(|(_, next)| *next != got) {
            return Err(Instead::Item(got));
        }
        *right += 1;
    }
    Ok(())
}

fn describe(scene: &Scene<'_>) -> String {
    let Scene { case, payloads, want, at } = scene;
    let mut text = format!("options {}\n{:x?}\n{at:x?}\n", case.encoder.options, case.encoder);
    for (row, what) in want.iter().skip(at.right.saturating_sub(5)).take(8) {
        let mark = if want.get(at.right).is_some_and(|(next, _)| next == row) { '>' } else { ' ' };
        let itype = case.walk.rows[*row].itype;
        let word = case.walk.program.fetch(case.walk.rows[*row].iaddr).map_or(0, |w| w.bits);
        let _ = writeln!(text, "{mark} row {row:>5} {what:x?} {itype:?} {word:08x}");
    }
    let start = at.payload.saturating_sub(3);
    let end = (at.payload + 2).min(payloads.len());
    let _ = writeln!(text, "payloads from {start}\n{}", listing(&payloads[start..end]));
    text
}
