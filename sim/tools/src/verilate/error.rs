//! Errors of building and running models.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A model cannot be built, or a simulation cannot continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimError {
    /// A tool is not installed.
    #[error("{tool} not found; on Debian: apt-get install {package}")]
    Missing {
        /// The command.
        tool: String,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// A tool rejected its input. Its first messages explain why.
    #[error("{tool} failed on {top}:\n{messages}")]
    Tool {
        /// The command.
        tool: String,
        /// What it worked on.
        top: String,
        /// The first lines of its output.
        messages: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder for models is unknown: the program was not built by cargo, or was moved.
    #[error("no folder for models; set Options::cache, or CARGO_TARGET_DIR to an absolute path")]
    NoFolder,
    /// The shared library of a model could not be loaded.
    #[error("cannot load the model {}: {why}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The error of the loader.
        why: String,
    },
    /// The module has ports that cannot be driven: bidirectional ones and unpacked arrays.
    #[error("{top}: {why}; wrap the module in one with packed inputs and outputs")]
    UnsupportedPort {
        /// The module.
        top: String,
        /// The port, and why it cannot be driven.
        why: String,
    },
    /// Verilator sees other ports than the builder; an error in one of the two.
    #[error("{top}: ports of the builder {built}, of Verilator {seen}")]
    PortsDiffer {
        /// The module.
        top: String,
        /// The ports of the builder.
        built: String,
        /// The ports that Verilator sees.
        seen: String,
    },
    /// There is no such port.
    #[error("{top} has no {direction} {name}; it has {have}")]
    NoPort {
        /// The module.
        top: String,
        /// `input` or `output`.
        direction: &'static str,
        /// The requested name.
        name: String,
        /// The ports that exist.
        have: String,
    },
    /// The design has no clock, or its clock was not named.
    #[error("{0} has no clock; combinational logic needs settle only")]
    NoClock(String),
    /// The design has no reset, or its reset was not named.
    #[error("{0} has no reset")]
    NoReset(String),
    /// The model was built without waves.
    #[error("{0} was built without waves; set Options::waves")]
    NoWaves(String),
    /// An assertion of the model failed, or it called `$error`, `$fatal` or `$stop`. The simulation can
    /// continue.
    #[error("{name} failed in cycle {cycle}: {message}")]
    Failed {
        /// The assertion with its enclosing modules, `encoder.i_fifo.no_overflow`; `$stop` if there is
        /// no assertion.
        name: String,
        /// The message of the model, with file and line.
        message: String,
        /// Clock edges since the last reset.
        cycle: u64,
    },
    /// The model cannot continue: its logic does not settle, or a file that it reads is missing. Every
    /// further call returns the same error.
    #[error("the model stopped in cycle {cycle}: {message}")]
    Stopped {
        /// The message of the model.
        message: String,
        /// Clock edges since the last reset.
        cycle: u64,
    },
}

impl SimError {
    /// Converts an error of [`std::fs`], for `map_err`.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
