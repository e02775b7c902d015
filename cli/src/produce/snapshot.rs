//! `hartrace decode --snapshot`.

use super::arm;
use crate::args::Emit;
use crate::described;
use crate::failure::{Failure, Status, warn};
use crate::job::Job;
use hartrace_capture::system::BindError;
use hartrace_report::limits::Position;
use hartrace_report::window::{Place, Window};
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, job: &Job<'_>) -> Result<Status, Failure> {
    arm::check_stream(&job.captured.follow, "a snapshot")?;
    arm::limits(job)?;
    let by_insn = |place: &Option<Place>| {
        place
            .as_ref()
            .is_some_and(|place| matches!(place.position(), None | Some(Position::Insn(_))))
    };
    let Window { from, to, inside } = &job.window;
    if job.emits(Emit::Packets) && (inside.is_some() || by_insn(from) || by_insn(to)) {
        return Err(Failure::usage("packets are not numbered by instructions")
            .hint("--from packet:N, or byte:N"));
    }
    let mut options = job.captured.follow.options();
    options.buffer = job.captured.arm.buffer.clone();
    options.frames = job.captured.arm.frames;
    options.only_packets = job.emits(Emit::Packets);
    let system = options.open_system(path).map_err(|error| described::no_capture(path, error))?;
    system.warnings.iter().for_each(warn);
    arm::print(job, system)
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
