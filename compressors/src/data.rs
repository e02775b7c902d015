//! Compressors of data traces. They accompany an instruction trace: the next instruction is known, and they
//! send what it accesses or loads.

mod adac;
mod filter;
mod first_access;
mod operands;
mod packed;
mod scheme;
#[cfg(test)]
mod tests;

pub use adac::{Adac, AdacSearch, AfterIncrease};
pub use filter::Filter;
pub use first_access::FirstAccess;
pub use scheme::{DataScheme, UnknownDataScheme};

use crate::base::{get_groups, put_groups};
use crate::{BitSource, Bits, CompressError, DecodeError};
use hartrace_iss::{Access, AccessKind, Register, Step};
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

impl Reference {
    /// Whether it is a load, or an atomic operation whose old value is seen.
    pub fn is_load(&self) -> bool {
        self.loaded.is_some() || self.stored.is_none()
    }
}

/// Whether a scheme has found the field of a step in its tables, so that it sends less or nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The step has nothing to look up.
    None,
    /// It was found.
    Hit,
    /// It was not, and is sent whole.
    Miss,
}

impl Lookup {
    fn found(found: bool) -> Self {
        if found { Self::Hit } else { Self::Miss }
    }
}

/// Writes and reads one field of every step: the address of a reference, or the loaded value. One coder
/// writes and another one reads; the field to be read is 0 in the steps that the reader is given.
pub trait DataCoder: Debug {
    /// Writes what has to be sent for a step.
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> Lookup;

    /// Writes what is pending at the end.
    fn finish(&mut self, _: &mut Bits) -> Result<(), CompressError> {
        Ok(())
    }

    /// Reads the field; `None` if the step has no such field.
    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError>;
}

#[derive(Debug)]
struct NexusCoder {
    xlen: u32,
    previous: u64,
}

impl DataCoder for NexusCoder {
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> Lookup {
        let Some(Reference { address, .. }) = step.reference else { return Lookup::None };
        put_groups(address ^ self.previous, out);
        self.previous = address;
        Lookup::Miss
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
