use hartrace_etmv4::Config as Unit;
use thiserror::Error;

/// The parameters of a decoder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes per cycle, 1 to 8.
    pub unroll: u32,
    /// The trace unit whose packets are decoded.
    pub unit: Unit,
    /// Bits of addresses, 32 or 64.
    pub address_bits: u32,
    /// Bits of timestamps, up to 64; higher ones are dropped.
    pub timestamp_bits: u32,
    /// Bits of the counter of cycles.
    pub cycles_bits: u32,
}

impl Default for Config {
    /// Four bytes per cycle of a Cortex-A53.
    fn default() -> Self {
        let unit = Unit {
            version: 0x40,
            context_id_bytes: 4,
            vmid_bytes: 1,
            commopt: true,
            ..Unit::default()
        };
        Self { unroll: 4, unit, address_bits: 64, timestamp_bits: 64, cycles_bits: 32 }
    }
}

/// A decoder cannot have these parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Another number of bytes per cycle.
    #[error("{0} bytes per cycle; 1 to 8 are possible")]
    Unroll(u32),
    /// Another width of addresses.
    #[error("addresses of {0} bits; 32 and 64 are possible")]
    Address(u32),
    /// Another width of timestamps.
    #[error("timestamps of {0} bits; 8 to 64 are possible")]
    Timestamp(u32),
    /// Another width of the counter of cycles.
    #[error("a counter of cycles of {0} bits; 24 to 64 are possible")]
    Cycles(u32),
}

impl Config {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such decoder.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self { unroll: 0 | 9.., .. } => Err(ConfigError::Unroll(self.unroll)),
            Self { address_bits: 32 | 64, .. } => match (self.timestamp_bits, self.cycles_bits) {
                (8..=64, 24..=64) => Ok(()),
                (8..=64, bits) => Err(ConfigError::Cycles(bits)),
                (bits, _) => Err(ConfigError::Timestamp(bits)),
            },
            _ => Err(ConfigError::Address(self.address_bits)),
        }
    }
}
