//! The output of our decoder.

use hartrace_arm_decoder::{ElementSink, Event, Lost, Range, Start, StreamPos};
use hartrace_golden::arm::{Expected, Gap, Ids};

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ranges: Vec<Expected>,
    pub(crate) times: Vec<u64>,
    pub(crate) exceptions: Vec<u64>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) overflows: usize,
    pub(crate) contexts: Vec<Ids>,
    /// Cycles, with the instructions before them.
    pub(crate) cycles: Vec<(u64, Option<u32>)>,
    pub(crate) instructions: u64,
    /// Cycles that belong to instructions that have not been reported yet (PTM).
    pub(crate) early: u32,
    pub(crate) ptm: bool,
    pub(crate) wrong: Vec<(u64, Event)>,
}

impl Seen {
    fn passed(&mut self, cycles: Option<u32>) {
        if let Some(cycles) = cycles {
            let cycles = cycles + std::mem::take(&mut self.early);
            self.cycles.push((self.instructions, Some(cycles)));
        }
    }
}

impl ElementSink for Seen {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.ranges.push((range.start, range.end, range.count, range.taken));
        self.instructions += u64::from(range.count);
        self.passed(range.cycles);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        match event {
            Event::Timestamp { value, cycles } => {
                self.times.push(value);
                // Those of ETMv4 are counted again.
                self.early += cycles.filter(|_| self.ptm).unwrap_or(0);
            }
            Event::Exception { returns, cycles, .. } => {
                self.exceptions.push(returns.unwrap_or(0));
                self.passed(cycles);
            }
            Event::Cycles(cycles) => self.cycles.push((self.instructions, cycles)),
            Event::NoPath { start, next, count } => self.gaps.push((start, next, count)),
            Event::TraceOn(Start::Overflow, _) => self.overflows += 1,
            Event::NoSync(Lost::Overflow) => {}
            Event::Context(context) => self.contexts.push(Ids {
                context: context.context_id.unwrap_or(0),
                vmid: context.vmid.unwrap_or(0),
            }),
            Event::Fault(_) | Event::NotAccessible { .. } => self.wrong.push((at.byte, event)),
            Event::NoSync(lost) if lost != Lost::Start => {
                self.wrong.push((at.byte, event));
            }
            _ => {}
        }
    }
}
