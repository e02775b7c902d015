//! How a model is built.

use std::path::PathBuf;

/// How a model is built and started. The default is for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// For tests, or for speed.
    pub mode: Mode,
    /// Whether it can write waves. Such a model is slower and takes longer to build.
    pub waves: bool,
    /// What registers and memories hold before they are written depends on this, in
    /// [`Mode::Checked`].
    pub seed: u32,
    /// Where built models are kept; the folder `verilate` in cargo's target folder if not given.
    pub cache: Option<PathBuf>,
}

/// What a model is built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Assertions are checked, and what is not reset starts with random values. Built quickly.
    #[default]
    Checked,
    /// For long runs: no assertions, zeros instead of unknown values, all optimisations.
    Fast,
}

impl Options {
    /// For long runs.
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

    pub(crate) fn compiler(&self) -> Vec<&'static str> {
        let mut arguments = match self.mode {
            Mode::Checked => vec!["-O1"],
            Mode::Fast => vec!["-O3"],
        };
        if self.waves {
            arguments.extend(["-DHARTRACE_WAVES", "-DVM_TRACE=1", "-DVM_TRACE_FST=1"]);
        }
        arguments
    }
}
