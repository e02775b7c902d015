use crate::snapshot::Buffer;
use std::path::PathBuf;
use thiserror::Error;

/// Why a snapshot cannot be used: what, where, and what to try.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The name of a file leads out of the snapshot.
    #[error("{file}: file {name:?} is not within the snapshot; copy it there")]
    Outside {
        /// Where it is named.
        file: String,
        /// The name.
        name: String,
    },
    /// A line that is neither a section, a key with a value, nor a comment.
    #[error("{file}:{line}: expected [section], key=value or a comment")]
    Syntax {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// A section or key is missing.
    #[error("{file}: no {what}")]
    Missing {
        /// The file.
        file: String,
        /// What.
        what: String,
    },
    /// A value that cannot be read.
    #[error("{file}: {key}={value}: expected {expected}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What it says.
        value: String,
        /// What it could have said.
        expected: &'static str,
    },
    /// A register that is needed to read the trace.
    #[error("{device}: register {register} is needed to read its trace; add it to [regs]")]
    Register {
        /// The device.
        device: String,
        /// The register.
        register: &'static str,
    },
    /// There is no such trace buffer.
    #[error("no trace buffer {name:?}; there are: {known}")]
    Buffer {
        /// The name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// Memory that is told many times over, or is longer than can be.
    #[error("{file}: with file {name:?} there are more than 4 GiB of memory; name less of it")]
    Memory {
        /// Where it is named.
        file: String,
        /// The file that is too much.
        name: String,
    },
    /// A line of the system event log.
    #[error(transparent)]
    Log(#[from] crate::spaces::Error),
}

impl Error {
    pub(crate) fn buffer(name: Option<&str>, buffers: &[Buffer]) -> Self {
        Self::Buffer {
            name: name.unwrap_or_default().to_owned(),
            known: buffers.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", "),
        }
    }
}
