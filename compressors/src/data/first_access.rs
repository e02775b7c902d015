//! First-access tracking: a flag for every byte of a cache records whether the decompressor knows that byte.
//!
//! The result of a store-conditional is a separate bit.

use super::{DataCoder, DataStep, Lookup, Reference};
use crate::cost::{Cost, PartKind, order_bits};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The cache: either the core's data cache with a flag for every byte, or a cache in the trace module.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FirstAccess {
    /// Size in bytes.
    pub size: u64,
    /// Number of ways.
    pub ways: u64,
    /// Bytes per line, a power of two and at most 64.
    pub line: u64,
    /// Whether the cache is in the trace module and holds the most recently loaded and stored bytes. A value
    /// that differs is sent again, so writes to memory by others need not be reported.
    pub dedicated: bool,
    /// The addresses of devices, from the first up to the second, which the core's cache does not hold:
    /// values loaded there are always sent. A cache in the trace module does not need this.
    pub devices: (u64, u64),
    /// Whether trap handlers are traced too. Otherwise, as under Linux, a system call may write anywhere, and the core's cache takes its
    /// lines back. A cache in the trace module does not need this.
    pub handlers: bool,
}

impl Default for FirstAccess {
    /// A default with the interrupt controller of the project's own hart.
    fn default() -> Self {
        let devices = (0x200_0000, 0x201_0000);
        Self { size: 8 << 10, ways: 4, line: 64, dedicated: false, devices, handlers: true }
    }
}

impl FirstAccess {
    /// The flags in the core's cache; or contents and an address per line, a valid bit per byte, and the order of the ways.
    pub(super) fn parts(&self, xlen: u32, cost: Cost) -> Cost {
        let Self { size, ways, line, dedicated, .. } = *self;
        if !dedicated {
            return cost.memory(PartKind::Valid, size);
        }
        let (line, ways) = (line.max(1), ways.max(1));
        let sets = (size / (ways * line)).max(1);
        let address = u64::from(xlen) - u64::from(line.ilog2() + sets.ilog2()).min(xlen.into());
        cost.memory(PartKind::Tables, sets * ways * (8 * line + address))
            .memory(PartKind::Valid, sets * ways * line)
            .memory(PartKind::Order, sets * order_bits(ways.try_into().unwrap_or(u32::MAX)))
    }

    pub(super) fn coder(self) -> Result<FirstAccessCoder, CompressError> {
        let Self { size, ways, line, .. } = self;
        let line_good = line.is_power_of_two() && line <= 64;
        if !line_good || !(1..=1 << 10).contains(&ways) || !(ways * line..=1 << 30).contains(&size)
        {
            let what = "first access: line is a power of two up to 64, ways are 1 to 1024, and size is one \
                        line a way to 1 GiB";
            return Err(CompressError::Config(what.into()));
        }
        let sets = size / (ways * line);
        Ok(FirstAccessCoder {
            config: self,
            sets: vec![Vec::new(); sets as usize],
            known: HashMap::new(),
        })
    }
}

/// `ecall`.
const ECALL: u32 = 0x73;

#[derive(Copy, Clone, Debug)]
struct Line {
    number: u64,
    /// A bit for every byte that the decompressor knows.
    flags: u64,
    /// For a cache in the trace module: the bytes.
    bytes: [u8; 64],
}

#[derive(Debug)]
pub(super) struct FirstAccessCoder {
    config: FirstAccess,
    /// For writing: the lines of each set, the most recently used first.
    sets: Vec<Vec<Line>>,
    /// For reading: the last known bytes.
    known: HashMap<u64, u8>,
}

impl FirstAccessCoder {
    /// Returns whether the decompressor knows all bytes of an access, and marks them as known.
    fn access(&mut self, reference: &Reference) -> bool {
        let FirstAccess { devices, line, ways, dedicated, .. } = self.config;
        if !dedicated && (devices.0..devices.1).contains(&reference.address) {
            return false;
        }
        let loaded = reference.loaded.map(u64::to_le_bytes);
        // A load whose value is discarded brings in the line, but reveals no value.
        let last = reference.stored.map(u64::to_le_bytes).or(loaded);
        let mut old = true;
        for offset in 0..usize::from(reference.size.min(8)) {
            let address = reference.address.wrapping_add(offset as u64);
            let (number, place) = (address / line, address % line);
            let sets = self.sets.len() as u64;
            let set = &mut self.sets[(number % sets) as usize];
            match set.iter().position(|line| line.number == number) {
                Some(way) => set[..=way].rotate_right(1),
                None => {
                    set.insert(0, Line { number, flags: 0, bytes: [0; 64] });
                    set.truncate(ways as usize);
                }
            }
            if let Some(line) = set.first_mut() {
                let byte = &mut line.bytes[place as usize];
                old &= line.flags >> place & 1 == 1;
                old &= !dedicated || loaded.is_none_or(|loaded| loaded[offset] == *byte);
                if let Some(last) = last {
                    line.flags |= 1 << place;
                    *byte = last[offset];
                }
            }
        }
        old
    }

    fn learn(&mut self, reference: &Reference, value: u64) {
        for (offset, byte) in (0..reference.size).zip(value.to_le_bytes()) {
            self.known.insert(reference.address.wrapping_add(offset.into()), byte);
        }
    }
}

impl DataCoder for FirstAccessCoder {
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> Lookup {
        let FirstAccess { handlers, dedicated, .. } = self.config;
        if step.encoding == ECALL && !handlers && !dedicated {
            self.sets.iter_mut().for_each(Vec::clear);
        }
        if let Some(succeeded) = step.succeeded {
            out.put_bool(succeeded);
        }
        let Some(reference) = &step.reference else { return Lookup::None };
        let old = self.access(reference);
        let Some(value) = reference.loaded else { return Lookup::None };
        out.put_bool(old);
        if !old {
            out.put(value, 8 * u32::from(reference.size));
        }
        Lookup::found(old)
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        let mut loaded = None;
        if step.succeeded.is_some() {
            let succeeded = from.get_bool()?;
            loaded = Some(u64::from(!succeeded));
            if !succeeded {
                return Ok(loaded);
            }
        }
        let Some(reference) = &step.reference else { return Ok(loaded) };
        if reference.loaded.is_some() {
            let at = from.clone();
            let value = if from.get_bool()? {
                let mut bytes = (0..u64::from(reference.size)).rev();
                bytes.try_fold(0, |value: u64, offset| {
                    let address = reference.address.wrapping_add(offset);
                    let byte = self.known.get(&address).copied();
                    let byte = byte.ok_or_else(|| at.error(Fault::Empty(address)))?;
                    Ok(value << 8 | u64::from(byte))
                })?
            } else {
                from.get(8 * u32::from(reference.size))?
            };
            self.learn(reference, value);
            loaded = Some(value);
        }
        if let Some(stored) = reference.stored {
            self.learn(reference, stored);
        }
        Ok(loaded)
    }
}
