//! Configuration of an encoder.

use hartrace_etrace::{Layout, Params, ParamsError, Unit};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The parameters of an encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Maximum number of blocks that retire in one cycle.
    pub lanes: u8,
    /// Width of *iretire*, which counts half-words.
    pub iretire_width_p: u8,
    /// Width of *itype*: 3, or 4 to distinguish calls and returns.
    pub itype_width_p: u8,
    /// Whether full addresses can be switched on.
    #[serde(alias = "full-address", alias = "full")]
    pub full_address: bool,
    /// Whether implicit exceptions can be switched on.
    #[serde(alias = "implicit-exception", alias = "ie")]
    pub implicit_exception: bool,
    /// Whether there are trigger inputs: trace on, trace off and notify.
    pub triggers: bool,
    /// Number of address ranges to filter by. There are as many filters as comparators of one kind, at least one: each has
    /// privilege levels, causes and up to three comparators of its own.
    pub comparators: u8,
    /// Number of ranges of the context to filter by.
    #[serde(skip_serializing_if = "is_none")]
    pub context_comparators: u8,
    /// Number of ranges of trap values to filter by.
    #[serde(skip_serializing_if = "is_none")]
    pub tval_comparators: u8,
    /// Whether filters can ask for causes of traps, and for interrupts or exceptions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub filter_excint_p: bool,
    /// Whether each hart has an input that says at which privilege levels it may be traced. What it does at others comes
    /// no further than that input.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub permission: bool,
    /// Number of cycles of input that can be queued. A cycle needs its place from the hart on, so
    /// with fewer than eight not even one lane is accepted in every cycle; more compensate for
    /// cycles with several packets. Up to 16 or 32, a LUT RAM costs the same.
    pub ingress_depth: u8,
    /// Whether cycles of input with empty lanes are joined while others wait, so that the queue
    /// empties faster than it fills. With one lane there is nothing to join, and with time in
    /// packets each cycle has its own time.
    pub pack: bool,
    /// Units in which the period of resynchronisation can be counted; at least one.
    pub resync: Vec<ResyncUnit>,
    /// What happens to input that does not fit.
    pub overflow: Overflow,
    /// How payloads are compressed.
    pub compression: Compression,
    /// Parameters that determine the format of packets. Sizes of 0 exclude a mode.
    pub etrace: Params,
}

/// Unit in which the period until a resynchronisation is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResyncUnit {
    /// Packets.
    Packets,
    /// Clock cycles.
    Cycles,
    /// Retired half-words.
    HalfWords,
}

/// What happens to input that does not fit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// The hart waits.
    Stall,
    /// It is dropped, and the trace reports the loss.
    Drop,
    /// Software chooses one of both: `trTeInstStallEna`.
    Either,
}

/// How payloads are compressed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// As in the specification: of the identical bits at the top, one is sent.
    #[default]
    Bits,
    /// As in rv_tracer: addresses use whole bytes and one bit, and the rest of the last byte is 0.
    /// Payloads, including their flags, are those of [`Unit::RvTracer`].
    Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lanes: 1,
            iretire_width_p: 5,
            itype_width_p: 4,
            full_address: true,
            implicit_exception: false,
            triggers: false,
            comparators: 0,
            context_comparators: 0,
            tval_comparators: 0,
            filter_excint_p: false,
            permission: false,
            ingress_depth: 16,
            pack: false,
            resync: vec![ResyncUnit::Packets],
            overflow: Overflow::Stall,
            compression: Compression::Bits,
            etrace: Params { iaddress_width_p: 64, ecause_width_p: 5, ..Params::default() },
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
    /// The parameters of the packet format are not legal.
    #[error("etrace: {0}")]
    Params(#[from] ParamsError),
    /// Two parameters do not fit together.
    #[error("{name} needs {needs}")]
    Needs {
        /// The first.
        name: &'static str,
        /// The requirement.
        needs: &'static str,
    },
}

