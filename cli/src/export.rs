//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{Emit, ExportArgs};
use crate::failure::{Failure, Status};
use crate::files;
use crate::job::{Job, Product};
use crate::produce;
use hartrace_report::Form;
use hartrace_report::calls::Timing;
use std::io::{self, IsTerminal};

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { format, output, clock, ticks_per_second, window, captured } = args;
    if clock.is_some() && !format.has_clock() {
        return Err(Failure::usage(format_args!("--clock, but {format} has no times"))
            .hint("--format perfetto or speedscope, or the same without --clock"));
    }
    if ticks_per_second.is_some() && *format != Form::Perfetto {
        return Err(Failure::usage(format_args!(
            "--ticks-per-second, but {format} has no seconds"
        ))
        .hint("--format perfetto, or the same without --ticks-per-second"));
    }
    let to_terminal = output.as_deref().is_none_or(files::is_standard_output);
    if to_terminal && matches!(format, Form::Pprof | Form::Perfetto) && io::stdout().is_terminal() {
        return Err(Failure::usage(format_args!(
            "{format} is binary, which a terminal does not show"
        ))
        .hint("-o FILE"));
    }
    let timing = Timing { unit: *clock, ticks_per_second: *ticks_per_second };
    let job = Job::new(captured, Product::Text(Emit::Form(*format)));
    produce::run(&Job { output: output.as_deref(), window: window.window(), timing, ..job })
}
