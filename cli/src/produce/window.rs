//! Looks for the part of a trace that a [`Job`] asks for.

use crate::failure::Failure;
use crate::files;
use crate::job::Job;
use hartrace_capture::programs::Programs;
use hartrace_isa::Xlen;
use hartrace_report::gaps::Gaps;
use hartrace_report::limits::Limits;
use hartrace_report::window::{Search, SearchError};
use hartrace_report::{Print, Printer};
use std::io::{self, Sink};
use std::path::Path;

/// Decodes a trace with `decode` to find the window of a job; `name` is that of the capture. Gaps are reported when the
/// window is.
pub(super) fn search(
    job: &Job<'_>,
    programs: &Programs,
    xlen: Xlen,
    name: &str,
    decode: impl FnOnce(&mut dyn Print) -> Result<(), Failure>,
) -> Result<Option<Limits>, Failure> {
    let search = Search::new(&job.window, programs, xlen)?;
    let mut printer: Printer<Search, Sink> =
        Printer::new(search, io::sink(), Gaps::new(name, |_| ()));
    decode(&mut printer)?;
    Ok(printer.report.limits()?)
}

/// Refuses what cannot be read twice.
pub(super) fn check_twice(path: &Path) -> Result<(), Failure> {
    let twice = !files::is_standard(path) && path.metadata().is_ok_and(|data| data.is_file());
    match twice {
        true => Ok(()),
        false => Err(Failure::usage(
            "a place that is no number is looked for first, and this can be read only once",
        )
        .at(files::name(path))
        .hint("a file, or numbers of instructions, packets or bytes")),
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        let hint = match &error {
            SearchError::NoFunction { .. } => "`hartrace top`, which lists the functions that ran",
            SearchError::NotFound { .. } | SearchError::NotEntered { .. } => {
                "a smaller number behind the colon, or `hartrace top` for what ran"
            }
            _ => "a part by numbers of instructions",
        };
        match error {
            SearchError::NoFunction { .. } => Self::usage(error).hint(hint),
            _ => Self::gap(error).hint(hint),
        }
    }
}
