//! Errors of files, with their names.

use std::io;
use thiserror::Error;

/// What cannot be done with a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It cannot be read.
    Read,
    /// It cannot be written.
    Write,
}

impl Action {
    const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A file cannot be read or written.
///
/// Inside an [`io::Error`] it passes through code that knows nothing of files, such as a copy from one to another, and
/// still says which of the two failed.
#[derive(Debug, Error)]
#[error("{name}: cannot {}: {error}", action.verb())]
pub struct FileError {
    /// The file, for messages.
    pub name: String,
    /// What cannot be done.
    pub action: Action,
    /// Why.
    pub error: io::Error,
}

impl FileError {
    /// Returns the error of a file that an error is, or is made from.
    pub fn find(error: &io::Error) -> Option<&Self> {
        let inner = error.get_ref()?;
        inner.downcast_ref().or_else(|| {
            let mut source = inner.source();
            while let Some(error) = source {
                if let Some(found) = error.downcast_ref() {
                    return Some(found);
                }
                source = error.source();
            }
            None
        })
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        Self::new(error.error.kind(), error)
    }
}
