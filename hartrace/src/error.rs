//! Why a capture cannot be opened or decoded.

use crate::no_capture::NoCapture;
use hartrace_arm_decoder::program::ProgramError;
use hartrace_capture::bundle::BundleError;
use hartrace_capture::contents::OtherCapture;
use hartrace_capture::described::DescribedError;
use hartrace_capture::output::FileError;
use hartrace_capture::params::{DocumentError, SetupError};
use hartrace_capture::programs::{NoTime, Unloadable};
use hartrace_capture::ring::RingError;
use hartrace_capture::system::{BindError, NoFrames, SystemError};
use hartrace_capture::text::shown;
use hartrace_capture::{perf, snapshot, system};
use hartrace_isa::Xlen;
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a capture cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read.
    #[error("{}: cannot read: {error}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A program that the description names cannot be read.
    #[error("{}: cannot read: {error}", shown(path))]
    UnreadableProgram {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is there is no capture.
    #[error("{}: {found}", shown(path))]
    NoCapture {
        /// The path.
        path: PathBuf,
        /// What is there, and what to try.
        found: NoCapture,
    },
    /// The description or the bundle is wrong, or the capture is not the one that is described.
    #[error(transparent)]
    Described(#[from] DescribedError),
    /// The file of parameters is wrong.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Parameters are missing, or do not fit together.
    #[error("{}{error}{}", place.as_ref().map_or(String::new(), |place| format!("{place}: ")), hint(error))]
    Setup {
        /// The file of parameters, the description, or the capture that has neither.
        place: Option<String>,
        /// Why.
        error: SetupError,
    },
    /// The oldest byte of a ring buffer cannot be found.
    #[error("{name}: {error}")]
    Ring {
        /// The capture.
        name: String,
        /// Why.
        error: RingError,
    },
    /// No program is known.
    #[error("a trace cannot be followed without the program")]
    NoProgram,
    /// There are programs of single contexts, but the trace has no contexts.
    #[error("there are programs of single contexts, but the trace has no contexts")]
    NoContexts,
    /// A program cannot be loaded.
    #[error(transparent)]
    Program(#[from] Unloadable),
    /// A program cannot be loaded for an Arm core.
    #[error("{name}: {error}")]
    ArmProgram {
        /// The program.
        name: String,
        /// Why.
        error: ProgramError,
    },
    /// The extensions are those of another hart.
    #[error("extensions of RV{}, but the trace is of RV{}", isa.bits(), traced.bits())]
    Isa {
        /// The width of registers that was given.
        isa: Xlen,
        /// That of the trace.
        traced: Xlen,
    },
    /// The quirks of a reference model are expected of another encoder.
    #[error("the quirks of a reference model, but the unit is not `reference`")]
    Compat,
    /// A log of what changed is wrong.
    #[error(transparent)]
    Events(#[from] hartrace_spaces::Error),
    /// It is said what contexts are, but there is no log that uses it.
    #[error("what context identifiers are matters only with a log of what changed")]
    NoEvents,
    /// It is not said what the contexts of a log are.
    #[error("it is not known what the context of the hart holds")]
    NoContextId,
    /// A log has times, but the trace has none.
    #[error("{}: {error}", path.display())]
    NoTime {
        /// The log.
        path: PathBuf,
        /// Why.
        error: NoTime,
    },
    /// A stream was decoded already.
    #[error("a stream can be decoded only once")]
    StreamWasRead,
    /// A recording of perf cannot be used.
    #[error(transparent)]
    Recording(#[from] perf::Error),
    /// What was given has no meaning for a capture of this kind.
    #[error("{}: {option} has no meaning for {kind}", shown(path))]
    Meaningless {
        /// The capture.
        path: PathBuf,
        /// What was given: a field or function of [`Options`](crate::Options).
        option: &'static str,
        /// What the capture is.
        kind: &'static str,
    },
    /// No source has this number.
    #[error("{}: no source {id}; there are: {}", shown(path), list(ids))]
    NoSource {
        /// The capture.
        path: PathBuf,
        /// The number.
        id: u16,
        /// Those that there are.
        ids: Vec<u16>,
    },
    /// A recording is not a ring buffer.
    #[error("{}: the recording is no ring buffer: its kernel has put the trace in order", shown(.0))]
    Ordered(PathBuf),
    /// A recording has N-Trace.
    #[error("{}: the recording has N-Trace, which is not supported", shown(.0))]
    NTrace(PathBuf),
    /// A snapshot or package cannot be used.
    #[error("{}: {error}", shown(path))]
    Snapshot {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: snapshot::Error,
    },
    /// A way to find frames was given, but there are none.
    #[error(transparent)]
    Frames(#[from] NoFrames),
    /// A log says something about a source that cannot be.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A system cannot be decoded.
    #[error(transparent)]
    System(SystemError),
    /// There is no trace that can be decoded.
    #[error("{}: no ETMv4, ETE or PTM trace{why}", shown(path))]
    NoTrace {
        /// The capture.
        path: PathBuf,
        /// What is in its place.
        why: Absent,
    },
}

/// What is in the place of a trace that can be decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Absent {
    /// The buffer that was looked at.
    pub buffer: Option<String>,
    /// What is there, but cannot be decoded.
    pub losses: Vec<String>,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(buffer) = &self.buffer {
            write!(f, " in {buffer}")?;
        }
        self.losses.iter().try_for_each(|loss| write!(f, "; {loss}"))
    }
}

impl OpenError {
    pub(crate) fn setup(place: Option<String>, error: SetupError) -> Self {
        Self::Setup { place, error }
    }
}

impl From<BundleError> for OpenError {
    fn from(error: BundleError) -> Self {
        Self::Described(error.into())
    }
}

impl From<system::Unloadable> for OpenError {
    fn from(error: system::Unloadable) -> Self {
        let system::Unloadable { name, error } = error;
        Self::ArmProgram { name, error }
    }
}

/// Why a capture cannot be decoded, or what is missing in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read, or is not the one that is described.
    #[error("{}", unread(name, error))]
    Read {
        /// The capture.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The result cannot be written, or is not there.
    #[error(transparent)]
    Report(hartrace_report::Error),
    /// A stretch could not be followed: what, where and why. An iterator continues after it.
    #[error("{0}")]
    Gap(Gap),
    /// Something else is missing or doubtful: the trace has not ended where the capture does, nothing is in it, a source is not
    /// decoded, or the program is not the one that was traced. The last items of an iterator.
    #[error("{0}")]
    Incomplete(String),
    /// The thread that decodes has panicked: what was decoded so far is not all.
    #[error("decoding has stopped with a panic")]
    Stopped,
    /// It was cancelled: see [`Capture::cancelled_by`](crate::Capture::cancelled_by).
    #[error("decoding was cancelled")]
    Cancelled,
    /// No encoder has such parameters.
    #[error(transparent)]
    Params(#[from] hartrace_etrace::ParamsError),
    /// No program has debug information, so lines are not known.
    #[error(transparent)]
    NoLines(#[from] hartrace_report::NoLines),
}

impl From<hartrace_report::Error> for Error {
    fn from(error: hartrace_report::Error) -> Self {
        match error {
            hartrace_report::Error::Cancelled => Self::Cancelled,
            error => Self::Report(error),
        }
    }
}

/// What to try without parameters.
fn hint(error: &SetupError) -> &'static str {
    match error {
        SetupError::NoParameters => "; try a description beside it, or a file of parameters",
        _ => "",
    }
}

fn list(ids: &[u16]) -> String {
    ids.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

/// What is wrong with a capture. What reads it may have put its name there already.
fn unread(name: &str, error: &io::Error) -> String {
    let Some(known) = FileError::find(error) else {
        return format!("{name}: cannot read: {error}");
    };
    match known.error.get_ref().and_then(|inner| inner.downcast_ref::<OtherCapture>()) {
        Some(other) => format!("{}: {other}", known.name),
        None => known.to_string(),
    }
}

/// A stretch that could not be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The source, where the capture names sources.
    pub source: Option<u16>,
    /// Where it starts.
    pub at: hartrace_decoder::StreamPos,
    /// Why.
    pub cause: hartrace_decoder::Fault,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, at, cause } = self;
        write!(f, "gap at byte {}, packet {}", at.byte, at.packet)?;
        source.map_or(Ok(()), |id| write!(f, ", source {id}"))?;
        write!(f, ": {cause}")
    }
}
