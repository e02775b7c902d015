//! `hartrace report`: decodes as `hartrace decode` does, and writes a page for browsers.

use crate::args::{DecodeArgs, Emit, PageArgs};
use crate::decode;
use crate::failure::{Failure, Status};
use hartrace_capture::output::Output;
use hartrace_report::Timing;
use hartrace_report::html::{About, Html};
use hartrace_report::stats::Stats;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: PageArgs) -> Result<Status, Failure> {
    let PageArgs { output, captured } = args;
    decode::run(&DecodeArgs {
        emit: Emit::Page,
        json: false,
        from: None,
        to: None,
        captured,
        output: Some(output),
        timing: Timing::default(),
    })
}

/// Writes a page, and prints how large it is.
pub(crate) fn write(
    html: Html<'_>,
    about: &About,
    stats: Option<&Stats>,
    mut out: Output,
) -> Result<(), Failure> {
    let (count, name, is_standard) = (html.count(), out.name().to_owned(), out.is_standard());
    html.write(about, stats, &mut out)?;
    let bytes = out.finish()?;
    let (size, insns) = (format!("{:.1} MB", bytes as f64 / 1e6), count.instructions);
    if !is_standard {
        writeln!(io::stdout(), "{name}: {size}, {insns} instructions, {} gaps", count.gaps)?;
    }
    Ok(())
}
