//! Configuration of a top module.

use crate::registers::{EncoderParams, ImplicitReturn, ParamsError, RamSinkParams, Resync};
use crate::transport::{FRAME_WORD_BYTES, Frame};
use crate::{Config, ConfigError, ReadError, ResyncUnit, named};
use hartrace_encap::{EncapParams, Framing};
use hartrace_etrace::Unit;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// The parameters of a top module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopConfig {
    /// What the names of all modules start with, so that encoders of different parameters can be parts of one design.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Number of harts, each with its own core and registers, all with the same parameters.
    pub harts: u32,
    /// The srcID of hart 0; the other harts have the following ones.
    pub first_source: u32,
    /// Number of packets that can wait for the sink.
    pub fifo_depth: u32,
    /// Where the time in packets comes from.
    pub time: TimeSource,
    /// Encapsulation of payloads.
    pub encapsulation: Encapsulation,
    /// Destination of the trace.
    pub sink: Sink,
    /// A bridge from AXI to the port of the registers, as a module beside the top module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axi_bridge: Option<AxiPort>,
    /// The cores.
    pub encoder: Config,
}

/// Encapsulation of payloads.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encapsulation {
    /// Packets of the standard encapsulation v1.0.
    Standard(Standard),
    /// Frames of `te_inst_raw` files. They have no padding to fill a word, so a reader needs to
    /// know where each part of a trace ends.
    Reference,
}

/// Where the time in packets comes from, if they have one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// From outside.
    #[default]
    External,
    /// Each hart has a counter, which software controls. Counters of several harts agree if they are started
    /// in the same cycle, so a clock from outside is better if their traces are compared.
    Internal,
}

/// Fields of the standard encapsulation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Standard {
    /// Width of the srcID in bits; 0 for none.
    pub src_id_bits: u8,
    /// Size of the time in every packet in bytes; 0 for none.
    pub timestamp_bytes: u8,
    /// Width of the type in bits; 0 for none.
    pub type_bits: u8,
    /// The type of instruction trace.
    pub instruction_type: u8,
}

/// The AXI side of the bridge to the registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxiPort {
    /// Width of data in bytes: 4 or 8.
    pub data_bytes: u32,
    /// Width of IDs in bits: 1 to 32.
    pub id_width: u32,
}

/// Destination of the trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sink {
    /// An AXI4-Stream.
    AxiStream {
        /// Size of a transfer in bytes: 2, 4, 8 or 16.
        word_bytes: u32,
    },
    /// An AMBA trace bus, with the registers of a bridge.
    Atb {
        /// Size of a transfer in bytes: 2, 4, 8 or 16.
        word_bytes: u32,
    },
    /// A ring buffer in memory, over AXI4, with the registers of a RAM sink.
    Memory {
        /// Width of an address in bits.
        address_width: u32,
        /// Size of a beat in bytes: 4, 8 or 16.
        word_bytes: u32,
        /// Number of words in a burst: 1, 2, 4, 8 or 16.
        burst_words: u32,
    },
    /// CoreSight frames on an AXI4-Stream of four bytes, as a trace port sends them.
    Frames {
        /// The number of the source, 1 to 111.
        id: u32,
        /// Number of frames from one full synchronisation word to the next.
        sync_frames: u32,
    },
}

impl Default for TopConfig {
    /// One hart, with the core's defaults, into memory.
    fn default() -> Self {
        Self {
            prefix: String::new(),
            harts: 1,
            first_source: 0,
            fifo_depth: 8,
            encapsulation: Encapsulation::Standard(Standard::default()),
            time: TimeSource::External,
            sink: Sink::MEMORY,
            axi_bridge: None,
            encoder: Config::default(),
        }
    }
}

impl Sink {
    /// Memory with addresses of 64 bits, in bursts of 32 bytes.
    pub const MEMORY: Self = Self::Memory { address_width: 64, word_bytes: 8, burst_words: 4 };
    /// Streams of 32 bits.
    pub const AXI_STREAM: Self = Self::AxiStream { word_bytes: 4 };
    /// A trace bus of 32 bits.
    pub const ATB: Self = Self::Atb { word_bytes: 4 };
    /// Frames of source 1, with a synchronisation in every KiB.
    pub const FRAMES: Self = Self::Frames { id: 1, sync_frames: 64 };

