//! Pages for browsers.

use crate::failure::{Failure, warn};
use crate::files;
use hartrace_capture::output::Output;
use hartrace_report::html::{About, Html, SourceRoots};
use hartrace_report::stats::Stats;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folders whose sources a page may hold: those of programs, and those that are named.
pub(super) fn roots<'a>(
    programs: impl Iterator<Item = &'a Path>,
    given: &[PathBuf],
) -> Result<SourceRoots, Failure> {
    for root in given {
        root.read_dir().map_err(|error| files::unreadable(root, &error))?;
    }
    let programs = programs.filter(|path| !files::is_standard(path));
    Ok(SourceRoots::new(programs, given))
}

/// Writes a page, and prints how large it is.
pub(super) fn write(
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
        let mut out = files::summary();
        writeln!(out, "{name}: {size}, {insns} instructions, {} gaps", count.gaps)?;
        out.flush()?;
    }
    Ok(())
}
