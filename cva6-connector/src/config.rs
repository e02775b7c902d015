//! Configuration of a connector.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The parameters of a connector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Maximum number of instructions committed in one cycle.
    pub lanes: u8,
    /// Maximum number of blocks output in one cycle, if less than `lanes`: for
    /// [`Building::Serialised`].
    pub blocks: Option<u8>,
    /// Width of addresses, causes and trap values of the hart: 32 or 64.
    pub xlen: u8,
    /// Width of the addresses and trap values that the encoder receives, if less than `xlen`: what is above is left out.
    pub iaddress_width_p: Option<u8>,
    /// Width of *itype*: 3, or 4 to report calls and returns.
    pub itype_width_p: u8,
    /// Width of *iretire*, which counts half-words.
    pub iretire_width_p: u8,
    /// Width of *cause*.
    pub ecause_width_p: u8,
    /// Width of *priv*.
    pub privilege_width_p: u8,
    /// Width of the context; 0 for none.
    pub context_width_p: u8,
    /// Whether each lane has an input that marks sequentially inferable jumps.
    pub sijump: bool,
    /// Whether an input says at which levels the hart may be traced. What is committed at others goes no further.
    pub permission: bool,
    /// What a block is.
    pub retirement: Retirement,
    /// How blocks are built.
    pub building: Building,
    /// Whether the hart keeps what it commits while `stall_o` is set. If not, the encoder must not stall, and commits
    /// for which there is no room are lost and reported.
    pub holds: bool,
    /// Maximum number of cycles of commits that wait before the state machine of
    /// [`Building::Serialised`].
    pub fifo_depth: u8,
}

/// What a block is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retirement {
    /// Instructions up to and including the next one that may change the flow of control.
    #[default]
    Block,
    /// One instruction.
    Single,
}

/// How blocks are built.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Building {
    /// All instructions of a cycle at once. Nothing can be lost.
    #[default]
    Direct,
    /// One instruction after the other, from a FIFO for each lane. The hart must commit at most one
    /// instruction per cycle on average; it has to hold commits that find the FIFOs full, or they are reported as lost.
    Serialised,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lanes: 2,
            blocks: None,
            xlen: 64,
            iaddress_width_p: None,
            itype_width_p: 4,
            iretire_width_p: 5,
            ecause_width_p: 5,
            privilege_width_p: 2,
            context_width_p: 0,
            sijump: false,
            permission: false,
            retirement: Retirement::default(),
            building: Building::default(),
            holds: false,
            fifo_depth: 16,
        }
    }
}

/// A parameter set that cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A parameter is out of its range.
    #[error("{name} = {value} is not in {min}..={max}")]
    OutOfRange {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u8,
        /// Smallest legal value.
        min: u8,
        /// Largest legal value.
        max: u8,
    },
    /// There is no such instruction set.
    #[error("xlen = {0} is neither 32 nor 64")]
    Xlen(u8),
}

impl Config {
    /// The connector whose outputs match the inputs of an encoder.
    #[must_use]
    pub fn for_encoder(encoder: &hartrace_encoder_hdl::Config) -> Self {
        let params = &encoder.etrace;
        let width = params.iaddress_width_p;
        let xlen = if width > 32 { 64 } else { 32 };
        Self {
            lanes: encoder.lanes,
            xlen,
            iaddress_width_p: (width != xlen).then_some(width),
            itype_width_p: encoder.itype_width_p,
            iretire_width_p: encoder.iretire_width_p,
            ecause_width_p: params.ecause_width_p,
            privilege_width_p: params.privilege_width_p,
            context_width_p: if params.nocontext_p { 0 } else { params.context_width_p },
            sijump: params.sijump_p,
            permission: encoder.permission,
            holds: encoder.may_stall(),
            ..Self::default()
        }
    }

    /// Adapts the configuration to a hart that commits up to `lanes` instructions in one cycle.
    /// They are processed one after the other if fewer blocks than that may be output.
    #[must_use]
    pub fn with_commit_ports(self, lanes: u8) -> Self {
        match self.blocks.unwrap_or(self.lanes) {
            blocks if blocks < lanes => {
                Self { lanes, blocks: Some(blocks), building: Building::Serialised, ..self }
            }
            _ => Self { lanes, blocks: None, ..self },
        }
    }

    /// Checks every parameter.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !matches!(self.xlen, 32 | 64) {
            return Err(ConfigError::Xlen(self.xlen));
        }
        for (name, value, min, max) in [
            ("lanes", self.lanes, 1, 4),
            ("blocks", self.most_blocks() as u8, self.fewest_blocks(), self.lanes),
            ("itype_width_p", self.itype_width_p, 3, 4),
            ("iretire_width_p", self.iretire_width_p, 2, 16),
            ("iaddress_width_p", self.address() as u8, 24, self.xlen),
            ("ecause_width_p", self.ecause_width_p, 1, self.address() as u8),
            ("privilege_width_p", self.privilege_width_p, 2, if self.permission { 3 } else { 8 }),
            ("context_width_p", self.context_width_p, 0, 64),
            ("fifo_depth", self.fifo_depth, 2, 128),
        ] {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { name, value, min, max });
            }
        }
        Ok(())
    }

    /// Minimum number of output blocks: if the blocks of a cycle are built at once, they are output
    /// at once.
    fn fewest_blocks(&self) -> u8 {
        match self.building {
            Building::Direct => self.lanes,
            Building::Serialised => 1,
        }
    }

    /// Number of lanes.
    pub(crate) fn n(&self) -> u32 {
        self.lanes.into()
    }

    /// Maximum number of blocks in one cycle.
    pub(crate) fn most_blocks(&self) -> u32 {
        self.blocks.unwrap_or(self.lanes).into()
    }

    /// Width of addresses, as the encoder has them.
    pub(crate) fn address(&self) -> u32 {
        self.iaddress_width_p.unwrap_or(self.xlen).into()
    }

    pub(crate) fn itype(&self) -> u32 {
        self.itype_width_p.into()
    }

    pub(crate) fn iretire(&self) -> u32 {
        self.iretire_width_p.into()
    }
}
