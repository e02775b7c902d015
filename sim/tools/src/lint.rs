//! Runs two linters on SystemVerilog with all their warnings on, in tests.
//!
//! *Verilator* is the program of that name. *slang* is the Python package `pyslang` in the virtual
//! environment that the variable `HARTRACE_SLANG_TOOLS` names; `./test.sh rtl` creates one. Tests of a
//! linter that is missing are ignored.
//!
//! No warning is allowed except those listed at [`Linter::check`].
#![forbid(unsafe_code)]

use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names and texts of the modules of a design.
pub type Design = Vec<(String, String)>;

/// A linter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linter {
    /// `verilator --lint-only -Wall`.
    Verilator,
    /// slang with `-Weverything`, and its analysis of drivers and uses.
    Slang,
}

impl Linter {
    /// Both linters.
    pub const ALL: [Self; 2] = [Self::Verilator, Self::Slang];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verilator => "verilator",
            Self::Slang => "slang",
        }
    }

    /// Returns whether it is installed.
    #[must_use]
    pub fn available(self) -> bool {
        match self {
            Self::Verilator => Command::new("verilator").arg("--version").output().is_ok(),
            Self::Slang => python().is_some_and(|python| python.is_file()),
        }
    }

    /// Checks designs, each separately; returns an error if there are any warnings.
    ///
    /// More than one module at the top is allowed. slang also reports that the value of a variable whose
    /// name starts with `unused_` is never used; that is the purpose of such a variable.
    pub fn check(self, folder: &Path, designs: &[Design]) -> Result<(), Failed> {
        let designs = write(folder, designs)?;
        match self {
            Self::Verilator => {
                for files in &designs {
                    let mut command = Command::new("verilator");
                    command.args(["--lint-only", "-Wall", "-Wno-MULTITOP"]).args(files);
                    let output = command.output()?;
                    let text = said(&output);
                    if !output.status.success() || !text.is_empty() {
                        return Err(text.into());
                    }
                }
                Ok(())
            }
            Self::Slang => {
                let python = python().ok_or("HARTRACE_SLANG_TOOLS is not set")?;
                let mut command = Command::new(python);
                command.current_dir(folder).args(["-c", include_str!("lint/slang.py")]);
                for files in &designs {
                    let names = files.iter().map(|file| file.strip_prefix(folder).unwrap_or(file));
                    command.args(names).arg("--");
                }
                let output = command.output()?;
                let text = said(&output);
                // Checks that all designs were read.
                let done = text.contains(&format!("{} designs", designs.len()));
                if output.status.success() && done && remarks(&text).is_empty() {
                    return Ok(());
                }
                Err(format!("{}\n\n{text}", remarks(&text).join("\n")).into())
            }
        }
    }
}

/// Returns tests that no linter has a warning on some designs, one test per linter. Their files are written
/// to a subfolder of `folder`.
#[must_use]
pub fn trials(folder: &Path, name: &str, designs: &[Design]) -> Vec<Trial> {
    let trial = |linter: Linter| {
        let test = format!("lint/{name}/{}", linter.name());
        let folder = folder.join(test.replace('/', "_"));
        let designs = designs.to_vec();
        Trial::test(test, move || linter.check(&folder, &designs))
            .with_ignored_flag(!linter.available())
    };
    Linter::ALL.map(trial).into()
}

/// Returns tests that the linters do report warnings: there is one for each of these modules.
#[must_use]
pub fn sees(folder: &Path) -> Vec<Trial> {
    let modules = [
        ("unused", "input logic [3:0] a_i, output logic b_o);\n  assign b_o = ^a_i[2:0];"),
        ("wider", "input logic [3:0] a_i, output logic [4:0] b_o);\n  assign b_o = a_i;"),
        ("latch", "input logic a_i, output logic b_o);\n  always_comb if (a_i) b_o = 1'b0;"),
    ];
    let mut trials = Vec::new();
    for linter in Linter::ALL {
        for (name, body) in modules {
            // slang checks whole ports, not their bits.
            let body = match (linter, name) {
                (Linter::Slang, "unused") => body.replace("^a_i[2:0]", "1'b0"),
                _ => body.to_owned(),
            };
            let test = format!("lint/sees_{name}/{}", linter.name());
            let folder = folder.join(test.replace('/', "_"));
            let design = vec![(name.to_owned(), format!("module {name} ({body}\nendmodule\n"))];
            let trial = Trial::test(test, move || match linter.check(&folder, &[design]) {
                Err(_) => Ok(()),
                Ok(()) => Err("no warning".into()),
            });
            trials.push(trial.with_ignored_flag(!linter.available()));
        }
    }
    trials
}

/// Writes the files of each design to a separate folder.
fn write(folder: &Path, designs: &[Design]) -> Result<Vec<Vec<PathBuf>>, Failed> {
    let _ = fs::remove_dir_all(folder);
    let mut written = Vec::new();
    for (i, design) in designs.iter().enumerate() {
        let folder = folder.join(i.to_string());
        fs::create_dir_all(&folder)?;
        let mut files = Vec::new();
        for (name, text) in design {
            let file = folder.join(format!("{name}.sv"));
            fs::write(&file, text)?;
            files.push(file);
        }
        written.push(files);
    }
    Ok(written)
}

fn python() -> Option<PathBuf> {
    Some(Path::new(&std::env::var_os("HARTRACE_SLANG_TOOLS")?).join("bin/python"))
}

/// The first lines of slang's warnings, except those on intentionally unused variables.
fn remarks(text: &str) -> Vec<&str> {
    let waived = |line: &str| {
        line.contains(": warning: variable 'unused_")
            && line.ends_with("never used [-Wunused-but-set-variable]")
    };
    let is = |line: &str| line.contains(": warning: ") || line.contains(": error: ");
    text.lines().filter(|line| is(line) && !waived(line)).collect()
}

/// All output of a tool.
fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
