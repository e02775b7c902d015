use crate::framing;
use crate::limits::{DOCUMENT_BYTES, PROGRAMS};
use hartrace_etrace::ParamsError;
use hartrace_isa::Xlen;
use thiserror::Error;

/// A mistake in a parameter file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct DocumentError {
    /// Where: the file, with line and column or the byte where they are known.
    pub place: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a parameter file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Unreadable(String),
    /// The file is larger than any real one.
    #[error("more than {} MiB, which no file of parameters or description has", DOCUMENT_BYTES >> 20)]
    TooLong,
    /// A description names too many programs.
    #[error("more than {PROGRAMS} programs")]
    TooManyPrograms,
    /// The file is not UTF-8.
    #[error("not text")]
    NotText,
    /// The file starts like JSON, but is not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The file is not TOML.
    #[error("not TOML: {0}")]
    NotToml(String),
    /// There is no such key.
    #[error("unknown key {key}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The key that is spelled most like it.
        closest: Option<String>,
    },
    /// A key has a value that it cannot have.
    #[error("{key} must be {expected}, not {found}")]
    Value {
        /// The key.
        key: String,
        /// What it could be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The file is based on another one, which cannot be found from text alone.
    #[error("this is based on the configuration {0}, which is in another file")]
    Reference(String),
    /// A description of another version of the format.
    #[error("version {0} is not known here, only 1 and 2")]
    Version(u64),
    /// A key in two spellings.
    #[error("{0} is given twice")]
    Twice(String),
    /// A program of a description without its file.
    #[error("a program has no file")]
    NoFile,
    /// Files that are based on each other.
    #[error("configurations refer to each other in a circle")]
    Circle,
}

impl Problem {
    /// Whether the file could not be read at all; otherwise its contents are wrong.
    pub const fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::Unreadable(_)
                | Self::TooLong
                | Self::TooManyPrograms
                | Self::NotText
                | Self::NotJson(_)
                | Self::NotToml(_)
        )
    }

    /// What to try, if there is something.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NotToml(_) => {
                Some("the specification's parameter names as keys, for example iaddress_lsb_p = 1")
            }
            Self::UnknownKey { closest, .. } => closest.as_deref(),
            _ => None,
        }
    }
}

/// Why parameters do not describe a stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There are no parameters, and the framing does not imply any.
    #[error("a trace cannot be read without the encoder's parameters")]
    NoParameters,
    /// Neither the parameters nor the caller specify the width of addresses.
    #[error("the parameters do not specify the width of addresses")]
    NoWidth,
    /// Addresses of this width belong to another base instruction set.
    #[error("XLEN {} contradicts iaddress_width_p = {width}", xlen.bits())]
    Width {
        /// The base instruction set that was given.
        xlen: Xlen,
        /// The value of `iaddress_width_p`.
        width: u8,
    },
    /// A resynchronisation mode without `resync-max`.
    #[error("resync-mode needs a period")]
    NoPeriod,
    /// History prediction without its tables.
    #[error(
        "history-prediction needs tables, but hpred_size_p is 0 or missing; try hpred_size_p = 5"
    )]
    NoHistory,
    /// A parameter has a value that its type cannot hold.
    #[error(transparent)]
    Value(#[from] serde_json::Error),
    /// The parameters do not fit together.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The framing cannot have these fields.
    #[error(transparent)]
    Framing(#[from] framing::Error),
}
