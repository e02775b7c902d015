//! What was decoded against what was executed, first to last.

use hartrace_decoder::{Event, Run, Sink, StreamPos};
use hartrace_ingress::{IType, Retired};
use std::collections::VecDeque;

/// A stretch of code, executed from the first to the last instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Stretch {
    start: u64,
    end: u64,
}

/// Compares as it goes. Code does not change while it is traced, so that the same stretches in the
/// same order are the same instructions.
#[derive(Debug, Default)]
pub(crate) struct Verify {
    /// What was executed and has not been decoded yet.
    executed: VecDeque<Stretch>,
    /// Cause, and whether it is an interrupt.
    traps: VecDeque<(u64, bool)>,
    /// Instructions decoded.
    pub(crate) decoded: u64,
    /// The first difference.
    difference: Option<String>,
}

impl Verify {
    /// Takes what a hart reports.
    pub(crate) fn executed(&mut self, row: &Retired) {
        if row.iretire > 0 {
            self.executed.push_back(Stretch { start: row.iaddr, end: row.next_address() });
        }
        if row.itype.is_trap() {
            self.traps.push_back((row.cause, row.itype == IType::Interrupt));
        }
    }

    /// The first difference, now that all has been decoded.
    pub(crate) fn finish(mut self) -> Option<String> {
        if let Some(Stretch { start, .. }) = self.executed.pop_front() {
            self.differ(format_args!("{start:#x} was executed and not decoded"));
        }
        if let Some((cause, _)) = self.traps.pop_front() {
            self.differ(format_args!("a trap with cause {cause} was not decoded"));
        }
        self.difference
    }

    fn differ(&mut self, what: std::fmt::Arguments<'_>) {
        self.difference.get_or_insert_with(|| what.to_string());
    }
}

impl Sink for Verify {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.decoded += u64::from(run.insns());
        let mut rest = Stretch { start: run.start(), end: run.end() };
        while rest.start != rest.end && self.difference.is_none() {
            let Some(executed) = self.executed.front_mut() else {
                let pc = rest.start;
                return self.differ(format_args!("packet {}: {pc:#x} is too much", at.packet));
            };
            if executed.start != rest.start {
                let (pc, right) = (rest.start, executed.start);
                let packet = at.packet;
                return self.differ(format_args!("packet {packet}: {pc:#x} instead of {right:#x}"));
            }
            let len =
                (rest.end.wrapping_sub(rest.start)).min(executed.end.wrapping_sub(executed.start));
            rest.start = rest.start.wrapping_add(len);
            executed.start = executed.start.wrapping_add(len);
            if executed.start == executed.end {
                self.executed.pop_front();
            }
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let packet = at.packet;
        match event {
            Event::Trap { cause, interrupt, .. } => {
                let executed = self.traps.pop_front();
                if executed != Some((cause, interrupt)) {
                    self.differ(format_args!(
                        "packet {packet}: a trap with cause {cause} too much"
                    ));
                }
            }
            Event::Gap(fault) => self.differ(format_args!("packet {packet}: {fault}")),
            _ => {}
        }
    }
}
