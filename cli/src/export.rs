//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{DecodeArgs, Emit, ExportArgs};
use crate::decode;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_capture::output::Output;
use hartrace_report::Timing;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { to, output, clock, ticks_per_second, captured } = args;
    let timing = Timing { unit: clock, ticks_per_second };
    let (emit, json, from, to) = (Emit::Form(to), false, None, None);
    let source_roots = Vec::new();
    decode::run(&DecodeArgs { emit, json, from, to, captured, output, timing, source_roots })
}

impl DecodeArgs {
    /// Where to print what was decoded.
    pub(crate) fn out(&self) -> Result<Output, Failure> {
        files::create(self.output.as_deref().unwrap_or(Path::new("-")))
    }
}
