//! The golden decoder on payloads from the peer's generator.

use crate::convert;
use crate::difference::{P, Test, Verdict};
use crate::golden::{self, Traced};
use hartrace_etrace::ingress::{CType, IType, Retired};
use hartrace_tests::case::{Case, Dice};
use riscv_etrace::generator::{self, Event, Generator, hart2enc, step};
use riscv_etrace::instruction::Size;
use riscv_etrace::packet::payload::InstructionTrace;
use riscv_etrace::packet::sync::Synchronization;
use riscv_etrace::packet::unit::{ReferenceDOptions, ReferenceIOptions};
use riscv_etrace::types::{Context, Privilege};
use std::fmt::Write;

/// A row as input of the generator.
#[derive(Clone, Debug)]
pub(crate) struct Row(pub(crate) Retired);

impl step::Step for Row {
    fn address(&self) -> u64 {
        self.0.iaddr
    }

    fn kind(&self) -> step::Kind {
        let itype = hart2enc::IType::try_from(self.0.itype.raw()).expect("the codes are the same");
        let size = if self.0.ilastsize == 0 { Size::Compressed } else { Size::Normal };
        let cause = self.0.cause as u16;
        step::Kind::from_hart(itype, cause, self.0.tval, size, self.0.iretire > 0, self.0.sijump)
    }

    fn ctype(&self) -> hart2enc::CType {
        match self.0.ctype {
            CType::Unreported => hart2enc::CType::Unreported,
            CType::Imprecise => hart2enc::CType::Imprecisely,
            CType::Precise => hart2enc::CType::Precisely,
            CType::AsynchronousDiscontinuity => hart2enc::CType::AsyncDiscon,
        }
    }

    fn context(&self) -> Context {
        let privilege = Privilege::try_from(self.0.privilege.0).expect("levels that exist");
        Context { privilege, context: self.0.context }
    }

    fn timestamp(&self) -> Option<u64> {
        Some(self.0.time)
    }
}

/// A payload of the generator.
#[derive(Clone, Debug)]
struct Generated {
    /// The row that it describes.
    row: usize,
    payload: InstructionTrace,
    bytes: Vec<u8>,
}

/// Random rows at which to resynchronise.
pub(crate) fn resyncs(case: &Case) -> Vec<bool> {
    let mut dice = Dice::new(case.walk.seed ^ 0x7e57);
    let every = dice.range(5, 60);
    let rows = case.walk.rows.iter();
    rows.map(|row| row.iretire > 0 && !row.itype.is_trap() && dice.one_in(every)).collect()
}

/// Whether tracing stops after a row.
fn stops(case: &Case, traced: &[bool], row: usize) -> bool {
    let retired = &case.walk.rows[row];
    retired.halted || retired.reset || traced.get(row + 1) != Some(&true)
}

/// The generator's payloads for the walk, started and stopped according to the filter.
fn generate(case: &Case, resyncs: &[bool]) -> Vec<Generated> {
    let params = &case.encoder.params;
    let traced = case.traced();
    let mut all = Vec::new();
    let mut push = |row: usize, payload: InstructionTrace| {
        let bytes = convert::emit(params, &payload).expect("formats 1 to 3");
        all.push(Generated { row, payload, bytes });
    };
    let mut generator: Generator<Row> = generator::builder()
        .with_params(&convert::parameters(params))
        .build()
        .expect("any parameters");
    let full_address = case.encoder.options.full_address;
    let options = ReferenceIOptions { full_address, ..Default::default() };
    let mut on = false;
    for (index, row) in case.walk.rows.iter().enumerate().filter(|(index, _)| traced[*index]) {
        if !on {
            let support = generator.begin_qualification(options, ReferenceDOptions::default());
            push(index, support.expect("supported modes").into());
        }
        let event = match row.trigger.notify {
            true => Some(Event::Notify),
            false => resyncs[index].then_some(Event::ReSync),
        };
        // The output describes the previous step.
        for payload in generator.process_step(Row(*row), event) {
            push(index.saturating_sub(1), payload.expect("steps in order"));
        }
        on = !stops(case, &traced, index);
        if !on {
            for payload in generator.end_qualification(true) {
                push(index, payload.expect("steps in order"));
            }
        }
    }
    all
}

/// Compares our decoding of the peer's payloads with what was executed.
pub(crate) fn verdict(case: &Case, resyncs: &[bool]) -> Verdict {
    let payloads = generate(case, resyncs);
    let want = golden::executed(case);
    let ours = golden::decode(case, payloads.iter().map(|g| g.bytes.as_slice()));
    let same = want.iter().zip(&ours.traced).take_while(|(a, b)| a.1 == b.1).count();
    if same == want.len() && same == ours.traced.len() && ours.gaps.is_empty() {
        return Verdict::Equal;
    }
    let wrong = ours.traced.get(same).map_or(payloads.len(), |(payload, _)| *payload);
    let gap = ours.gaps.first().map_or(payloads.len(), |(payload, _)| *payload);
    let misplaced = payloads.iter().enumerate().position(|(index, generated)| {
        let items = ours.traced.partition_point(|(payload, _)| *payload <= index);
        let row = items.checked_sub(1).and_then(|item| want.get(item)).map(|(row, _)| *row);
        let retired = case.walk.rows[generated.row].iretire > 0;
        retired && is_start(&generated.payload) && row != Some(generated.row)
    });
    let bad = wrong.min(gap).min(misplaced.unwrap_or(wrong));
    let scene = Scene { case, payloads: &payloads, want: &want, right: same, bad };
    if let Some(p) = scene.explain() {
        return Verdict::Known(p);
    }
    let instead = ours.traced.get(same);
    let mut text = format!("{same} right, then {instead:x?}; gaps {:?}\n", ours.gaps);
    for (row, what) in want.iter().skip(same.saturating_sub(5)).take(8) {
        let _ = writeln!(text, "  row {row:>5} {what:x?} {:?}", case.walk.rows[*row].itype);
    }
    for generated in payloads.iter().take(bad + 2).skip(bad.saturating_sub(4)) {
        let _ = writeln!(text, "  row {:>5} {}", generated.row, generated.payload);
    }
    Verdict::Unknown(text)
}

