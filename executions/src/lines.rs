//! Reads text line by line.

use crate::{Hint, Place, SourceError};
use std::io::{BufRead, Read};

/// Far longer than any line of any format.
pub(crate) const LONGEST: u64 = 1 << 16;

const WHOLE_FILE: &str = "a complete file; this one may have been cut off or damaged";

/// The lines of a file.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    file: String,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, file: &str) -> Self {
        Self { input, file: file.into(), number: 0, line: Vec::new() }
    }

    /// Advances to the next line; `false` after the last.
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
            return Err(self.error("not text", Hint::Format));
        }
        Ok(true)
    }

    /// The current line without its end.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.line).unwrap_or_default().trim_end_matches('\r')
    }

    /// Number of the current line, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// An error in the current line.
    pub(crate) fn error(&self, what: impl Into<String>, hint: impl Into<Hint>) -> SourceError {
        self.error_at(Place::Line(self.number), what, hint)
    }

    pub(crate) fn error_at(
        &self,
        place: Place,
        what: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> SourceError {
        SourceError::new(&self.file, place, what, hint)
    }
}

/// Parses a hexadecimal number, with or without `0x`.
pub(crate) fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    // The library function would also accept a sign.
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
