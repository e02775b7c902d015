//! Parameters of the tables.

use crate::Overflow;
use hartrace_etrace::Mode;
use thiserror::Error;

/// Features of a trace encoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderParams {
    /// Width of an instruction address in bits, up to 64.
    pub address_width: u32,
    /// Number of bits at the bottom of an address that the encoder does not store, up to 2.
    pub address_lsb: u32,
    /// Number of privilege levels that can be distinguished: 2, 4 or 8.
    pub privilege_levels: u32,
    /// Whether full addresses can be switched on.
    pub full_address: bool,
    /// Whether implicit exceptions can be switched on.
    pub implicit_exception: bool,
    /// Whether sequential jumps can be made implicit.
    pub sequential_jump: bool,
    /// How returns can be made implicit.
    pub implicit_return: ImplicitReturn,
    /// Whether there is a branch predictor.
    pub branch_prediction: bool,
    /// Whether there is a jump target cache.
    pub jump_target_cache: bool,
    /// Units in which the period of resynchronisation can be counted.
    pub resync: Resync,
    /// Whether there are trigger inputs.
    pub triggers: bool,
    /// Number of filters, up to 8; at least as many as comparators of any kind.
    pub filters: u32,
    /// Number of address ranges to filter by; up to 8 comparators of all kinds.
    pub comparators: u32,
    /// Number of ranges of trap values to filter by.
    pub tval_comparators: u32,
    /// Number of ranges of the context to filter by.
    pub context_comparators: u32,
    /// Width of the context in bits, up to 64; at least 1 if filters compare it.
    pub context_width: u32,
    /// Number of causes of traps that filters can ask for, up to 64; 0 if they cannot ask for traps of a kind.
    pub causes: u32,
    /// What happens when there is no room for trace.
    pub overflow: Overflow,
    /// Width of the source in packets in bits, up to 12; 0 if they have none.
    pub source_bits: u32,
    /// Width of the time in bits, up to 64; 0 if there is none.
    pub time_width: u32,
    /// Whether the encoder counts the time itself; otherwise it comes from outside.
    pub internal_time: bool,
    /// Version of the trace protocol, major and minor, each up to 15.
    pub protocol: (u32, u32),
}

/// How the encoder keeps track of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImplicitReturn {
    /// Not at all.
    None,
    /// It counts them.
    Counter,
    /// It compares addresses of returns with those it expects.
    Stack,
}

/// Units in which the period of resynchronisation can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resync {
    /// Packets.
    pub packets: bool,
    /// Clock cycles.
    pub cycles: bool,
    /// Retired half-words.
    pub half_words: bool,
}

/// Features of a sink in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamSinkParams {
    /// Width of an address in bits, from 12 to 64.
    pub address_width: u32,
    /// Size of a word in memory in bytes: 4, 8, 16 or 32. The ring buffer starts and ends at
    /// multiples of it.
    pub word_bytes: u32,
    /// Whether runs of null packets can be put into the trace.
    pub null_runs: bool,
}

/// Parameters of the registers of an analysis behind a decoder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AnalysisParams {
    /// Width of an address in bits, 32 to 64.
    pub address_width: u32,
    /// Number of entries of the profile: a power of 2, 16 to 65536.
    pub entries: u32,
    /// Number of windows that are kept: a power of 2, 2 to 256.
    pub windows: u32,
    /// Outcomes in a window, 16 to 32.
    pub window_bits: u32,
    /// Number of kinds of packets that are counted, 1 to 32.
    pub kinds: u32,
    /// Number of lengths of packets that are counted, 1 to 32.
    pub lengths: u32,
    /// Whether blocks are known: without them, only packets are counted.
    pub blocks: bool,
}

/// Parameters of the registers of a hardware decoder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DecoderParams {
    /// Bytes per cycle, 1 to 8.
    pub unroll: u32,
    /// Width of the source in packets in bits, up to 12; 0 if they have none.
    pub source_bits: u32,
    /// Whether bytes come in CoreSight frames.
    pub frames: bool,
    /// What the program is followed with.
    pub walker: Option<WalkerParams>,
}

/// Parameters of the registers of a walker behind a decoder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WalkerParams {
    /// Width of an address in bits, 4 to 64.
    pub address_width: u32,
    /// Bits of the number of an entry of the table, 1 to 24.
    pub index_bits: u32,
    /// Bits of a word of the table, 1 to 128.
    pub word_bits: u32,
    /// Number of trap vectors, up to 8.
    pub vectors: u32,
}

/// Parameters that no component can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParamsError {
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
    /// A parameter has to be a power of 2.
    #[error("{name} = {value} is not a power of 2")]
    NoPowerOf2 {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u32,
    },
}

