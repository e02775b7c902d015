//! ADAC: a cache of recent data addresses, by instruction. Of an address, only as many low bits are sent as
//! have recently differed.

use super::{DataCoder, DataStep, Lookup};
use crate::cost::{Cost, PartKind, order_bits};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// Sizes and thresholds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adac {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways, a power of two.
    pub ways: u32,
    /// How many more low bits than before may differ, plus one; a power of two.
    pub window: u32,
    /// The largest number of low bits that are sent; also the initial number of a new entry.
    pub shift_max: u32,
    /// The smallest. If it is the largest too, the cache does not adapt.
    pub shift_min: u32,
    /// Hits before the number of sent bits decreases by one.
    pub tmax: u32,
    /// The counter after the number of sent bits has increased.
    pub after_increase: AfterIncrease,
    /// Which of several matching ways is taken.
    pub search: AdacSearch,
    /// Whether an entry takes the address that matched it. Otherwise, as in the listing of the source, it keeps the
    /// address with which it was filled.
    pub update_on_hit: bool,
    /// Low bits of instruction addresses that are always zero.
    pub align: u32,
}

/// The counter after an increase.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterIncrease {
    /// At its maximum.
    Full,
    /// At 0, as printed in the source; the next hit then undoes the increase.
    Zero,
}

/// The order of the search.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdacSearch {
    /// The way that needs the fewest additional bits, then the most recently used: table 5.9 of the source.
    FewestBits,
    /// The first way that matches at all: figure 5.4 of the source.
    FirstWay,
}

impl Default for Adac {
    fn default() -> Self {
        Self {
            sets: 16,
            ways: 4,
            window: 4,
            shift_max: 12,
            shift_min: 0,
            tmax: 8,
            after_increase: AfterIncrease::Full,
            search: AdacSearch::FewestBits,
            update_on_hit: true,
            align: 1,
        }
    }
}

impl Adac {
    /// Address, width and counter of every entry, and the order of the ways of every set. The source does not count the order, nor the
    /// comparators.
    pub(super) fn parts(&self, xlen: u32, cost: Cost) -> Cost {
        let [sets, ways] = [self.sets, self.ways].map(u64::from);
        cost.memory(PartKind::Tables, sets * ways * (u64::from(xlen) + 4 + 4))
            .memory(PartKind::Order, sets * order_bits(self.ways))
    }

