//! `hartrace decode --snapshot`.

use super::arm::{self, Losses};
use crate::args::Emit;
use crate::failure::{Failure, Status, warn};
use crate::files;
use crate::job::Job;
use hartrace_capture::snapshot::Error;
use hartrace_capture::system::{BindError, OpenError, System, SystemError};
use hartrace_report::Position;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, job: &Job<'_>) -> Result<Status, Failure> {
    arm::check_stream(&job.captured.follow, "a snapshot")?;
    let limits = arm::limits(job)?;
    let by_insn = |position: Option<Position>| matches!(position, Some(Position::Insn(_)));
    if job.emits(Emit::Packets) && (by_insn(job.from) || by_insn(job.to)) {
        return Err(Failure::usage("packets are not numbered by instructions")
            .hint("--from packet:N, or byte:N"));
    }
    let unusable = |error: Error| Failure::input(error).at(path.display());
    let system = System::open(path).map_err(unusable)?;
    let mut losses = Losses::new(job);
    system.warnings().iter().for_each(warn);
    let log = job.captured.follow.events.log()?;
    let opened =
        system.open_buffer(job.captured.arm.buffer.as_deref(), job.captured.arm.frames, log);
    let opened = opened.map_err(|error| match error {
        OpenError::Files(error) => unusable(error),
        OpenError::Frames(error) => Failure::usage(error).hint("the same without --frames"),
    })?;
    opened.gaps.iter().try_for_each(|gap| losses.gap(gap))?;
    opened.warnings.iter().for_each(warn);
    let (sources, nobody) = opened.sources()?;
    nobody.iter().try_for_each(|gap| losses.gap(gap))?;
    if sources.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", opened.name))
            .at(path.display()));
    }
    if job.emits(Emit::Packets) {
        let mut out = files::stdout();
        let all = sources.iter().map(|(_, portions)| &portions[..]);
        let any = hartrace_report::arm::packets(all, &opened.capture.marks, limits, &mut out)?;
        out.flush()?;
        arm::within(any, limits)?;
        return Ok(losses.status);
    }
    let mut warnings = Vec::new();
    let all = system.traced(
        sources,
        opened.log.as_ref(),
        job.captured.follow.events.context_id,
        &mut warnings,
    );
    warnings.iter().for_each(warn);
    let all = all.map_err(|error| match error {
        SystemError::Files(error) => unusable(error),
        SystemError::NoContextId => Failure::usage(error)
            .hint("--context-id tid, or context_id_holds in the metadata of a package"),
        error => Failure::input(error),
    })?;
    // Sources may share a timeline.
    let timelines = all.iter().filter_map(|traced| traced.timeline.as_deref());
    let wrong: BTreeSet<&String> = timelines.flat_map(|timeline| &timeline.wrong).collect();
    for what in wrong {
        losses.gap(format_args!("event log: {what}"))?;
    }
    arm::print(files::name(path), job, &job.captured.follow.elf, all, &opened.capture.marks, losses)
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        let hint = match &error {
            BindError::NoSource { known, .. } => format!("one of {}", known.join(", ")),
            BindError::NoRegister(_) => {
                "etmcr=... of a PTM, trcconfigr=... of an ETMv4 or ETE".into()
            }
            _ => return Self::input(error),
        };
        Self::input(error).hint(hint)
    }
}
