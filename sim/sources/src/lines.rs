//! Text, compressed or not, line by line.

use crate::{Place, SourceError};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// No line of any of the formats is nearly as long.
const LONGEST: u64 = 1 << 16;

const WHOLE_FILE: &str = "a complete file; this one may have been cut off or damaged";

/// Opens a file. It is decompressed if its name ends in `.gz` or `.zst`.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, SourceError> {
    let name = path.display().to_string();
    let failed = |error: io::Error| {
        SourceError::new(&name, Place::File, format!("cannot open: {error}"), "another path")
    };
    let raw = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(raw))),
        Some("zst") => {
            let plain = zstd::Decoder::with_buffer(raw).map_err(failed)?;
            Box::new(BufReader::with_capacity(1 << 16, plain))
        }
        _ => Box::new(raw),
    })
}

/// The lines of a file.
#[derive(Debug)]
pub(crate) struct Lines<'a, R> {
    input: R,
    file: &'a str,
    number: u64,
    line: Vec<u8>,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(crate) fn new(input: R, file: &'a str) -> Self {
        Self { input, file, number: 0, line: Vec::new() }
    }

    /// Goes to the next line; `false` after the last.
    pub(crate) fn advance(&mut self) -> Result<bool, SourceError> {
        self.number += 1;
        self.line.clear();
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
        read.map_err(|error| self.error(format!("cannot read: {error}"), WHOLE_FILE))?;
        if self.line.is_empty() {
            return Ok(false);
        }
        let length = self.line.len() as u64;
        if self.line.pop() != Some(b'\n') {
            return Err(if length == LONGEST {
                self.error(format!("longer than {LONGEST} bytes"), "a text file")
            } else {
                self.error("ends within a line", WHOLE_FILE)
            });
        }
        if std::str::from_utf8(&self.line).is_err() {
            return Err(self.error("not text", "a text file, or the right extension"));
        }
        Ok(true)
    }

    /// The current line without its end.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.line).unwrap_or_default().trim_end_matches('\r')
    }

    /// An error in the current line.
    pub(crate) fn error(&self, what: impl Into<String>, hint: &'static str) -> SourceError {
        SourceError::new(self.file, Place::Line(self.number), what, hint)
    }
}

/// A hexadecimal number, with or without `0x`.
pub(crate) fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    // The library function would also take a sign.
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
