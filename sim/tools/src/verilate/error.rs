//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a model cannot be built, or a simulation not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimError {
    /// A tool is not installed.
    #[error("{tool} not found; on Debian: apt-get install {package}")]
    Missing {
        /// The command.
        tool: String,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A tool did not accept what it was given. Its first messages say why.
    #[error("{tool} failed on {top}:\n{messages}")]
    Tool {
        /// The command.
        tool: String,
        /// What it worked on.
        top: String,
        /// The first lines it wrote.
        messages: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not known where to keep models: the program was not built by cargo, or was moved.
    #[error("no folder for models; set Options::cache, or CARGO_TARGET_DIR to an absolute path")]
    NoFolder,
    /// The shared library of a model could not be loaded.
    #[error("cannot load the model {}: {why}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader says.
        why: String,
    },
    /// The module has ports that cannot be driven from here: bidirectional ones and unpacked arrays.
    #[error("{top}: {why}; wrap the module in one with packed inputs and outputs")]
    UnsupportedPort {
        /// The module.
        top: String,
        /// Which port, and why not.
        why: String,
    },
    /// Verilator sees other ports than the builder has; a bug in one of the two.
    #[error("{top}: ports of the builder {built}, of Verilator {seen}")]
    PortsDiffer {
        /// The module.
        top: String,
        /// Those of the builder.
        built: String,
        /// Those of Verilator.
        seen: String,
    },
    /// There is no such port.
    #[error("{top} has no {direction} {name}; it has {have}")]
    NoPort {
        /// The module.
        top: String,
        /// `input` or `output`.
        direction: &'static str,
        /// The name asked for.
        name: String,
        /// Those there are.
        have: String,
    },
    /// The design has no clock, or none was named.
    #[error("{0} has no clock; combinational logic needs settle only")]
    NoClock(String),
    /// The design has no reset, or none was named.
    #[error("{0} has no reset")]
    NoReset(String),
    /// The model was built without waves.
    #[error("{0} was built without waves; set Options::waves")]
    NoWaves(String),
    /// An assertion of the model failed, or it called `$error`, `$fatal` or `$stop`. The simulation
    /// can go on.
    #[error("{name} failed in cycle {cycle}: {message}")]
    Failed {
        /// The assertion with the modules it is in, `encoder.i_fifo.no_overflow`; `$stop` where there is
        /// no assertion.
        name: String,
        /// What the model says, with file and line.
        message: String,
        /// Clock edges since the last reset.
        cycle: u64,
    },
    /// The model cannot go on: its logic does not settle, or a file it reads is missing. Every
    /// further call gives the same.
    #[error("the model stopped in cycle {cycle}: {message}")]
    Stopped {
        /// What the model says.
        message: String,
        /// Clock edges since the last reset.
        cycle: u64,
    },
}

impl SimError {
    /// For `map_err` on what [`std::fs`] returns.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