impl EncoderParams {
    /// Whether the encoder has an optional mode.
    #[must_use]
    pub fn has(&self, mode: Mode) -> bool {
        match mode {
            Mode::ImplicitReturn => self.implicit_return != ImplicitReturn::None,
            Mode::ImplicitException => self.implicit_exception,
            Mode::SequentiallyInferredJump => self.sequential_jump,
            Mode::BranchPrediction => self.branch_prediction,
            Mode::JumpTargetCache => self.jump_target_cache,
            Mode::FullAddress => self.full_address,
            Mode::DeltaAddress | Mode::HistoryPrediction => false,
        }
    }

    /// An encoder that has everything.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            address_width: 64,
            address_lsb: 1,
            privilege_levels: 8,
            full_address: true,
            implicit_exception: true,
            sequential_jump: true,
            implicit_return: ImplicitReturn::Stack,
            branch_prediction: true,
            jump_target_cache: true,
            resync: Resync { packets: true, cycles: true, half_words: true },
            triggers: true,
            filters: 8,
            comparators: 4,
            tval_comparators: 1,
            context_comparators: 3,
            context_width: 64,
            causes: 64,
            overflow: Overflow::Either,
            source_bits: 12,
            time_width: 64,
            internal_time: true,
            protocol: (2, 0),
        }
    }

    /// An encoder that has only the mandatory features.
    #[must_use]
    pub fn minimal() -> Self {
        Self {
            address_width: 32,
            address_lsb: 1,
            privilege_levels: 4,
            full_address: false,
            implicit_exception: false,
            sequential_jump: false,
            implicit_return: ImplicitReturn::None,
            branch_prediction: false,
            jump_target_cache: false,
            resync: Resync { packets: true, cycles: false, half_words: false },
            triggers: false,
            filters: 1,
            comparators: 0,
            tval_comparators: 0,
            context_comparators: 0,
            context_width: 0,
            causes: 0,
            overflow: Overflow::Drop,
            source_bits: 0,
            time_width: 0,
            internal_time: false,
            protocol: (2, 0),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        in_range("address_width", self.address_width, 4, 64)?;
        in_range("address_lsb", self.address_lsb, 0, 2)?;
        in_range("privilege_levels", self.privilege_levels, 2, 8)?;
        power_of_2("privilege_levels", self.privilege_levels)?;
        in_range("comparators", self.comparators, 0, 8)?;
        in_range("tval_comparators", self.tval_comparators, 0, 8 - self.comparators)?;
        let left = 8 - self.comparators - self.tval_comparators;
        in_range("context_comparators", self.context_comparators, 0, left)?;
        let most = self.comparators.max(self.tval_comparators).max(self.context_comparators);
        in_range("filters", self.filters, most.max(1), 8)?;
        let narrowest = u32::from(self.context_comparators > 0);
        in_range("context_width", self.context_width, narrowest, 64)?;
        in_range("causes", self.causes, 0, 64)?;
        in_range("source_bits", self.source_bits, 0, 12)?;
        in_range("time_width", self.time_width, 0, 64)?;
        in_range("protocol.0", self.protocol.0, 0, 15)?;
        in_range("protocol.1", self.protocol.1, 0, 15)
    }
}

impl AnalysisParams {
    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        in_range("address_width", self.address_width, 32, 64)?;
        in_range("entries", self.entries, 16, 1 << 16)?;
        power_of_2("entries", self.entries)?;
        in_range("windows", self.windows, 2, 256)?;
        power_of_2("windows", self.windows)?;
        in_range("window_bits", self.window_bits, 16, 32)?;
        in_range("kinds", self.kinds, 1, 32)?;
        in_range("lengths", self.lengths, 1, 32)
    }
}

impl DecoderParams {
    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        in_range("unroll", self.unroll, 1, 8)?;
        in_range("source_bits", self.source_bits, 0, 12)?;
        let Some(walker) = &self.walker else { return Ok(()) };
        in_range("address_width", walker.address_width, 4, 64)?;
        in_range("index_bits", walker.index_bits, 1, 24)?;
        in_range("word_bits", walker.word_bits, 1, 128)?;
        in_range("vectors", walker.vectors, 0, 8)
    }
}

impl RamSinkParams {
    pub(crate) fn check(&self) -> Result<(), ParamsError> {
        in_range("word_bytes", self.word_bytes, 4, 32)?;
        power_of_2("word_bytes", self.word_bytes)?;
        in_range("address_width", self.address_width, 12, 64)
    }
}

fn in_range(name: &'static str, value: u32, min: u32, max: u32) -> Result<(), ParamsError> {
    match (min..=max).contains(&value) {
        true => Ok(()),
        false => Err(ParamsError::OutOfRange { name, value, min, max }),
    }
}

fn power_of_2(name: &'static str, value: u32) -> Result<(), ParamsError> {
    match value.is_power_of_two() {
        true => Ok(()),
        false => Err(ParamsError::NoPowerOf2 { name, value }),
    }
}
