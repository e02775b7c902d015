//! Calls in order.

use hartrace_decoder::calls::{Frame, Visit};

/// What happened, each after a number of instructions.
#[derive(Debug, Default)]
pub struct Log(pub(super) Vec<(u64, Happened)>);

/// Something that happened to a call stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Enter(u64),
    Leave(u64),
    /// Another context runs.
    Context(u64),
    /// Part of the trace is missing.
    Gap,
}

impl Visit for Log {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.0.push((at, Happened::Enter(frame.function)));
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.0.push((at, Happened::Leave(frame.function)));
    }

    fn context(&mut self, context: u64, at: u64) {
        self.0.push((at, Happened::Context(context)));
    }

    fn gap(&mut self, at: u64) {
        self.0.push((at, Happened::Gap));
    }
}
