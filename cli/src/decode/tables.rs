//! What is known only at the end, as a table: edges and coverage.

use super::events;
use super::forms::leaves;
use crate::listing::address;
use crate::sums::Sum;
use crate::symbols::{Function, Symbols};
use hartrace_decoder::{Coverage, Edges};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::Write;
use std::ops::Range;

/// How tables are printed.
pub(crate) struct Style<'a> {
    pub(crate) symbols: Symbols<'a>,
    pub(crate) xlen: Xlen,
    pub(crate) json: bool,
}

impl Style<'_> {
    fn address(&self, pc: u64) -> String {
        address(pc, self.xlen)
    }

    fn width(&self) -> usize {
        self.address(0).len()
    }

    fn place(&self, pc: u64) -> Option<String> {
        self.symbols.place(pc).map(|place| place.to_string())
    }
}

/// A sum that can be printed.
pub(crate) trait Table: Sum {
    /// Appends the table of a source. Writing to memory does not fail, in all of them.
    fn print(self, out: &mut Vec<u8>, source: Option<u16>, style: &Style<'_>);
}

/// A line of JSON.
#[derive(Serialize)]
struct Of<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<u16>,
    #[serde(flatten)]
    line: T,
}

#[derive(Serialize)]
struct EdgeLine {
    from: String,
    to: String,
    kind: &'static str,
    count: u64,
    from_symbol: Option<String>,
    to_symbol: Option<String>,
}

/// The most frequent first.
impl Table for Edges {
    fn print(self, out: &mut Vec<u8>, source: Option<u16>, style: &Style<'_>) {
        let mut list = self.sorted();
        list.sort_by_key(|(_, count)| Reverse(*count));
        let width = style.width();
        if !style.json {
            let _ =
                writeln!(out, "{:width$} {:width$} {:<8} {:>12}", "from", "to", "kind", "count");
        }
        for (edge, count) in list {
            let [from, to] = [edge.from, edge.to].map(|pc| style.address(pc));
            let (from_symbol, to_symbol) = (style.place(edge.from), style.place(edge.to));
            let kind = leaves(edge.kind);
            if style.json {
                let line = EdgeLine { from, to, kind, count, from_symbol, to_symbol };
                events::line(out, &Of { source, line });
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

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum CoverageLine<'a> {
    Range { start: String, end: String, bytes: u64, symbol: Option<String> },
    Function { name: &'a str, start: String, covered: u64, bytes: u64 },
    Total { covered: u64 },
}

/// Ranges, then functions, both by address.
impl Table for Coverage {
    fn print(self, out: &mut Vec<u8>, source: Option<u16>, style: &Style<'_>) {
        let (ranges, functions, total) = (self.ranges(), style.symbols.functions(), self.bytes());
        if style.json {
            for range in &ranges {
                let [start, end] = [range.start, range.end].map(|pc| style.address(pc));
                let symbol = style.place(range.start);
                let line = CoverageLine::Range { start, end, bytes: len(range), symbol };
                events::line(out, &Of { source, line });
            }
            for Function { name, range } in functions {
                let (start, covered) = (style.address(range.start), overlap(&ranges, &range));
                let line = CoverageLine::Function { name, start, covered, bytes: len(&range) };
                events::line(out, &Of { source, line });
            }
            events::line(out, &Of { source, line: CoverageLine::Total { covered: total } });
            return;
        }
        let width = style.width();
        let _ = writeln!(out, "{:width$} {:width$} {:>9}", "start", "end", "bytes");
        for range in &ranges {
            let [start, end] = [range.start, range.end].map(|pc| style.address(pc));
            let _ = write!(out, "{start} {end} {:>9}", len(range));
            if let Some(place) = style.place(range.start) {
                let _ = write!(out, "  <{place}>");
            }
            out.push(b'\n');
        }
        let _ = writeln!(out, "{:1$} {total:>9}", "total", 2 * width + 1);
        if !functions.is_empty() {
            let _ = writeln!(
                out,
                "\n{:width$} {:>9} {:>9} {:>9}  name",
                "function", "covered", "bytes", "share"
            );
        }
        for Function { name, range } in functions {
            let (covered, bytes) = (overlap(&ranges, &range), len(&range));
            let share = 100.0 * covered as f64 / bytes as f64;
            let start = style.address(range.start);
            let _ = writeln!(out, "{start} {covered:>9} {bytes:>9} {share:>7.2} %  {name}");
        }
    }
}

fn len(range: &Range<u64>) -> u64 {
    range.end.wrapping_sub(range.start)
}

/// Bytes of `range` that are in `ranges`, which are sorted and apart from each other.
fn overlap(ranges: &[Range<u64>], range: &Range<u64>) -> u64 {
    let first = ranges.partition_point(|other| other.end <= range.start);
    let near = ranges[first..].iter().take_while(|other| other.start < range.end);
    near.map(|other| other.end.min(range.end) - other.start.max(range.start)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps() {
        let ranges = [0x10..0x14, 0x20..0x30, 0x40..0x42];
        for (range, bytes) in
            [(0..8, 0), (0..0x12, 2), (0x12..0x21, 3), (0x22..0x24, 2), (0..99, 22), (0x50..99, 0)]
        {
            assert_eq!(overlap(&ranges, &range), bytes, "{range:x?}");
        }
    }
}
