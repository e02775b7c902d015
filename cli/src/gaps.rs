//! Gaps on standard error, with advice about options.

use crate::failure::{Failure, Status};
use hartrace_report::Error;
use hartrace_report::decode::SeveralSources;
use hartrace_report::gaps::{Gaps, Missing, Note, Unended, advice};
use indicatif::ProgressBar;
use std::io::{self, Write};

/// Starts without gaps; if `strict`, the first one is an error. Lines do not overwrite the bar.
pub(crate) fn new(file: String, strict: bool, bar: ProgressBar) -> Gaps {
    let tell = move |note: &Note| {
        bar.suspend(|| {
            // A closed standard error is ignored.
            let _ = writeln!(io::stderr(), "{note}");
        });
    };
    Gaps::new(file, tell).strict(strict).hints(advice)
}

/// The status of a command that met these gaps, and decoded something or nothing.
impl From<&Gaps> for Status {
    fn from(gaps: &Gaps) -> Self {
        if gaps.count() > 0 || !gaps.has_started() { Self::Gaps } else { Self::Clean }
    }
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        Self::gap(missing)
    }
}

impl From<SeveralSources> for Failure {
    fn from(several: SeveralSources) -> Self {
        let SeveralSources { capture, ids } = several;
        let list: Vec<_> = ids.iter().map(u16::to_string).collect();
        Self::usage(format_args!("traces of several sources: {}", list.join(", ")))
            .at(capture)
            .hint(format_args!("--source {}", ids.first().copied().unwrap_or(0)))
    }
}

impl From<Unended> for Failure {
    fn from(unended: Unended) -> Self {
        Self::gap(unended)
    }
}

/// Reports go to standard output.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Write(error) => error.into(),
            Error::Gap(missing) => missing.into(),
            Error::Unended(unended) => unended.into(),
            Error::Unreached { file, why } => Self::gap(why).at(file),
            Error::Sources(several) => several.into(),
            other => Self::input(other),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/gaps.rs"]
pub(crate) mod tests;
