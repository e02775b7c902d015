//! `hartrace plan`, `part` and `merge`: captures larger than one machine.

use crate::args::{MergeArgs, PartArgs, PlanArgs};
use crate::failure::{Failure, Status, warn};
use crate::files;
use hartrace_parts::{
    Extent, PartsError, SourceSummary, Summary, decode_to_file, merge_files, plan_to_file,
};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Runs `plan`.
pub(crate) fn plan(args: &PlanArgs) -> Result<Status, Failure> {
    let start = Instant::now();
    let len = |path: &PathBuf| path.metadata().map_or(0, |meta| meta.len());
    let bar = files::progress(args.captures.iter().map(len).sum());
    let parts = args.parts.map(NonZeroUsize::get);
    let plan = plan_to_file(&args.captures, parts, &args.output, &mut |bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    let mut out = files::summary();
    out.write_all(plan.report(start.elapsed()).as_bytes()).and_then(|()| out.flush())?;
    Ok(Status::Clean)
}

/// Runs `part`.
pub(crate) fn part(args: &PartArgs) -> Result<Status, Failure> {
    print(&decode_to_file(&args.plan, args.number, args.emit, &args.output)?)
}

/// Runs `merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<Status, Failure> {
    let extent =
        args.share.map_or(if args.some { Extent::Some } else { Extent::All }, Extent::Share);
    print(&merge_files(&args.plan, &args.tables, extent, &args.output)?)
}

fn print(summary: &Summary) -> Result<Status, Failure> {
    summary.sources.iter().filter_map(SourceSummary::missing).for_each(warn);
    let mut out = files::summary();
    writeln!(out, "{summary}").and_then(|()| out.flush())?;
    Ok(if summary.gaps() == 0 { Status::Clean } else { Status::Gaps })
}

impl From<PartsError> for Failure {
    fn from(error: PartsError) -> Self {
        match error {
            PartsError::Same(conflict) => conflict.into(),
            PartsError::Write(error) => error.into(),
            PartsError::Read(error) => error.into(),
            PartsError::Described(error) => error.into(),
            error => Self::input(error),
        }
    }
}
