//! Which format a file has.

use crate::lines::LONGEST;
use crate::{file, spike};
use std::fmt;
use std::io::{self, BufRead, Cursor, Read};

/// What a file may be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Log of Spike, or of the RVFI tracer of CVA6.
    Spike,
    /// Commit log of CVA6, a table.
    Cva6,
    /// Encoder input of the reference flow, a table.
    Reference,
    /// Our own [trace file](mod@crate::file).
    TraceFile,
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

/// An input of which the start was looked at.
pub type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The input from its start, nothing looked at.
pub(crate) fn untouched<R: Read>(input: R) -> Peeked<R> {
    Cursor::new(Vec::new()).chain(input)
}

/// Whether this looks like names with commas between them.
fn is_table(line: &[u8]) -> bool {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    text.contains(',') && !text.contains(char::is_control)
}

impl Format {
    /// Tells the format by the first 64 KiB at most: what a simulator prints before its log may be
    /// that long. Reads no further than necessary. `None` if it is none of ours; a table that is
    /// none of ours is taken for [`Reference`](Self::Reference), whose errors say what is missing.
    ///
    /// Returns the whole input, too.
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
