//! `hartrace export`: decodes as `hartrace decode` does, and writes a format that other tools read.

use crate::args::{DecodeArgs, Emit, Export, ExportArgs};
use crate::decode;
use crate::failure::{Failure, Status};
use crate::files;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: ExportArgs) -> Result<Status, Failure> {
    let ExportArgs { to, output, arm, perf, follow } = args;
    let emit = match to {
        Export::Callgrind => Emit::Callgrind,
        Export::Folded => Emit::Folded,
        Export::Perfetto => Emit::Perfetto,
        Export::Speedscope => Emit::Speedscope,
    };
    decode::run(&DecodeArgs { emit, json: false, from: None, to: None, arm, perf, follow, output })
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
