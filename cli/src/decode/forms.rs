//! What a form of output has to do.

use crate::part::Retired;
use hartrace_decoder::{Event, Leaves, Moment, StreamPos};
use std::fmt::Display;

/// Turns what was decoded into text, in order.
pub(crate) trait Form {
    /// Instructions that retired.
    fn retired(&mut self, out: &mut Vec<u8>, at: StreamPos, run: Retired<'_>);

    /// Anything else but gaps.
    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event);

    /// Something is missing.
    fn gap(&mut self, out: &mut Vec<u8>, at: StreamPos, cause: &dyn Display);

    /// What follows is of this source, and what came before of another.
    fn turn(&mut self, out: &mut Vec<u8>, source: Option<u16>);

    /// Code of this context and time follows; said of all contexts, also where nothing is printed.
    fn enter(&mut self, moment: Moment) {
        let _ = moment;
    }

    /// The end.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}

/// How a run leaves, in one word.
pub(crate) fn leaves(leaves: Leaves) -> &'static str {
    match leaves {
        Leaves::No => "-",
        Leaves::Branch => "branch",
        Leaves::Jump => "jump",
        Leaves::Indirect => "indirect",
    }
}
