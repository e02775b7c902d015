//! `hartrace decode --perf`.

use super::arm::{self, Losses};
use super::etrace::{limits, print, search};
use crate::decoding::EtraceDecoding;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::job::Job;
use crate::opened::of_recording;
use hartrace::opened;
use hartrace_capture::perf::{Recording, Trace};
use hartrace_report::decode::Origin;
use std::path::Path;

/// Runs the command.
pub(super) fn run(path: &Path, job: &Job<'_>) -> Result<Status, Failure> {
    let recording = Recording::read(files::read(path)?)
        .map_err(|error| of_recording(&error).at(files::name(path)))?;
    let is_coresight = matches!(recording.trace, Trace::Coresight(_));
    let limits = if is_coresight {
        arm::check_stream(&job.captured.follow, "a recording of CoreSight")?;
        arm::limits(job)?
    } else {
        limits(job)?
    };
    let mut options = job.captured.follow.options();
    options.build_ids = job.captured.perf.build_ids.clone();
    options.sysroot = job.captured.perf.sysroot.clone();
    match options.open_recording(path, recording)? {
        opened::Trace::Arm(system) => {
            system.warnings.iter().for_each(warn);
            arm::print(job, *system)
        }
        opened::Trace::Etrace(mut etrace) => {
            let recording = etrace.recording.take();
            let mut following = EtraceDecoding::of(*etrace);
            let mut losses = Losses::new(job);
            let Some(recording) = recording else { return Ok(losses.status) };
            for missing in &recording.missing {
                losses.gap(missing)?;
            }
            let input = || Capture::of(Origin::Recording(&recording));
            let (limits, searched) = match job.is_searched() {
                true => search(job, &following, input())?,
                false => (limits, Status::Clean),
            };
            match print(job, &mut following, limits, input())?.max(searched) {
                Status::Clean => Ok(losses.status),
                other => Ok(other),
            }
        }
        _ => Ok(Status::Clean),
    }
}
