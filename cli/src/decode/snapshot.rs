//! `hartrace decode --snapshot`.

use super::arm::{self, Lost};
use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status, warn};
use crate::files;
use hartrace_capture::snapshot::Error;
use hartrace_capture::system::{BindError, OpenError, System, SystemError};
use hartrace_report::Position;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, args: &DecodeArgs) -> Result<Status, Failure> {
    arm::check_stream(&args.captured.follow, "a snapshot")?;
    let limits = arm::limits(args)?;
    let by_insn = |position: Option<Position>| matches!(position, Some(Position::Insn(_)));
    if args.emit == Emit::Packets && (by_insn(args.from) || by_insn(args.to)) {
        return Err(Failure::usage("packets are not numbered by instructions")
            .hint("--from packet:N, or byte:N"));
    }
    let unusable = |error: Error| Failure::input(error).at(path.display());
    let system = System::open(path).map_err(unusable)?;
    let mut lost = Lost::nothing(args);
    system.warnings().iter().for_each(warn);
    let log = args.captured.follow.events.log()?;
    let opened =
        system.open_buffer(args.captured.arm.buffer.as_deref(), args.captured.arm.frames, log);
    let opened = opened.map_err(|error| match error {
        OpenError::Files(error) => unusable(error),
        OpenError::Frames(error) => Failure::usage(error).hint("the same without --frames"),
    })?;
    opened.gaps.iter().try_for_each(|gap| lost.gap(gap))?;
    opened.warnings.iter().for_each(warn);
    let (sources, nobody) = opened.sources()?;
    nobody.iter().try_for_each(|gap| lost.gap(gap))?;
    if sources.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", opened.name))
            .at(path.display()));
    }
    if args.emit == Emit::Packets {
        let mut out = files::stdout();
        let all = sources.iter().map(|(_, portions)| &portions[..]);
        let any = hartrace_report::arm::packets(all, &opened.capture.marks, limits, &mut out)?;
        out.flush()?;
        arm::within(any, limits)?;
        return Ok(lost.status);
    }
    let mut warnings = Vec::new();
    let all = system.traced(
        sources,
        opened.log.as_ref(),
        args.captured.follow.events.context_id,
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
        lost.gap(format_args!("event log: {what}"))?;
    }
    arm::print(files::name(path), args, &args.captured.follow.elf, all, &opened.capture.marks, lost)
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
