//! Ranges that a decoder must report.

use hartrace_isa::arm::{Executed, Kind};

/// Instructions that a decoder reports as one range: address of the first, address after the last,
/// number of instructions, whether the last was taken.
pub type Expected = (u64, u64, u32, bool);

/// Gathers instructions into ranges as a decoder reports them. Instructions after the last reported
/// outcome are not in the trace.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    open: Option<(u64, u32)>,
    end: u64,
    /// Instructions that are not reported one by one.
    unknown: Option<Unknown>,
    gaps: Vec<Gap>,
}

/// Instructions of which the trace contains the number at most: where they start, where the core
/// continues, and their number, or 0.
pub type Gap = (u64, u64, u32);

/// Instructions of which the trace contains the number, or not even that. If they are consecutive
/// up to the last, the number is enough.
#[derive(Clone, Debug)]
struct Unknown {
    left: u32,
    counted: bool,
    path: bool,
}

impl Ranges {
    /// Adds an instruction that was executed. Returns the range that ends with it.
    #[inline]
    pub fn executed(&mut self, executed: &Executed) -> Option<Expected> {
        let (start, count) = self.open.unwrap_or((executed.address, 0));
        self.end = executed.end();
        self.open = Some((start, count + 1));
        if let Some(unknown) = &mut self.unknown {
            unknown.left -= 1;
            let last = unknown.left == 0;
            let branch = matches!(executed.insn.kind, Kind::Direct { .. } | Kind::Indirect);
            unknown.path &= last || !branch;
            if !last {
                return None;
            }
            let (counted, path) = (unknown.counted, unknown.path);
            (self.open, self.unknown) = (None, None);
            if !path {
                let count = if counted { count + 1 } else { 0 };
                self.gaps.push((start, executed.next.address, count));
            }
            return path.then_some((start, self.end, count + 1, true));
        }
        if executed.insn.kind == Kind::Other {
            return None;
        }
        self.open = None;
        Some((start, self.end, count + 1, executed.taken))
    }

    /// Adds an exception, which also reports the instructions since the last range.
    pub fn exception(&mut self) -> Option<Expected> {
        self.open.take().map(|(start, count)| (start, self.end, count, true))
    }

    /// Drops the instructions since the last range: they are lost.
    pub fn lost(&mut self) {
        self.open = None;
    }

    /// Notes that the next instructions are not reported one by one: only their number is, or not
    /// even that.
    pub fn unknown(&mut self, count: u32, counted: bool) {
        self.unknown = Some(Unknown { left: count, counted, path: counted });
    }

    /// Instructions that are in no range so far.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }
}
