//! Numbers the instructions in the text of a report.

use std::io::{self, Write};

/// How an instruction that retired looks in JSON, and how others that are left out do.
const RETIRED: &[u8] = br#""event":"retired","#;
const LEFT_OUT_JSON: &[u8] = br#""event":"left_out","instructions":"#;

/// The same in a listing.
const INSTRUCTION: &[u8] = b"  0x";
const NOTE: &[u8] = b"-- packet ";
const LEFT_OUT: &[u8] = b": left out: ";

/// Passes on the lines of a listing or of JSON, with the number of each instruction, as `--from` counts them: in front of the line, or as `insn` of
/// the object. Parts of a trace become text before it is known how many instructions come before them.
#[derive(Debug)]
pub struct Numbered<W> {
    out: W,
    next: u64,
    /// The start of a line.
    line: Vec<u8>,
}

impl<W: Write> Numbered<W> {
    /// Numbers what is written; the first instruction has this number.
    pub fn new(out: W, first: u64) -> Self {
        Self { out, next: first, line: Vec::new() }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let next = self.next;
        if line.starts_with(INSTRUCTION) {
            self.next = next.saturating_add(1);
            write!(self.out, "{next:>12}")?;
        } else if line.starts_with(b"{")
            && let Some(fields) = line.get(1..)
            && contains(fields, RETIRED).is_some()
        {
            self.next = next.saturating_add(1);
            write!(self.out, "{{\"insn\":{next},")?;
            return self.out.write_all(fields);
        } else if let Some(left_out) = left_out(line) {
            self.next = next.saturating_add(left_out);
        }
        self.out.write_all(line)
    }
}

/// How many instructions are left out here.
fn left_out(line: &[u8]) -> Option<u64> {
    let words = match line.starts_with(NOTE) {
        true => contains(line, LEFT_OUT)?,
        false => contains(line, LEFT_OUT_JSON).filter(|_| line.starts_with(b"{"))?,
    };
    let digits = words.split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What follows the first occurrence of a text.
fn contains<'l>(line: &'l [u8], text: &[u8]) -> Option<&'l [u8]> {
    let at = line.windows(text.len()).position(|window| window == text)?;
    line.get(at.saturating_add(text.len())..)
}

impl<W: Write> Write for Numbered<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            if !piece.ends_with(b"\n") {
                self.line.extend_from_slice(piece);
            } else if self.line.is_empty() {
                self.line(piece)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                self.line(&line)?;
                line.clear();
                self.line = line;
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_over_what_is_left_out() {
        let text = "source 3:\n<main>:\n  0x10  13  nop\n  0x14  13  nop\n\
                    -- packet 3, byte 9: left out: 40 instructions\n  0x18  13  nop\n";
        for cut in 0..text.len() {
            let mut out = Vec::new();
            let mut numbered = Numbered::new(&mut out, 7);
            numbered.write_all(&text.as_bytes()[..cut]).unwrap();
            numbered.write_all(&text.as_bytes()[cut..]).unwrap();
            let all = String::from_utf8(out).unwrap();
            let numbers: Vec<&str> = all
                .lines()
                .filter_map(|line| line.split_once("  0x"))
                .map(|(n, _)| n.trim())
                .collect();
            assert_eq!(numbers, ["7", "8", "49"], "{cut}");
        }
        let text = "{\"packet\":1,\"byte\":6,\"event\":\"retired\",\"iaddr\":\"0x10\"}\n\
                    {\"packet\":1,\"byte\":6,\"event\":\"left_out\",\"instructions\":5}\n\
                    {\"packet\":1,\"byte\":6,\"event\":\"retired\",\"iaddr\":\"0x18\"}\n";
        let mut out = Vec::new();
        Numbered::new(&mut out, 0).write_all(text.as_bytes()).unwrap();
        let all = String::from_utf8(out).unwrap();
        let insns =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["insn"].as_u64();
        assert_eq!(all.lines().map(insns).collect::<Vec<_>>(), [Some(0), None, Some(6)]);
    }
}
