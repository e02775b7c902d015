//! Addresses or loaded values through a general-purpose compressor: what software can achieve.

use super::{DataCoder, DataStep, Lookup, Reference};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault, Packed};
use hartrace_isa::Xlen;

/// Packed as one member, however many steps there are.
#[derive(Debug)]
pub(super) struct PackedCoder {
    packed: Packed,
    /// Loaded values, not addresses.
    values: bool,
    xlen: Xlen,
    /// Bytes to be packed, or that were unpacked.
    bytes: Vec<u8>,
    /// For reading: the current position.
    read: Option<usize>,
}

impl PackedCoder {
    pub(super) fn new(packed: Packed, values: bool, xlen: Xlen) -> Result<Self, CompressError> {
        packed.check()?;
        Ok(Self { packed, values, xlen, bytes: Vec::new(), read: None })
    }

    /// The field of a step and its size in bytes. Whether a store-conditional has stored is a value of one byte.
    fn field(&self, step: &DataStep) -> Option<(u64, usize)> {
        match (step.reference, step.succeeded) {
            (_, Some(succeeded)) if self.values => Some((u64::from(!succeeded), 1)),
            (Some(Reference { loaded, size, .. }), _) if self.values => {
                loaded.map(|value| (value, size.into()))
            }
            (reference, _) => {
                reference.map(|reference| (reference.address, self.xlen.bits() as usize / 8))
            }
        }
    }
}

impl DataCoder for PackedCoder {
    fn encode(&mut self, step: &DataStep, _: &mut Bits) -> Lookup {
        let Some((value, size)) = self.field(step) else { return Lookup::None };
        self.bytes.extend(value.to_le_bytes().iter().take(size));
        Lookup::Miss
    }

    fn finish(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let packed = self.packed.pack(&std::mem::take(&mut self.bytes));
        out.put_bytes(&packed.map_err(|error| CompressError::Config(error.to_string()))?);
        Ok(())
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        let Some((_, size)) = self.field(step) else { return Ok(None) };
        if self.read.is_none() {
            let unpacked = self.packed.unpack(from.rest());
            let (bytes, used) =
                unpacked.map_err(|error| from.error(Fault::Packed(error.to_string())))?;
            from.skip_bytes(used);
            (self.bytes, self.read) = (bytes, Some(0));
        }
        let at = self.read.unwrap_or(0);
        let found = self.bytes.get(at..at + size).ok_or(from.error(Fault::Truncated))?;
        self.read = Some(at + size);
        Ok(Some(found.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))))
    }
}
