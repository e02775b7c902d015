//! `hartrace report`: decodes as `hartrace decode` does, and writes a page for browsers.

use crate::args::{DecodeArgs, Emit, PageArgs};
use crate::decode;
use crate::failure::{Failure, Status, warn};
use crate::files;
use hartrace_capture::output::Output;
use hartrace_report::Timing;
use hartrace_report::html::{About, Html, SourceRoots};
use hartrace_report::stats::Stats;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: PageArgs) -> Result<Status, Failure> {
    let PageArgs { output, source_root, captured } = args;
    let output = output.map_or_else(implied, Ok)?;
    decode::run(&DecodeArgs {
        emit: Emit::Page,
        json: false,
        from: None,
        to: None,
        captured,
        output: Some(output),
        timing: Timing::default(),
        source_roots: source_root,
    })
}

/// Where a page goes if nobody says it. Another page is replaced there, but nothing else.
fn implied() -> Result<PathBuf, Failure> {
    let path = PathBuf::from("report.html");
    if path.exists() && !files::starts_with(&path, "name=\"generator\" content=\"hartrace\"") {
        return Err(files::not_ours(&path).hint("-o FILE"));
    }
    Ok(path)
}

/// The folders whose sources a page may hold: those of programs, and those that are named.
pub(crate) fn roots<'a>(
    programs: impl Iterator<Item = &'a Path>,
    args: &DecodeArgs,
) -> Result<SourceRoots, Failure> {
    for root in &args.source_roots {
        root.read_dir().map_err(|error| files::unreadable(root, &error))?;
    }
    let programs = programs.filter(|path| !files::is_standard(path));
    Ok(SourceRoots::new(programs, &args.source_roots))
}

/// Writes a page, and prints how large it is.
pub(crate) fn write(
    html: Html<'_>,
    about: &About,
    stats: Option<&Stats>,
    mut out: Output,
) -> Result<(), Failure> {
    let (count, name, is_standard) = (html.count(), out.name().to_owned(), out.is_standard());
    let outside = html.write(about, stats, &mut out)?;
    let bytes = out.finish()?;
    if outside > 0 {
        let s = if outside == 1 { "" } else { "s" };
        let what = format!("source file{s} outside the folder of the program left out of the page");
        warn(format_args!("{outside} {what}; try --source-root DIR"));
    }
    let (size, insns) = (format!("{:.1} MB", bytes as f64 / 1e6), count.instructions);
    if !is_standard {
        writeln!(io::stdout(), "{name}: {size}, {insns} instructions, {} gaps", count.gaps)?;
    }
    Ok(())
}
