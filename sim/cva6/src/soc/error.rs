//! Errors of building and running a system.

use crate::Cva6Error;
use hartrace_capture::params::DocumentError;
use hartrace_encoder_hdl::top::{PackageError, TopError};
use hartrace_etrace::ParamsError;
use hartrace_hdl_tools::verilate::SimError;
use hartrace_lockstep::decoder::FollowerError;
use thiserror::Error;

/// A system cannot be built or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SocError {
    /// The core is missing, or fails.
    #[error(transparent)]
    Core(#[from] Cva6Error),
    /// The encoder cannot be generated.
    #[error(transparent)]
    Top(#[from] TopError),
    /// The parameters of the encoder cannot be written.
    #[error(transparent)]
    Written(#[from] PackageError),
    /// The parameters of the encoder cannot be read back.
    #[error(transparent)]
    Described(#[from] DocumentError),
    /// The connector cannot be generated.
    #[error("connector: {0}")]
    Connector(#[from] hartrace_cva6_connector::ConfigError),
    /// The encoder does not fit this core.
    #[error(
        "{name} = {value}, but for this core it is {needs} at most, and addresses have 64 bits"
    )]
    Fit {
        /// A parameter of the encoder.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The required value.
        needs: u32,
    },
    /// The trace cannot be decoded with these parameters.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The program is not an ELF file that the decoder can read.
    #[error("the program cannot be read: {0}")]
    Program(#[from] hartrace_decoder::ElfError),
    /// The program needs extensions that the core does not have: build it for RV64IMAC.
    #[error("the program is built for extensions that the core lacks: {0}")]
    Extensions(String),
    /// Additional memory contents do not fit.
    #[error("{size} bytes at 0x{address:x} are not in memory")]
    Memory {
        /// Their address.
        address: u64,
        /// Their size in bytes.
        size: usize,
    },
    /// The connector or the program does not allow a requested mode.
    #[error("{0}")]
    Mode(String),
    /// A core cannot trace itself in this system.
    #[error("a core cannot trace itself here: {0}")]
    SelfHosted(&'static str),
    /// An encoder makes its hart wait, and the hart does not.
    #[error(
        "the encoder makes the core wait, which this system does not: SocConfig::waiting builds one that does"
    )]
    Waits,
    /// What left a connector is not what was executed.
    #[error("the connector: {0}")]
    Blocks(String),
    /// A register does not respond as expected.
    #[error("register 0x{address:x}: {problem}")]
    Register {
        /// Its address.
        address: u32,
        /// What is wrong.
        problem: String,
    },
    /// The decoder or the walker behind the sink cannot be simulated, or the program does not fit into its table.
    #[error(transparent)]
    Follower(#[from] FollowerError),
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl SocError {
    /// Returns whether other arguments would help, rather than other files.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Mode(_) | Self::Fit { .. } | Self::Top(_) | Self::Connector(_))
    }

    /// Returns what to try.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Extensions(_) => Some("-march=rv64imac_zicsr_zifencei -mabi=lp64"),
            Self::Mode(_) => Some("another --encode"),
            Self::Fit { .. } | Self::Top(_) | Self::Connector(_) => {
                Some("another --encoder, such as cva6, small or full")
            }
            _ => None,
        }
    }
}