/// A difference with its context.
struct Scene<'a> {
    case: &'a Case,
    payloads: &'a [Generated],
    want: &'a [(usize, Traced)],
    /// Number of correct items.
    right: usize,
    /// The first payload with a wrong item or a gap.
    bad: usize,
}

impl Scene<'_> {
    fn explain(&self) -> Option<P> {
        let tests: [Test<Self>; 5] = [
            (P::TrapLast, Self::trap_last),
            (P::SyncUnretired, Self::sync_unretired),
            (P::TrapTwice, Self::trap_twice),
            (P::SequentialSync, Self::sequential_sync),
            (P::DoubtfulVisit, Self::doubtful_visit),
        ];
        tests.iter().find(|(_, test)| test(self)).map(|(p, _)| *p)
    }

    fn row(&self, index: usize) -> &Retired {
        &self.case.walk.rows[index]
    }

    /// The missing item, if it is a trap.
    fn missing_trap(&self) -> Option<usize> {
        let (row, what) = self.want.get(self.right)?;
        matches!(what, Traced::Trap(..)).then_some(*row)
    }

    /// A trap is missing after which tracing stops.
    fn trap_last(&self) -> bool {
        self.missing_trap().is_some_and(|row| stops(self.case, &self.case.traced(), row))
    }

    /// A trap is missing, and there is a synchronisation at the instruction that trapped.
    fn sync_unretired(&self) -> bool {
        let start = |row: usize| self.payloads.iter().any(|g| g.row == row && is_start(&g.payload));
        self.missing_trap().is_some_and(|row| self.row(row).iretire == 0 && start(row))
    }

    /// The wrong item is one of several consecutive traps, or what follows them, and the first of
    /// them happened at the target of an uninferable discontinuity.
    fn trap_twice(&self) -> bool {
        let Some((row, _)) = self.want.get(self.right) else { return false };
        let traps = (0..*row).rev().take_while(|row| self.row(*row).iretire == 0).count();
        let jump = (row - traps).checked_sub(1);
        let again = traps + usize::from(self.row(*row).iretire == 0);
        again > 1 && traps > 0 && jump.is_some_and(|jump| is_uninferable(self.row(jump).itype))
    }

    /// The last synchronisation before the difference.
    fn last_sync(&self, end: usize) -> Option<usize> {
        let trap = |payload: &InstructionTrace| {
            matches!(payload, InstructionTrace::Synchronization(Synchronization::Trap(_)))
        };
        let mut payloads = self.payloads.iter().take(end);
        payloads.rposition(|g| is_start(&g.payload) || trap(&g.payload))
    }

    /// The last synchronisation is at a sequentially inferable jump.
    fn sequential_sync(&self) -> bool {
        let sync = self.last_sync(self.bad);
        self.case.encoder.options.sequentially_inferred_jump
            && sync.is_some_and(|sync| self.row(self.payloads[sync].row).sijump)
    }

    /// The last payload before this one that advances the trace.
    fn payload_before(&self, payload: usize) -> Option<usize> {
        let leads = |payload: &InstructionTrace| match payload {
            InstructionTrace::Synchronization(sync) => {
                matches!(sync, Synchronization::Start(_) | Synchronization::Trap(_))
            }
            _ => true,
        };
        self.payloads[..payload].iter().rposition(|g| leads(&g.payload))
    }

    /// The address of a payload was already passed since the previous payload.
    fn passed(&self, payload: usize) -> bool {
        let Some(before) = self.payload_before(payload) else { return false };
        let (from, to) = (self.payloads[before].row, self.payloads[payload].row);
        (from + 1..to).any(|row| self.row(row).iaddr == self.row(to).iaddr)
    }

    /// The last synchronisation is at an address that was passed before, or follows one.
    fn doubtful_visit(&self) -> bool {
        let Some(sync) = self.last_sync(self.bad + 1) else { return false };
        let before = self.payload_before(sync);
        self.passed(sync) || before.is_some_and(|before| self.passed(before))
    }
}

fn is_start(payload: &InstructionTrace) -> bool {
    matches!(payload, InstructionTrace::Synchronization(Synchronization::Start(_)))
}

fn is_uninferable(itype: IType) -> bool {
    matches!(
        itype,
        IType::TrapReturn
            | IType::UninferableJump
            | IType::UninferableCall
            | IType::UninferableTailCall
            | IType::CoRoutineSwap
            | IType::Return
            | IType::OtherUninferableJump
    )
}
