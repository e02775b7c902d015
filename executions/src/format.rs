//! Detection of the format of a file.

use crate::lines::LONGEST;
use crate::{file, spike};
use std::fmt;
use std::io::{self, BufRead, Cursor, Read};

/// The format of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A log of Spike, or of the RVFI tracer of CVA6.
    Spike,
    /// A commit log of CVA6, a table.
    Cva6,
    /// The encoder input of the reference flow, a table.
    Reference,
    /// The project's own [trace file](mod@crate::file).
    TraceFile,
}

impl Format {
    /// All of them, each with its name and a description.
    ///
    /// The columns of `reference` are found by name: itype_0, cause, priv, context, ctype, sijump_0, iretire_0,
    /// ilastsize_0, time (decimal), tval, iaddr_0 (hexadecimal); lanes _0 to _3; optional trigger (bit 0 on, 1 off,
    /// 2+lane notify), halted, reset (levels), cycles (since the row before).
    pub const NAMED: [(&'static str, Self, &'static str); 4] = [
        (
            "spike",
            Self::Spike,
            "Output of spike -l --log-commits, or of either; RVFI trace of CVA6",
        ),
        (
            "cva6",
            Self::Cva6,
            "Commit log of CVA6: CSV with the columns cycle, event, pc, insn, priv, taken_ex, cause, tval",
        ),
        ("reference", Self::Reference, "Encoder input of the reference flow: CSV"),
        ("htr", Self::TraceFile, "Trace file of `hartrace log`"),
    ];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spike => "Spike log",
            Self::Cva6 => "CVA6 commit log",
            Self::Reference => "reference CSV",
            Self::TraceFile => "trace file",
        })
    }
}

/// An input whose start was read and is kept.
pub type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The input from its start, with nothing read.
pub(crate) fn untouched<R: Read>(input: R) -> Peeked<R> {
    Cursor::new(Vec::new()).chain(input)
}

/// Whether a line looks like names separated by commas.
fn is_table(line: &[u8]) -> bool {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    text.contains(',') && !text.contains(char::is_control)
}

impl Format {
    /// Detects the format from at most the first 64 KiB: the output of a simulator before its log
    /// may be that long. Reads no further than necessary. Returns `None` for an unknown format; an
    /// unknown table is treated as [`Reference`](Self::Reference), whose errors report what is
    /// missing.
    ///
    /// Also returns the whole input.
    pub fn detect<R: BufRead>(mut input: R) -> io::Result<(Option<Self>, Peeked<R>)> {
        let mut start = Vec::new();
        let mut table = false;
        let mut format = None;
        loop {
            let (from, room) = (start.len(), LONGEST.saturating_sub(start.len() as u64));
            let read = (&mut input).take(room).read_until(b'\n', &mut start)?;
            if read == 0 {
                break;
            }
            let line = start.get(from..).unwrap_or_default();
            format = Self::of_line(line, from == 0);
            if format.is_some() {
                break;
            }
            table |= from == 0 && is_table(line);
        }
        let format = format.or(table.then_some(Self::Reference));
        Ok((format, Cursor::new(start).chain(input)))
    }

    fn of_line(line: &[u8], first: bool) -> Option<Self> {
        if first && file::is_start(line) {
            return Some(Self::TraceFile);
        }
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let has = |name: &str| line.split(',').any(|column| column.trim() == name);
        if first && has("itype_0") {
            Some(Self::Reference)
        } else if first && has("event") && has("pc") {
            Some(Self::Cva6)
        } else {
            spike::is_line(line).then_some(Self::Spike)
        }
    }
}
