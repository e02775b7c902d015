//! A generated decoder of any kind against software.

use super::etrace::random::Stream;
use super::{
    Comparison, Etmv4Bench, Etmv4BenchError, EtraceBench, EtraceBenchError, Lanes, Source,
};
use hartrace_decoder_hdl::{Decoder, DecoderError, walker};
use hartrace_hdl_tools::verilate::{Options, SimError};
use thiserror::Error;

/// The source whose packets a decoder of E-Trace selects.
const SOURCE: u16 = 0;

/// A decoder cannot be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is no such decoder.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl From<Etmv4BenchError> for CompareError {
    fn from(error: Etmv4BenchError) -> Self {
        match error {
            Etmv4BenchError::Config(error) => Self::Decoder(error.into()),
            Etmv4BenchError::Simulation(error) => Self::Simulation(error),
        }
    }
}

impl From<EtraceBenchError> for CompareError {
    fn from(error: EtraceBenchError) -> Self {
        match error {
            EtraceBenchError::Config(error) => Self::Decoder(error.into()),
            EtraceBenchError::Simulation(error) => Self::Simulation(error),
        }
    }
}

/// Builds a model of a decoder, sends bytes through it and through software, and compares every record.
///
/// # Errors
///
/// If there is no such decoder, or the simulator fails.
pub fn compare(
    decoder: &Decoder,
    bytes: &[u8],
    lanes: Lanes,
    options: &Options,
) -> Result<Comparison, CompareError> {
    Ok(match decoder {
        Decoder::Etmv4(config)
        | Decoder::Etmv4Follower(walker::etmv4::Config { decoder: config, .. }) => {
            Etmv4Bench::new(config, options)?.compare(bytes, lanes)?
        }
        Decoder::Etrace(config) | Decoder::Follower(walker::Config { decoder: config, .. }) => {
            EtraceBench::new(config, options)?.compare(bytes, SOURCE, lanes)?.comparison()
        }
    })
}

/// Random packets for a decoder, with a name; if `hostile`, they are damaged.
///
/// # Errors
///
/// If there is no such decoder.
pub fn random_packets(
    decoder: &Decoder,
    len: usize,
    hostile: bool,
    seed: u64,
) -> Result<(String, Vec<u8>), DecoderError> {
    let config = match decoder {
        Decoder::Etmv4(config)
        | Decoder::Etmv4Follower(walker::etmv4::Config { decoder: config, .. }) => {
            let Source { name, bytes, .. } = Source::random(&config.unit, len, hostile, seed);
            return Ok((name, bytes));
        }
        Decoder::Etrace(config) | Decoder::Follower(walker::Config { decoder: config, .. }) => {
            config
        }
    };
    let mut stream = Stream::new(config, SOURCE, seed)?;
    let name = if hostile { "damaged packets" } else { "random packets" };
    if hostile {
        stream.damaged(len)
    } else {
        stream.packets(len)
    }
    Ok((name.into(), stream.bytes().to_vec()))
}
