use hartrace_etmv4::Config as Unit;
use serde::{Deserialize, Serialize};
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

/// A file with the parameters of a decoder; those that are not given are of a Cortex-A53.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    version: String,
    address_bits: u32,
    timestamp_bits: u32,
    cycles_bits: u32,
    vmid_bytes: u8,
    context_id_bytes: u8,
    commopt: bool,
    max_speculation: u32,
    q: bool,
    /// Of interest to a walker only.
    return_stack: bool,
}

impl From<&Config> for File {
    fn from(config: &Config) -> Self {
        let unit = &config.unit;
        Self {
            version: format!("{}.{}", unit.version >> 4, unit.version & 0xf),
            address_bits: config.address_bits,
            timestamp_bits: config.timestamp_bits,
            cycles_bits: config.cycles_bits,
            vmid_bytes: unit.vmid_bytes,
            context_id_bytes: unit.context_id_bytes,
            commopt: unit.commopt,
            max_speculation: unit.max_speculation,
            q: unit.q,
            return_stack: unit.return_stack,
        }
    }
}

impl Default for File {
    fn default() -> Self {
        Self::from(&Config::default())
    }
}

/// A file of parameters cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not such a file.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// There is no such version.
    #[error("version `{0}`; 4.0 to 4.6 are ETMv4, 5.0 and above ETE")]
    Version(String),
    /// Bytes of an identifier.
    #[error("{name} = {value}; {possible} are possible")]
    Bytes {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u8,
        /// What it may be.
        possible: &'static str,
    },
    /// There is no such decoder.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Config {
    /// Reads the parameters of a decoder that takes `unroll` bytes per cycle.
    ///
    /// # Errors
    ///
    /// If it is no such file, or there is no such decoder.
    pub fn from_toml(text: &str, unroll: u32) -> Result<Self, ReadError> {
        let file: File = toml::from_str(text)?;
        let digits = file.version.split_once('.').and_then(|(major, minor)| {
            Some((major.parse::<u8>().ok()?, minor.parse::<u8>().ok()?))
        });
        let version = match digits {
            Some((major @ (4 | 5), minor @ ..=15)) => major << 4 | minor,
            _ => return Err(ReadError::Version(file.version)),
        };
        let refused = |name, value, possible| Err(ReadError::Bytes { name, value, possible });
        if ![0, 1, 2, 4].contains(&file.vmid_bytes) {
            return refused("vmid_bytes", file.vmid_bytes, "0, 1, 2 and 4");
        }
        if ![0, 4].contains(&file.context_id_bytes) {
            return refused("context_id_bytes", file.context_id_bytes, "0 and 4");
        }
        let unit = Unit {
            version,
            vmid_bytes: file.vmid_bytes,
            context_id_bytes: file.context_id_bytes,
            commopt: file.commopt,
            max_speculation: file.max_speculation,
            q: file.q,
            return_stack: file.return_stack,
            ..Unit::default()
        };
        let config = Self {
            unroll,
            unit,
            address_bits: file.address_bits,
            timestamp_bits: file.timestamp_bits,
            cycles_bits: file.cycles_bits,
        };
        config.check()?;
        Ok(config)
    }

    /// The parameters as [`Config::from_toml`] reads them.
    ///
    /// # Errors
    ///
    /// If they cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&File::from(self))
    }

    /// Whether there are packets that count elements to commit or cancel, or instructions.
    pub(crate) fn has_counts(&self) -> bool {
        !self.unit.commopt || self.unit.max_speculation > 0 || self.unit.q
    }

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