impl Config {
    /// Checks every parameter.
    pub fn check(&self) -> Result<(), ConfigError> {
        let params = &self.etrace;
        self.layout()?;
        let ranges = [
            ("lanes", self.lanes, 1, 4),
            ("iretire_width_p", self.iretire_width_p, 2, 16),
            ("itype_width_p", self.itype_width_p, 3, 4),
            ("comparators", self.comparators, 0, 8),
            ("context_comparators", self.context_comparators, 0, 8),
            ("tval_comparators", self.tval_comparators, 0, 8),
            ("ingress_depth", self.ingress_depth, 2, 128),
            ("etrace.iaddress_width_p", params.iaddress_width_p, 24, 64),
            ("etrace.bpred_size_p", params.bpred_size_p, 0, 10),
            ("etrace.cache_size_p", params.cache_size_p, 0, 8),
            ("etrace.return_stack_size_p", params.return_stack_size_p, 0, 8),
            ("etrace.call_counter_size_p", params.call_counter_size_p, 0, 8),
        ];
        for (name, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { name, value, min, max });
            }
        }
        let needs = |is: bool, has: bool, name, needs| match is && !has {
            true => Err(ConfigError::Needs { name, needs }),
            false => Ok(()),
        };
        let history = params.hpred_size_p > 0;
        let none = "a software encoder: no hardware has history prediction yet";
        needs(history, false, "etrace.hpred_size_p", none)?;
        needs(true, !self.resync.is_empty(), "resync", "at least one unit to count in")?;
        let compares = self.context_comparators > 0;
        needs(compares, params.context_bits() > 0, "context_comparators", "nocontext_p = false")?;
        // trTeFilterMatchEcauseLow and High have a bit for each of 64 causes.
        let causes = params.ecause_width_p <= 6;
        needs(
            self.filter_excint_p,
            causes,
            "filter_excint_p",
            "etrace.ecause_width_p of at most 6",
        )?;
        let levels = (2..=3).contains(&params.privilege_width_p);
        needs(self.permission, levels, "permission", "etrace.privilege_width_p of 2 or 3")?;
        let comparators = self.comparators + self.context_comparators + self.tval_comparators;
        // trTeFilterComp1 to 3 have three bits.
        needs(comparators > 8, false, "comparators", "at most 8 of all kinds together")?;
        let stack = params.return_stack_size_p > 0;
        let counter = params.call_counter_size_p > 0;
        needs(stack || counter, self.itype_width_p == 4, "implicit return", "itype_width_p = 4")?;
        needs(stack, !counter, "return_stack_size_p", "call_counter_size_p = 0: one or the other")?;
        for (has, needed) in [
            (params.iaddress_width_p == 64, "etrace.iaddress_width_p = 64"),
            (params.iaddress_lsb_p == 0, "etrace.iaddress_lsb_p = 0"),
            // Its flags do not distinguish a notify or a return from other reports (R3).
            (!self.triggers, "triggers = false"),
            (!stack, "etrace.return_stack_size_p = 0"),
            (!counter, "etrace.call_counter_size_p = 0"),
        ] {
            let dialect = self.compression == Compression::Bytes;
            needs(dialect, has, "compression = \"bytes\"", needed)?;
        }
        needs(
            params.iaddress_lsb_p == 2,
            self.iretire_width_p >= 2,
            "iaddress_lsb_p = 2",
            "iretire_width_p of at least 2",
        )
    }

    /// The unit whose payloads these are, for a decoder.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match self.compression {
            Compression::Bits => Unit::Hartrace,
            Compression::Bytes => Unit::RvTracer,
        }
    }

    /// Whether the hart may have to wait.
    #[must_use]
    pub fn may_stall(&self) -> bool {
        self.overflow != Overflow::Drop
    }

    /// Whether input may be dropped.
    #[must_use]
    pub fn may_drop(&self) -> bool {
        self.overflow != Overflow::Stall
    }

    /// Number of lanes.
    pub(crate) fn n(&self) -> u32 {
        self.lanes.into()
    }

    /// Width of internal addresses, without the bits that are never sent.
    pub(crate) fn address(&self) -> u32 {
        self.etrace.address_bits()
    }

    /// Positions of the bits of payloads.
    pub(crate) fn layout(&self) -> Result<Layout, ConfigError> {
        Ok(self.etrace.layout(self.unit())?)
    }

    /// Number of filters.
    pub(crate) fn filters(&self) -> u32 {
        let kinds = [self.comparators, self.context_comparators, self.tval_comparators, 1];
        kinds.into_iter().max().unwrap_or(1).into()
    }

    /// Whether filters can ask for traps.
    pub(crate) fn filters_by_trap(&self) -> bool {
        self.filter_excint_p || self.tval_comparators > 0
    }

    /// Number of causes that a filter can ask for.
    pub(crate) fn causes(&self) -> u32 {
        if self.filter_excint_p { 1 << self.etrace.ecause_width_p } else { 0 }
    }

    /// Whether groups can be joined.
    pub(crate) fn packs(&self) -> bool {
        self.pack && self.lanes > 1 && self.etrace.time_bits() == 0
    }

    pub(crate) fn counts(&self, unit: ResyncUnit) -> bool {
        self.resync.contains(&unit)
    }

    /// Width of the number of entries on the return stack; 0 without implicit return.
    pub(crate) fn depth(&self) -> u32 {
        self.etrace.irdepth_bits()
    }

    pub(crate) fn returns(&self) -> bool {
        self.depth() > 0
    }

    pub(crate) fn predicts(&self) -> bool {
        self.etrace.bpred_size_p > 0
    }

    pub(crate) fn caches(&self) -> bool {
        self.etrace.cache_size_p > 0
    }
}

/// Parameters of filters that are not there are not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(number: &u8) -> bool {
    *number == 0
}
