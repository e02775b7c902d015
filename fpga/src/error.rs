use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Reasons why there is no report; each message says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FpgaError {
    /// The tools are not installed.
    #[error(
        "no FPGA tools in target/tools/fpga of this folder or one above it; try: {}, or \
         ./test.sh fpga in the repository, which does that, or name a folder that has them in \
         HARTRACE_FPGA_TOOLS",
        install("target/tools/fpga")
    )]
    NotInstalled,
    /// The folder that was named does not hold the tools.
    #[error(
        "{}: HARTRACE_FPGA_TOOLS names this folder, but it has no {missing}; try: {}",
        .folder.display(), install(.folder.display())
    )]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        missing: &'static str,
    },
    /// A tool does not run, or files for it cannot be written or read.
    #[error("{what}: {error}")]
    Io {
        /// The file or tool.
        what: String,
        /// The reason.
        error: io::Error,
    },
    /// A tool ended with an error.
    #[error("{tool} failed: {message}")]
    Failed {
        /// The tool.
        tool: &'static str,
        /// Its message.
        message: String,
    },
    /// A tool did not end.
    #[error("{tool} did not end within {} s; try: a smaller design or a longer limit", .limit.as_secs())]
    TimedOut {
        /// The tool.
        tool: &'static str,
        /// Its time limit.
        limit: Duration,
    },
    /// A tool wrote something unexpected.
    #[error("{tool} wrote {file}, but {problem}; try: the versions of fpga/requirements.txt")]
    Unexpected {
        /// The tool.
        tool: &'static str,
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The module has ports that the harness cannot connect.
    #[error("{top}: {problem}, so its timing cannot be measured; try: the area only")]
    Ports {
        /// The module.
        top: String,
        /// What is wrong with them.
        problem: String,
    },
    /// The placed design differs from the synthesised one.
    #[error(
        "{top}: {placed} flip-flops were placed instead of {synthesised}: something was optimised \
         away, so the timing would be that of another design"
    )]
    Vanished {
        /// The module.
        top: String,
        /// Flip-flops after synthesis, with those of the harness.
        synthesised: u64,
        /// Flip-flops after placement.
        placed: u64,
    },
    /// No seed was requested.
    #[error("0 seeds; timing needs at least 1")]
    NoSeeds,
    /// The design for a board cannot be made.
    #[error("the design for the board cannot be made: {0}")]
    Board(String),
    /// A file without reports.
    #[error("the file contains no report")]
    NoReport,
    /// Not a report.
    #[error("not a report: {0}")]
    NotAReport(serde_json::Error),
}

/// The commands that install the tools.
fn install(folder: impl Display) -> String {
    let lines = include_str!("../requirements.txt").lines();
    let packages: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
    let packages = packages.join(" ");
    format!("python3 -m venv {folder} && {folder}/bin/pip install {packages}")
}

impl FpgaError {
    /// For `map_err` of what a board consists of.
    pub(crate) fn board(error: impl Display) -> Self {
        Self::Board(error.to_string())
    }

    /// For `map_err` of file operations.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Io { what, error }
    }
}
