//! All compressors of data traces, by name.

use super::packed::PackedCoder;
use super::{Adac, DataCoder, DataStep, Filter, FirstAccess, NexusCoder, Reference};
use crate::cost::{Cost, PartKind};
use crate::{CompressError, Packed, settings};
use hartrace_isa::Xlen;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use thiserror::Error;

/// A compressor of data traces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataScheme {
    /// Addresses as the groups of bits that differ from the previous one, as in Nexus messages.
    Nexus,
    /// Addresses that cannot be computed from registers whose values are known.
    Filter(Filter),
    /// Addresses through an address cache.
    Adac(Adac),
    /// The addresses that the filter leaves, through an address cache. The source suggests it, and has no figures.
    Filtered(Filter, Adac),
    /// Values that were not loaded or stored before.
    FirstAccess(FirstAccess),
    /// All addresses, byte by byte, through a general-purpose compressor.
    PackedAddresses(Packed),
    /// All loaded values in the same way, each in its own size.
    PackedValues(Packed),
}

/// No data scheme has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no data scheme `{0}`")]
pub struct UnknownDataScheme(String);

/// Parses names such as `DAF`, `ADAC-16x4`, `DAF+ADAC-16x4`, `FAT-8K`, `FAC-1K[ways=2]`, `gzip-1-DA` (addresses) and `bzip2-1-LV` (loaded
/// values).
impl FromStr for DataScheme {
    type Err = UnknownDataScheme;

    fn from_str(name: &str) -> Result<Self, UnknownDataScheme> {
        parse(name).ok_or_else(|| UnknownDataScheme(name.into()))
    }
}

fn parse(name: &str) -> Option<DataScheme> {
    let (base, settings) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some(parts) => parts,
        None => (name, ""),
    };
    let adac = |sizes: &str| {
        let (sets, ways) = sizes.split_once('x')?;
        let (sets, ways) = (sets.parse().ok()?, ways.parse().ok()?);
        settings::apply(Adac { sets, ways, ..Adac::default() }, settings).ok()
    };
    let cache = |size: &str, dedicated| {
        let size = size.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1 << 10)?;
        settings::apply(FirstAccess { size, dedicated, ..FirstAccess::default() }, settings).ok()
    };
    let packed = |name: &str| match name.split_once('-')? {
        ("gzip", level) => Some(Packed::Gzip { level: level.parse().ok()? }),
        ("bzip2", level) => Some(Packed::Bzip2 { level: level.parse().ok()? }),
        _ => None,
    };
    if let Some(sizes) = base.strip_prefix("DAF+ADAC-") {
        return Some(DataScheme::Filtered(Filter::default(), adac(sizes)?));
    }
    if let Some(sizes) = base.strip_prefix("ADAC-") {
        return adac(sizes).map(DataScheme::Adac);
    }
    if let Some(size) = base.strip_prefix("FAT-") {
        return cache(size, false).map(DataScheme::FirstAccess);
    }
    if let Some(size) = base.strip_prefix("FAC-") {
        return cache(size, true).map(DataScheme::FirstAccess);
    }
    match name {
        "NEXS-DA" => Some(DataScheme::Nexus),
        "DAF" => Some(DataScheme::Filter(Filter::default())),
        _ => match base.rsplit_once('-')? {
            (name, "DA") => packed(name).map(DataScheme::PackedAddresses),
            (name, "LV") => packed(name).map(DataScheme::PackedValues),
            _ => None,
        },
    }
}

impl DataScheme {
    /// The schemes of the source, with its sizes.
    pub const DEFAULT: [&str; 8] =
        ["NEXS-DA", "DAF", "ADAC-16x4", "ADAC-128x4", "FAT-8K", "FAT-64K", "FAC-1K", "FAC-8K"];

    /// Returns the schemes of [`DataScheme::DEFAULT`], with their names.
    pub fn defaults() -> Vec<(&'static str, Self)> {
        Self::DEFAULT.iter().filter_map(|name| Some((*name, name.parse().ok()?))).collect()
    }

