use crate::etrace;
use hartrace_decoder::block_table::WordLayout;
use thiserror::Error;

/// The parameters of a walker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The decoder whose records it follows.
    pub decoder: etrace::Config,
    /// The table of blocks.
    pub table: WordLayout,
    /// Rows of the FIFO, a power of two. A row holds the records of one cycle.
    pub rows: u32,
    /// A walk of 2^patience blocks without a branch is given up.
    pub patience: u32,
}

/// A walker cannot have these parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such decoder.
    #[error(transparent)]
    Decoder(#[from] etrace::ConfigError),
    /// There is no such table.
    #[error("no table has words of {0:?}, or addresses are narrower")]
    Table(WordLayout),
    /// Another number of rows.
    #[error("{0} rows; powers of two from 2 to 65536 are possible")]
    Rows(u32),
    /// Another patience.
    #[error("a patience of 2^{0} blocks; 2^4 to 2^31 are possible")]
    Patience(u32),
    /// The tables of the encoder are too large.
    #[error("2^{0} entries of a predictor or return stack; up to 2^10 are possible")]
    Tables(u8),
}

impl Config {
    /// A walker for a table with this many entries, for code of up to 1 MB.
    #[must_use]
    pub fn new(decoder: etrace::Config, entries: u32) -> Self {
        Self { decoder, table: WordLayout::new(entries, 1 << 20), rows: 512, patience: 16 }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such walker.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.decoder.check()?;
        let params = &self.decoder.params;
        if !self.table.is_valid() || self.table.start_bits >= params.iaddress_width_p.into() {
            return Err(ConfigError::Table(self.table));
        }
        if !self.rows.is_power_of_two() || !(2..=1 << 16).contains(&self.rows) {
            return Err(ConfigError::Rows(self.rows));
        }
        if !(4..=31).contains(&self.patience) {
            return Err(ConfigError::Patience(self.patience));
        }
        let sizes = [params.bpred_size_p, params.return_stack_size_p, params.call_counter_size_p];
        match sizes.into_iter().find(|size| *size > 10) {
            Some(size) => Err(ConfigError::Tables(size)),
            None => Ok(()),
        }
    }

    /// Width of addresses.
    pub(super) fn address_bits(&self) -> u32 {
        self.decoder.params.iaddress_width_p.into()
    }

    /// Entries of the return stack; a call counter of n bits stands for 2^n - 1.
    pub(super) fn returns(&self) -> u32 {
        let params = &self.decoder.params;
        match (params.return_stack_size_p, params.call_counter_size_p) {
            (0, 0) => 0,
            (0, counter) => (1 << counter) - 1,
            (stack, _) => 1 << stack,
        }
    }
}
