//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{Emit, ExportArgs};
use crate::failure::{Failure, Status};
use crate::files;
use crate::job::{Job, Product};
use crate::produce;
use hartrace_report::Form;
use hartrace_report::calls::Timing;
use std::io::{self, IsTerminal};

/// The largest file with every call, in bytes.
const MOST: u64 = 100_000_000;

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { format, output, any_size, clock, ticks_per_second, window, captured } = args;
    let every_call = matches!(format, Form::Perfetto | Form::Speedscope);
    if *any_size && !every_call {
        return Err(Failure::usage(format_args!("--any-size, but {format} has no limit"))
            .hint("the same without --any-size"));
    }
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
    let most = (every_call && !any_size).then_some(MOST);
    produce::run(&Job { output: output.as_deref(), most, window: window.window(), timing, ..job })
}