    /// Returns the same scheme where trap handlers are traced, or not: what an operating system writes to registers and memory is in no
    /// trace.
    #[must_use]
    pub fn with_handlers(self, handlers: bool) -> Self {
        match self {
            Self::Filter(_) => Self::Filter(Filter { handlers }),
            Self::Filtered(_, adac) => Self::Filtered(Filter { handlers }, adac),
            Self::FirstAccess(cache) => Self::FirstAccess(FirstAccess { handlers, ..cache }),
            other => other,
        }
    }

    /// Returns whether values are sent, not addresses.
    pub fn is_of_values(&self) -> bool {
        matches!(self, Self::FirstAccess(_) | Self::PackedValues(_))
    }

    /// Returns the recovered field of a step: the address, or the value that a register received from memory.
    /// For a store-conditional that value is 0 or 1.
    pub fn field(&self, step: &DataStep) -> Option<u64> {
        let reference = step.reference;
        match (self.is_of_values(), step.succeeded) {
            (true, Some(succeeded)) => Some(u64::from(!succeeded)),
            (true, None) => reference.and_then(|reference| reference.loaded),
            (false, _) => reference.map(|reference| reference.address),
        }
    }

    /// Returns a step without the field to be recovered, as the reader is given it.
    pub fn hidden(&self, step: &DataStep) -> DataStep {
        let mut hidden = *step;
        if self.is_of_values() {
            if hidden.succeeded.is_some() {
                // Where it would store, and what, is known; whether it did is not.
                let nothing = Reference { address: 0, size: 1, loaded: None, stored: Some(0) };
                hidden.reference.get_or_insert(nothing);
                hidden.succeeded = Some(false);
            }
            if let Some(loaded) = hidden.reference.as_mut().and_then(|r| r.loaded.as_mut()) {
                *loaded = 0;
            }
        } else if let Some(reference) = &mut hidden.reference {
            reference.address = 0;
        }
        hidden
    }

    /// Returns the uncompressed size of the field in bits; 0 if there is nothing to send.
    pub fn raw_bits(&self, step: &DataStep, xlen: u32) -> u64 {
        match (step.reference, step.succeeded) {
            (_, Some(_)) if self.is_of_values() => 1,
            (Some(reference), _) if self.is_of_values() => {
                reference.loaded.map_or(0, |_| 8 * u64::from(reference.size))
            }
            (reference, _) => reference.map_or(0, |_| xlen.into()),
        }
    }

    /// Returns what the scheme costs in hardware, part by part; `None` for software. The flags of a data cache are counted, the cache is not.
    pub fn cost(&self, xlen: u32) -> Option<Cost> {
        let cost = Cost::new(xlen);
        Some(match self {
            Self::Nexus => cost.memory(PartKind::Registers, xlen.into()),
            // A bit for every register except x0.
            Self::Filter(_) => cost.memory(PartKind::Valid, 31),
            Self::Adac(adac) => adac.parts(xlen, cost),
            Self::Filtered(_, adac) => adac.parts(xlen, cost.memory(PartKind::Valid, 31)),
            Self::FirstAccess(cache) => cache.parts(xlen, cost),
            Self::PackedAddresses(_) | Self::PackedValues(_) => return None,
        })
    }

    /// Creates a coder for writing or reading.
    pub fn coder(&self, xlen: Xlen) -> Result<Box<dyn DataCoder>, CompressError> {
        Ok(match *self {
            Self::Nexus => Box::new(NexusCoder { xlen: xlen.bits(), previous: 0 }),
            Self::Filter(config) => Box::new(config.coder(xlen, None)),
            Self::Filtered(config, adac) => {
                Box::new(config.coder(xlen, Some(adac.coder(xlen.bits())?)))
            }
            Self::Adac(config) => Box::new(config.coder(xlen.bits())?),
            Self::FirstAccess(config) => Box::new(config.coder()?),
            Self::PackedAddresses(config) => Box::new(PackedCoder::new(config, false, xlen)?),
            Self::PackedValues(config) => Box::new(PackedCoder::new(config, true, xlen)?),
        })
    }
}
