//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{Emit, ExportArgs};
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::produce;
use hartrace_report::calls::Timing;

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { to, output, clock, ticks_per_second, captured } = args;
    let timing = Timing { unit: *clock, ticks_per_second: *ticks_per_second };
    let job = Job::new(captured, Product::Text(Emit::Form(*to)));
    produce::run(&Job { output: output.as_deref(), timing, ..job })
}
