use hartrace_encoder_hdl::registers::{AnalysisParams, ParamsError};
use thiserror::Error;

/// The parameters of an analysis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bits of addresses, 32 to 64.
    pub address_bits: u32,
    /// Lanes of the decoder, 1 to 8.
    pub lanes: u32,
    /// Number of kinds of packets, 1 to 32.
    pub kinds: u32,
    /// Number of lengths of packets that are distinguished, 1 to 32.
    pub lengths: u32,
    /// Bytes of a packet that ends a search for packets.
    pub sync_bytes: u32,
    /// Whether a walker is in front: without one, only packets are counted, and what follows does not matter.
    pub blocks: bool,
    /// Number of entries of the profile: a power of 2, 16 to 65536.
    pub entries: u32,
    /// Bits of the count of an entry, 2 to 32.
    pub count_bits: u32,
    /// Number of spilled entries that can wait to be written, 2 to 256.
    pub spills: u32,
    /// Number of windows that are kept: a power of 2, 2 to 256.
    pub windows: u32,
    /// Outcomes in a window, 16 to 32.
    pub window_bits: u32,
}

impl Default for Config {
    /// Four lanes, and a profile of 1024 edges.
    fn default() -> Self {
        Self {
            address_bits: 64,
            lanes: 4,
            kinds: 16,
            lengths: 16,
            sync_bytes: 1,
            blocks: true,
            entries: 1024,
            count_bits: 24,
            spills: 16,
            windows: 32,
            window_bits: 32,
        }
    }
}

/// An analysis cannot have these parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Another number of lanes.
    #[error("{0} lanes; 1 to 8 are possible")]
    Lanes(u32),
    /// Another width of counts.
    #[error("counts of {0} bits; 2 to 32 are possible")]
    Count(u32),
    /// Another number of spilled entries.
    #[error("{0} spilled entries; 2 to 256 are possible")]
    Spills(u32),
    /// The registers cannot have these parameters.
    #[error("registers: {0}")]
    Registers(#[from] ParamsError),
}

impl Config {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such analysis.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self { lanes: 0 | 9.., .. } => Err(ConfigError::Lanes(self.lanes)),
            Self { count_bits: 0..2 | 33.., .. } => Err(ConfigError::Count(self.count_bits)),
            Self { spills: 0..2 | 257.., .. } => Err(ConfigError::Spills(self.spills)),
            _ => {
                hartrace_encoder_hdl::registers::analysis(&self.registers())?;
                Ok(())
            }
        }
    }

    /// The parameters of its registers.
    #[must_use]
    pub fn registers(&self) -> AnalysisParams {
        AnalysisParams {
            address_width: self.address_bits,
            entries: self.entries,
            windows: self.windows,
            window_bits: self.window_bits,
            kinds: self.kinds,
            lengths: self.lengths,
            blocks: self.blocks,
        }
    }
}
