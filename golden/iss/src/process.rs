//! What the kernel knows of a Linux process: its heap, its mappings, its threads, its signals.

use crate::config::Range;
use crate::mappings::Mappings;
use crate::signals::Signals;
use crate::threads::Threads;

/// Room for the heap after the program.
pub(crate) const HEAP: u64 = 64 << 20;
/// Address range of the stack.
pub(crate) const STACK: Range = Range { base: 0x7f00_0000, size: 8 << 20 };

/// State that the kernel keeps for the process.
#[derive(Debug)]
pub(crate) struct Process {
    /// The current end of the heap, and its limits.
    brk: u64,
    brk_range: (u64, u64),
    pub(crate) mappings: Mappings,
    pub(crate) threads: Threads,
    pub(crate) signals: Signals,
}

impl Process {
    /// A process whose heap starts at `brk`.
    pub(crate) fn new(brk: u64, mappings: Mappings) -> Self {
        let (threads, signals) = (Threads::default(), Signals::default());
        Self { brk, brk_range: (brk, brk + HEAP), mappings, threads, signals }
    }

    /// `brk`: moves the end of the heap and returns it; it stays unchanged if `wanted` is outside
    /// the limits.
    pub(crate) fn move_break(&mut self, wanted: u64) -> u64 {
        if (self.brk_range.0..=self.brk_range.1).contains(&wanted) {
            self.brk = wanted;
        }
        self.brk
    }
}
