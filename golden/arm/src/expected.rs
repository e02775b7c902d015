//! What a decoder must report.

use hartrace_isa::arm::{Executed, Kind};

/// Instructions that a decoder reports in one: address of the first, address behind the last, how
/// many, whether the last was taken.
pub type Expected = (u64, u64, u32, bool);

/// Gathers instructions as a decoder reports them. What comes behind the last one whose outcome is told is
/// not in the trace.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    open: Option<(u64, u32)>,
    end: u64,
    /// Instructions that are not told one by one.
    unknown: Option<Unknown>,
    gaps: Vec<Gap>,
}

/// Instructions that only their number is told of, if that: where they start, where the core goes on, and
/// how many they are, or 0.
pub type Gap = (u64, u64, u32);

/// Instructions of which the number is told, or not even that. Where they follow one another up to the last,
/// the number is enough.
#[derive(Clone, Debug)]
struct Unknown {
    left: u32,
    counted: bool,
    path: bool,
}

impl Ranges {
    /// An instruction was executed. Returns the range that ends with it.
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

    /// An exception was taken: what was executed since the last range is told with it.
    pub fn exception(&mut self) -> Option<Expected> {
        self.open.take().map(|(start, count)| (start, self.end, count, true))
    }

    /// What was executed since the last range is lost.
    pub fn lost(&mut self) {
        self.open = None;
    }

    /// The next instructions are not told one by one, only how many, or not even that.
    pub fn unknown(&mut self, count: u32, counted: bool) {
        self.unknown = Some(Unknown { left: count, counted, path: counted });
    }

    /// Instructions that were in no range so far.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }
}
