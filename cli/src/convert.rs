//! `hartrace convert`: converts a log of any format to a trace file, and prints a summary.

use crate::args::ConvertArgs;
use crate::failure::{Failure, Status};
use crate::files;
use crate::input;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_isa::Xlen;
use hartrace_sources::Tally;
use hartrace_sources::file::Writer;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &ConvertArgs) -> Result<Status, Failure> {
    let xlen = args.xlen.as_deref().map(|n| if n == "32" { Xlen::Rv32 } else { Xlen::Rv64 });
    let options = input::options(&args.format, xlen, ITypeWidth::Four);
    let (mut source, bar) = input::open(&args.input, &options)?;
    let place = || args.output.as_deref().map_or(String::new(), files::output_name);
    let failed = |error: io::Error| Failure::write(place(), &error);
    let mut writer = match &args.output {
        Some(path) => Some(Writer::new(files::create(path)?).map_err(failed)?),
        None => None,
    };
    let mut tally = Tally::default();
    while let Some(row) = source.next_row()? {
        tally.add(&row.retired);
        if let Some(writer) = &mut writer {
            writer.push(&row.retired).map_err(failed)?;
        }
    }
    let written = match writer {
        Some(writer) => Some(writer.finish_counted().map_err(failed)?.1),
        None => None,
    };
    bar.finish_and_clear();
    if args.output.as_deref().is_some_and(files::is_standard) {
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
