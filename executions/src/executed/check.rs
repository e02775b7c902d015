//! Comparison of a decoded capture with what must have retired, instruction by instruction.
//!
//! [`Expected`] reads what must have retired; [`Comparison`] is given what was decoded and finds the
//! first difference.

mod expected;

use crate::executed::is_idle;
use crate::{Guesses, SourceError};
pub use expected::{Code, Entry, Expected};
use hartrace_decoder::{Image, StreamPos};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::collections::VecDeque;
use std::io::{self, Write};

/// Number of equal instructions shown before a difference.
const BEFORE: usize = 4;

/// Number of instructions shown after a difference.
const AFTER: usize = 3;

/// The same instruction on both sides; `None` for a side that has ended.
#[derive(Copy, Clone, Debug)]
struct Pair {
    decoded: Option<(u64, StreamPos)>,
    expected: Option<Entry>,
}

/// Compares instructions as they are decoded, and keeps those around the first difference.
#[derive(Debug)]
pub struct Comparison<'p> {
    expected: Expected<'p>,
    /// The bits of an address that the trace contains.
    mask: u64,
    /// Number of equal instructions, counted from the first.
    verified: u64,
    /// The last equal instructions.
    before: VecDeque<Pair>,
    /// The first difference and what follows.
    rest: Vec<Pair>,
    /// The program, which decides what a trace has to contain.
    program: Option<&'p Image>,
    /// Instructions at the end that no trace contains.
    idle: u64,
}

/// Names of the two sides, and other facts about them.
#[derive(Copy, Clone, Debug)]
pub struct Sides<'a> {
    /// The name of the capture.
    pub capture: &'a str,
    /// The name of the file that lists what must have retired.
    pub expected: &'a str,
    /// The width of addresses.
    pub xlen: Xlen,
    /// Gaps in the capture.
    pub gaps: u64,
}

impl<'p> Comparison<'p> {
    /// Starts before the first instruction. `mask` selects the bits of an address that the trace
    /// contains.
    pub fn new(expected: Expected<'p>, mask: u64) -> Self {
        let (before, rest) = (VecDeque::new(), Vec::new());
        Self { expected, mask, verified: 0, before, rest, program: None, idle: 0 }
    }

    /// Accepts instructions after the end of the capture that no trace contains: see [`is_idle`].
    #[must_use]
    pub fn of(self, program: &'p Image) -> Self {
        Self { program: Some(program), ..self }
    }

    /// Returns what had to be guessed of what must have retired.
    pub fn guesses(&self) -> Guesses {
        self.expected.guesses()
    }

    /// Returns the number of equal instructions.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Returns whether a difference was found, with enough context after it.
    pub fn is_done(&self) -> bool {
        self.rest.len() > AFTER
    }

    /// Returns whether all instructions so far are equal.
    pub fn is_equal(&self) -> bool {
        self.rest.is_empty()
    }

    /// Compares the next decoded instruction.
    ///
    /// # Errors
    ///
    /// If the file that lists what must have retired cannot be read.
    pub fn decoded(&mut self, pc: u64, at: StreamPos) -> Result<(), SourceError> {
        self.step(Some((pc, at)))
    }

    /// Compares the next decoded instructions, up to where enough is known of a difference.
    ///
    /// # Errors
    ///
    /// As [`decoded`](Self::decoded).
    pub fn decoded_all(&mut self, pcs: &[u64], at: StreamPos) -> Result<(), SourceError> {
        for pc in pcs {
            if self.is_done() {
                break;
            }
            self.decoded(*pc, at)?;
        }
        Ok(())
    }

    /// Compares the next decoded instruction, or `None` after the last.
    fn step(&mut self, decoded: Option<(u64, StreamPos)>) -> Result<(), SourceError> {
        let expected = self.expected.next_entry()?;
        let pair = Pair { decoded, expected };
        match (decoded, expected) {
            (Some((pc, _)), Some(entry))
                if self.rest.is_empty() && (pc ^ entry.address) & self.mask == 0 =>
            {
                if self.before.len() == BEFORE {
                    self.before.pop_front();
                }
                self.before.push_back(pair);
                self.verified += 1;
            }
            _ => self.rest.push(pair),
        }
        Ok(())
    }

