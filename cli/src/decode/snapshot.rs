//! `hartrace decode --snapshot`.

use super::arm::{self, Lost};
use crate::args::{DecodeArgs, Emit, Frames};
use crate::failure::{Failure, Status, warn};
use crate::files;
use hartrace_arm_decoder::system::{BindError, System, SystemError, bind};
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::snapshot::{Error, Protocol};
use hartrace_encap::coresight::Mode;
use hartrace_report::Position;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, args: &DecodeArgs) -> Result<Status, Failure> {
    let limits = arm::limits(args)?;
    let by_insn = |position: Option<Position>| matches!(position, Some(Position::Insn(_)));
    if args.emit == Emit::Packets && (by_insn(args.from) || by_insn(args.to)) {
        return Err(Failure::usage("packets are not numbered by instructions")
            .hint("--from packet:N, or byte:N"));
    }
    let unusable = |error: Error| Failure::input(error).at(path.display());
    let system = System::open(path).map_err(unusable)?;
    let buffer = system.buffer(args.arm.buffer.as_deref()).map_err(unusable)?;
    let origins = system.origins(buffer).map_err(unusable)?;
    let mut lost = Lost::nothing(args);
    system.warnings().iter().for_each(warn);
    let layout = Layout::of_buffer(buffer.format, args.arm.frames.map(Mode::from));
    let layout = layout.map_err(|error| Failure::usage(error).hint("the same without --frames"))?;
    let capture = Capture::open(layout, system.bytes(buffer)).map_err(unusable)?;
    for fault in &capture.faults {
        lost.gap(format_args!("frame: {fault:?}"))?;
    }
    for origin in origins.iter().filter(|origin| !origin.is_read()) {
        // O2.
        if let Protocol::Other(kind) = origin.protocol() {
            warn(format_args!("the trace of {} is not read: {kind}", origin.name()));
        }
    }
    let log = match args.follow.events.log()? {
        Some(log) => Some(log),
        None => system.log().map_err(Failure::input)?,
    };
    let raw = layout == Layout::Raw;
    if raw && log.as_ref().is_some_and(|log| !log.traces.is_empty()) {
        warn("define_trace is ignored: without frames, sources cannot be distinguished");
    }
    let mut nobody = Vec::new();
    let sources =
        bind(&capture, &origins, raw, log.as_ref(), |id, bytes| nobody.push((id, bytes)))?;
    for (id, bytes) in nobody {
        let what = "which has no source at that time (define_trace)";
        lost.gap(format_args!("{bytes} bytes of {id:#x}, {what}"))?;
    }
    if sources.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", buffer.name))
            .at(path.display()));
    }
    if args.emit == Emit::Packets {
        let mut out = files::stdout();
        let all = sources.iter().map(|(_, portions)| &portions[..]);
        hartrace_report::arm::packets(all, &capture.marks, limits, &mut out)?;
        out.flush()?;
        return Ok(lost.status);
    }
    let mut warnings = Vec::new();
    let all = system.traced(sources, log.as_ref(), args.follow.events.holds(), &mut warnings);
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
    arm::print(path.display().to_string(), args, &args.follow.elf, all, &capture.marks, lost)
}

impl From<Frames> for Mode {
    fn from(frames: Frames) -> Self {
        match frames {
            Frames::Aligned => Self::Aligned,
            Frames::Reset => Self::AlignedReset,
            Frames::Fsync => Self::Fsync,
            Frames::Hsync => Self::FsyncHsync,
        }
    }
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
