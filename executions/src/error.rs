use hartrace_etrace::ingress::Flavour;
use hartrace_isa::Xlen;
use std::fmt;
use thiserror::Error;

/// A place in a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(u64),
    /// Line and column of a table, both counted from 1.
    Column(u64, usize),
    /// A byte offset.
    Byte(u64),
    /// A row, counted from 0, of a file without lines.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Column(line, column) => write!(f, ":{line}, column {column}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
            Self::Row(row) => write!(f, ", row {row}"),
        }
    }
}

/// What to try after an error. A hint about an option of this crate is not text, since only the
/// program that offers the option knows its name there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Any other hint.
    Text(&'static str),
    /// [`Options::format`](crate::Options::format).
    Format,
    /// [`Options::flavour`](crate::Options::flavour).
    Flavour(Flavour),
    /// [`Options::xlen`](crate::Options::xlen).
    Xlen(Xlen),
}

impl From<&'static str> for Hint {
    fn from(text: &'static str) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Format => f.write_str("another file, or naming its format"),
            Self::Flavour(Flavour::Block) => {
                f.write_str("block retirement, if iretire counts half-words")
            }
            Self::Flavour(Flavour::Single) => {
                f.write_str("single retirement, if iretire is 0 or 1")
            }
            Self::Xlen(xlen) => write!(f, "RV{0}, if this is an RV{0} run", xlen.bits()),
        }
    }
}

/// A file cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{place}: {what}; try: {hint}")]
pub struct SourceError {
    /// Name of the file, as given.
    pub file: String,
    /// Where in the file.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub hint: Hint,
}

impl SourceError {
    pub(crate) fn new(
        file: &str,
        place: Place,
        what: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> Self {
        Self { file: file.into(), place, what: what.into(), hint: hint.into() }
    }
}
