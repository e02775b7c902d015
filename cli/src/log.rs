//! `hartrace log`: summarises an execution log of any format, or converts it to a trace file.

use crate::args::LogArgs;
use crate::failure::{Failure, Status};
use crate::files;
use crate::input;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_executions::Tally;
use hartrace_executions::file::Writer;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &LogArgs) -> Result<Status, Failure> {
    let options = input::options(&args.format, args.xlen, ITypeWidth::Four);
    let (mut source, bar) = input::open(&args.input, &options)?;
    input::check(&args.format, Some(source.format()))?;
    let mut writer = match &args.output {
        Some(path) => Some(Writer::new(files::create(path)?)?),
        None => None,
    };
    let tally = Tally::read(&mut source, |row| match &mut writer {
        Some(writer) => Ok::<_, Failure>(writer.push(row)?),
        None => Ok(()),
    })?;
    let written = match writer {
        Some(writer) => {
            let (output, bytes) = writer.finish_counted()?;
            output.finish()?;
            Some(bytes)
        }
        None => None,
    };
    bar.finish_and_clear();
    if args.output.as_deref().is_some_and(files::is_standard_output) {
        // Standard output holds the trace file.
        return Ok(Status::Clean);
    }
    let summary =
        tally.summary(files::name(&args.input), source.format(), source.guesses(), written);
    let mut out = files::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        summary.print(&mut out)?;
    }
    out.flush()?;
    Ok(Status::Clean)
}
