use hartrace_encap::EncapParams;
use hartrace_etrace::{Params, ParamsError, Unit};
use thiserror::Error;

/// The parameters of a decoder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes per cycle, 1 to 8.
    pub unroll: u32,
    /// The parameters of the encoder.
    pub params: Params,
    /// The encoder's support packet.
    pub unit: Unit,
    /// The widths of the fields around payloads.
    pub encap: EncapParams,
    /// The first byte after reset is a header. Otherwise the decoder waits for a run of null packets.
    pub aligned: bool,
}

/// A decoder cannot have these parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Another number of bytes per cycle.
    #[error("{0} bytes per cycle; 1 to 8 are possible")]
    Unroll(u32),
    /// There is no such encoder.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The positions of fields depend on the length of the payload.
    #[error("payloads of rv_tracer cannot be decoded")]
    RvTracer,
    /// Only software follows the extension.
    #[error("hpred_size_p is set: payloads of history prediction cannot be decoded in hardware")]
    History,
    /// The jump target cache is too large for a decoder without waiting.
    #[error(
        "a jump target cache of 2^{0} entries; up to 2^8 are possible, and no more than addresses"
    )]
    Cache(u8),
    /// The fields around the longest payload leave no room for it.
    #[error("the longest payload needs {0} bytes with srcID and type, the limit is 31")]
    Length(u32),
}

impl Config {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such decoder.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=8).contains(&self.unroll) {
            return Err(ConfigError::Unroll(self.unroll));
        }
        if self.unit == Unit::RvTracer {
            return Err(ConfigError::RvTracer);
        }
        if self.params.hpred_size_p > 0 {
            return Err(ConfigError::History);
        }
        let layout = self.params.layout(self.unit)?;
        let cache = self.params.cache_size_p;
        // The lowest bit of a byte address is never part of an index.
        let lowest = u32::from(self.params.iaddress_lsb_p == 0);
        if cache > 8 || u32::from(cache) + lowest > self.params.address_bits() {
            return Err(ConfigError::Cache(cache));
        }
        let before = u32::from(self.encap.src_id_bits() % 8 + self.encap.type_bits());
        match (before + layout.max_bits()).div_ceil(8) {
            bytes @ 32.. => Err(ConfigError::Length(bytes)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_exist_is_an_error() {
        let encap = EncapParams::new(0, 8, 0).unwrap();
        let params = Params { iaddress_width_p: 64, ..Params::default() };
        let good = Config { unroll: 4, params, unit: Unit::Hartrace, encap, aligned: true };
        assert_eq!(good.check(), Ok(()));
        for unroll in [0, 9] {
            assert_eq!(Config { unroll, ..good }.check(), Err(ConfigError::Unroll(unroll)));
        }
        let unit = Unit::RvTracer;
        assert_eq!(Config { unit, ..good }.check(), Err(ConfigError::RvTracer));
        let cached = |iaddress_width_p, iaddress_lsb_p, cache_size_p| {
            let params = Params { iaddress_width_p, iaddress_lsb_p, cache_size_p, ..params };
            Config { params, ..good }.check()
        };
        assert_eq!(cached(64, 1, 9), Err(ConfigError::Cache(9)));
        assert_eq!(cached(8, 1, 8), Err(ConfigError::Cache(8)));
        assert_eq!(cached(8, 0, 8), Err(ConfigError::Cache(8)));
        assert_eq!(cached(8, 0, 7), Ok(()));
        let wide = Params { context_width_p: 64, nocontext_p: false, ..params };
        let wide = Params { time_width_p: 40, notime_p: false, ..wide };
        assert_eq!(Config { params: wide, ..good }.check(), Ok(()));
        let encap = EncapParams::new(7, 0, 8).unwrap();
        let error = Config { params: wide, encap, ..good }.check();
        assert_eq!(error, Err(ConfigError::Length(33)));
        let params = Params { iaddress_width_p: 1, ..params };
        assert!(matches!(Config { params, ..good }.check(), Err(ConfigError::Params(_))));
    }
}
