//! One line per run of consecutive instructions.

use crate::json;
use crate::kept::Kept;
use crate::ordered::{InOrder, leaves};
use crate::part::Retired;
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
    program: usize,
    xlen: Xlen,
    json: bool,
    source: Option<u16>,
    /// The lines so far, by source and block.
    lines: Kept<(Option<u16>, Block), Range<usize>>,
    /// The next run may continue it.
    pending: Option<Block>,
    /// Privilege and context, as far as known.
    state: Option<(u8, u64)>,
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
        let (source, lines, pending, state) = (None, Kept::default(), None, None);
        Self { programs, symbols, program: 0, xlen, json, source, lines, pending, state }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        let Some(block) = self.pending.take() else { return };
        let mut lines = std::mem::take(&mut self.lines);
        let (line, text) = lines.get((self.source, block), |text| self.line(text, block));
        out.extend_from_slice(text.get(line).unwrap_or_default());
        self.lines = lines;
    }

    /// Appends the line of a block. Returns where it is.
    fn line(&self, out: &mut Vec<u8>, block: Block) -> Range<usize> {
        let from = out.len();
        let Block { program, start, end, insns, leaves: how } = block;
        let symbol = self.symbols.get(program).and_then(|symbols| symbols.place(start));
        let [start, end] = [start, end].map(|pc| address(pc, self.xlen));
        if self.json {
            let symbol = symbol.map(|place| place.to_string());
            let leaves = (how != Leaves::No).then_some(leaves(how));
            json::line(out, &Line { source: self.source, start, end, insns, leaves, symbol });
            return from..out.len();
        }
        let how = leaves(how);
        // Writing to memory does not fail.
        let _ = match symbol {
            Some(place) => writeln!(out, "{start} {end} {insns:>5} {how:<8} <{place}>"),
            None => writeln!(out, "{start} {end} {insns:>5} {how}"),
        };
        from..out.len()
    }
}

impl InOrder for Blocks<'_> {
    fn retired(&mut self, out: &mut Vec<u8>, _: StreamPos, run: Retired<'_>) {
        let Some(start) = run.addresses.first().copied() else { return };
        let (insns, program) = (run.addresses.len() as u64, self.program);
        let mut block = Block { program, start, end: run.end, insns, leaves: run.leaves };
        match self.pending {
            Some(before) if before.leaves == Leaves::No && before.end == start => {
                block.start = before.start;
                block.insns = block.insns.saturating_add(before.insns);
            }
            _ => self.flush(out),
        }
        self.pending = Some(block);
    }

    fn event(&mut self, out: &mut Vec<u8>, _: StreamPos, event: &Event) {
        if let Event::Time(_) = event {
            return;
        }
        if let Event::Context { privilege, context, .. } = *event {
            // A synchronisation repeats what is known.
            if self.state == Some((privilege, context)) {
                return;
            }
            self.state = Some((privilege, context));
        }
        self.flush(out);
    }

    fn turn(&mut self, out: &mut Vec<u8>, source: Option<u16>) {
        self.flush(out);
        self.source = source;
        self.state = None;
    }

    fn enter(&mut self, moment: Moment) {
        self.program = self.programs.of_context(moment.context);
    }

    fn gap(&mut self, out: &mut Vec<u8>, _: StreamPos, _: &dyn Display) {
        self.flush(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;
    use crate::part::Part;
    use crate::report::{Collect, Report};
    use hartrace_decoder::{Run, Sink};

    #[test]
    fn what_only_a_packet_splits_is_one_block() {
        let mut part = Part::default();
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
