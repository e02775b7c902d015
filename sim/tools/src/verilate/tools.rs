//! Verilator and the C++ compiler.

use crate::verilate::SimError;
use std::collections::BTreeMap;
use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of lines of a tool's messages in an error.
const MESSAGES: usize = 12;

/// The tools and their versions.
#[derive(Debug)]
pub(crate) struct Tools {
    verilator: PathBuf,
    /// Verilator's own folder.
    root: PathBuf,
    /// Whether its folder has to be passed: an installed Verilator knows it.
    told: bool,
    compiler: String,
    /// Versions of both, which are part of the key of every cache entry.
    pub(crate) versions: String,
    /// Whether the runtime of this Verilator needs a fix; see `consthi.h`.
    pub(crate) writes_past_the_end: bool,
}

/// Returns whether Verilator and a C++ compiler are installed: without them, tests that need them are
/// shown as ignored.
///
/// The commands are `verilator` and `c++`, or the values of the variables `VERILATOR` and `CXX`.
#[must_use]
pub fn available() -> bool {
    Tools::get(None).is_ok()
}

impl Tools {
    /// Finds the tools, once per process and Verilator if successful. With `root` it is the Verilator in
    /// that folder.
    pub(crate) fn get(root: Option<&Path>) -> Result<Arc<Self>, SimError> {
        type Found = BTreeMap<Option<PathBuf>, Arc<Tools>>;
        static TOOLS: Mutex<Found> = Mutex::new(BTreeMap::new());
        let mut found = TOOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let root = root.map(Path::to_owned);
        if let Some(tools) = found.get(&root) {
            return Ok(Arc::clone(tools));
        }
        let tools = Arc::new(Self::find(root.as_deref())?);
        found.insert(root, Arc::clone(&tools));
        Ok(tools)
    }

    fn find(root: Option<&Path>) -> Result<Self, SimError> {
        let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        // The binary itself: the script around it would prefer an installed Verilator to its own folder.
        let verilator = match root {
            Some(root) => root.join("bin/verilator_bin"),
            None => env::var_os("VERILATOR").unwrap_or_else(|| "verilator".into()).into(),
        };
        let verilator_says = |arguments: &[&str]| {
            let mut command = verilator_command(&verilator, root);
            ask(command.args(arguments), "verilator")
        };
        let version = verilator_says(&["--version"])?;
        let folder = match root {
            Some(root) => root.to_owned(),
            None => verilator_says(&["--getenv", "VERILATOR_ROOT"])?.trim().into(),
        };
        let versions = [version, ask(Command::new(&compiler).arg("--version"), "g++")?];
        let versions = versions.map(|text| text.lines().next().unwrap_or_default().to_owned());
        Ok(Self {
            writes_past_the_end: versions[0].starts_with("Verilator 5.006"),
            root: folder,
            told: root.is_some(),
            verilator,
            compiler,
            versions: versions.join(", "),
        })
    }

    pub(crate) fn verilator(&self) -> Command {
        verilator_command(&self.verilator, self.told.then_some(&*self.root))
    }

    /// The libraries that compress waves.
    pub(crate) fn wave_libraries(&self) -> &'static [&'static str] {
        let with_lz4 = self.root.join("include/fstcpp").is_dir();
        if with_lz4 { &["-lz", "-llz4"] } else { &["-lz"] }
    }

    /// The compiler with the options common to all parts of a shared library.
    ///
    /// Many libraries that contain the same names are loaded into one process. So only the shim is
    /// visible, and no symbol is unique in the process.
    pub(crate) fn compiler(&self) -> Command {
        let include = self.root.join("include");
        let mut command = Command::new(&self.compiler);
        command.args(["-std=gnu++17", "-fPIC", "-w", "-fvisibility=hidden", "-fno-gnu-unique"]);
        // Time is that of the simulation's context.
        command.args(["-DVL_TIME_CONTEXT", "-isystem"]).arg(&include);
        command.arg("-isystem").arg(include.join("vltstd"));
        command
    }
}

fn verilator_command(program: &Path, root: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    if let Some(root) = root {
        command.env("VERILATOR_ROOT", root);
    }
    command
}

fn ask(command: &mut Command, package: &'static str) -> Result<String, SimError> {
    let output = run(command, package, "--version")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool to its end; `top` is the design it works on.
pub(crate) fn run(
    command: &mut Command,
    package: &'static str,
    top: &str,
) -> Result<Output, SimError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| match source.kind() {
        ErrorKind::NotFound => SimError::Missing { tool: tool.clone(), package },
        _ => SimError::io("run", Path::new(&tool))(source),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    Err(SimError::Tool { tool, top: top.to_owned(), messages: first_messages(&text) })
}

/// The first lines, from the first error on: one of Verilator's own, which may follow hundreds of warnings that are none,
/// otherwise whatever stopped the tool.
fn first_messages(text: &str) -> String {
    let first = |is: fn(&str) -> bool| text.lines().position(|line| is(&line.to_ascii_lowercase()));
    let start = first(|line| line.contains("%error") && !line.contains("exiting due"))
        .or_else(|| first(|line| line.contains("error") || line.contains("%warning")));
    let lines: Vec<_> = text.lines().skip(start.unwrap_or(0)).take(MESSAGES).collect();
    if lines.is_empty() { "(no message)".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_names_its_package() {
        let error = run(&mut Command::new("no-such-tool"), "verilator", "top").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-tool not found; on Debian: apt-get install verilator"
        );
    }

    #[test]
    fn messages_start_with_the_first_error() {
        let text = "In file included\n from b\na.sv:1: error: x\n  more\n";
        assert_eq!(first_messages(text), "a.sv:1: error: x\n  more");
        let text = "%Warning-LATCH: a\n%Warning-WIDTH: b\n%Error-USERERROR: c\n%Error: Exiting due to 1 error";
        assert!(first_messages(text).starts_with("%Error-USERERROR: c"));
        let text = "%Warning-LATCH: a\n%Error: Exiting due to 1 warning(s)";
        assert!(first_messages(text).starts_with("%Warning-LATCH: a"));
        assert_eq!(first_messages("what\never"), "what\never");
        assert_eq!(first_messages(""), "(no message)");
        assert_eq!(first_messages(&"error\n".repeat(50)).lines().count(), MESSAGES);
    }
}
