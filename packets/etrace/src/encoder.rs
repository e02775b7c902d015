//! The configuration of an encoder, and the reasons for which it sends payloads.
//!
//! The production encoder and the golden one that checks it share these types, and nothing else.

mod filter;
mod reason;

pub use filter::{Combine, Comparator, Condition, Filter, Function, Input};
pub use reason::Reason;

use crate::ingress::ITypeWidth;
use crate::{Compat, Ioptions, Params, ParamsError, Unit};
use core::fmt;

/// When to resynchronise.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Resync {
    /// Never.
    #[default]
    Off,
    /// After this many packets.
    Packets(u64),
    /// After this many clock cycles.
    Cycles(u64),
    /// After this many retired half-words.
    HalfWords(u64),
}

/// What and how to encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderConfig {
    /// The encoder's parameters.
    pub params: Params,
    /// Unit whose support packets to write.
    pub unit: Unit,
    /// Modes that are switched on.
    pub options: Ioptions,
    /// Width of the itype signal.
    pub itype_width: ITypeWidth,
    /// When to resynchronise.
    pub resync: Resync,
    /// Which instructions to trace.
    pub filter: Filter,
    /// Send 3.0 for an instruction that traps instead of retiring, as in both flow charts (E2, D2).
    /// Decoders then report an instruction that did not retire.
    pub sync_on_unretired: bool,
    /// Number of calls, at least one, that the encoder remembers to keep implicit returns decodable
    /// (D1). With more, fewer of them are reported.
    pub return_marks: usize,
    /// Implementation whose peculiarities to reproduce.
    pub compat: Compat,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            options: Ioptions::default(),
            itype_width: ITypeWidth::default(),
            resync: Resync::default(),
            filter: Filter::default(),
            sync_on_unretired: false,
            return_marks: 2,
            compat: Compat::default(),
        }
    }
}

/// A configuration that no encoder can have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The parameters are not legal.
    Params(ParamsError),
    /// A mode is on for which the parameters have no hardware.
    Mode {
        /// The mode.
        mode: &'static str,
        /// The parameter it needs.
        needs: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params(error) => error.fmt(f),
            Self::Mode { mode, needs } => write!(f, "{mode} needs {needs}"),
        }
    }
}

impl core::error::Error for ConfigError {}

impl From<ParamsError> for ConfigError {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}
