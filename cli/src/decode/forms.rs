//! What a form of output has to do, and the simplest one.

use super::part::Retired;
use hartrace_decoder::{Event, Leaves, StreamPos};
use std::fmt::Display;

/// Turns what was decoded into text, in order.
pub(crate) trait Form {
    /// Instructions that retired.
    fn retired(&mut self, out: &mut Vec<u8>, at: StreamPos, run: Retired<'_>);

    /// Anything else but gaps.
    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event);

    /// Something is missing.
    fn gap(&mut self, out: &mut Vec<u8>, at: StreamPos, cause: &dyn Display);

    /// Code of this context follows; said of all contexts, also where nothing is printed.
    fn enter(&mut self, context: u64) {
        let _ = context;
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

/// One address per line.
#[derive(Debug)]
pub(crate) struct Pcs;

impl Form for Pcs {
    fn retired(&mut self, out: &mut Vec<u8>, _: StreamPos, run: Retired<'_>) {
        out.reserve(17 * run.addresses.len());
        for pc in run.addresses {
            out.extend_from_slice(&line(*pc));
        }
    }

    fn event(&mut self, _: &mut Vec<u8>, _: StreamPos, _: &Event) {}

    fn gap(&mut self, _: &mut Vec<u8>, _: StreamPos, _: &dyn Display) {}
}

/// An address as 16 hexadecimal digits and a line feed.
fn line(pc: u64) -> [u8; 17] {
    let mut line = [b'\n'; 17];
    for (digit, byte) in line.iter_mut().take(16).enumerate() {
        let nibble = (pc >> (60 - 4 * digit)) as u8 & 15;
        *byte = nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    }
    line
}
