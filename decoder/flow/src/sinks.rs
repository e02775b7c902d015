//! Sinks that compute sums. The contribution of a path is computed once, however often it occurs.

mod coverage;
mod edges;
mod frequencies;
mod halves;

pub use coverage::Coverage;
pub use edges::{Edge, Edges, OpenEnds};
pub use frequencies::{Frequencies, Frequency};

use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::Run;
use crate::sink::Sink;

/// Counts instructions and gaps.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of instructions that retired.
    pub instructions: u64,
    /// Number of gaps.
    pub gaps: u64,
}

impl Sink for Count {
    const REPEATS: bool = true;

    #[inline]
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.instructions = self.instructions.wrapping_add(run.insns().into());
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        self.instructions = self.instructions.wrapping_add(path.insns());
    }

    fn repeat(&mut self, _: StreamPos, run: Run<'_>, times: u64) {
        let instructions = u64::from(run.insns()).wrapping_mul(times);
        self.instructions = self.instructions.wrapping_add(instructions);
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if matches!(event, Event::Gap(_)) {
            self.gaps = self.gaps.wrapping_add(1);
        }
    }
}
