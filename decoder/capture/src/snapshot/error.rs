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
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// A file name points outside the snapshot.
    #[error("{file}: file {name:?} is not within the snapshot; copy it there")]
    Outside {
        /// The file that contains the name.
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
        /// The missing item.
        what: String,
    },
    /// The contents of a bundle name something that it cannot have, or has already.
    #[error(
        "{file}: {what}: a bundle has one capture, buffer0, and one description, metadata, in [trace]"
    )]
    NotInBundle {
        /// The file.
        file: String,
        /// The key.
        what: String,
    },
    /// A value that cannot be read.
    #[error("{file}: {key}={value}: expected {expected}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// A register that is required to read the trace is missing.
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
        /// The existing names.
        known: String,
    },
    /// The memory is listed too many times, or is too long.
    #[error("{file}: with file {name:?} there are more than 4 GiB of memory; list less of it")]
    Memory {
        /// The file that contains the name.
        file: String,
        /// The file that exceeds the limit.
        name: String,
    },
    /// The same memory is listed again and again.
    #[error(
        "{file}: with file {name:?} there are more than 64 MiB of memory from bytes that are listed already; list each once"
    )]
    Repeated {
        /// The file that contains the name.
        file: String,
        /// The file that exceeds the limit.
        name: String,
    },
    /// A line of the system event log.
    #[error(transparent)]
    Log(#[from] hartrace_spaces::Error),
}

impl Error {
    /// Why the bytes of a buffer cannot be read. The error of a file has its name.
    pub(crate) fn of_read(error: std::io::Error) -> Self {
        error.downcast().unwrap_or_else(|error| Self::Read { path: "trace buffer".into(), error })
    }

    pub(crate) fn buffer(name: Option<&str>, buffers: &[Buffer]) -> Self {
        Self::Buffer {
            name: name.unwrap_or_default().to_owned(),
            known: buffers.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", "),
        }
    }
}
