//! Lines of a scenario, and values of their words.

use super::LineError;

/// A line that is not empty, without its comment.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    pub(crate) fn error(&self, text: impl Into<String>) -> LineError {
        LineError::new(self.number, text)
    }
}

/// A hexadecimal number without prefix.
pub(crate) fn hex(line: &Line<'_>, text: &str) -> Result<u64, LineError> {
    u64::from_str_radix(text, 16).map_err(|_| line.error(format!("`{text}` is not hexadecimal")))
}

/// A decimal number.
pub(crate) fn number(line: &Line<'_>, text: &str) -> Result<u64, LineError> {
    text.parse().map_err(|_| line.error(format!("`{text}` is not a decimal number")))
}
