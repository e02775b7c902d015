//! `hartrace profile`: prints what the edge profile behind a hardware decoder has counted.

use crate::args::ProfileArgs;
use crate::failure::{Failure, Status};
use crate::{files, image};
use hartrace_capture::programs::Code;
use hartrace_isa::Xlen;
use hartrace_report::tables::{Style, Table, read_profile};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ProfileArgs) -> Result<Status, Failure> {
    let edges = read_profile(&files::read(&args.dump)?).map_err(|error| {
        let hint = "the records that were spilled, followed by the entries of the profile";
        Failure::input(error).at(files::name(&args.dump)).hint(hint)
    })?;
    let code = image::placed(&args.elf, &[])?;
    let xlen = code.first().map_or(Xlen::Rv64, Code::xlen);
    let programs = image::load(code, xlen)?;
    let style = Style { symbols: programs.all_symbols(), xlen, json: args.json };
    let mut out = files::stdout();
    edges.print(&mut out, None, &style)?;
    out.flush()?;
    Ok(Status::Clean)
}
