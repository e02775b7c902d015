//! `hartrace decode --perf`.

use super::arm::{self, Losses};
use super::etrace::{limits, print};
use crate::args::Emit;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::follow::Following;
use crate::job::Job;
use hartrace_capture::perf::{Error, Finder, Given, Recording, Trace};
use hartrace_capture::system::{Recorded, recorded};
use hartrace_report::Origin;
use hartrace_spaces::{Holds, Timeline};
use std::env;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, job: &Job<'_>) -> Result<Status, Failure> {
    let recording = Recording::read(files::read(path)?).map_err(|error| {
        let hint = match &error {
            Error::Compressed { .. } => Some("perf record without -z"),
            Error::NoTrace => Some("perf record -e cs_etm//u, or the event of another trace unit"),
            Error::Short { .. } => Some("the whole file"),
            _ => None,
        };
        Failure::input(error).at(files::name(path)).hint_if(hint)
    })?;
    recording.warnings.iter().for_each(warn);
    let mut finder = finder(job)?;
    match recording.trace {
        Trace::Coresight(_) => coresight(path, job, &recording, &mut finder),
        Trace::Riscv(_) => riscv(path, job, &recording, &mut finder),
    }
}

/// Where to look for files that were mapped. A program with an address of its own is not one of them.
fn finder(job: &Job<'_>) -> Result<Finder, Failure> {
    let mut given = Vec::new();
    for placed in job.captured.follow.elf.iter().filter(|placed| placed.address == 0) {
        given.push(Given::new(placed.path.clone(), files::read(&placed.path)?));
    }
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".debug"));
    let folders = job.captured.perf.build_ids.iter().cloned().chain(home);
    Ok(Finder::new(given, folders.collect(), job.captured.perf.sysroot.clone()))
}

/// Prints CoreSight trace.
fn coresight(
    path: &Path,
    job: &Job<'_>,
    recording: &Recording,
    finder: &mut Finder,
) -> Result<Status, Failure> {
    arm::check_stream(&job.captured.follow, "a recording of CoreSight")?;
    let limits = arm::limits(job)?;
    let found =
        recorded(recording, job.captured.follow.events.context_id, |image| finder.code(image));
    let Some(Recorded { sources, marks, gaps, warnings }) = found else {
        return Err(Failure::input("no CoreSight trace").at(path.display()));
    };
    warnings.iter().chain(&finder.refused).for_each(warn);
    let mut losses = Losses::new(job);
    for gap in gaps {
        losses.gap(gap)?;
    }
    if sources.is_empty() {
        return Err(Failure::input("no ETMv4, ETE or PTM trace").at(path.display()));
    }
    if job.emits(Emit::Packets) {
        let mut out = files::stdout();
        let all = sources.iter().map(|source| &source.portions[..]);
        let any = hartrace_report::arm::packets(all, &marks, limits, &mut out)?;
        out.flush()?;
        arm::within(any, limits)?;
        return Ok(losses.status);
    }
    let elf = finder.placed(&job.captured.follow.elf, &recording.log);
    arm::print(files::name(path), job, &elf, sources, &marks, losses)
}

/// Prints E-Trace.
fn riscv(
    path: &Path,
    job: &Job<'_>,
    recording: &Recording,
    finder: &mut Finder,
) -> Result<Status, Failure> {
    if recording.is_ntrace() {
        return Err(Failure::input("the recording has N-Trace, which is not supported")
            .at(path.display())
            .hint("E-Trace, if the trace unit has it"));
    }
    let limits = limits(job)?;
    // What Linux writes to the context of a hart, if it does.
    let holds = job.captured.follow.events.context_id.unwrap_or(Holds::Tid);
    let timeline = Timeline::new(&recording.log, holds, |image| finder.code(image));
    timeline.missing.iter().chain(&finder.refused).for_each(warn);
    let elf = finder.placed(&job.captured.follow.elf, &recording.log);
    let mut following = Following::recorded(path, &job.captured.follow, &elf, recording, timeline)?;
    let mut losses = Losses::new(job);
    for missing in &recording.missing {
        losses.gap(missing)?;
    }
    match print(job, &mut following, limits, Capture::of(Origin::Recording(recording)))? {
        Status::Clean => Ok(losses.status),
        other => Ok(other),
    }
}
