//! Compressors of data traces. They accompany an instruction trace: the next instruction is known, and they
//! send what it accesses or loads.

mod adac;
mod filter;
mod first_access;
mod operands;
#[cfg(test)]
mod tests;

pub use adac::{Adac, AdacSearch, AfterIncrease};
pub use filter::Filter;
pub use first_access::FirstAccess;

use crate::base::{get_groups, put_groups};
use crate::cost::{Cost, PartKind};
use crate::{BitSource, Bits, CompressError, DecodeError};
use hartrace_isa::Xlen;
use hartrace_iss::{Access, AccessKind, Register, Step};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// An instruction that retired, and its access to memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DataStep {
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction; its low half if it is compressed.
    pub encoding: u32,
    /// Its access, if any; a store-conditional that failed has none.
    pub reference: Option<Reference>,
    /// For a store-conditional, whether it stored. The instruction trace does not contain this.
    pub succeeded: Option<bool>,
}

/// An access to memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The address.
    pub address: u64,
    /// The number of bytes.
    pub size: u8,
    /// The loaded value, zero-extended.
    pub loaded: Option<u64>,
    /// The stored value, zero-extended.
    pub stored: Option<u64>,
}

impl DataStep {
    /// Creates the data step of a step of the hart, with its details; `None` if nothing retired.
    ///
    /// An atomic operation without a destination has no visible loaded value.
    pub fn of(step: &Step) -> Option<Self> {
        let reference = step.access.map(|Access { kind, address, size, value }| {
            let low = |value: u64| value & (u64::MAX >> (64 - 8 * u32::from(size.clamp(1, 8))));
            let old = step.write.and_then(|(register, old)| match register {
                Register::Integer(_) => Some(low(old)),
                Register::Float(_) => None,
            });
            let (loaded, stored) = match kind {
                // A load into `x0` reads memory all the same, but the value is lost.
                AccessKind::Load => (step.write.map(|_| value), None),
                AccessKind::Store => (None, Some(value)),
                AccessKind::Atomic => (old, Some(value)),
            };
            Reference { address, size, loaded, stored }
        });
        let succeeded = is_store_conditional(step.encoding).then_some(reference.is_some());
        let Step { pc, encoding, .. } = *step;
        step.retires.then_some(Self { pc, encoding, reference, succeeded })
    }
}

/// `sc.w` and `sc.d`: opcode AMO with 3 in the upper five bits.
fn is_store_conditional(encoding: u32) -> bool {
    encoding & 0xf800_007f == 0x1800_002f
}

/// Writes and reads one field of every step: the address of a reference, or the loaded value. One coder
/// writes and another one reads; the field to be read is 0 in the steps that the reader is given.
pub trait DataCoder: Debug {
    /// Writes what has to be sent for a step, and returns whether anything was written.
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> bool;

    /// Reads the field; `None` if the step has no such field.
    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError>;
}

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
    /// Values that were not loaded or stored before.
    FirstAccess(FirstAccess),
}

impl DataScheme {
    /// Returns the schemes of the source, with its sizes.
    pub fn defaults() -> Vec<(&'static str, Self)> {
        let cache = |size: u64, dedicated| {
            Self::FirstAccess(FirstAccess { size, dedicated, ..FirstAccess::default() })
        };
        vec![
            ("NEXS-DA", Self::Nexus),
            ("DAF", Self::Filter(Filter::default())),
            ("ADAC-16x4", Self::Adac(Adac::default())),
            ("ADAC-128x4", Self::Adac(Adac { sets: 128, ..Adac::default() })),
            ("FAT-8K", cache(8 << 10, false)),
            ("FAT-64K", cache(64 << 10, false)),
            ("FAC-1K", cache(1 << 10, true)),
            ("FAC-8K", cache(8 << 10, true)),
        ]
    }

    /// Returns whether values are sent, not addresses.
    pub fn is_of_values(&self) -> bool {
        matches!(self, Self::FirstAccess(_))
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

    /// Returns what the scheme costs in hardware, part by part. The flags of a data cache are counted, the cache is not.
    pub fn cost(&self, xlen: u32) -> Cost {
        let cost = Cost::new(xlen);
        match self {
            Self::Nexus => cost.memory(PartKind::Registers, xlen.into()),
            // A bit for every register except x0.
            Self::Filter(_) => cost.memory(PartKind::Valid, 31),
            Self::Adac(adac) => adac.parts(xlen, cost),
            Self::FirstAccess(cache) => cache.parts(xlen, cost),
        }
    }

    /// Creates a coder for writing or reading.
    pub fn coder(&self, xlen: Xlen) -> Result<Box<dyn DataCoder>, CompressError> {
        Ok(match self {
            Self::Nexus => Box::new(NexusCoder { xlen: xlen.bits(), previous: 0 }),
            Self::Filter(config) => Box::new(config.coder(xlen)),
            Self::Adac(config) => Box::new(config.coder(xlen.bits())?),
            Self::FirstAccess(config) => Box::new(config.coder()?),
        })
    }
}

#[derive(Debug)]
struct NexusCoder {
    xlen: u32,
    previous: u64,
}

impl DataCoder for NexusCoder {
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> bool {
        if let Some(Reference { address, .. }) = step.reference {
            put_groups(address ^ self.previous, out);
            self.previous = address;
        }
        step.reference.is_some()
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        if step.reference.is_none() {
            return Ok(None);
        }
        self.previous ^= get_groups(self.xlen, from)?;
        Ok(Some(self.previous))
    }
}
