//! `hartrace scenarios`: writes the scenarios of the project as files, a conformance kit for decoders.

use crate::args::FolderArgs;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_executions::scenario::{BUNDLED, write_kit};
use std::io::Write;
use std::path::Path;

/// The page that describes the files; the kit has a copy of it.
const PAGE: &str = include_str!("../conformance-kit.md");

const README: &str = "README.md";

/// Runs the command.
pub(crate) fn run(args: &FolderArgs) -> Result<Status, Failure> {
    let folder = args.output.display();
    let failed = |error| Failure::write(&folder, &error);
    let title = PAGE.lines().next().unwrap_or_default();
    let is_ours = |folder: &Path| files::starts_with(&folder.join(README), title);
    files::check_folder(&args.output, [README, "index.json"], is_ours)?;
    files::write_new(&args.output.join(README), PAGE)?;
    let written = write_kit(&args.output).map_err(failed)?;
    let mut out = files::stdout();
    writeln!(out, "{} of {} scenarios in {folder}", written.index.len(), BUNDLED.len())?;
    for (reason, count) in written.left {
        writeln!(out, "  not {count} {reason}")?;
    }
    out.flush()?;
    Ok(Status::Clean)
}