    pub(super) fn coder(self, xlen: u32) -> Result<AdacCoder, CompressError> {
        let power = |value: u32, most| value.is_power_of_two() && value <= most;
        let sizes = power(self.sets, 1 << 16) && power(self.ways, 256) && power(self.window, 8);
        let shifts = self.shift_min <= self.shift_max && self.shift_max <= 20;
        if !sizes || !shifts || self.align > 2 {
            let what = "ADAC: sets, ways and window are powers of two up to 65536, 256 and 8, shift_max is \
                        up to 20, shift_min up to shift_max, and align up to 2";
            return Err(CompressError::Config(what.into()));
        }
        let entry = |way| Entry { way, address: 0, shift: self.shift_max, count: self.tmax };
        let set: Vec<Entry> = (0..self.ways).map(entry).collect();
        Ok(AdacCoder { config: self, xlen, sets: vec![set; self.sets as usize] })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Entry {
    way: u32,
    address: u64,
    /// Number of low bits that are sent.
    shift: u32,
    /// Hits until that number decreases.
    count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AdacCoder {
    config: Adac,
    xlen: u32,
    /// The ways of each set, the most recently used first.
    sets: Vec<Vec<Entry>>,
}

impl AdacCoder {
    fn set(&self, pc: u64) -> usize {
        let pc = pc >> self.config.align;
        (pc ^ pc >> self.config.sets.ilog2()) as usize & (self.config.sets as usize - 1)
    }

    /// Place and additional bits of the match that the order of the search finds first.
    fn find(&self, set: usize, address: u64) -> Option<(usize, u32)> {
        let ways = &self.sets[set];
        let matches = |entry: &Entry, more: u32| {
            address >> (entry.shift + more) == entry.address >> (entry.shift + more)
        };
        let fewest = |entry: &Entry| (0..self.config.window).find(|more| matches(entry, *more));
        let found = ways
            .iter()
            .enumerate()
            .filter_map(|(place, entry)| Some((entry.way, place, fewest(entry)?)));
        match self.config.search {
            AdacSearch::FewestBits => found.min_by_key(|(_, place, more)| (*more, *place)),
            AdacSearch::FirstWay => found.min_by_key(|(way, ..)| *way),
        }
        .map(|(_, place, more)| (place, more))
    }

    /// Updates the cache with an address, in the same way on both sides.
    fn update(&mut self, set: usize, found: Option<(usize, u32)>, address: u64) {
        let Adac { shift_max, shift_min, tmax, after_increase, ways, .. } = self.config;
        let place = found.map_or(ways as usize - 1, |(place, _)| place);
        let entry = &mut self.sets[set][place];
        match found {
            Some((_, 0)) => {
                entry.count = entry.count.saturating_sub(1);
                if entry.count == 0 {
                    entry.shift = shift_min.max(entry.shift.saturating_sub(1));
                    entry.count = tmax;
                }
            }
            Some(_) => {
                entry.shift = shift_max.min(entry.shift + 1);
                entry.count = if after_increase == AfterIncrease::Full { tmax } else { 0 };
            }
            None => (entry.shift, entry.count) = (shift_max, tmax),
        }
        if found.is_none() || self.config.update_on_hit {
            entry.address = address;
        }
        self.sets[set][..=place].rotate_right(1);
    }
}

impl DataCoder for AdacCoder {
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> Lookup {
        let Some(reference) = step.reference else { return Lookup::None };
        let (address, set) = (reference.address, self.set(step.pc));
        let found = self.find(set, address);
        let (ways, window) = (self.config.ways.ilog2(), self.config.window.ilog2());
        let last = u64::from(self.sets[set][0].way);
        match found.map(|(place, more)| (place, more, self.sets[set][place])) {
            Some((0, 0, entry)) => {
                out.put_bool(true);
                out.put(address, entry.shift);
            }
            Some((_, 0, entry)) => {
                out.put(entry.way.into(), 1 + ways);
                out.put(address, entry.shift);
            }
            Some((_, more, entry)) => {
                // The way that would otherwise have been sent as `1`.
                out.put(last, 1 + ways);
                out.put(entry.way.into(), ways);
                out.put(more.into(), window);
                out.put(address, entry.shift + more);
            }
            None => {
                out.put(last, 1 + ways);
                out.put(0, ways + window);
                out.put(address, self.xlen);
            }
        }
        self.update(set, found, address);
        Lookup::found(found.is_some())
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        if step.reference.is_none() {
            return Ok(None);
        }
        let at = from.clone();
        let set = self.set(step.pc);
        let (ways, window) = (self.config.ways.ilog2(), self.config.window.ilog2());
        let place_of = |entries: &[Entry], way: u64| {
            let place = entries.iter().position(|entry| u64::from(entry.way) == way);
            place.ok_or_else(|| at.error(Fault::Empty(way)))
        };
        let found = if from.get_bool()? {
            Some((0, 0))
        } else {
            match place_of(&self.sets[set], from.get(ways)?)? {
                0 => {
                    let place = place_of(&self.sets[set], from.get(ways)?)?;
                    match from.get(window)? as u32 {
                        0 => None,
                        more => Some((place, more)),
                    }
                }
                place => Some((place, 0)),
            }
        };
        let address = match found {
            Some((place, more)) => {
                let Entry { address, shift, .. } = self.sets[set][place];
                let low = from.get(shift + more)?;
                (address >> (shift + more)) << (shift + more) | low
            }
            None => from.get(self.xlen)?,
        };
        self.update(set, found, address);
        Ok(Some(address))
    }
}
