//! The decoders, whatever the trace is.

use crate::{analysis, etmv4, etrace, frame, walker};
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_encap::Framing;
use hartrace_encoder_hdl::registers::ParamsError;
use hartrace_encoder_hdl::top::{TopConfig, TopError};
use hartrace_rtl::Component;
use thiserror::Error;

/// A decoder, and the trace it is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// ETMv4 or ETE.
    Etmv4(etmv4::Config),
    /// E-Trace.
    Etrace(etrace::Config),
    /// E-Trace, with a walker behind it.
    Follower(walker::Config),
    /// ETMv4 or ETE, with a walker behind it.
    Etmv4Follower(walker::etmv4::Config),
}

/// A decoder cannot have these parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecoderError {
    /// Of ETMv4.
    #[error(transparent)]
    Etmv4(#[from] etmv4::ConfigError),
    /// Of E-Trace.
    #[error(transparent)]
    Etrace(#[from] etrace::ConfigError),
    /// Of a walker.
    #[error(transparent)]
    Walker(#[from] walker::ConfigError),
    /// Of a walker for ETMv4.
    #[error(transparent)]
    Etmv4Walker(#[from] walker::etmv4::ConfigError),
    /// Of an analysis.
    #[error(transparent)]
    Analysis(#[from] analysis::ConfigError),
    /// Of registers.
    #[error(transparent)]
    Registers(#[from] ParamsError),
    /// Of a stage that splits frames.
    #[error(transparent)]
    Stage(#[from] frame::ConfigError),
    /// Of a sink.
    #[error(transparent)]
    Sink(#[from] TopError),
    /// The encoder frames its payloads in another way.
    #[error("only the standard encapsulation can be decoded")]
    Encapsulation,
    /// Frames with another number of bytes per cycle.
    #[error("frames with {0} bytes per cycle; a word of a trace port has four")]
    Frames(u32),
    /// They cannot be written as TOML.
    #[error(transparent)]
    Toml(#[from] toml::ser::Error),
}

impl Decoder {
    /// A decoder of what an encoder sends, with this number of bytes per cycle. If `aligned`, the first byte
    /// after reset starts a packet.
    ///
    /// # Errors
    ///
    /// If the encoder does not use the standard encapsulation.
    pub fn of_encoder(
        encoder: &TopConfig,
        unroll: u32,
        aligned: bool,
    ) -> Result<Self, DecoderError> {
        let Framing::Encap(encap) = encoder.framing()? else {
            return Err(DecoderError::Encapsulation);
        };
        let (params, unit) = (encoder.encoder.etrace, encoder.encoder.unit());
        Ok(Self::Etrace(etrace::Config { unroll, params, unit, encap, aligned }))
    }

    /// The same with a walker behind it, whose table has this many blocks.
    #[must_use]
    pub fn with_walker(self, blocks: u32) -> Self {
        match self {
            Self::Etrace(config) => Self::Follower(walker::Config::new(config, blocks)),
            Self::Etmv4(config) => Self::Etmv4Follower(walker::etmv4::Config::new(config, blocks)),
            follower => follower,
        }
    }

    /// Generates it.
    ///
    /// # Errors
    ///
    /// If there is no decoder with these parameters.
    pub fn component(&self) -> Result<Component, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => etmv4::decoder(config)?,
            Self::Etrace(config) => etrace::decoder(config)?,
            Self::Follower(config) => walker::follower(config)?,
            Self::Etmv4Follower(config) => walker::etmv4::follower(config)?,
        })
    }

    /// Generates the stage that finds packets, byte after byte in one cycle, alone.
    ///
    /// # Errors
    ///
    /// If there is no decoder with these parameters.
    pub fn chain(&self) -> Result<Component, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => etmv4::stream_unit(config)?,
            Self::Etrace(config) => etrace::boundary_unit(config)?,
            Self::Follower(config) => etrace::boundary_unit(&config.decoder)?,
            Self::Etmv4Follower(config) => etmv4::stream_unit(&config.decoder)?,
        })
    }

    /// Bytes per cycle.
    pub fn unroll(&self) -> u32 {
        match self {
            Self::Etmv4(config) => config.unroll,
            Self::Etrace(config) => config.unroll,
            Self::Follower(config) => config.decoder.unroll,
            Self::Etmv4Follower(config) => config.decoder.unroll,
        }
    }

    /// The same with another number of bytes per cycle.
    #[must_use]
    pub fn with_unroll(self, unroll: u32) -> Self {
        match self {
            Self::Etmv4(config) => Self::Etmv4(etmv4::Config { unroll, ..config }),
            Self::Etrace(config) => Self::Etrace(etrace::Config { unroll, ..config }),
            Self::Follower(config) => {
                let decoder = etrace::Config { unroll, ..config.decoder };
                Self::Follower(walker::Config { decoder, ..config })
            }
            Self::Etmv4Follower(config) => {
                let decoder = etmv4::Config { unroll, ..config.decoder };
                Self::Etmv4Follower(walker::etmv4::Config { decoder, ..config })
            }
        }
    }

    /// Bits of addresses.
    pub(crate) fn address_bits(&self) -> u32 {
        match self {
            Self::Etmv4(config) => config.address_bits,
            Self::Etrace(config) => config.params.iaddress_width_p.into(),
            Self::Follower(config) => config.decoder.params.iaddress_width_p.into(),
            Self::Etmv4Follower(config) => config.decoder.address_bits,
        }
    }

    /// Records per cycle, and cycles from a byte to the record of the packet that it ends. None if it has blocks instead.
    pub(crate) fn records(&self) -> Result<Option<(u32, u32)>, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => Some((config.unroll, etmv4::LATENCY)),
            Self::Etrace(config) => Some((config.unroll.div_ceil(2), etrace::latency(config)?)),
            Self::Follower(_) | Self::Etmv4Follower(_) => None,
        })
    }

    /// The configuration, for people.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Etmv4(config) => {
                let (major, minor) = (config.unit.version >> 4, config.unit.version & 0xf);
                let bits = |bytes: u8| format!("{} bits", 8 * u32::from(bytes));
                vec![
                    ("architecture version", format!("{major}.{minor}")),
                    ("addresses", format!("{} bits", config.address_bits)),
                    ("timestamps", format!("{} bits", config.timestamp_bits)),
                    ("counter of cycles", format!("{} bits", config.cycles_bits)),
                    ("virtual context identifiers", bits(config.unit.vmid_bytes)),
                    ("context identifiers", bits(config.unit.context_id_bytes)),
                    ("COMMOPT", u8::from(config.unit.commopt).to_string()),
                ]
            }
            Self::Etrace(config) => {
                let (params, encap) = (config.params, config.encap);
                let first = if config.aligned { "a header" } else { "anything" };
                vec![
                    ("iaddress_width_p", params.iaddress_width_p.to_string()),
                    ("iaddress_lsb_p", params.iaddress_lsb_p.to_string()),
                    ("cache_size_p", params.cache_size_p.to_string()),
                    ("bpred_size_p", params.bpred_size_p.to_string()),
                    ("srcID", format!("{} bits", encap.src_id_bits())),
                    ("type", format!("{} bits", encap.type_bits())),
                    ("timestamp", format!("{} bytes", encap.timestamp_bytes())),
                    ("first byte after reset", first.to_owned()),
                ]
            }
            Self::Follower(config) => {
                let mut all = Self::Etrace(config.decoder).parameters();
                all.extend(walker_parameters(&config.table, "sequential", config.rows));
                all
            }
            Self::Etmv4Follower(config) => {
                let mut all = Self::Etmv4(config.decoder).parameters();
                let stack = u8::from(config.decoder.unit.return_stack);
                all.push(("return stack", stack.to_string()));
                all.extend(walker_parameters(&config.table, "conditional", config.rows));
                all
            }
        }
    }
}

/// The table and the FIFO of a walker, for people. `flag` is the field before the target.
fn walker_parameters(table: &WordLayout, flag: &str, rows: u32) -> [(&'static str, String); 3] {
    let WordLayout { start_bits: start, span_bits: span, index_bits: index } = table;
    let ends = Ends::BITS;
    [
        ("table of blocks", format!("{} words", table.depth())),
        (
            "its words, from bit 0",
            format!("start {start}, span {span}, end {ends}, {flag} 1, target {index}"),
        ),
        ("FIFO in front", format!("{rows} rows")),
    ]
}
