//! `hartrace check`: what a capture decodes to against what must have retired.

mod expected;

use crate::args::CheckArgs;
use crate::failure::{Failure, Status};
use crate::files::{self, Capture};
use crate::follow::{Follow, SMALL};
use crate::gaps;
use expected::{Entry, Expected};
use hartrace_bits::mask;
use hartrace_decoder::StreamPos;
use hartrace_described::programs::address;
use hartrace_isa::Xlen;
use hartrace_report::{Gaps, Item, OneSource, Part};
use indicatif::ProgressBar;
use std::io::Write;
use std::ops::ControlFlow;

/// Equal instructions shown before a difference.
const BEFORE: usize = 4;

/// Instructions shown after it.
const AFTER: usize = 3;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Result<Status, Failure> {
    let (follow, capture) = Follow::open(&args.follow, [args.against.as_path()])?;
    let (expected, bar) = Expected::open(&args.against, &args.format, &follow)?;
    let setup = &follow.setup;
    let width = u32::from(setup.params.iaddress_width_p).min(setup.xlen.bits());
    let gaps = gaps::new(follow.name.clone(), args.follow.strict, bar.clone());
    let mut comparison = Comparison::new(expected, mask(width), follow.name.clone(), gaps);
    // One bar is enough.
    let capture = Capture { bar: ProgressBar::hidden(), ..capture };
    let mut source = OneSource::default();
    let flow = follow.run(capture, SMALL, Part::default, |decoded| {
        for (id, part) in &decoded.sinks {
            comparison.join(*id, part, &mut source)?;
        }
        Ok(if comparison.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    comparison.gaps.end(flow);
    comparison.finish()?;
    bar.finish_and_clear();
    let mut out = files::stdout();
    comparison.print(&mut out, &files::name(&args.against), setup.xlen)?;
    out.flush()?;
    Ok(comparison.status())
}

/// The same instruction on both sides; `None` on a side that has ended.
#[derive(Copy, Clone, Debug, Default)]
struct Pair {
    decoded: Option<(u64, StreamPos)>,
    expected: Option<Entry>,
}

/// Compares as it decodes, and keeps what is worth showing.
struct Comparison<'p> {
    expected: Expected<'p>,
    /// Bits of an address that a trace carries.
    mask: u64,
    capture: String,
    /// Instructions that are equal, from the first.
    verified: u64,
    /// The last of them, by number modulo `BEFORE`.
    before: [Pair; BEFORE],
    /// The first difference and what follows.
    rest: Vec<Pair>,
    gaps: Gaps,
}

impl<'p> Comparison<'p> {
    fn new(expected: Expected<'p>, mask: u64, capture: String, gaps: Gaps) -> Self {
        Self {
            expected,
            mask,
            capture,
            verified: 0,
            before: [Pair::default(); BEFORE],
            rest: Vec::new(),
            gaps,
        }
    }

    /// Nothing that follows is of interest.
    fn is_done(&self) -> bool {
        self.rest.len() > AFTER
    }

    /// Takes the next instruction of the decoder, `None` after the last.
    fn step(&mut self, decoded: Option<(u64, StreamPos)>) -> Result<(), Failure> {
        let expected = self.expected.next()?;
        let pair = Pair { decoded, expected };
        match (decoded, expected) {
            (Some((pc, _)), Some(entry))
                if self.rest.is_empty() && (pc ^ entry.address) & self.mask == 0 =>
            {
                self.before[self.verified as usize % BEFORE] = pair;
                self.verified += 1;
            }
            _ => self.rest.push(pair),
        }
        Ok(())
    }

    /// Takes the next part of the decoder.
    fn join(
        &mut self,
        source: Option<u16>,
        part: &Part,
        one: &mut OneSource,
    ) -> Result<(), Failure> {
        for (at, item) in part.iter() {
            if self.is_done() {
                break;
            }
            one.take(source, &self.capture)?;
            match item {
                Item::Retired(run) => {
                    for pc in run.addresses {
                        if !self.is_done() {
                            self.step(Some((*pc, at)))?;
                        }
                    }
                }
                Item::Event(event) | Item::Aside(event) => {
                    self.gaps.event(source, at, &event);
                    self.gaps.check()?;
                }
            }
        }
        Ok(())
    }

    /// The capture has ended, or enough of it was seen.
    fn finish(&mut self) -> Result<(), Failure> {
        while !self.is_done() {
            self.step(None)?;
            if self.rest.last().is_some_and(|pair| pair.expected.is_none()) {
                // Both sides have ended.
                self.rest.pop();
                break;
            }
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.rest.is_empty() { Status::from(&self.gaps) } else { Status::Different }
    }

    /// Prints what was found.
    fn print(&self, out: &mut dyn Write, trace: &str, xlen: Xlen) -> Result<(), Failure> {
        let (capture, verified) = (&self.capture, self.verified);
        let Some(first) = self.rest.first() else {
            write!(out, "verified {verified} of {verified}")?;
            if self.gaps.count() > 0 {
                write!(out, ", gaps: {}", self.gaps.count())?;
            }
            writeln!(out)?;
            return Ok(());
        };
        write!(out, "instruction {verified}: ")?;
        // Trace files have no lines.
        let line = |entry: Entry, word: &str| match entry.line {
            Some(line) => format!("{word}{line}"),
            None => String::new(),
        };
        match (first.decoded, first.expected) {
            (Some((_, at)), Some(entry)) => writeln!(
                out,
                "{capture} packet {}, byte {} differs from {trace}{}",
                at.packet,
                at.byte,
                line(entry, " line ")
            )?,
            (Some((_, at)), None) => {
                writeln!(
                    out,
                    "{trace} has ended, {capture} goes on: packet {}, byte {}",
                    at.packet, at.byte
                )?;
            }
            (None, _) => {
                let line = first.expected.map_or(String::new(), |entry| line(entry, ": line "));
                writeln!(out, "{capture} has ended, {trace} goes on{line}")?;
            }
        }
        let width = address(0, xlen).len();
        writeln!(
            out,
            "  {:>11}  {:width$}  {:width$}  {:>8}  {:>9}  {:>8}",
            "instruction", "decoded", "expected", "packet", "byte", "line"
        )?;
        let start = verified.saturating_sub(BEFORE as u64);
        let before = (start..verified).map(|number| &self.before[number as usize % BEFORE]);
        for (number, pair) in (start..).zip(before.chain(&self.rest)) {
            let mark = if number == verified { '>' } else { ' ' };
            let hex = |pc: Option<u64>| pc.map_or("-".into(), |pc| address(pc, xlen));
            let count = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
            let at = pair.decoded.map(|(_, at)| at);
            writeln!(
                out,
                "{mark} {number:>11}  {:width$}  {:width$}  {:>8}  {:>9}  {:>8}",
                hex(pair.decoded.map(|(pc, _)| pc)),
                hex(pair.expected.map(|entry| entry.address)),
                count(at.map(|at| at.packet)),
                count(at.map(|at| at.byte)),
                count(pair.expected.and_then(|entry| entry.line)),
            )?;
        }
        writeln!(out, "equal before: {verified}, gaps before: {}", self.gaps.count())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares addresses with the lines of a trace.
    fn compare(decoded: &[u64], trace: &str, mask: u64) -> (Status, String) {
        let text = std::io::Cursor::new(trace.to_owned());
        let expected = expected::tests::of(text, Xlen::Rv64).unwrap();
        let gaps = crate::gaps::tests::silent(false);
        let mut comparison = Comparison::new(expected, mask, "c".into(), gaps);
        for (number, pc) in (0..).zip(decoded) {
            if !comparison.is_done() {
                comparison
                    .step(Some((*pc, StreamPos { packet: number, byte: 3 * number })))
                    .unwrap();
            }
        }
        comparison.finish().unwrap();
        let mut out = Vec::new();
        comparison.print(&mut out, "t", Xlen::Rv32).unwrap();
        (comparison.status(), String::from_utf8(out).unwrap())
    }

    const TRACE: &str = "10\n12\n14\n16\n18\n1a\n1c\n1e\n20\n22\n";

    fn decoded() -> Vec<u64> {
        (0x10..0x24).step_by(2).collect()
    }

    /// The marked line, and how many lines of context are around it.
    fn marked(text: &str) -> (usize, String, usize) {
        let rows: Vec<_> = text.lines().skip(2).filter(|l| !l.starts_with("equal")).collect();
        let at = rows.iter().position(|line| line.starts_with('>')).unwrap();
        let words: Vec<_> = rows[at].split_whitespace().skip(1).collect();
        (at, words.join(" "), rows.len() - at - 1)
    }

    #[test]
    fn equal() {
        let clean = |count| (Status::Clean, format!("verified {count} of {count}\n"));
        assert_eq!(compare(&decoded(), TRACE, u64::MAX), clean(10));
        assert_eq!(compare(&[], "", u64::MAX), clean(0));
        // Only the bits that the trace carries can be compared.
        assert_eq!(compare(&[0x7f_ffff_f000], "fffffffffffff000", mask(39)), clean(1));
    }

    #[test]
    fn differences_anywhere() {
        for (number, before, after) in [(0, 0, 3), (2, 2, 3), (5, 4, 3), (8, 4, 1), (9, 4, 0)] {
            let mut list = decoded();
            list[number] = 0x80;
            let (status, text) = compare(&list, TRACE, u64::MAX);
            assert_eq!(status, Status::Different);
            let row = format!(
                "{number} 0x00000080 {:#010x} {number} {} {}",
                0x10 + 2 * number,
                3 * number,
                number + 1
            );
            assert_eq!(marked(&text), (before, row, after), "{text}");
            let first = format!("instruction {number}: c packet {number}, byte");
            assert!(text.starts_with(&first), "{text}");
            assert!(text.ends_with(&format!("\nequal before: {number}, gaps before: 0\n")));
        }
    }

    #[test]
    fn early_ends() {
        let (status, text) = compare(&decoded()[..6], TRACE, u64::MAX);
        assert_eq!(status, Status::Different);
        assert!(text.starts_with("instruction 6: c has ended, t goes on: line 7\n"), "{text}");
        assert_eq!(marked(&text), (4, "6 - 0x0000001c - - 7".into(), 3));

        let (status, text) = compare(&decoded(), "10\n12\n", u64::MAX);
        assert_eq!(status, Status::Different);
        assert!(text.starts_with("instruction 2: t has ended, c goes on: packet 2, byte 6\n"));
        assert_eq!(marked(&text), (2, "2 0x00000014 - 2 6 -".into(), 3));

        assert_eq!(marked(&compare(&[], "10", u64::MAX).1), (0, "0 - 0x00000010 - - 1".into(), 0));
        assert_eq!(marked(&compare(&[2], "", u64::MAX).1), (0, "0 0x00000002 - 0 0 -".into(), 0));
    }
}
