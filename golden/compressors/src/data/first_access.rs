//! First-access tracking: a flag for every byte of the data cache says that whoever decompresses knows it.

use super::{DataCoder, DataStep, Reference};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The data cache that has the flags.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FirstAccess {
    /// Bytes.
    pub size: u64,
    /// Ways.
    pub ways: u64,
    /// Bytes of a line, a power of two and at most 64.
    pub line: u64,
    /// Devices, from the first address up to the second: what is loaded there is always sent.
    pub devices: (u64, u64),
}

impl Default for FirstAccess {
    /// With the interrupt controller of our own hart.
    fn default() -> Self {
        Self { size: 8 << 10, ways: 4, line: 64, devices: (0x200_0000, 0x201_0000) }
    }
}

impl FirstAccess {
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

#[derive(Copy, Clone, Debug)]
struct Line {
    number: u64,
    /// A bit for every byte.
    flags: u64,
}

#[derive(Debug)]
pub(super) struct FirstAccessCoder {
    config: FirstAccess,
    /// When writing: the lines of each set, the last one used first.
    sets: Vec<Vec<Line>>,
    /// When reading: bytes as they were last.
    known: HashMap<u64, u8>,
}

impl FirstAccessCoder {
    /// Whether all bytes of an access were accessed before, since their line is there.
    fn access(&mut self, reference: &Reference) -> bool {
        let FirstAccess { devices, line, ways, .. } = self.config;
        if (devices.0..devices.1).contains(&reference.address) {
            return false;
        }
        let mut old = true;
        for offset in 0..u64::from(reference.size) {
            let address = reference.address.wrapping_add(offset);
            let (number, flag) = (address / line, 1 << (address % line));
            let sets = self.sets.len() as u64;
            let set = &mut self.sets[(number % sets) as usize];
            match set.iter().position(|line| line.number == number) {
                Some(place) => set[..=place].rotate_right(1),
                None => {
                    set.insert(0, Line { number, flags: 0 });
                    set.truncate(ways as usize);
                }
            }
            if let Some(line) = set.first_mut() {
                old &= line.flags & flag != 0;
                line.flags |= flag;
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
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> bool {
        let Some(reference) = &step.reference else { return false };
        let old = self.access(reference);
        let Some(value) = reference.loaded else { return false };
        out.put_bool(old);
        if !old {
            out.put(value, 8 * u32::from(reference.size));
        }
        true
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        let Some(reference) = &step.reference else { return Ok(None) };
        let mut loaded = None;
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