    /// Ends the comparison, because the capture has ended or enough of it was seen.
    ///
    /// # Errors
    ///
    /// If the file that lists what must have retired cannot be read.
    pub fn finish(&mut self) -> Result<(), SourceError> {
        if self.rest.is_empty() {
            self.finish_equal()?;
        }
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

    /// Looks at what follows after the end of a capture that is equal so far.
    fn finish_equal(&mut self) -> Result<(), SourceError> {
        let Self { expected, program, before, rest, .. } = self;
        let after = |address: u64| {
            let (image, xlen) = program.map(|image| (image, image.isa().xlen))?;
            let insn = image.insn(address)?;
            let silent = !insn.is_branch() && !insn.is_uninferable();
            silent.then(|| insn.next(xlen, address))
        };
        let end = before.back().and_then(|pair| program.zip(pair.expected));
        let end = end.and_then(|(image, last)| {
            Some(image.insn(last.address)?.next(image.isa().xlen, last.address))
        });
        let (mut count, mut failed) = (0, None);
        let left = std::iter::from_fn(|| match expected.next_entry() {
            Ok(entry) => entry.map(|entry| {
                count += 1;
                if rest.len() <= AFTER {
                    rest.push(Pair { decoded: None, expected: Some(entry) });
                }
                after(entry.address)
            }),
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        if is_idle(end, left) {
            self.idle = count;
            rest.clear();
        }
        failed.map_or(Ok(()), Err)
    }

    /// Prints that everything is equal, or the first difference with its context.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&self, out: &mut dyn Write, sides: &Sides<'_>) -> io::Result<()> {
        let Sides { capture, expected: trace, xlen, gaps } = *sides;
        let verified = self.verified;
        let Some(first) = self.rest.first() else {
            if verified == 0 {
                write!(
                    out,
                    "nothing to compare: neither {capture} nor {trace} has an instruction"
                )?;
            } else {
                write!(out, "verified {verified} of {verified}")?;
            }
            if self.idle > 0 {
                let idle = self.idle;
                write!(out, ", and {trace} has {idle} more in a loop that no trace contains")?;
            }
            if gaps > 0 {
                write!(out, ", gaps: {gaps}")?;
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
                    "{trace} has ended, {capture} continues: packet {}, byte {}",
                    at.packet, at.byte
                )?;
            }
            (None, _) => {
                let line = first.expected.map_or(String::new(), |entry| line(entry, ": line "));
                writeln!(out, "{capture} has ended, {trace} continues{line}")?;
            }
        }
        let width = hexadecimal(0, xlen).len();
        writeln!(
            out,
            "  {:>11}  {:width$}  {:width$}  {:>8}  {:>9}  {:>8}",
            "instruction", "decoded", "expected", "packet", "byte", "line"
        )?;
        let start = verified.saturating_sub(self.before.len() as u64);
        for (number, pair) in (start..).zip(self.before.iter().chain(&self.rest)) {
            let mark = if number == verified { '>' } else { ' ' };
            let hex = |pc: Option<u64>| pc.map_or("-".into(), |pc| hexadecimal(pc, xlen));
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
        writeln!(out, "equal before: {verified}, gaps before: {gaps}")?;
        Ok(())
    }
}

/// The result of a comparison as one JSON object; keys are stable.
#[derive(Serialize)]
struct Record {
    equal: bool,
    verified: u64,
    idle_instructions: u64,
    gaps: u64,
    /// The first instruction that differs; a side that has ended is null.
    difference: Option<Difference>,
}

#[derive(Serialize)]
struct Difference {
    instruction: u64,
    decoded: Option<String>,
    expected: Option<String>,
    packet: Option<u64>,
    byte: Option<u64>,
    line: Option<u64>,
}

impl Comparison<'_> {
    /// Writes the result as one JSON object.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn json(&self, out: &mut dyn Write, sides: &Sides<'_>) -> io::Result<()> {
        let hex = |pc: u64| hexadecimal(pc, sides.xlen);
        let difference = self.rest.first().map(|pair| Difference {
            instruction: self.verified,
            decoded: pair.decoded.map(|(pc, _)| hex(pc)),
            expected: pair.expected.map(|entry| hex(entry.address)),
            packet: pair.decoded.map(|(_, at)| at.packet),
            byte: pair.decoded.map(|(_, at)| at.byte),
            line: pair.expected.and_then(|entry| entry.line),
        });
        let record = Record {
            equal: self.is_equal(),
            verified: self.verified,
            idle_instructions: self.idle,
            gaps: sides.gaps,
            difference,
        };
        serde_json::to_writer(&mut *out, &record)?;
        writeln!(out)
    }
}

