//! One line per run of consecutive instructions.

use crate::json;
use crate::ordered::InOrder;
use crate::part::Retired;
use crate::text_cache::TextCache;
use hartrace_capture::programs::{Programs, Symbols, address};
use hartrace_decoder::{Event, Leaves, Moment, StreamPos};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;

/// Writes runs of instructions as lines. Runs that only a packet has split are joined again.
#[derive(Debug)]
pub struct Blocks<'a> {
    programs: &'a Programs,
    /// By number of the program.
    symbols: Vec<Symbols<'a>>,
    xlen: Xlen,
    json: bool,
    /// The lines so far, by source and block.
    lines: TextCache<(Option<u16>, Block), Range<usize>>,
    before: BlocksState,
    /// Something of what came before is not known, and matters.
    forgotten: Option<Forgotten>,
}

/// What lines depend on.
#[derive(Copy, Clone, Debug, Default)]
pub struct BlocksState {
    /// Number of the program.
    program: usize,
    source: Option<u16>,
    /// The next run may continue it.
    pending: Option<Block>,
    /// Privilege and context, as far as known.
    state: Option<(u8, u64)>,
}

/// What is not known.
#[derive(Copy, Clone, Debug)]
struct Forgotten {
    /// Whether a block is pending, and where it starts.
    pending: bool,
    /// Privilege and context.
    state: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Block {
    /// Number of its program.
    program: usize,
    start: u64,
    end: u64,
    insns: u64,
    leaves: Leaves,
}

#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<u16>,
    start: String,
    end: String,
    insns: u64,
    leaves: Option<&'static str>,
    symbol: Option<String>,
}

impl<'a> Blocks<'a> {
    /// Writes lines of text, or of JSON, with the names of `programs`.
    pub fn new(programs: &'a Programs, xlen: Xlen, json: bool) -> Self {
        let symbols = programs.iter().map(|program| program.symbols()).collect();
        let (lines, before) = (TextCache::default(), BlocksState::default());
        Self { programs, symbols, xlen, json, lines, before, forgotten: None }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        let pending = self.before.pending.take();
        if let Some(forgotten) = &mut self.forgotten {
            // The line would be wrong, and it is not used.
            forgotten.pending = false;
            return;
        }
        let Some(block) = pending else { return };
        let mut lines = std::mem::take(&mut self.lines);
        let (line, text) = lines.get((self.before.source, block), |text| self.line(text, block));
        out.extend_from_slice(text.get(line).unwrap_or_default());
        self.lines = lines;
    }

    /// Once everything is known again, lines are.
    fn recall(&mut self) {
        self.forgotten = self.forgotten.filter(|forgotten| forgotten.pending || forgotten.state);
    }

    /// Appends the line of a block. Returns where it is.
    fn line(&self, out: &mut Vec<u8>, block: Block) -> Range<usize> {
        let from = out.len();
        let Block { program, start, end, insns, leaves: how } = block;
        let symbol = self.symbols.get(program).and_then(|symbols| symbols.place(start));
        let [start, end] = [start, end].map(|pc| address(pc, self.xlen));
        if self.json {
            let symbol = symbol.map(|place| place.to_string());
            let leaves = (how != Leaves::No).then_some(how.name());
            let source = self.before.source;
            json::line(out, &Line { source, start, end, insns, leaves, symbol });
            return from..out.len();
        }
        let how = how.name();
        // Writing to memory does not fail.
        let _ = match symbol {
            Some(place) => writeln!(out, "{start} {end} {insns:>5} {how:<8} <{place}>"),
            None => writeln!(out, "{start} {end} {insns:>5} {how}"),
        };
        from..out.len()
    }
}

impl InOrder for Blocks<'_> {
    type State = BlocksState;

    fn maker<'m>(&self) -> Box<dyn Fn() -> Self + Send + Sync + 'm>
    where
        Self: 'm,
    {
        let Self { programs, xlen, json, .. } = *self;
        Box::new(move || Self::new(programs, xlen, json))
    }

    fn forget(&mut self) {
        self.forgotten = Some(Forgotten { pending: true, state: true });
    }

    fn state(&self) -> Option<BlocksState> {
        self.forgotten.is_none().then_some(self.before)
    }

    fn resume(&mut self, state: BlocksState) {
        (self.before, self.forgotten) = (state, None);
    }

    fn retired(&mut self, out: &mut Vec<u8>, _: StreamPos, run: Retired<'_>) {
        let Some(start) = run.addresses.first().copied() else { return };
        let (insns, program) = (run.addresses.len() as u64, self.before.program);
        let mut block = Block { program, start, end: run.end, insns, leaves: run.leaves };
        match self.before.pending {
            Some(before) if before.leaves == Leaves::No && before.end == start => {
                block.start = before.start;
                block.insns = block.insns.saturating_add(before.insns);
            }
            // It may continue one that is not known.
            None if self.forgotten.is_some_and(|forgotten| forgotten.pending) => {}
            _ => self.flush(out),
        }
        self.before.pending = Some(block);
        self.recall();
    }

    fn event(&mut self, out: &mut Vec<u8>, _: StreamPos, event: &Event) {
        if let Event::Time(_) | Event::Trigger = event {
            return;
        }
        if let Event::Context { privilege, context, .. } = *event {
            let before = self.before.state.replace((privilege, context));
            if let Some(forgotten) = &mut self.forgotten
                && std::mem::replace(&mut forgotten.state, false)
            {
                // Whether it ends the block before is not known.
                forgotten.pending = true;
                return;
            }
            // A synchronisation repeats what is known.
            if before == Some((privilege, context)) {
                return;
            }
        }
        self.flush(out);
        self.recall();
    }

    fn turn(&mut self, out: &mut Vec<u8>, source: Option<u16>) {
        self.flush(out);
        (self.before.source, self.before.state) = (source, None);
    }

    fn enter(&mut self, moment: Moment) {
        self.before.program = self.programs.of_context(moment.context);
    }

    fn gap(&mut self, out: &mut Vec<u8>, _: StreamPos, _: &dyn Display) {
        self.flush(out);
        self.recall();
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Collect;
    use crate::ordered::{Ordered, OrderedPart};
    use crate::report::Report;
    use hartrace_decoder::{Run, Sink};

    #[test]
    fn what_only_a_packet_splits_is_one_block() {
        let mut part = OrderedPart::default();
        let mut run = |packet, pc, leaves| {
            let at = StreamPos { packet, byte: 0 };
            part.run(at, Run::new(pc, &[0, 4], pc + 8, leaves).unwrap());
        };
        run(0, 0x10, Leaves::No);
        run(1, 0x18, Leaves::Jump);
        run(1, 0x20, Leaves::No);
        // An event outside the reported stretch does not split a block.
        let aside = Event::Context { privilege: 3, context: 7, time: 0 };
        part.aside(StreamPos { packet: 2, byte: 9 }, aside);
        let programs = Programs::new(Xlen::Rv32);
        let blocks = Blocks::new(&programs, Xlen::Rv32, false);
        let (mut report, mut out) = (Ordered::new(blocks).headings(true), Vec::new());
        report.join(Some(4), part, &mut out).unwrap();
        report.finish(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "source 4:\n0x00000010 0x00000020     4 jump\n0x00000020 0x00000028     2 -\n"
        );
    }
}
