use crate::etmv4;
use hartrace_decoder::block_table::WordLayout;
use thiserror::Error;

/// Entries of the return stack. No trace unit has more, and none uses entries that it has dropped.
const RETURNS: u32 = 16;

/// The parameters of a walker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The decoder whose records it follows. Its trace unit says whether there is a return stack.
    pub decoder: etmv4::Config,
    /// The table of blocks.
    pub table: WordLayout,
    /// Rows of the FIFO, a power of two. A row holds the records of one cycle.
    pub rows: u32,
}

/// A walker cannot have these parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such decoder.
    #[error(transparent)]
    Decoder(#[from] etmv4::ConfigError),
    /// There is no such table.
    #[error("no table has words of {0:?}, or addresses are narrower")]
    Table(WordLayout),
    /// Another number of rows.
    #[error("{0} rows; powers of two from 2 to 65536 are possible")]
    Rows(u32),
    /// The trace unit speculates.
    #[error("a trace unit with MAXSPEC {0}; a walker follows only those with 0")]
    Speculation(u32),
    /// The core has an M profile.
    #[error("a core of the M profile, which no walker follows")]
    Profile,
}

impl Config {
    /// A walker for a table with this many entries, for code of up to 1 MB.
    #[must_use]
    pub fn new(decoder: etmv4::Config, entries: u32) -> Self {
        Self { decoder, table: WordLayout::new(entries, 1 << 20), rows: 512 }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such walker.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.decoder.check()?;
        if !self.table.is_valid() || self.table.start_bits >= self.decoder.address_bits {
            return Err(ConfigError::Table(self.table));
        }
        if !self.rows.is_power_of_two() || !(2..=1 << 16).contains(&self.rows) {
            return Err(ConfigError::Rows(self.rows));
        }
        match &self.decoder.unit {
            unit if unit.m_profile || unit.v8_m => Err(ConfigError::Profile),
            unit if unit.max_speculation > 0 => Err(ConfigError::Speculation(unit.max_speculation)),
            _ => Ok(()),
        }
    }

    /// Entries of the return stack.
    pub(super) fn returns(&self) -> u32 {
        if self.decoder.unit.return_stack { RETURNS } else { 0 }
    }
}