/// Formats an address with all its digits.
fn hexadecimal(address: u64, xlen: Xlen) -> String {
    let width = xlen.bits() as usize / 4 + 2;
    format!("{address:#0width$x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_bits::mask;
    use hartrace_isa::Isa;

    /// Compares addresses with the lines of a trace; returns whether they are equal, and the printed
    /// text.
    fn compare(decoded: &[u64], trace: &str, mask: u64) -> (bool, String) {
        let text = std::io::Cursor::new(trace.to_owned());
        let expected = expected::tests::of(text, Xlen::Rv64).unwrap();
        let mut comparison = Comparison::new(expected, mask);
        for (number, pc) in (0..).zip(decoded) {
            if !comparison.is_done() {
                let at = StreamPos { packet: number, byte: 3 * number };
                comparison.decoded(*pc, at).unwrap();
            }
        }
        comparison.finish().unwrap();
        let mut out = Vec::new();
        let sides = Sides { capture: "c", expected: "t", xlen: Xlen::Rv32, gaps: 0 };
        comparison.print(&mut out, &sides).unwrap();
        (comparison.is_equal(), String::from_utf8(out).unwrap())
    }

    const TRACE: &str = "10\n12\n14\n16\n18\n1a\n1c\n1e\n20\n22\n";

    fn decoded() -> Vec<u64> {
        (0x10..0x24).step_by(2).collect()
    }

    /// The marked line, and the number of context lines around it.
    fn marked(text: &str) -> (usize, String, usize) {
        let rows: Vec<_> = text.lines().skip(2).filter(|l| !l.starts_with("equal")).collect();
        let at = rows.iter().position(|line| line.starts_with('>')).unwrap();
        let words: Vec<_> = rows[at].split_whitespace().skip(1).collect();
        (at, words.join(" "), rows.len() - at - 1)
    }

    #[test]
    fn equal() {
        let clean = |count| (true, format!("verified {count} of {count}\n"));
        assert_eq!(compare(&decoded(), TRACE, u64::MAX), clean(10));
        let nothing = "nothing to compare: neither c nor t has an instruction\n";
        assert_eq!(compare(&[], "", u64::MAX), (true, nothing.into()));
        // Only the bits that the trace contains can be compared.
        assert_eq!(compare(&[0x7f_ffff_f000], "fffffffffffff000", mask(39)), clean(1));
    }

    #[test]
    fn differences_anywhere() {
        for (number, before, after) in [(0, 0, 3), (2, 2, 3), (5, 4, 3), (8, 4, 1), (9, 4, 0)] {
            let mut list = decoded();
            list[number] = 0x80;
            let (equal, text) = compare(&list, TRACE, u64::MAX);
            assert!(!equal);
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

    /// A jump to itself at the end of a program: no trace says how often it was executed.
    #[test]
    fn a_loop_at_the_end() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        // c.nop; c.beqz a0,.; c.j .
        image.add(0x10, &[0x01, 0x00, 0x01, 0xc1, 0x01, 0xa0]);
        let image: &'static Image = Box::leak(Box::new(image));
        let compare = |trace: &str| {
            let text = std::io::Cursor::new(trace.to_owned());
            let expected = expected::tests::of(text, Xlen::Rv64).unwrap();
            let mut comparison = Comparison::new(expected, u64::MAX).of(image);
            for pc in [0x10, 0x12, 0x14] {
                comparison.decoded(pc, StreamPos::default()).unwrap();
            }
            comparison.finish().unwrap();
            let mut out = Vec::new();
            let sides = Sides { capture: "c", expected: "t", xlen: Xlen::Rv32, gaps: 0 };
            comparison.print(&mut out, &sides).unwrap();
            comparison.json(&mut out, &sides).unwrap();
            (comparison.is_equal(), String::from_utf8(out).unwrap())
        };
        let (equal, text) = compare("10\n12\n14\n14\n14\n14\n14\n14\n14\n");
        assert!(equal, "{text}");
        let first = "verified 3 of 3, and t has 6 more in a loop that no trace contains\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains(r#""equal":true,"verified":3,"idle_instructions":6,"#), "{text}");
        // The loop ends elsewhere, or has a branch.
        for trace in ["10\n12\n14\n14\n10\n", "10\n12\n14\n12\n14\n"] {
            let (equal, text) = compare(trace);
            assert!(!equal, "{text}");
            assert!(text.contains(r#""difference":{"instruction":3,"decoded":null,"#), "{text}");
        }
    }

    #[test]
    fn early_ends() {
        let (equal, text) = compare(&decoded()[..6], TRACE, u64::MAX);
        assert!(!equal);
        assert!(text.starts_with("instruction 6: c has ended, t continues: line 7\n"), "{text}");
        assert_eq!(marked(&text), (4, "6 - 0x0000001c - - 7".into(), 3));

        let (equal, text) = compare(&decoded(), "10\n12\n", u64::MAX);
        assert!(!equal);
        assert!(text.starts_with("instruction 2: t has ended, c continues: packet 2, byte 6\n"));
        assert_eq!(marked(&text), (2, "2 0x00000014 - 2 6 -".into(), 3));

        assert_eq!(marked(&compare(&[], "10", u64::MAX).1), (0, "0 - 0x00000010 - - 1".into(), 0));
        assert_eq!(marked(&compare(&[2], "", u64::MAX).1), (0, "0 0x00000002 - 0 0 -".into(), 0));
    }
}
