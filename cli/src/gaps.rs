//! Gaps on standard error, with advice about options.

use crate::failure::{Failure, Status};
use hartrace_decoder::Fault;
use hartrace_encap::FrameError;
use hartrace_etrace::ParseError;
use hartrace_report::{Error, Gaps, Missing, SeveralSources};
use indicatif::ProgressBar;
use std::io::{self, Write};

/// Starts without gaps; if `strict`, the first one is an error. Lines do not overwrite the bar.
pub(crate) fn new(file: String, strict: bool, bar: ProgressBar) -> Gaps {
    let tell = move |line: &str| {
        bar.suspend(|| {
            // A closed standard error is ignored.
            let _ = writeln!(io::stderr(), "{line}");
        });
    };
    Gaps::new(file, tell).strict(strict).hints(hint)
}

/// What to try.
fn hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Malformed(
            ParseError::NoExtension | ParseError::AmbiguousExtension | ParseError::Subformat(_),
        ) => "another f0s_width_p, or a capture from its start",
        Fault::Frame(error) => match error {
            FrameError::Incomplete { .. } => "a capture that was not cut off",
            FrameError::Header(_) => "another --framing, or a capture without damage",
            FrameError::TooShort { .. } => "other --src-bits, --type-bits or --hart-bits",
            FrameError::Record(_) => "a capture that starts at a record, or another --framing",
            _ => "another --framing",
        },
        Fault::Malformed(_) => "other --params, another unit or --framing",
        Fault::NotSynchronised => "a capture from its start; the rest is decoded from here on",
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        Fault::EmptyCacheEntry(_) => "another cache_size_p, or a capture from its start",
        Fault::NoVector(_) => "--tvec PRIV=ADDR",
        Fault::TooLong { .. } => {
            "the program that was traced, other --params, or more --max-blocks"
        }
        Fault::NotABranch(_) | Fault::InsideInstruction(_) => {
            "the program that was traced: this is another one, or another version of it"
        }
        Fault::TooManySources(_) => {
            "--source ID, or --src-bits and --hart-bits as the encoder has them"
        }
        _ => "the program that was traced, other --params, or --compat",
    }
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

/// Reports go to standard output.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Write(error) => error.into(),
            Error::Gap(missing) => missing.into(),
            Error::Sources(several) => several.into(),
            other => Self::input(other),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/gaps.rs"]
pub(crate) mod tests;
