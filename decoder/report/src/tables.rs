//! Tables of what is known only at the end: edges and coverage.

use crate::report::Report;
use hartrace_capture::programs::{Function, Symbols, address};
use hartrace_decoder::{Coverage, Edges};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

pub use crate::profile::{ProfileError, read_profile};
pub use crate::sums::{Sum, Total};

/// How tables are written.
#[derive(Debug)]
pub struct Style<'a> {
    /// Names of functions.
    pub symbols: Symbols<'a>,
    /// Width of addresses.
    pub xlen: Xlen,
    /// One JSON object per row instead of text.
    pub json: bool,
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

/// A sum that is written as a table.
pub trait Table: Sum {
    /// Writes the table of a source.
    fn print(self, out: &mut dyn Write, source: Option<u16>, style: &Style<'_>) -> io::Result<()>;
}

/// Which tables name their source.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// JSON if the source is known; text if there are several sources.
    #[default]
    Several,
    /// Every table.
    Always,
    /// None of them.
    Never,
}

/// A report of one table at the end, or one for each source.
#[derive(Debug)]
pub struct Tables<'a, S> {
    sums: BTreeMap<Option<u16>, S>,
    style: Style<'a>,
    naming: Naming,
}

impl<'a, S: Table> Tables<'a, S> {
    /// A report without any sums yet.
    pub fn new(style: Style<'a>) -> Self {
        Self { sums: BTreeMap::new(), style, naming: Naming::default() }
    }

    /// Changes which tables name their source.
    pub fn naming(self, naming: Naming) -> Self {
        Self { naming, ..self }
    }
}

impl<S: Table> Report for Tables<'_, S> {
    type Part = S;

    fn maker(&self) -> Box<dyn Fn() -> S + Send + Sync> {
        Box::new(S::default)
    }

    fn join(&mut self, source: Option<u16>, part: S, _: &mut dyn Write) -> io::Result<()> {
        self.sums.entry(source).or_default().merge(part);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut sums = std::mem::take(&mut self.sums);
        if sums.is_empty() {
            // A table without rows still has a header.
            sums.insert(None, S::default());
        }
        let several = sums.len() > 1;
        for (source, sum) in sums {
            let (source, heading) = match self.naming {
                Naming::Several => (source, several),
                Naming::Always => (source, true),
                Naming::Never => (None, false),
            };
            if let (true, false, Some(id)) = (heading, self.style.json, source) {
                writeln!(out, "source {id}:")?;
            }
            sum.print(out, source, &self.style)?;
        }
        Ok(())
    }
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
    fn print(self, out: &mut dyn Write, source: Option<u16>, style: &Style<'_>) -> io::Result<()> {
        let mut list = self.sorted();
        list.sort_by_key(|(_, count)| Reverse(*count));
        let width = style.width();
        if !style.json {
            writeln!(out, "{:width$} {:width$} {:<8} {:>12}", "from", "to", "kind", "count")?;
        }
        for (edge, count) in list {
            let [from, to] = [edge.from, edge.to].map(|pc| style.address(pc));
            let (from_symbol, to_symbol) = (style.place(edge.from), style.place(edge.to));
            let kind = edge.kind.name();
            if style.json {
                let row = EdgeLine { from, to, kind, count, from_symbol, to_symbol };
                line(out, &Of { source, line: row })?;
                continue;
            }
            write!(out, "{from} {to} {kind:<8} {count:>12}")?;
            if from_symbol.is_some() || to_symbol.is_some() {
                let name = |symbol: Option<String>| symbol.unwrap_or_else(|| "?".into());
                write!(out, "  <{}> -> <{}>", name(from_symbol), name(to_symbol))?;
            }
            writeln!(out)?;
        }
        Ok(())
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
    fn print(self, out: &mut dyn Write, source: Option<u16>, style: &Style<'_>) -> io::Result<()> {
        let (ranges, functions, total) = (self.ranges(), style.symbols.functions(), self.bytes());
        if style.json {
            for range in &ranges {
                let [start, end] = [range.start, range.end].map(|pc| style.address(pc));
                let symbol = style.place(range.start);
                let row = CoverageLine::Range { start, end, bytes: len(range), symbol };
                line(out, &Of { source, line: row })?;
            }
            for Function { name, range, .. } in functions {
                let (start, covered) = (style.address(range.start), overlap(&ranges, &range));
                let row = CoverageLine::Function { name, start, covered, bytes: len(&range) };
                line(out, &Of { source, line: row })?;
            }
            return line(out, &Of { source, line: CoverageLine::Total { covered: total } });
        }
        let width = style.width();
        writeln!(out, "{:width$} {:width$} {:>9}", "start", "end", "bytes")?;
        for range in &ranges {
            let [start, end] = [range.start, range.end].map(|pc| style.address(pc));
            write!(out, "{start} {end} {:>9}", len(range))?;
            if let Some(place) = style.place(range.start) {
                write!(out, "  <{place}>")?;
            }
            writeln!(out)?;
        }
        let both = style.width().saturating_mul(2).saturating_add(1);
        writeln!(out, "{:both$} {total:>9}", "total")?;
        if !functions.is_empty() {
            writeln!(
                out,
                "\n{:width$} {:>9} {:>9} {:>9}  name",
                "function", "covered", "bytes", "share"
            )?;
        }
        for Function { name, range, .. } in functions {
            let (covered, bytes) = (overlap(&ranges, &range), len(&range));
            let share = 100.0 * covered as f64 / bytes as f64;
            let start = style.address(range.start);
            writeln!(out, "{start} {covered:>9} {bytes:>9} {share:>7.2} %  {name}")?;
        }
        Ok(())
    }
}

