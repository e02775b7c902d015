//! Where the traces of a run go.

use crate::args::ExecArgs;
use crate::failure::Failure;
use crate::{files, report};
use hartrace_capture::description::Description;
use hartrace_capture::limits::DOCUMENT_BYTES;
use hartrace_executions::executed::round::Line;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of a trace that nobody has named, as `perf.data` is that of Linux perf.
const DEFAULT: &str = "trace.te";

/// Where the traces of a run go.
pub(super) enum Traces {
    Nowhere,
    /// To a file that the user has named.
    File(PathBuf),
    /// To [`DEFAULT`], and the user is told.
    Default,
    /// To a file for each mode, in a folder, with the name of the program.
    Folder(PathBuf, String),
}

impl Traces {
    /// Decides where they go. Several modes are compared more often than kept, so that their traces go nowhere unless a
    /// folder is named; and who wants the execution itself in a file may not want the trace as well.
    pub(super) fn of(args: &ExecArgs, program: &str, modes: &[String]) -> Result<Self, Failure> {
        let traces = match (&args.output, &args.output_dir) {
            (Some(_), _) if modes.len() > 1 => {
                return Err(Failure::usage("one file cannot hold the traces of several modes")
                    .hint("--encode with one mode, or --output-dir DIR"));
            }
            (Some(file), _) => Self::File(file.clone()),
            (None, Some(folder)) => Self::Folder(folder.clone(), program.into()),
            (None, None) if args.no_output || modes.len() > 1 => Self::Nowhere,
            (None, None) if args.retired.is_some() && args.report.is_none() => Self::Nowhere,
            (None, None) => Self::Default,
        };
        if let Self::Default = traces {
            check_ours(Path::new(DEFAULT))?;
        }
        // The command line names neither of these.
        if let Self::Default | Self::Folder(..) = traces {
            for file in modes.iter().filter_map(|mode| traces.place(mode)) {
                files::claims().write(&file)?;
                files::claims().write(&Description::place(&file))?;
            }
        }
        Ok(traces)
    }

    /// Where the trace in this mode goes, if anywhere.
    pub(super) fn place(&self, mode: &str) -> Option<PathBuf> {
        match self {
            Self::Nowhere => None,
            Self::File(file) => Some(file.clone()),
            Self::Default => Some(DEFAULT.into()),
            Self::Folder(folder, program) => Some(folder.join(format!("{program}.{mode}.te"))),
        }
    }

    /// Where the page about the trace goes, if one is wanted.
    pub(super) fn page(&self, args: &ExecArgs) -> Result<Option<PathBuf>, Failure> {
        let Some(page) = &args.report else { return Ok(None) };
        let is_file = match self {
            Self::File(file) => !files::is_standard_output(file),
            Self::Default => true,
            Self::Nowhere | Self::Folder(..) => false,
        };
        if !is_file {
            return Err(Failure::usage("a page shows one trace, in a file")
                .hint("--encode with one mode, and -o FILE"));
        }
        Ok(Some(match page {
            Some(page) => page.clone(),
            None => {
                let page = report::implied()?;
                files::claims().write(&page)?;
                page
            }
        }))
    }

    /// Says where the trace is, if the user has not said it.
    pub(super) fn tell(&self, line: &Line) -> Result<(), Failure> {
        let (Self::Default, Some(trace)) = (self, &line.trace) else { return Ok(()) };
        let bytes = trace.metadata().map_or(0, |found| found.len());
        let instructions = line.kept.unwrap_or(line.figures.decoded);
        let mut out = files::summary();
        writeln!(out, "\n{}: {bytes} bytes, {instructions} instructions", files::name(trace))?;
        Ok(out.flush()?)
    }
}

/// Checks that there is no file at a place, or one that an earlier run has left there: with its description, which names
/// the command, and still as long as that says.
fn check_ours(path: &Path) -> Result<(), Failure> {
    let description = Description::place(path);
    let of = |path: &Path| Description::parse(&files::start(path, DOCUMENT_BYTES)?, "").ok();
    let is_ours = |found: &Description| {
        let command = found.command.as_deref().unwrap_or_default();
        let bytes = path.metadata().ok().map(|found| found.len());
        command.starts_with("hartrace ") && found.capture.bytes == bytes
    };
    match path.symlink_metadata().is_ok() && !of(&description).as_ref().is_some_and(is_ours) {
        true => Err(files::not_ours(path).hint("-o FILE, or --no-output")),
        false => Ok(()),
    }
}
