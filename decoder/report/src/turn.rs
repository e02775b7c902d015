//! A turn of a loop, kept until it is complete.

use hartrace_decoder::{Leaves, Run, StreamPos, Transfer};

/// The runs of a turn.
#[derive(Debug, Default)]
pub(crate) struct KeptTurn {
    pub(crate) at: StreamPos,
    pub(crate) runs: Vec<KeptRun>,
    /// How often it is taken.
    pub(crate) times: u64,
}

impl KeptTurn {
    pub(crate) fn push(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        (self.at, self.times) = (at, times);
        self.runs.push(KeptRun::new(run));
    }
}

/// A run.
#[derive(Debug)]
pub(crate) struct KeptRun {
    start: u64,
    /// Distances of its instructions from the first.
    offsets: Vec<u16>,
    end: u64,
    leaves: Leaves,
    transfer: Transfer,
}

impl KeptRun {
    fn new(run: Run<'_>) -> Self {
        let (start, mut offsets) = (run.start(), Vec::new());
        run.addresses(|pc| offsets.push(pc.wrapping_sub(start) as u16));
        let (end, leaves, transfer) = (run.end(), run.leaves(), run.transfer());
        Self { start, offsets, end, leaves, transfer }
    }

    /// Number of instructions.
    pub(crate) fn insns(&self) -> u64 {
        self.offsets.len() as u64
    }

    pub(crate) fn run(&self) -> Option<Run<'_>> {
        let run = Run::new(self.start, &self.offsets, self.end, self.leaves)?;
        Some(run.with_transfer(self.transfer))
    }
}
