//! What a decoder must report.

use hartrace_arm_isa::{Executed, Kind};

/// Instructions that a decoder reports in one: address of the first, address behind the last, how
/// many, whether the last was taken.
pub type Expected = (u64, u64, u32, bool);

/// Gathers instructions as a decoder reports them. What comes behind the last one whose outcome is told is
/// not in the trace.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    open: Option<(u64, u32)>,
    end: u64,
}

impl Ranges {
    /// An instruction was executed. Returns the range that ends with it.
    #[inline]
    pub fn executed(&mut self, executed: &Executed) -> Option<Expected> {
        let (start, count) = self.open.unwrap_or((executed.address, 0));
        self.end = executed.end();
        self.open = Some((start, count + 1));
        if executed.insn.kind == Kind::Other {
            return None;
        }
        self.open = None;
        Some((start, self.end, count + 1, executed.taken))
    }

    /// An exception was taken: what was executed since the last range is told with it.
    pub fn exception(&mut self) -> Option<Expected> {
        self.open.take().map(|(start, count)| (start, self.end, count, true))
    }
}
