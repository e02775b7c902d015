//! Tables: a line of names, then lines of fields separated by commas, without quoting.

use crate::lines::{Lines, hex};
use crate::{Hint, Place, SourceError};
use std::fmt::Display;
use std::io::BufRead;
use std::ops::Range;

/// A table, row by row.
#[derive(Debug)]
pub(crate) struct Table<R> {
    lines: Lines<R>,
    names: Vec<String>,
    /// Positions of the fields of the current row.
    fields: Vec<Range<usize>>,
    hint: &'static str,
}

impl<R: BufRead> Table<R> {
    /// Reads the names. `hint` describes a valid table.
    pub(crate) fn new(input: R, file: &str, hint: &'static str) -> Result<Self, SourceError> {
        let mut lines = Lines::new(input, file);
        let names = match lines.advance()? {
            true => lines.text().split(',').map(|name| name.trim().to_owned()).collect(),
            false => Vec::new(),
        };
        Ok(Self { lines, names, fields: Vec::new(), hint })
    }

    /// The column with this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The column with this name, which is required.
    pub(crate) fn need(&self, name: &str) -> Result<usize, SourceError> {
        self.find(name).ok_or_else(|| {
            self.lines.error_at(Place::Line(1), format!("no column {name}"), self.hint)
        })
    }

    /// Advances to the next row; `false` after the last. Empty lines are skipped.
    pub(crate) fn advance(&mut self) -> Result<bool, SourceError> {
        loop {
            if !self.lines.advance()? {
                return Ok(false);
            }
            let text = self.lines.text();
            if text.trim().is_empty() {
                continue;
            }
            self.fields.clear();
            let mut start = 0;
            for field in text.split(',') {
                self.fields.push(start..start + field.len());
                start += field.len() + 1;
            }
            let (found, needed) = (self.fields.len(), self.names.len());
            if found != needed {
                let what = format!("{found} fields in a row, but {needed} in the header");
                return Err(self.lines.error(what, "a complete file; this one may be damaged"));
            }
            return Ok(true);
        }
    }

    /// Number of the current line, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// A field of the current row.
    pub(crate) fn text(&self, column: usize) -> &str {
        let range = self.fields.get(column).cloned().unwrap_or_default();
        self.lines.text().get(range).unwrap_or_default().trim()
    }

    /// Parses a decimal number of at most `max`.
    pub(crate) fn decimal(&self, column: usize, max: u64) -> Result<u64, SourceError> {
        // The library function would also accept a sign.
        let text = Some(self.text(column)).filter(|text| !text.starts_with('+'));
        match text.and_then(|text| text.parse().ok()) {
            Some(value) if value <= max => Ok(value),
            Some(_) => Err(self.wrong(column, format_args!("more than {max}"))),
            None => Err(self.wrong(column, "not a decimal number")),
        }
    }

    /// Parses a hexadecimal number.
    pub(crate) fn hexadecimal(&self, column: usize) -> Result<u64, SourceError> {
        hex(self.text(column)).ok_or_else(|| self.wrong(column, "not a hexadecimal number"))
    }

    /// An error in the current row.
    pub(crate) fn error(&self, what: impl Display, hint: impl Into<Hint>) -> SourceError {
        self.lines.error(what.to_string(), hint)
    }

    /// An error for a field that its column does not allow.
    pub(crate) fn wrong(&self, column: usize, why: impl Display) -> SourceError {
        let name = self.names.get(column).map_or("?", String::as_str);
        // Fields may be as long as lines, so only the start is shown.
        let text: String = self.text(column).chars().take(40).collect();
        let place = Place::Column(self.lines.number(), column + 1);
        self.lines.error_at(place, format!("{name} `{text}`: {why}"), self.hint)
    }
}
