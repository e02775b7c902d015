//! Verilator and the C++ compiler.

use crate::SimError;
use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// How many lines of a tool's messages go into an error.
const MESSAGES: usize = 12;

/// The tools, found and asked for their versions.
#[derive(Debug)]
pub(crate) struct Tools {
    verilator: String,
    compiler: String,
    /// The folder with the headers and sources of Verilator's runtime.
    pub(crate) include: PathBuf,
    /// Versions of both, which are part of the key of everything cached.
    pub(crate) versions: String,
}

/// Whether Verilator and a C++ compiler are installed: tests that need them show as ignored
/// otherwise.
///
/// The commands are `verilator` and `c++`, or what the variables `VERILATOR` and `CXX` say.
#[must_use]
pub fn available() -> bool {
    Tools::get().is_ok()
}

impl Tools {
    /// Looks for the tools, once in a process if it finds them.
    pub(crate) fn get() -> Result<&'static Self, SimError> {
        static TOOLS: OnceLock<Tools> = OnceLock::new();
        if let Some(tools) = TOOLS.get() {
            return Ok(tools);
        }
        let found = Self::find()?;
        Ok(TOOLS.get_or_init(|| found))
    }

    fn find() -> Result<Self, SimError> {
        let verilator = env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
        let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let root = ask(&verilator, "verilator", &["--getenv", "VERILATOR_ROOT"])?;
        let versions =
            [ask(&verilator, "verilator", &["--version"])?, ask(&compiler, "g++", &["--version"])?];
        let versions = versions.map(|text| text.lines().next().unwrap_or_default().to_owned());
        let include = Path::new(root.trim()).join("include");
        Ok(Self { verilator, compiler, include, versions: versions.join(", ") })
    }

    pub(crate) fn verilator(&self) -> Command {
        Command::new(&self.verilator)
    }

    /// The compiler, with what everything that ends in one shared library has in common.
    ///
    /// Many libraries with the same names in them are loaded into one process. So nothing but the shim
    /// is visible, and no symbol is unique in the process.
    pub(crate) fn compiler(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.args(["-std=gnu++17", "-fPIC", "-w", "-fvisibility=hidden", "-fno-gnu-unique"]);
        // Time is that of the simulation's context.
        command.args(["-DVL_TIME_CONTEXT", "-isystem"]).arg(&self.include);
        command.arg("-isystem").arg(self.include.join("vltstd"));
        command
    }
}

fn ask(tool: &str, package: &'static str, arguments: &[&str]) -> Result<String, SimError> {
    let output = run(Command::new(tool).args(arguments), package, "--version")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool to its end; `top` is what it works on.
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

/// The first lines, from the first error on.
fn first_messages(text: &str) -> String {
    let error = text.lines().position(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("error") || line.contains("%warning")
    });
    let lines: Vec<_> = text.lines().skip(error.unwrap_or(0)).take(MESSAGES).collect();
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
        assert_eq!(first_messages("what\never"), "what\never");
        assert_eq!(first_messages(""), "(no message)");
        assert_eq!(first_messages(&"error\n".repeat(50)).lines().count(), MESSAGES);
    }
}
