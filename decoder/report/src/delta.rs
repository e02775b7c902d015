//! Where two traces of one program differ, or of different builds of it.

mod captures;
mod compare;
mod count;
mod functions;
mod print;
mod side;
mod skip;
mod tape;
mod unrolled;

pub use captures::{CONTEXT, Capture, Ended, captures};
pub use compare::delta;
pub use count::Counts;
pub use functions::{ByName, Pair};
pub use print::Style;
pub use side::{Piece, Pieces};

use hartrace_decoder::StreamPos;
use hartrace_decoder::calls::Frame;

/// A stretch in which two traces differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of instructions before it that were decoded, in each trace.
    pub before: [u64; 2],
    /// Where it is in each capture.
    pub at: [StreamPos; 2],
    /// What each trace has there first; `None` at its end.
    pub first: [Option<Piece>; 2],
    /// The number of instructions that only one has, in each trace.
    pub insns: [u64; 2],
}

/// Where two traces of one program differ.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    /// What is before this place is the same in both captures, byte for byte, and was not decoded: instructions are
    /// counted from there, and functions that were active there are not known.
    pub skipped: Option<StreamPos>,
    /// What is the same after a difference, byte for byte, and was not decoded.
    pub later: Later,
    /// The first stretches.
    pub stretches: Vec<Stretch>,
    /// The number of all stretches.
    pub count: u64,
    /// The number of instructions that were decoded of each trace.
    pub insns: [u64; 2],
    /// Instructions that only one trace has.
    pub alone: [u64; 2],
    /// Address of the last instruction before the first stretch.
    pub last: Option<u64>,
    /// The active functions there, the oldest first.
    pub stack: Vec<Frame>,
    /// What each trace has more of.
    pub counts: Counts,
}

/// Stretches that two captures have in common after a difference, and that were not decoded.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Later {
    /// The number of stretches.
    pub stretches: u64,
    /// Their packets, in each capture.
    pub packets: u64,
    /// Their bytes, in each capture.
    pub bytes: u64,
}

impl Later {
    /// Adds what is between two places; it is the same in both captures.
    fn add(&mut self, [from, _]: [StreamPos; 2], [to, _]: [StreamPos; 2]) {
        self.stretches = self.stretches.saturating_add(1);
        self.packets = self.packets.saturating_add(to.packet.saturating_sub(from.packet));
        self.bytes = self.bytes.saturating_add(to.byte.saturating_sub(from.byte));
    }
}

#[cfg(test)]
mod tests;
