//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{DecodeArgs, Emit, Export, ExportArgs};
use crate::decode;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_report::{SourceForm, SourceReport, Timing};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { to, output, clock, ticks_per_second, arm, perf, follow } = args;
    let timing = Timing { unit: clock.map(Into::into), ticks_per_second };
    let emit = match to {
        Export::Autofdo => Emit::Autofdo,
        Export::Bolt => Emit::Bolt,
        Export::Callgrind => Emit::Callgrind,
        Export::Folded => Emit::Folded,
        Export::Lcov => Emit::Lcov,
        Export::Perfetto => Emit::Perfetto,
        Export::Pprof => Emit::Pprof,
        Export::Speedscope => Emit::Speedscope,
    };
    let (json, from, to) = (false, None, None);
    decode::run(&DecodeArgs { emit, json, from, to, arm, perf, follow, output, timing })
}

/// Refuses programs without the debug information that a format needs: it would be empty.
pub(crate) fn needs_lines<F: SourceForm>(
    emit: Emit,
    report: &SourceReport<'_, F>,
) -> Result<(), Failure> {
    if matches!(emit, Emit::Autofdo | Emit::Lcov) && report.sources().rows().is_empty() {
        return Err(Failure::usage("no program has debug information, so lines are not known")
            .hint("the program compiled with -g and not stripped, as --elf PROG"));
    }
    Ok(())
}

impl DecodeArgs {
    /// Where to print what was decoded.
    pub(crate) fn out(&self) -> Result<Box<dyn Write + Send>, Failure> {
        match &self.output {
            Some(path) => files::create(path),
            None => Ok(Box::new(files::stdout())),
        }
    }
}
