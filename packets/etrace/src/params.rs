use crate::{Layout, MAX_PAYLOAD_BYTES, Unit};
use core::fmt;

/// The encoder's parameters that shape packets, under the specification's names.
///
/// With the `serde` feature the keys of a parameter file are these names; flags are written 0 and 1.
///
/// Spec: E-Trace 2.0, chapter 10 "Parameters and Discovery".
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Params {
    /// Width of instruction addresses, normally XLEN.
    pub iaddress_width_p: u8,
    /// Number of low address bits that are never sent: 1 with compressed instructions, else 2.
    pub iaddress_lsb_p: u8,
    /// Width of the privilege field.
    pub privilege_width_p: u8,
    /// Width of the ecause field.
    pub ecause_width_p: u8,
    /// Width of the context field.
    pub context_width_p: u8,
    /// There is no context field.
    #[cfg_attr(feature = "serde", serde(with = "flag"))]
    pub nocontext_p: bool,
    /// Width of the time field.
    pub time_width_p: u8,
    /// There is no time field.
    #[cfg_attr(feature = "serde", serde(with = "flag"))]
    pub notime_p: bool,
    /// Width of the format 0 subformat field.
    pub f0s_width_p: u8,
    /// The branch predictor has `2^bpred_size_p` entries; 0 = none.
    pub bpred_size_p: u8,
    /// The jump target cache has `2^cache_size_p` entries; 0 = none.
    pub cache_size_p: u8,
    /// The return stack has `2^return_stack_size_p` entries; 0 = none.
    pub return_stack_size_p: u8,
    /// Bits of the nested call counter; 0 = none.
    pub call_counter_size_p: u8,
    /// The hart identifies sequentially inferable jumps.
    #[cfg_attr(feature = "serde", serde(with = "flag"))]
    pub sijump_p: bool,
    /// The tagged tables of the history predictor have `2^hpred_size_p` entries each; 0 = none. Not
    /// a parameter of the specification: see [`Mode::HistoryPrediction`](crate::Mode).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_none"))]
    pub hpred_size_p: u8,
}

/// Whether there is no such table: files of encoders without it do not mention it.
#[cfg(feature = "serde")]
fn is_none(size: &u8) -> bool {
    *size == 0
}

/// The values that follow from the attribute defaults of the specification.
impl Default for Params {
    fn default() -> Self {
        Self {
            iaddress_width_p: 32,
            iaddress_lsb_p: 1,
            privilege_width_p: 2,
            ecause_width_p: 4,
            context_width_p: 1,
            nocontext_p: true,
            time_width_p: 1,
            notime_p: true,
            f0s_width_p: 0,
            bpred_size_p: 0,
            cache_size_p: 0,
            return_stack_size_p: 0,
            call_counter_size_p: 0,
            sijump_p: false,
            hpred_size_p: 0,
        }
    }
}

/// A parameter set that no encoder can have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParamsError {
    /// A parameter is out of range.
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
    /// The longest payload needs this many bits, more than 31 bytes.
    PayloadTooLong(u32),
    /// Branch predictor and jump target cache both exist but the format 0 subformat has no bits.
    NoSubformat,
    /// A history predictor exists, but a subformat field of this width cannot name its payloads.
    NoHistorySubformat,
    /// The unit has no history predictor.
    NoHistory,
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { name, value, min, max } => {
                write!(f, "{name} = {value} is not in {min}..={max}")
            }
            Self::PayloadTooLong(bits) => write!(
                f,
                "the longest payload needs {bits} bits, the limit is {}",
                MAX_PAYLOAD_BYTES.saturating_mul(8)
            ),
            Self::NoSubformat => f.write_str(
                "bpred_size_p and cache_size_p are both set, so f0s_width_p must be at least 1",
            ),
            Self::NoHistorySubformat => f.write_str(
                "hpred_size_p is set, so f0s_width_p must be at least 2, or 0 if neither bpred_size_p nor cache_size_p is set",
            ),
            Self::NoHistory => f.write_str("hpred_size_p is set, but rv_tracer has no such mode"),
        }
    }
}

impl core::error::Error for ParamsError {}

impl Params {
    /// The parameters of rv_tracer, which are not configurable there.
    pub const RV_TRACER: Self = Self {
        iaddress_width_p: 64,
        iaddress_lsb_p: 0,
        privilege_width_p: 2,
        ecause_width_p: 64,
        context_width_p: 1,
        nocontext_p: true,
        time_width_p: 1,
        notime_p: true,
        f0s_width_p: 0,
        bpred_size_p: 0,
        cache_size_p: 0,
        return_stack_size_p: 0,
        call_counter_size_p: 0,
        sijump_p: false,
        hpred_size_p: 0,
    };