pub(crate) fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn len(range: &Range<u64>) -> u64 {
    range.end.wrapping_sub(range.start)
}

/// Returns the bytes of `range` that are in `ranges`, which are sorted and disjoint.
fn overlap(ranges: &[Range<u64>], range: &Range<u64>) -> u64 {
    let first = ranges.partition_point(|other| other.end <= range.start);
    let near = ranges.iter().skip(first).take_while(|other| other.start < range.end);
    near.map(|other| len(&(other.start.max(range.start)..other.end.min(range.end)))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::{Leaves, Run, Sink as _, StreamPos};

    #[test]
    fn overlaps() {
        let ranges = [0x10..0x14, 0x20..0x30, 0x40..0x42];
        for (range, bytes) in
            [(0..8, 0), (0..0x12, 2), (0x12..0x21, 3), (0x22..0x24, 2), (0..99, 22), (0x50..99, 0)]
        {
            assert_eq!(overlap(&ranges, &range), bytes, "{range:x?}");
        }
    }
    #[test]
    fn every_source_has_a_table() {
        let style = |json| Style { symbols: Symbols::default(), xlen: Xlen::Rv32, json };
        let text = |json: bool, sources: &[Option<u16>]| {
            let (mut tables, mut out) = (Tables::<Coverage>::new(style(json)), Vec::new());
            for source in sources {
                let mut coverage = Coverage::default();
                let run = Run::new(0x10, &[0, 4], 0x18, Leaves::No).unwrap();
                coverage.run(StreamPos::default(), run);
                tables.join(*source, coverage, &mut out).unwrap();
            }
            tables.finish(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let header = "start      end            bytes\n";
        let rows = "0x00000010 0x00000018         8\ntotal                         8\n";
        assert_eq!(text(false, &[]), format!("{header}total                         0\n"));
        assert_eq!(text(false, &[Some(2)]), format!("{header}{rows}"));
        assert_eq!(
            text(false, &[Some(2), Some(1), Some(2)]),
            format!("source 1:\n{header}{rows}source 2:\n{header}{rows}")
        );
        let json = text(true, &[Some(1)]);
        assert_eq!(json.lines().last(), Some(r#"{"source":1,"kind":"total","covered":8}"#));
    }
}
