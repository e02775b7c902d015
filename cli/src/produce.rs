//! Decodes captures of every kind, and writes what a [`Job`] asks for.

mod arm;
mod etrace;
mod page;
mod perf;
mod snapshot;
mod window;

use crate::failure::{Failure, Status};
use crate::files;
use crate::job::Job;
use hartrace_capture::bundle::{self, Found};
use std::path::Path;

/// Does a job.
pub(crate) fn run(job: &Job<'_>) -> Result<Status, Failure> {
    let capture = job.captured.follow.capture.as_deref().filter(|path| is_arm(path));
    if let Some(path) = job.captured.arm.snapshot.as_deref().or(capture) {
        refuse(job, ["sysroot", "build-ids"], "a snapshot")?;
        return snapshot::run(path, job);
    }
    match &job.captured.perf.perf {
        Some(file) => {
            refuse(job, ["buffer", "frames"], "a recording")?;
            perf::run(file, job)
        }
        None => {
            refuse(job, ["buffer", "frames"], "E-Trace")?;
            refuse(job, ["sysroot", "build-ids"], "a capture without --perf")?;
            etrace::run(job)
        }
    }
}

/// Refuses options that mean nothing for what is decoded. That one option requires another is not checked where something
/// excludes that other one.
fn refuse(job: &Job<'_>, options: [&str; 2], what: &str) -> Result<(), Failure> {
    let (arm, perf) = (&job.captured.arm, &job.captured.perf);
    let is_given = |option: &str| match option {
        "buffer" => arm.buffer.is_some(),
        "frames" => arm.frames.is_some(),
        "sysroot" => perf.sysroot.is_some(),
        _ => !perf.build_ids.is_empty(),
    };
    match options.into_iter().find(|option| is_given(option)) {
        Some(option) => Err(Failure::usage(format_args!("--{option} means nothing with {what}"))
            .hint(format_args!("the same without --{option}"))),
        None => Ok(()),
    }
}

/// Whether a path leads to a snapshot or a package of an Arm system.
fn is_arm(path: &Path) -> bool {
    if files::is_standard(path) {
        return false;
    }
    match bundle::find(path) {
        Ok(Found::Package) => true,
        Ok(Found::Other) => path.is_dir(),
        Ok(Found::Bundle(_)) | Err(_) => false,
    }
}
