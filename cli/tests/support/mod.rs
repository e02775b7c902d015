//! Runs the command in a folder.

use libtest_mimic::Failed;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn hartrace(folder: &Path, line: &str) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    Ok(command.args(line.split_whitespace()).current_dir(folder).output()?)
}

/// Standard output of a command that must be clean.
pub(crate) fn clean(folder: &Path, line: &str) -> Result<String, Failed> {
    let output = hartrace(folder, line)?;
    if !output.status.success() || !output.stderr.is_empty() {
        return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
