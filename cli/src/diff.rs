//! `hartrace diff`: two captures, aligned packet by packet.

use crate::args::DiffArgs;
use crate::capture::{self, Packets, Reader};
use crate::failure::{Failure, Status};
use crate::files;
use crate::listing::Listed;
use crate::params::Setup;
use anstyle::{AnsiColor, Style};
use hartrace_isa::Xlen;
use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Equal packets shown around a difference.
const AROUND: usize = 3;

/// After this long an alignment need not be the shortest any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command.
pub(crate) fn run(args: &DiffArgs) -> Result<Status, Failure> {
    let params = args.stream.params.as_deref();
    files::one_standard(params.into_iter().chain([args.a.as_path(), args.b.as_path()]))?;
    let setup = Setup::new(&args.stream)?;
    let (a, b) = (files::read(&args.a)?, files::read(&args.b)?);
    let (a, a_sources) = list(&a, &setup);
    let (b, b_sources) = list(&b, &setup);
    let ops = align(&a, &b);
    let mut out = files::stdout();
    let differs = ops.iter().any(|op| op.tag() != DiffTag::Equal);
    if differs && args.json {
        print_json(&mut out, &a, &b, &ops, setup.xlen)?;
    } else if differs {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let view = View {
            a: &a,
            b: &b,
            colour: choice != anstream::ColorChoice::Never,
            with_source: a_sources.max(b_sources) > 1,
            xlen: setup.xlen,
        };
        view.print(&mut out, [&files::name(&args.a), &files::name(&args.b)], ops)?;
    }
    out.flush()?;
    Ok(if differs { Status::Different } else { Status::Clean })
}

/// The packets of a capture, and how many sources they have.
fn list<'a>(bytes: &'a [u8], setup: &Setup) -> (Vec<Listed<'a>>, usize) {
    let mut reader = Reader::new(setup.layout, setup.options);
    let packets = Packets::new(bytes, setup.transport);
    let list = packets.map(|packet| Listed::new(packet, &mut reader)).collect();
    (list, capture::sources(bytes, setup.transport).len())
}

/// Packets are equal if payload, meaning and source are; places and timestamps do not count.
fn align(a: &[Listed<'_>], b: &[Listed<'_>]) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let mut number = |listed: &Listed<'_>| {
        let next = numbers.len();
        *numbers.entry((listed.source(), listed.raw(), listed.content())).or_insert(next)
    };
    let a: Vec<usize> = a.iter().map(&mut number).collect();
    let b: Vec<usize> = b.iter().map(&mut number).collect();
    let deadline = Instant::now().checked_add(PATIENCE);
    capture_diff_slices_deadline(Algorithm::Myers, &a, &b, deadline)
}

fn print_json(
    out: &mut dyn Write,
    a: &[Listed<'_>],
    b: &[Listed<'_>],
    ops: &[DiffOp],
    xlen: Xlen,
) -> io::Result<()> {
    let json =
        |list: &[Listed<'_>]| -> Vec<_> { list.iter().map(|listed| listed.json(xlen)).collect() };
    for op in ops {
        let (tag, in_a, in_b) = op.as_tag_tuple();
        let name = match tag {
            DiffTag::Equal => continue,
            DiffTag::Delete => "delete",
            DiffTag::Insert => "insert",
            DiffTag::Replace => "replace",
        };
        let difference = Difference { op: name, a: json(&a[in_a]), b: json(&b[in_b]) };
        serde_json::to_writer(&mut *out, &difference)?;
        writeln!(out)?;
    }
    Ok(())
}

/// One difference as JSON: packets of A, and what B has in their place.
#[derive(Serialize)]
struct Difference<T> {
    op: &'static str,
    a: Vec<T>,
    b: Vec<T>,
}

struct View<'a> {
    a: &'a [Listed<'a>],
    b: &'a [Listed<'a>],
    colour: bool,
    with_source: bool,
    xlen: Xlen,
}

