use std::fmt;
use thiserror::Error;

/// Where in a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as such.
    File,
    /// Line, from 1.
    Line(u64),
    /// Byte offset.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// A file cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{place}: {what}; try: {hint}")]
pub struct SourceError {
    /// Name of the file, as given.
    pub file: String,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl SourceError {
    pub(crate) fn new(
        file: &str,
        place: Place,
        what: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self { file: file.into(), place, what: what.into(), hint }
    }
}
