//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{Emit, ExportArgs};
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::produce;
use hartrace_report::Form;
use hartrace_report::calls::Timing;

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { to, output, clock, ticks_per_second, captured } = args;
    if clock.is_some() && !to.has_clock() {
        return Err(Failure::usage(format_args!("--clock, but {to} has no times"))
            .hint("--to perfetto or speedscope, or the same without --clock"));
    }
    if ticks_per_second.is_some() && *to != Form::Perfetto {
        return Err(Failure::usage(format_args!("--ticks-per-second, but {to} has no seconds"))
            .hint("--to perfetto, or the same without --ticks-per-second"));
    }
    let timing = Timing { unit: *clock, ticks_per_second: *ticks_per_second };
    let job = Job::new(captured, Product::Text(Emit::Form(*to)));
    produce::run(&Job { output: output.as_deref(), timing, ..job })
}
