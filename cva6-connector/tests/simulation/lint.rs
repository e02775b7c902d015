//! No tool reports a warning about the text.

use hartrace_cva6_connector::{Config, sources};
use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn clean(config: &Config) -> Result<(), Failed> {
    let Config { building, lanes, blocks, retirement, .. } = config;
    let name = format!("{building:?}_{lanes}_{blocks:?}_{retirement:?}");
    lint(&files(config, &name, |text| text)?, &["--top-module", "cva6_te_connector"])
}

/// Makes sure that a clean result means something.
pub(crate) fn sees_mistakes() -> Result<(), Failed> {
    let cut = |text: String| text.replace("assign itype_o = ", "assign itype_o = 1'b0 & ");
    let files = files(&Config::default(), "mistake", cut)?;
    match lint(&files, &["--top-module", "cva6_te_connector"]) {
        Err(_) => Ok(()),
        Ok(()) => Err("no warning for widths that differ".into()),
    }
}

fn files(
    config: &Config,
    name: &str,
    change: impl Fn(String) -> String,
) -> Result<Vec<PathBuf>, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lint_{name}"));
    std::fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for (file, text) in sources(config)? {
        let path = folder.join(file);
        std::fs::write(&path, change(text))?;
        paths.push(path);
    }
    Ok(paths)
}

pub(crate) fn lint(files: &[PathBuf], arguments: &[&str]) -> Result<(), Failed> {
    let mut command = Command::new("verilator");
    let output = command.args(["--lint-only", "-Wall"]).args(arguments).args(files).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let clean = output.status.success() && text.is_empty();
    if clean { Ok(()) } else { Err(text.into_owned().into()) }
}
