//! The signals beside the instructions: context, time, triggers, halt, reset, clock.

use crate::walk::plan::chance;
use crate::walk::shape::Shape;
use fastrand::Rng;
use hartrace_etrace::ingress::{CType, Retired};

#[derive(Debug)]
pub(crate) struct Side {
    context: u64,
    time: u64,
    /// Rows until trace-on; 0 when tracing.
    off: u32,
}

impl Side {
    pub(crate) fn new(shape: &Shape, rng: &mut Rng) -> Self {
        let time = if shape.time { rng.u64(..1 << 40) } else { 0 };
        Self { context: context(shape, rng), time, off: 0 }
    }

    pub(crate) fn fill(&mut self, row: &mut Retired, shape: &Shape, rng: &mut Rng) {
        let retired = row.iretire > 0;
        if retired && shape.context_bits > 0 && chance(rng, shape.context_changes) {
            row.ctype = CType::from_raw(rng.u8(..));
            if rng.u8(..8) != 0 {
                self.context = context(shape, rng);
            }
        }
        row.context = self.context;
        if shape.time && rng.u8(..6) == 0 {
            self.time = self.time.wrapping_add(rng.u64(1..=100));
        }
        row.time = self.time;
        if chance(rng, shape.stalls) {
            row.cycles = rng.u32(2..=17);
        }
        self.toggle(row, shape, rng);
        if retired {
            row.trigger.notify = chance(rng, shape.notifies);
            row.halted = chance(rng, shape.halts);
            row.reset = chance(rng, shape.resets);
        }
    }

    fn toggle(&mut self, row: &mut Retired, shape: &Shape, rng: &mut Rng) {
        match self.off {
            0 => {
                row.trigger.off = chance(rng, shape.trace_toggles);
                // Pointless, but allowed.
                row.trigger.on = chance(rng, shape.trace_toggles / 8);
            }
            1 => {
                row.trigger.on = true;
                row.trigger.off = rng.u8(..6) == 0;
                self.off = 0;
            }
            _ => self.off -= 1,
        }
        if row.trigger.off {
            self.off = match rng.u8(..4) {
                0 => 1,
                _ => rng.u32(2..40),
            };
        }
    }
}

fn context(shape: &Shape, rng: &mut Rng) -> u64 {
    match shape.context_bits.min(64) {
        0 => 0,
        bits => rng.u64(..) >> (64 - u32::from(bits)),
    }
}