    /// One of each, with its name and a description.
    pub const NAMED: [(&'static str, Self, &'static str); 4] = [
        ("axis", Self::AXI_STREAM, "AXI4-Stream"),
        ("atb", Self::ATB, "AMBA trace bus"),
        ("memory", Self::MEMORY, "A ring buffer in memory, over AXI4"),
        ("frames", Self::FRAMES, "CoreSight frames on an AXI4-Stream, as a trace port sends them"),
    ];

    pub(crate) fn word_bytes(self) -> u32 {
        match self {
            Self::AxiStream { word_bytes }
            | Self::Atb { word_bytes }
            | Self::Memory { word_bytes, .. } => word_bytes,
            Self::Frames { .. } => FRAME_WORD_BYTES,
        }
    }
}

/// A parameter set that cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopError {
    /// The configuration of the core is not legal.
    #[error("encoder: {0}")]
    Encoder(#[from] ConfigError),
    /// The parameters of the registers are not legal.
    #[error("registers: {0}")]
    Registers(#[from] ParamsError),
    /// A parameter is out of its range.
    #[error("{name} = {value} is not in {min}..={max}")]
    OutOfRange {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u32,
        /// Smallest legal value.
        min: u32,
        /// Largest legal value.
        max: u32,
    },
    /// The value of a parameter is none of the legal ones.
    #[error("{name} = {value} is none of {choices:?}")]
    NoChoice {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The legal values.
        choices: &'static [u32],
    },
    /// Two parameters do not fit together.
    #[error("{what} needs {needs}")]
    Needs {
        /// The first, with its value.
        what: String,
        /// The requirement.
        needs: String,
    },
}

/// There is no configuration of this name, or its file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is neither a configuration nor a file of this name.
    #[error("there is no configuration `{0}`")]
    Unknown(String),
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Unreadable(io::Error),
    /// The file is not a configuration.
    #[error(transparent)]
    Wrong(#[from] ReadError<TopError>),
}

impl FindError {
    /// What to try.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(_) => {
                let names: Vec<String> = Config::all_named().into_keys().collect();
                Some(format!("{}, or a file", names.join(", ")))
            }
            Self::Unreadable(_) => None,
            Self::Wrong(_) => {
                Some("harts, sink, encapsulation; parameters of the core under [encoder]".into())
            }
        }
    }
}

/// Bytes of a file with a configuration. A device may have no end.
const LONGEST: u64 = 1 << 20;