    /// The field table of these parameters, with the support packet of `unit`.
    pub fn layout(&self, unit: Unit) -> Result<Layout, ParamsError> {
        self.check()?;
        if self.hpred_size_p > 0 && unit == Unit::RvTracer {
            return Err(ParamsError::NoHistory);
        }
        let layout = Layout::build(*self, unit);
        let bits = layout.max_bits();
        if bits > MAX_PAYLOAD_BYTES.saturating_mul(8) as u32 {
            return Err(ParamsError::PayloadTooLong(bits));
        }
        Ok(layout)
    }

    /// Width of a transmitted address: `iaddress_width_p - iaddress_lsb_p`.
    pub const fn address_bits(&self) -> u32 {
        self.iaddress_width_p.saturating_sub(self.iaddress_lsb_p) as u32
    }

    /// Width of the irdepth field.
    ///
    /// Spec: E-Trace 2.0, 7.6 "Format 2 packets", *irdepth*.
    pub const fn irdepth_bits(&self) -> u32 {
        let stack = self.return_stack_size_p as u32;
        let extra = if stack > 0 { 1 } else { 0 };
        stack.saturating_add(extra).saturating_add(self.call_counter_size_p as u32)
    }

    /// Width of the time field; 0 if there is none.
    pub const fn time_bits(&self) -> u32 {
        if self.notime_p { 0 } else { self.time_width_p as u32 }
    }

    /// Width of the context field; 0 if there is none.
    pub const fn context_bits(&self) -> u32 {
        if self.nocontext_p { 0 } else { self.context_width_p as u32 }
    }

    fn check(&self) -> Result<(), ParamsError> {
        let ranges = [
            ("iaddress_width_p", self.iaddress_width_p, 2, 64),
            ("iaddress_lsb_p", self.iaddress_lsb_p, 0, 2),
            ("privilege_width_p", self.privilege_width_p, 1, 8),
            ("ecause_width_p", self.ecause_width_p, 1, 64),
            ("context_width_p", self.context_width_p, 1, 64),
            ("time_width_p", self.time_width_p, 1, 64),
            ("f0s_width_p", self.f0s_width_p, 0, 8),
            ("bpred_size_p", self.bpred_size_p, 0, 16),
            ("cache_size_p", self.cache_size_p, 0, 16),
            ("return_stack_size_p", self.return_stack_size_p, 0, 15),
            ("call_counter_size_p", self.call_counter_size_p, 0, 16),
            ("hpred_size_p", self.hpred_size_p, 0, 9),
        ];
        for (name, value, min, max) in ranges {
            if value < min || value > max {
                return Err(ParamsError::OutOfRange { name, value, min, max });
            }
        }
        if self.iaddress_lsb_p >= self.iaddress_width_p {
            return Err(ParamsError::OutOfRange {
                name: "iaddress_lsb_p",
                value: self.iaddress_lsb_p,
                min: 0,
                max: self.iaddress_width_p.saturating_sub(1),
            });
        }
        if self.bpred_size_p > 0 && self.cache_size_p > 0 && self.f0s_width_p == 0 {
            return Err(ParamsError::NoSubformat);
        }
        let others = self.bpred_size_p > 0 || self.cache_size_p > 0;
        let named = self.f0s_width_p >= 2 || (self.f0s_width_p == 0 && !others);
        if self.hpred_size_p > 0 && !named {
            return Err(ParamsError::NoHistorySubformat);
        }
        Ok(())
    }
}

/// Flags are numbers in parameter files, as in the specification; `true` and `false` also work.
#[cfg(feature = "serde")]
mod flag {
    use core::fmt;
    use serde::{Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(flag: &bool, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8((*flag).into())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
        struct Flag;
        impl de::Visitor<'_> for Flag {
            type Value = bool;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0 or 1")
            }

            fn visit_bool<E>(self, v: bool) -> Result<bool, E> {
                Ok(v)
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<bool, E> {
                match v {
                    0 => Ok(false),
                    1 => Ok(true),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(v), &self)),
                }
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<bool, E> {
                u64::try_from(v)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self))
                    .and_then(|v| self.visit_u64(v))
            }
        }
        d.deserialize_any(Flag)
    }
}
