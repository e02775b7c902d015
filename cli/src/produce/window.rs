//! Looks for the part of a trace that a [`Job`] asks for.

use crate::failure::{Failure, Status};
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

/// Decodes a trace with `decode` to find the window of a job. Gaps of all of the trace are reported here, wherever the window is:
/// what is missing may be what it is about.
pub(super) fn search(
    job: &Job<'_>,
    programs: &Programs,
    xlen: Xlen,
    gaps: Gaps,
    decode: impl FnOnce(&mut dyn Print) -> Result<(), Failure>,
) -> Result<(Option<Limits>, Status), Failure> {
    let search = Search::new(&job.window, programs, xlen)?;
    let mut printer: Printer<Search, Sink> = Printer::new(search, io::sink(), gaps);
    decode(&mut printer)?;
    let status = Status::from(&printer.gaps);
    Ok((printer.report.limits()?, status))
}

/// Gaps that have been reported by a search.
pub(super) fn reported(name: &str) -> Gaps {
    Gaps::new(name, |_| ())
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
        match &error {
            SearchError::NoFunction { .. } => {
                Self::usage(error).hint("a name as `hartrace top` prints it")
            }
            SearchError::NotEntered { .. } => {
                Self::gap(error).hint("`hartrace top`, which lists what ran, and how often")
            }
            SearchError::NotFound { .. } => {
                Self::gap(error).hint("the number of an instruction; `decode --numbers` shows them")
            }
            SearchError::Nothing(_) => {
                Self::usage(error).hint("a --to after --from; --to itself is not printed")
            }
            _ => Self::gap(error).hint("a part by numbers of instructions"),
        }
    }
}
