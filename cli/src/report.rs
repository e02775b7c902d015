//! `hartrace report`: decodes as `hartrace decode` does, and writes a page for browsers.

use crate::args::PageArgs;
use crate::failure::{Failure, Status};
use crate::files;
use crate::job::{Job, Product};
use crate::produce;
use std::path::PathBuf;

/// Runs the command.
pub(crate) fn run(args: &PageArgs) -> Result<Status, Failure> {
    let output = args.output.clone().map_or_else(implied, Ok)?;
    let job = Job::new(&args.captured, Product::Page(&args.source_root));
    produce::run(&Job { output: Some(&output), window: args.window.window(), ..job })
}

/// Where a page goes if nobody says it. Another page is replaced there, but nothing else.
pub(crate) fn implied() -> Result<PathBuf, Failure> {
    let path = PathBuf::from("report.html");
    if path.exists() && !files::starts_with(&path, "name=\"generator\" content=\"hartrace\"") {
        return Err(files::not_ours(&path).hint("-o FILE"));
    }
    Ok(path)
}
