//! Decodes captures of every kind, and writes what a [`Job`] asks for.

mod arm;
mod etrace;
mod page;
mod perf;
mod snapshot;

use crate::failure::{Failure, Status};
use crate::files;
use crate::job::Job;
use hartrace_capture::bundle::{self, Found};
use std::path::Path;

/// Does a job.
pub(crate) fn run(job: &Job<'_>) -> Result<Status, Failure> {
    let capture = job.captured.follow.capture.as_deref().filter(|path| is_arm(path));
    if let Some(path) = job.captured.arm.snapshot.as_deref().or(capture) {
        return snapshot::run(path, job);
    }
    match &job.captured.perf.perf {
        Some(file) => perf::run(file, job),
        None => etrace::run(job),
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