fn read(name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(name)?.take(LONGEST.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LONGEST {
        true => Err(io::Error::other("more than 1 MiB")),
        false => Ok(bytes),
    }
}

impl TopConfig {
    /// Returns a named configuration, or that of a file, with `lanes` if given.
    pub fn find(name: &str, lanes: Option<u8>) -> Result<Self, FindError> {
        let mut config = match Config::named(name) {
            Some(encoder) => Self::of(encoder),
            None if Path::new(name).exists() => {
                let bytes = read(name).map_err(FindError::Unreadable)?;
                Self::from_toml(&String::from_utf8_lossy(&bytes))?
            }
            None => return Err(FindError::Unknown(name.into())),
        };
        config.encoder.lanes = lanes.unwrap_or(config.encoder.lanes);
        Ok(config)
    }

    /// One hart with this encoder into memory. If its packets have a time, it counts it itself.
    #[must_use]
    pub fn of(encoder: Config) -> Self {
        let time = match encoder.etrace.time_bits() {
            0 => TimeSource::External,
            _ => TimeSource::Internal,
        };
        Self { encoder, time, ..Self::default() }
    }

    /// Reads a configuration; parameters that are not given have their defaults.
    pub fn from_toml(text: &str) -> Result<Self, ReadError<TopError>> {
        let config: Self = named::parse(text)?;
        config.check()?;
        Ok(config)
    }

    /// The same with a sink of this kind. One that is of this kind already keeps its parameters.
    #[must_use]
    pub fn with_sink(self, sink: Sink) -> Self {
        let same = std::mem::discriminant(&self.sink) == std::mem::discriminant(&sink);
        if same { self } else { Self { sink, ..self } }
    }

    /// The same with this number of harts. Several harts get srcIDs of 8 bits if none are configured.
    #[must_use]
    pub fn with_harts(mut self, harts: u32) -> Self {
        self.harts = harts;
        if let Encapsulation::Standard(fields) = &mut self.encapsulation
            && harts > 1
            && fields.src_id_bits == 0
        {
            fields.src_id_bits = 8;
        }
        self
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<(), TopError> {
        self.encoder.check()?;
        self.check_prefix()?;
        in_range("harts", self.harts, 1, 16)?;
        in_range("fifo_depth", self.fifo_depth, 2, 1024)?;
        self.check_encapsulation()?;
        if self.time == TimeSource::Internal && self.time_width() == 0 {
            return Err(TopError::Needs {
                what: "time = internal".into(),
                needs: "time in packets: encapsulation.standard.timestamp_bytes, or \
                        encoder.etrace.notime_p = false"
                    .into(),
            });
        }
        self.check_sink()?;
        if let Some(AxiPort { data_bytes, id_width }) = self.axi_bridge {
            choice("axi_bridge.data_bytes", data_bytes, &[4, 8])?;
            in_range("axi_bridge.id_width", id_width, 1, 32)?;
        }
        let bytes = self.payload_bytes()?;
        let most = self.frame()?.max_payload();
        if bytes > most {
            return Err(TopError::Needs {
                what: format!("a payload of up to {bytes} bytes"),
                needs: format!("one of {most} at most: narrower encoder.etrace fields or srcID"),
            });
        }
        // The tables check their own parameters, so that nothing is truncated silently.
        crate::registers::encoder(&self.encoder_params())?;
        if let Some(params) = self.ram_sink_params() {
            crate::registers::ram_sink(&params)?;
        }
        Ok(())
    }

    fn check_prefix(&self) -> Result<(), TopError> {
        let starts = self.prefix.starts_with(|c: char| c.is_ascii_lowercase());
        let other = |c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        match self.prefix.is_empty() || starts && !self.prefix.contains(other) {
            true => Ok(()),
            false => Err(TopError::Needs {
                what: format!("prefix = {:?}", self.prefix),
                needs: "a lower-case letter, then lower-case letters, digits and _ only".into(),
            }),
        }
    }

    /// Returns the name of the top module.
    #[must_use]
    pub fn module(&self) -> String {
        format!("{}te_top", self.prefix)
    }

    fn check_encapsulation(&self) -> Result<(), TopError> {
        let standard = self.standard();
        let name = "encapsulation.standard.src_id_bits";
        // trTeSrcID has 12 bits.
        in_range(name, standard.src_id_bits.into(), 0, 12)?;
        in_range("encapsulation.standard.timestamp_bytes", standard.timestamp_bytes.into(), 0, 8)?;
        in_range("encapsulation.standard.type_bits", standard.type_bits.into(), 0, 8)?;
        let types = (1 << standard.type_bits) - 1;
        in_range(
            "encapsulation.standard.instruction_type",
            standard.instruction_type.into(),
            0,
            types,
        )?;
        let sources = 1u32 << standard.src_id_bits;
        in_range("first_source", self.first_source, 0, sources - 1)?;
        if self.harts > sources - self.first_source {
            return Err(TopError::Needs {
                what: format!("harts = {} from first_source = {}", self.harts, self.first_source),
                needs: format!("{name} of more than {}", standard.src_id_bits),
            });
        }
        Ok(())
    }

    fn check_sink(&self) -> Result<(), TopError> {
        const PORT: &[u32] = &[2, 4, 8, 16];
        match self.sink {
            Sink::AxiStream { word_bytes } => {
                choice("sink.axi_stream.word_bytes", word_bytes, PORT)
            }
            Sink::Atb { word_bytes } => choice("sink.atb.word_bytes", word_bytes, PORT),
            Sink::Memory { address_width, word_bytes, burst_words } => {
                in_range("sink.memory.address_width", address_width, 12, 64)?;
                choice("sink.memory.word_bytes", word_bytes, &PORT[1..])?;
                choice("sink.memory.burst_words", burst_words, &[1, 2, 4, 8, 16])
            }
            Sink::Frames { id, sync_frames } => {
                in_range("sink.frames.id", id, 1, 0x6f)?;
                in_range("sink.frames.sync_frames", sync_frames, 1, 0xffff)
            }
        }
    }

    /// The fields around a payload; none without the standard encapsulation.
    pub(crate) fn standard(&self) -> Standard {
        match self.encapsulation {
            Encapsulation::Standard(standard) => standard,
            Encapsulation::Reference => Standard::default(),
        }
    }

    /// The frame that the encapsulator creates.
    pub(crate) fn frame(&self) -> Result<Frame, TopError> {
        let Encapsulation::Standard(fields) = self.encapsulation else {
            return Ok(Frame::Reference);
        };
        let params = EncapParams::new(fields.src_id_bits, fields.timestamp_bytes, fields.type_bits)
            .and_then(|params| params.with_instruction_type(fields.instruction_type));
        params.map(Frame::Encap).map_err(|error| TopError::Needs {
            what: "encapsulation.standard".into(),
            needs: error.to_string(),
        })
    }

    /// How a reader recovers the payloads.
    pub fn framing(&self) -> Result<Framing, TopError> {
        Ok(match self.frame()? {
            Frame::Encap(params) => Framing::Encap(params),
            Frame::Reference => Framing::Reference,
        })
    }

    /// Number of bytes of the longest payload.
    fn payload_bytes(&self) -> Result<u32, TopError> {
        let layout = self.encoder.etrace.layout(Unit::Hartrace).map_err(ConfigError::from)?;
        Ok(layout.max_bits().div_ceil(8))
    }

    /// Width of the time: the largest that is needed.
    pub(crate) fn time_width(&self) -> u32 {
        let stamp = 8 * u32::from(self.standard().timestamp_bytes);
        stamp.max(self.encoder.etrace.time_bits())
    }

    /// The parameters of the registers of a hart.
    #[must_use]
    pub fn encoder_params(&self) -> EncoderParams {
        let (config, params) = (&self.encoder, &self.encoder.etrace);
        let counts = |unit| config.resync.contains(&unit);
        EncoderParams {
            address_width: params.iaddress_width_p.into(),
            address_lsb: params.iaddress_lsb_p.into(),
            privilege_levels: 1 << params.privilege_width_p.min(3),
            full_address: config.full_address,
            implicit_exception: config.implicit_exception,
            sequential_jump: params.sijump_p,
            implicit_return: match (params.return_stack_size_p, params.call_counter_size_p) {
                (0, 0) => ImplicitReturn::None,
                (0, _) => ImplicitReturn::Counter,
                _ => ImplicitReturn::Stack,
            },
            branch_prediction: params.bpred_size_p > 0,
            jump_target_cache: params.cache_size_p > 0,
            resync: Resync {
                packets: counts(ResyncUnit::Packets),
                cycles: counts(ResyncUnit::Cycles),
                half_words: counts(ResyncUnit::HalfWords),
            },
            triggers: config.triggers,
            filters: config.filters(),
            comparators: config.comparators.into(),
            tval_comparators: config.tval_comparators.into(),
            context_comparators: config.context_comparators.into(),
            context_width: params.context_bits(),
            causes: config.causes(),
            overflow: config.overflow,
            source_bits: self.standard().src_id_bits.into(),
            time_width: self.time_width(),
            internal_time: self.time == TimeSource::Internal,
            protocol: (2, 0),
        }
    }

    /// The parameters of the registers of the sink, if it is memory.
    #[must_use]
    pub fn ram_sink_params(&self) -> Option<RamSinkParams> {
        match self.sink {
            Sink::Memory { address_width, word_bytes, .. } => {
                let null_runs = matches!(self.encapsulation, Encapsulation::Standard(_));
                Some(RamSinkParams { address_width, word_bytes, null_runs })
            }
            _ => None,
        }
    }
}

fn in_range(name: &'static str, value: u32, min: u32, max: u32) -> Result<(), TopError> {
    match (min..=max).contains(&value) {
        true => Ok(()),
        false => Err(TopError::OutOfRange { name, value, min, max }),
    }
}

fn choice(name: &'static str, value: u32, choices: &'static [u32]) -> Result<(), TopError> {
    match choices.contains(&value) {
        true => Ok(()),
        false => Err(TopError::NoChoice { name, value, choices }),
    }
}
