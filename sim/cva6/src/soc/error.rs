//! What can go wrong.

use crate::Cva6Error;
use hartrace_encoder_hdl::top::TopError;
use hartrace_etrace::ParamsError;
use hartrace_hdl_tools::verilate::SimError;
use thiserror::Error;

/// Why a system cannot be built or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SocError {
    /// The core is not there, or fails.
    #[error(transparent)]
    Core(#[from] Cva6Error),
    /// The encoder cannot be generated.
    #[error(transparent)]
    Top(#[from] TopError),
    /// The connector cannot be generated.
    #[error("connector: {0}")]
    Connector(#[from] hartrace_cva6_connector::ConfigError),
    /// The encoder is not for this core.
    #[error(
        "{name} = {value}, but for this core it is {needs} at most, and addresses have 64 bits"
    )]
    Fit {
        /// A parameter of the encoder.
        name: &'static str,
        /// Its value.
        value: u32,
        /// What it should be.
        needs: u32,
    },
    /// The trace cannot be decoded with these parameters.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The program is no ELF file that can be decoded with.
    #[error("the program cannot be read: {0}")]
    Program(#[from] hartrace_decoder::ElfError),
    /// What is to be in memory besides the program does not fit.
    #[error("{size} bytes at 0x{address:x} are not in memory")]
    Memory {
        /// Where they should be.
        address: u64,
        /// How many.
        size: usize,
    },
    /// A mode is asked for that the connector or the program does not allow.
    #[error("{0}")]
    Mode(String),
    /// The registers do not answer as they should.
    #[error("register 0x{address:x}: {problem}")]
    Register {
        /// Its address.
        address: u32,
        /// What is wrong.
        problem: String,
    },
    /// The simulation fails.
    #[error(transparent)]
    Simulation(#[from] SimError),
}
