//! `hartrace report`: decodes as `hartrace decode` does, and writes a page for browsers.

use crate::args::{DecodeArgs, Emit, PageArgs};
use crate::decode;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_report::Timing;
use hartrace_report::html::{About, Html};
use hartrace_report::stats::Stats;
use std::io::{self, Write};
use std::path::Path;

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
    args: &DecodeArgs,
) -> Result<(), Failure> {
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let failed = |error: io::Error| Failure::write(files::output_name(path), &error);
    let count = html.count();
    let mut out = args.out()?;
    html.write(about, stats, &mut out).and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    if !files::is_standard(path) {
        let bytes = path.metadata().map_err(failed)?.len();
        let (name, insns) = (path.display(), count.instructions);
        let size = format_args!("{:.1} MB", bytes as f64 / 1e6);
        writeln!(io::stdout(), "{name}: {size}, {insns} instructions, {} gaps", count.gaps)?;
    }
    Ok(())
}
