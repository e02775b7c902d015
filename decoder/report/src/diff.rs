//! Two captures, aligned packet by packet.

use crate::dump::Listed;
use anstyle::{AnsiColor, Style as Ansi};
use hartrace_isa::Xlen;
use serde::Serialize;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag, group_diff_ops};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Equal packets shown around a difference.
const AROUND: usize = 3;

/// How long to search for the shortest alignment; after that, any will do.
const PATIENCE: Duration = Duration::from_secs(10);

/// Packets of two captures, aligned.
#[derive(Debug)]
pub struct Diff<'a> {
    a: Vec<Listed<'a>>,
    b: Vec<Listed<'a>>,
    ops: Vec<DiffOp>,
}

/// How differences are printed as text.
#[derive(Copy, Clone, Debug)]
pub struct Style {
    /// With colours of a terminal.
    pub colour: bool,
    /// With a column for the source.
    pub with_source: bool,
    /// Width of addresses.
    pub xlen: Xlen,
}

/// One difference as JSON: packets of A, and what B has in their place.
#[derive(Serialize)]
struct Difference<T> {
    op: &'static str,
    a: Vec<T>,
    b: Vec<T>,
}

impl<'a> Diff<'a> {
    /// Aligns two lists. Packets are equal if payload, meaning and source are; places and timestamps do
    /// not count.
    pub fn new(a: Vec<Listed<'a>>, b: Vec<Listed<'a>>) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |listed: &Listed<'_>| {
            let next = numbers.len();
            *numbers.entry((listed.source(), listed.raw(), listed.content())).or_insert(next)
        };
        let in_a: Vec<usize> = a.iter().map(&mut number).collect();
        let in_b: Vec<usize> = b.iter().map(&mut number).collect();
        let deadline = Instant::now().checked_add(PATIENCE);
        // `similar::capture_diff_slices_deadline` with this algorithm, without compiling all others.
        let mut hook = Compact::new(Replace::new(Capture::new()), &in_a[..], &in_b[..]);
        let (all_a, all_b) = (0..in_a.len(), 0..in_b.len());
        let done = myers::diff_deadline(&mut hook, &in_a[..], all_a, &in_b[..], all_b, deadline);
        done.unwrap_or_else(|never| match never {});
        let ops = hook.into_inner().into_inner().into_ops();
        Self { a, b, ops }
    }

    /// Whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.ops.iter().all(|op| op.tag() == DiffTag::Equal)
    }

    /// Writes one JSON object per difference: `op` (delete, insert or replace), `a` and `b` (packets, in the
    /// form of [`Listed::json`]).
    pub fn json(&self, out: &mut dyn Write, xlen: Xlen) -> io::Result<()> {
        let json = |list: &[Listed<'_>]| -> Vec<_> {
            list.iter().map(|listed| listed.json(xlen)).collect()
        };
        for op in &self.ops {
            let name = match op.tag() {
                DiffTag::Equal => continue,
                DiffTag::Delete => "delete",
                DiffTag::Insert => "insert",
                DiffTag::Replace => "replace",
            };
            let (a, b) = self.of(op);
            serde_json::to_writer(&mut *out, &Difference { op: name, a: json(a), b: json(b) })?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// The packets of a step of the alignment.
    fn of(&self, op: &DiffOp) -> (&[Listed<'a>], &[Listed<'a>]) {
        let (a, b) = (self.a.get(op.old_range()), self.b.get(op.new_range()));
        (a.unwrap_or_default(), b.unwrap_or_default())
    }

    /// Writes differences with the packets around them, and their number. `names` are the names of the
    /// captures.
    pub fn print(&self, out: &mut dyn Write, names: [&str; 2], style: Style) -> io::Result<()> {
        let [red, green, cyan] = [AnsiColor::Red, AnsiColor::Green, AnsiColor::Cyan]
            .map(|colour| if style.colour { colour.on_default() } else { Ansi::new() });
        let (mut only_a, mut only_b, mut equal) = (0usize, 0usize, 0usize);
        for op in &self.ops {
            let (a, b) = self.of(op);
            if op.tag() == DiffTag::Equal {
                equal = equal.saturating_add(a.len());
            } else {
                only_a = only_a.saturating_add(a.len());
                only_b = only_b.saturating_add(b.len());
            }
        }
        let [a, b] = names;
        writeln!(out, "{red}--- {a}{red:#}")?;
        writeln!(out, "{green}+++ {b}{green:#}")?;
        for group in group_diff_ops(self.ops.clone(), AROUND) {
            let first = |list: &[Listed<'_>], at: Option<usize>| {
                at.and_then(|at| list.get(at)).map_or("end".into(), |l| l.number().to_string())
            };
            let at_a = first(&self.a, group.first().map(|op| op.old_range().start));
            let at_b = first(&self.b, group.first().map(|op| op.new_range().start));
            writeln!(out, "{cyan}@@ packet {at_a} / {at_b} @@{cyan:#}")?;
            for op in &group {
                let (a, b) = self.of(op);
                if op.tag() == DiffTag::Equal {
                    style.lines(out, ' ', Ansi::new(), a)?;
                } else {
                    style.lines(out, '-', red, a)?;
                    style.lines(out, '+', green, b)?;
                }
            }
        }
        writeln!(out, "packets only in A: {only_a}, only in B: {only_b}, equal: {equal}")
    }
}

impl Style {
    fn lines(
        &self,
        out: &mut dyn Write,
        mark: char,
        style: Ansi,
        list: &[Listed<'_>],
    ) -> io::Result<()> {
        for listed in list {
            let line = listed.line(self.with_source, self.xlen);
            writeln!(out, "{style}{mark}{line}{style:#}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::{Packets, Reader};
    use crate::testing::setup;

    fn listed(bytes: &[u8]) -> Vec<Listed<'_>> {
        let setup = setup("");
        let mut reader = Reader::new(setup.layout, setup.options);
        let packets = Packets::new(bytes, setup.transport.stream());
        packets.map(|packet| Listed::new(packet, &mut reader)).collect()
    }

    const A: &[u8] = &[0x42, 0x1f, 0x04, 0x42, 0x32, 0x04, 0x41, 0x05, 0x41, 0x02];
    const B: &[u8] = &[0x42, 0x1f, 0x04, 0x42, 0x42, 0x04, 0x41, 0x05];

    fn text(colour: bool) -> String {
        let style = Style { colour, with_source: false, xlen: Xlen::Rv32 };
        let mut out = Vec::new();
        Diff::new(listed(A), listed(B)).print(&mut out, ["a", "b"], style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn aligned_text() {
        assert_eq!(
            text(false),
            "--- a\n\
             +++ b\n\
             @@ packet 0 / 0 @@\n \
             \u{20}     1.0  1f04              3.3 support ienable=1 encoder_mode=0 \
             qual_status=no_change ioptions=full denable=0 dloss=0 doptions=0\n\
             -      4.0  3204              2   address address=0x10c (0x00000218) notify=0 updiscon=0 \
             irreport=0\n\
             +      4.0  4204              2   address address=0x110 (0x00000220) notify=0 updiscon=0 \
             irreport=0\n \
             \u{20}     7.0  05                1   branch  branches=1 branch_map=T address=0x0 (0x00000000) \
             notify=0 updiscon=0 irreport=0\n\
             -      9.0  02                2   address address=0x0 (0x00000000) notify=0 updiscon=0 \
             irreport=0\n\
             packets only in A: 2, only in B: 1, equal: 2\n"
        );
        assert!(!text(false).contains('\x1b'));
        assert!(text(true).contains("\x1b[31m-      4.0"));
    }

    #[test]
    fn json_lines() {
        let mut out = Vec::new();
        Diff::new(listed(A), listed(B)).json(&mut out, Xlen::Rv32).unwrap();
        let lines: Vec<serde_json::Value> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["op"], "replace");
        assert_eq!(lines[0]["b"][0]["raw"], "4204");
        assert_eq!(
            (&lines[1]["op"], lines[1]["a"][0]["packet"].as_u64()),
            (&"delete".into(), Some(3))
        );
    }

    #[test]
    fn places_do_not_count() {
        let damaged = [&[0xff], A].concat();
        let diff = Diff::new(listed(A), listed(&damaged));
        assert!(!diff.is_empty() && Diff::new(listed(A), listed(A)).is_empty());
        let equal: usize = diff
            .ops
            .iter()
            .filter(|op| op.tag() == DiffTag::Equal)
            .map(|op| op.old_range().len())
            .sum();
        assert_eq!(equal, 4);
    }
}