impl View<'_> {
    fn print(&self, out: &mut dyn Write, names: [&str; 2], ops: Vec<DiffOp>) -> io::Result<()> {
        let red = self.style(AnsiColor::Red);
        let green = self.style(AnsiColor::Green);
        let cyan = self.style(AnsiColor::Cyan);
        let (mut only_a, mut only_b, mut equal) = (0, 0, 0);
        for op in &ops {
            match op.tag() {
                DiffTag::Equal => equal += op.old_range().len(),
                _ => {
                    only_a += op.old_range().len();
                    only_b += op.new_range().len();
                }
            }
        }
        writeln!(out, "{red}--- {}{red:#}", names[0])?;
        writeln!(out, "{green}+++ {}{green:#}", names[1])?;
        for group in group_diff_ops(ops, AROUND) {
            let first = |list: &[Listed<'_>], at: Option<usize>| {
                at.and_then(|at| list.get(at)).map_or("end".into(), |l| l.number().to_string())
            };
            let at_a = first(self.a, group.first().map(|op| op.old_range().start));
            let at_b = first(self.b, group.first().map(|op| op.new_range().start));
            writeln!(out, "{cyan}@@ packet {at_a} / {at_b} @@{cyan:#}")?;
            for op in &group {
                let (tag, in_a, in_b) = op.as_tag_tuple();
                if tag == DiffTag::Equal {
                    self.lines(out, ' ', Style::new(), &self.a[in_a])?;
                } else {
                    self.lines(out, '-', red, &self.a[in_a])?;
                    self.lines(out, '+', green, &self.b[in_b])?;
                }
            }
        }
        writeln!(out, "packets only in A: {only_a}, only in B: {only_b}, equal: {equal}")
    }

    fn style(&self, colour: AnsiColor) -> Style {
        if self.colour { colour.on_default() } else { Style::new() }
    }

    fn lines(
        &self,
        out: &mut dyn Write,
        mark: char,
        style: Style,
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
    use crate::params::tests::{PEER, setup};

    fn listed(bytes: &[u8]) -> Vec<Listed<'_>> {
        let setup = setup(Some(PEER), "").unwrap();
        let mut reader = Reader::new(setup.layout, setup.options);
        let packets = Packets::new(bytes, setup.transport);
        packets.map(|packet| Listed::new(packet, &mut reader)).collect()
    }

    const A: &[u8] = &[0x42, 0x1f, 0x04, 0x42, 0x32, 0x04, 0x41, 0x05, 0x41, 0x02];
    const B: &[u8] = &[0x42, 0x1f, 0x04, 0x42, 0x42, 0x04, 0x41, 0x05];

    fn text(colour: bool) -> String {
        let (a, b) = (listed(A), listed(B));
        let view = View { a: &a, b: &b, colour, with_source: false, xlen: Xlen::Rv32 };
        let mut out = Vec::new();
        view.print(&mut out, ["a", "b"], align(&a, &b)).unwrap();
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
             qual_status=no_change ioptions=full_address denable=0 dloss=0 doptions=0\n\
             -      4.0  3204              2   address address=0x10c notify=0 updiscon=0 irreport=0\n\
             +      4.0  4204              2   address address=0x110 notify=0 updiscon=0 irreport=0\n \
             \u{20}     7.0  05                1   branch  branches=1 branch_map=T address=0x0 \
             notify=0 updiscon=0 irreport=0\n\
             -      9.0  02                2   address address=0x0 notify=0 updiscon=0 irreport=0\n\
             packets only in A: 2, only in B: 1, equal: 2\n"
        );
        assert!(!text(false).contains('\x1b'));
        assert!(text(true).contains("\x1b[31m-      4.0"));
    }

    #[test]
    fn json_lines() {
        let (a, b) = (listed(A), listed(B));
        let mut out = Vec::new();
        print_json(&mut out, &a, &b, &align(&a, &b), Xlen::Rv32).unwrap();
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
        let (a, b) = (listed(A), listed(&damaged));
        let ops = align(&a, &b);
        let equal: usize =
            ops.iter().filter(|op| op.tag() == DiffTag::Equal).map(|op| op.old_range().len()).sum();
        assert_eq!(equal, 4);
    }
}
