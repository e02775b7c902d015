//! How often control went from one place to another.

use super::events;
use super::forms::{Form, leaves};
use super::part::Retired;
use crate::image::Programs;
use crate::listing::address;
use crate::symbols::Symbols;
use hartrace_decoder::{Event, Leaves, StreamPos};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;

/// A way from one instruction to another.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    /// The instruction that leaves.
    pub(crate) from: u64,
    /// The one that follows.
    pub(crate) to: u64,
    pub(crate) leaves: Leaves,
}

/// Counts edges.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    counts: HashMap<Edge, u64>,
    /// The last instruction, if it leaves and nothing came in between.
    pending: Option<(u64, Leaves)>,
}

impl Edges {
    /// Takes the next run of instructions.
    fn run(&mut self, start: u64, last: u64, leaves: Leaves) {
        if let Some((from, leaves)) = self.pending {
            *self.counts.entry(Edge { from, to: start, leaves }).or_default() += 1;
        }
        self.pending = (leaves != Leaves::No).then_some((last, leaves));
    }

    /// What follows does not follow from what was.
    fn interrupt(&mut self) {
        self.pending = None;
    }

    /// All edges, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Edge, u64)> {
        self.counts.iter().map(|(edge, count)| (*edge, *count))
    }
}

/// Prints edges at the end, the most frequent first.
pub(crate) struct Table<'a> {
    edges: Edges,
    symbols: Symbols<'a>,
    xlen: Xlen,
    json: bool,
}

#[derive(Serialize)]
struct Line {
    from: String,
    to: String,
    kind: &'static str,
    count: u64,
    from_symbol: Option<String>,
    to_symbol: Option<String>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(programs: &'a Programs, xlen: Xlen, json: bool) -> Self {
        let symbols = programs.all_symbols();
        Self { edges: Edges::default(), symbols, xlen, json }
    }
}

impl Form for Table<'_> {
    fn retired(&mut self, _: &mut Vec<u8>, _: StreamPos, run: Retired<'_>) {
        if let [start, .., last] | [start @ last] = run.addresses {
            self.edges.run(*start, *last, run.leaves);
        }
    }

    fn event(&mut self, _: &mut Vec<u8>, _: StreamPos, event: &Event) {
        // A synchronisation takes nothing away from the path.
        if !matches!(event, Event::Context { .. }) {
            self.edges.interrupt();
        }
    }

    fn gap(&mut self, _: &mut Vec<u8>, _: StreamPos, _: &dyn Display) {
        self.edges.interrupt();
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        let mut list: Vec<_> = self.edges.iter().collect();
        list.sort_by_key(|(edge, count)| (std::cmp::Reverse(*count), edge.from, edge.to));
        let width = address(0, self.xlen).len();
        if !self.json {
            // Writing to memory does not fail, here and below.
            let _ =
                writeln!(out, "{:width$} {:width$} {:<8} {:>12}", "from", "to", "kind", "count");
        }
        for (edge, count) in list {
            let [from, to] = [edge.from, edge.to].map(|pc| address(pc, self.xlen));
            let place = |pc| self.symbols.place(pc).map(|place| place.to_string());
            let (from_symbol, to_symbol) = (place(edge.from), place(edge.to));
            let kind = leaves(edge.leaves);
            if self.json {
                let line = Line { from, to, kind, count, from_symbol, to_symbol };
                events::line(out, &line);
                continue;
            }
            let _ = write!(out, "{from} {to} {kind:<8} {count:>12}");
            if from_symbol.is_some() || to_symbol.is_some() {
                let name = |symbol: Option<String>| symbol.unwrap_or_else(|| "?".into());
                let _ = write!(out, "  <{}> -> <{}>", name(from_symbol), name(to_symbol));
            }
            out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_need_both_ends() {
        let mut edges = Edges::default();
        edges.run(0x10, 0x14, Leaves::Jump);
        edges.run(0x20, 0x20, Leaves::No); // a packet ends here
        edges.run(0x22, 0x24, Leaves::Branch);
        edges.run(0x10, 0x14, Leaves::Jump);
        edges.interrupt();
        edges.run(0x40, 0x40, Leaves::Indirect);
        let mut found: Vec<_> = edges.iter().map(|(e, n)| (e.from, e.to, e.leaves, n)).collect();
        found.sort_by_key(|edge| edge.0);
        assert_eq!(found, [(0x14, 0x20, Leaves::Jump, 1), (0x24, 0x10, Leaves::Branch, 1)]);
    }
}
