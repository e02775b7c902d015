//! Memory of a Linux process: its heap, its mappings, its stack.

use crate::abi::errno;
use crate::config::Range;
use crate::memory::PAGE;

/// Room for the heap after the program.
pub(crate) const HEAP: u64 = 64 << 20;
/// Address range for `mmap`.
pub(crate) const MAPPINGS: Range = Range { base: 0x4000_0000, size: 256 << 20 };
/// Address range of the stack.
pub(crate) const STACK: Range = Range { base: 0x7f00_0000, size: 8 << 20 };

/// State that the kernel keeps for the process.
#[derive(Debug)]
pub(crate) struct Process {
    /// The current end of the heap, and its limits.
    brk: u64,
    brk_range: (u64, u64),
    next_mapping: u64,
}

impl Process {
    /// A process whose heap starts at `brk`.
    pub(crate) const fn new(brk: u64) -> Self {
        Self { brk, brk_range: (brk, brk + HEAP), next_mapping: MAPPINGS.base }
    }

    /// `brk`: moves the end of the heap and returns it; it stays unchanged if `wanted` is outside
    /// the limits.
    pub(crate) fn move_break(&mut self, wanted: u64) -> u64 {
        if (self.brk_range.0..=self.brk_range.1).contains(&wanted) {
            self.brk = wanted;
        }
        self.brk
    }

    /// `mmap`: the address of zeroed anonymous memory, chosen here, or an error number. Memory that
    /// was unmapped is not reused, so new memory is always zero.
    pub(crate) fn map_memory(&mut self, size: u64, flags: u64) -> u64 {
        const FIXED: u64 = 0x10;
        const ANONYMOUS: u64 = 0x20;
        if size == 0 || flags & FIXED != 0 {
            return errno(22);
        }
        if flags & ANONYMOUS == 0 {
            return errno(9);
        }
        let start = self.next_mapping;
        let end = start.checked_add(size).and_then(|end| end.checked_next_multiple_of(PAGE));
        match end {
            Some(end) if end <= MAPPINGS.base + MAPPINGS.size => {
                self.next_mapping = end;
                start
            }
            _ => errno(12),
        }
    }
}
