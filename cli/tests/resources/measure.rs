//! What a command takes.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use wait4::Wait4;

/// Bytes that a command may hold, as a multiple of the plain run's.
const MEMORY: u64 = 10;

/// CPU time as a multiple of the plain run's, and what is allowed in any case: a plain run takes little.
const TIME: u32 = 20;
const TIME_ANYWAY: Duration = Duration::from_secs(5);

/// What a command took.
pub(super) struct Usage {
    /// Bytes in memory at most.
    pub(super) peak: u64,
    pub(super) cpu: Duration,
    status: ExitStatus,
}

/// What a command may take.
pub(super) struct Limit {
    peak: u64,
    cpu: Duration,
}

impl Limit {
    /// `held` are bytes that the command may hold besides.
    pub(super) fn new(plain: &Usage, held: u64) -> Self {
        Self { peak: MEMORY * plain.peak + held, cpu: (TIME * plain.cpu).max(TIME_ANYWAY) }
    }

    pub(super) fn check(&self, usage: &Usage) -> Result<(), String> {
        let ended = matches!(usage.status.code(), Some(0..=4));
        match (ended, usage.peak <= self.peak, usage.cpu <= self.cpu) {
            (false, ..) => Err(format!("ended with {}", usage.status)),
            (_, false, _) => Err(format!("{} MB, more than {}", mb(usage.peak), mb(self.peak))),
            (.., false) => Err(format!("{:?}, more than {:?}", usage.cpu, self.cpu)),
            _ => Ok(()),
        }
    }
}

fn mb(bytes: u64) -> u64 {
    bytes / 1_000_000
}

/// Runs a command of `hartrace` in a folder.
pub(super) fn measure(folder: &Path, line: &str) -> Result<Usage, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let used = child.wait4().map_err(|error| error.to_string())?;
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Usage { peak: used.rusage.maxrss, cpu, status: used.status })
}
