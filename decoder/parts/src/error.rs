//! Why plans and parts fail.

use super::rows::Emit;
use hartrace_capture::described::DescribedError;
use hartrace_capture::output::{Conflict, FileError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why captures cannot be planned, decoded in parts, or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PartsError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The output is also an input.
    #[error(transparent)]
    Same(#[from] Conflict),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
    /// A capture cannot be read, or is not the one that is described; the error has its name.
    #[error(transparent)]
    Read(io::Error),
    /// A capture is not the one that is described.
    #[error(transparent)]
    Described(#[from] DescribedError),
    /// A capture is named twice, and would be counted twice.
    #[error("{}: this capture is named twice", path.display())]
    SameCapture {
        /// The capture.
        path: PathBuf,
    },
    /// This kind of capture cannot be cut.
    #[error("{}: {what} cannot be cut into parts; try {hint}", path.display())]
    Kind {
        /// The capture.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A description is missing or wrong.
    #[error("{}: {what}", path.display())]
    Description {
        /// The capture.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file is not the one that the plan was made with.
    #[error("{}: {what} has changed since the plan was made; try a new plan", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What has changed.
        what: &'static str,
    },
    /// There are too many sources.
    #[error("{}: more than {most} sources; try src-bits and hart-bits as the encoder has them", path.display())]
    Sources {
        /// The capture.
        path: PathBuf,
        /// How many are allowed.
        most: usize,
    },
    /// A plan cannot be understood.
    #[error("{name}: the plan cannot be read: {what}")]
    Plan {
        /// The plan.
        name: String,
        /// Why.
        what: String,
    },
    /// A name cannot be written to a plan.
    #[error("{}: a plan cannot hold a name that is not UTF-8; try another name", path.display())]
    Name {
        /// The capture.
        path: PathBuf,
    },
    /// The plan has no such capture.
    #[error("the plan has no capture {0}")]
    NoCapture(usize),
    /// There is no such mode.
    #[error("the plan has a mode `{0}`, which is not known here")]
    NoMode(String),
    /// The plan has no such part.
    #[error("part {number} of a plan with {parts} parts, which are numbered from 0")]
    NoPart {
        /// The part that was asked for.
        number: usize,
        /// The number of parts.
        parts: usize,
    },
    /// The capture is not what the plan says.
    #[error("part {part}: {what}")]
    Capture {
        /// The part.
        part: usize,
        /// What is wrong.
        what: String,
    },
    /// A table is not a table of a part.
    #[error("{name}: not a table of a part: {what}")]
    NoTable {
        /// The table.
        name: String,
        /// Why.
        what: String,
    },
    /// A table or a plan is not as it was written.
    #[error("{name}: damaged: its checksum is not that of its content")]
    Damaged {
        /// The file.
        name: String,
    },
    /// A table belongs to another plan.
    #[error("{name}: a part of another plan")]
    OtherPlan {
        /// The table.
        name: String,
    },
    /// Tables of several kinds cannot be merged.
    #[error("{name}: a table of {found}, not of {expected}")]
    OtherEmit {
        /// The table.
        name: String,
        /// Its kind.
        found: Emit,
        /// The kind of those before it.
        expected: Emit,
    },
    /// Only calls are merged in shares.
    #[error("{0} are not merged in shares, only calls are; try without a share")]
    NoShares(Emit),
    /// A part is missing.
    #[error("part {0} is missing")]
    Missing(u32),
    /// A part is there twice.
    #[error("part {part} is there twice, the second time in {name}")]
    Twice {
        /// The part.
        part: u32,
        /// The second table.
        name: String,
    },
    /// Two parts do not fit together.
    #[error(
        "part {0} does not start where the part before it ends: one of the two was decoded from another capture"
    )]
    Seam(u32),
    /// Too many calls of a part are left open.
    #[error("part {part}: {left} calls, traps and contexts depend on other parts; try more parts")]
    TooOpen {
        /// The part.
        part: usize,
        /// How many.
        left: usize,
    },
    /// Files need the feature `parquet`.
    #[error(
        "this hartrace was built without Parquet; try `cargo install --path cli --features parquet`"
    )]
    NoParquet,
    /// A table cannot be read or written.
    #[error("{name}: {what}")]
    Table {
        /// The table.
        name: String,
        /// Why.
        what: String,
    },
}

impl PartsError {
    /// Adds the name of a file to an error.
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}
