//! Errors of building and running the core.

use hartrace_hdl_tools::verilate::SimError;
use hartrace_iss::LoadError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The core cannot be built or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Cva6Error {
    /// The sources of the core are not installed.
    #[error(
        "no sources of the core in target/tools/cva6 of this folder or one above it; try: ./test.sh cva6 in \
         the repository, which installs them, or name their virtual environment in HARTRACE_CVA6_TOOLS"
    )]
    NotInstalled,
    /// The named folder does not contain them.
    #[error(
        "{}: no {missing} in it, which HARTRACE_CVA6_TOOLS names; try: python3 -m venv {0} && \
         {0}/bin/pip install -r sim/cva6/requirements.txt", .folder.display()
    )]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The missing part.
        missing: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line of a list of files is wrong.
    #[error("{}, line {line}: {what}", .path.display())]
    List {
        /// The list.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A change of the core's configuration is not a field and a constant.
    #[error(
        "`{0}` is not a field of the core's configuration and a constant, such as SuperscalarEn=1"
    )]
    Change(String),
    /// The program cannot be loaded.
    #[error("the program cannot be loaded: {0}")]
    Load(#[from] LoadError),
    /// The program does not start where the core does.
    #[error("the program starts at 0x{entry:x}, the core at 0x{boot:x}; link it to start there")]
    Entry {
        /// Its entry address.
        entry: u64,
        /// The address the core boots from.
        boot: u64,
    },
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}
