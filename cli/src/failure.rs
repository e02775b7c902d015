//! How commands end: exit statuses and error messages.

use hartrace_capture::contents::OtherCapture;
use hartrace_capture::input::WasRead;
use hartrace_capture::output::{Action, Conflict, FileError, NoDescription, TooLarge};
use hartrace_capture::text::{message, printable};
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// The result of a command that ran to its end, the worst last.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Neither gaps nor differences.
    Clean,
    /// Clean, but this is the exit status of the program that was executed.
    Program(u8),
    /// Part of the input could not be read or followed; the rest was.
    Gaps,
    /// A comparison found a difference.
    Different,
    /// What the input is cannot be told from something else.
    Ambiguous,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Clean => 0,
            Status::Program(status) => status,
            Status::Gaps => 1,
            Status::Different => 4,
            Status::Ambiguous => 5,
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Usage,
    Input,
    /// A gap where none is allowed.
    Gap,
    /// What the input is cannot be told from something else.
    Ambiguous,
    /// The reader of our output has closed it.
    BrokenPipe,
}

/// Why a command could not run to its end: what, where, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: Kind,
    place: Option<String>,
    what: String,
    hint: Option<String>,
}

impl Failure {
    fn new(kind: Kind, what: impl fmt::Display) -> Self {
        Self { kind, place: None, what: what.to_string(), hint: None }
    }

    /// The command cannot be run as it was given.
    pub(crate) fn usage(what: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// A file cannot be read, written or understood.
    pub(crate) fn input(what: impl fmt::Display) -> Self {
        Self::new(Kind::Input, what)
    }

    /// Part of a trace could not be followed, and no gap is allowed.
    pub(crate) fn gap(what: impl fmt::Display) -> Self {
        Self::new(Kind::Gap, what)
    }

    /// What the input is cannot be told from something else.
    pub(crate) fn ambiguous(what: impl fmt::Display) -> Self {
        Self::new(Kind::Ambiguous, what)
    }

    /// Adds where: a file, with line and column or byte and bit where known.
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Adds what to try.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Adds what to try, if anything is known.
    pub(crate) fn hint_if(self, hint: Option<impl fmt::Display>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Writing to `place` failed, unless the error names another file.
    pub(crate) fn write(place: impl fmt::Display, error: &io::Error) -> Self {
        if let Some(error) = FileError::find(error) {
            return Self::file(error);
        }
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => Kind::BrokenPipe,
            _ => Kind::Input,
        };
        Self::new(kind, format_args!("cannot write: {error}")).at(place)
    }

    /// A file cannot be read or written.
    pub(crate) fn file(FileError { name, action, error }: &FileError) -> Self {
        let inner = error.get_ref();
        if inner.is_some_and(|inner| inner.is::<WasRead>()) {
            return Self::usage(error).at(name).hint("another name for the output");
        }
        if inner.is_some_and(|inner| inner.is::<NoDescription>()) {
            return Self::usage(error).at(name).hint("another name for the capture");
        }
        if inner.is_some_and(|inner| inner.is::<TooLarge>()) {
            return Self::usage(error).at(name).hint(
                "a part of the trace with --from, --to or --in; --format folded, which adds up what is alike; or --any-size",
            );
        }
        let other = inner.and_then(|inner| inner.downcast_ref::<OtherCapture>());
        match (action, other) {
            (Action::Write, _) => Self::write(name, error),
            (Action::Read, Some(other)) => Self::other_capture(name, other),
            (Action::Read, None) => Self::input(format_args!("cannot read: {error}")).at(name),
        }
    }

    /// A capture is not the one that is described.
    pub(crate) fn other_capture(name: &str, other: &OtherCapture) -> Self {
        let description = &other.description;
        Self::input(other).at(name).hint(format_args!(
            "the capture that belongs to it, or --params {description} if this one was cut or changed on purpose"
        ))
    }

    /// What happened, without where and what to try.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Nothing to report: the reader has closed our output.
    pub(crate) fn is_quiet(&self) -> bool {
        self.kind == Kind::BrokenPipe
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self.kind {
            Kind::BrokenPipe => 0,
            Kind::Gap => 1,
            Kind::Usage => 2,
            Kind::Input => 3,
            Kind::Ambiguous => 5,
        }
    }
}

/// Warns on standard error, whatever files say in it; if that is closed, there is nobody to warn.
pub(crate) fn warn(what: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "warning: {}", message(&what.to_string()));
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::file(&error)
    }
}

impl From<Conflict> for Failure {
    fn from(conflict: Conflict) -> Self {
        Self::usage(conflict).hint("another name for the output")
    }
}

/// A file failed, if the error names one. Otherwise standard output did: its errors carry no name.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::write("standard output", &error)
    }
}

/// Parts of it may be quoted from files.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("error: ")?;
        if let Some(place) = &self.place {
            write!(f, "{}: ", printable(place))?;
        }
        f.write_str(&message(&self.what))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  try: {}", message(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
#[path = "../tests/unit/failure.rs"]
mod tests;
