//! SDC-LSP: a cache of streams, and for each stream its last successor.

use crate::base::detector_bits;
use crate::cost::{Cost, PartKind};
use crate::dmtf::LOW;
use crate::records::Tally;
use crate::run_length::{Counter, RunLength};
use crate::stream::{End, Stream, StreamCoder};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// The variant of SDC-LSP.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SdcVariant {
    /// Basic.
    B,
    /// Enhanced: repeated upper address bits are not sent, and runs are counted.
    E,
    /// Reduced: like e, but the upper bits are not in the cache either.
    R,
}

/// Sizes of the cache and its predictor.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sdc {
    /// The variant.
    pub variant: SdcVariant,
    /// Entries of the cache and of the predictor, a power of two.
    pub entries: u32,
    /// Ways, a power of two.
    pub ways: u32,
    /// The set is determined by the address bits from this one upwards and the length.
    pub shift: u32,
    /// Low address bits that are always zero; e and r neither send nor keep them.
    pub align: u32,
    /// Number of upper bits, of 32, that e predicts; wider addresses have correspondingly more.
    pub upper: u32,
    /// The run-length counter of e and r.
    pub run: RunLength,
}

impl Default for Sdc {
    /// The values of the source, except for the addresses of compressed instructions.
    fn default() -> Self {
        let run = RunLength::default();
        let variant = SdcVariant::R;
        Self { variant, entries: 128, ways: 4, shift: 4, align: 1, upper: 14, run }
    }
}

impl Sdc {
    /// The configuration of a name such as `rSDC-128`, or by sets and ways `rSDC-32x4`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (variant, rest) = name.split_at_checked(1)?;
        let variant = match variant {
            "b" => SdcVariant::B,
            "e" => SdcVariant::E,
            "r" => SdcVariant::R,
            _ => return None,
        };
        let size = rest.strip_prefix("SDC-")?;
        let sdc = Self { variant, ..Self::default() };
        Some(match size.split_once('x') {
            Some((sets, ways)) => {
                let (sets, ways): (u32, u32) = (sets.parse().ok()?, ways.parse().ok()?);
                Self { entries: sets.checked_mul(ways)?, ways, ..sdc }
            }
            None => Self { entries: size.parse().ok()?, ..sdc },
        })
    }

    fn sets(&self) -> u32 {
        self.entries / self.ways
    }

    fn width(&self) -> u32 {
        self.entries.ilog2()
    }

    /// Low bits of an address that the predictor of upper bits does not cover.
    fn low(&self) -> u32 {
        match self.variant {
            SdcVariant::B => 0,
            SdcVariant::E => 32 - self.upper,
            SdcVariant::R => LOW,
        }
    }

    /// The current stream and two that wait, since a miss takes two cycles; the cache and the predictor; the last index, upper
    /// bits, and the counter of runs.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let stream = detector_bits(xlen, self.align);
        let [entries, width] = [self.entries, self.width()].map(u64::from);
        let (upper, counter) = match self.variant {
            SdcVariant::B => (0, 0),
            _ => (u64::from(xlen - self.low()), self.run.counter_bits()),
        };
        let cost = Cost::new(xlen)
            .memory(PartKind::Input, stream)
            .memory(PartKind::Queue, 2 * stream)
            .memory(PartKind::Tables, entries * width);
        self.cache_cost(cost, xlen)
            .memory(PartKind::Registers, width)
            .compared(PartKind::Registers, upper)
            .memory(PartKind::Counters, counter)
    }

    /// The cache in addition, which as in the source does not keep the bits that the set determines.
    pub(crate) fn cache_cost(&self, cost: Cost, xlen: u32) -> Cost {
        let address = if self.variant == SdcVariant::R { LOW } else { xlen };
        let tag = u64::from(address.saturating_sub(self.align + self.sets().ilog2()));
        let entries = u64::from(self.entries - 1);
        cost.memory(PartKind::Tables, entries * (tag + 8))
            .memory(PartKind::Valid, entries)
            .memory(PartKind::Order, entries)
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let Self { entries, ways, shift, align, upper, run, .. } = *self;
        let powers = entries.is_power_of_two() && ways.is_power_of_two();
        let sizes = (2..=1 << 16).contains(&entries) && ways <= entries;
        let bits = shift <= 16 && (1..=2).contains(&align) && (1..=28).contains(&upper);
        match powers && sizes && bits && run.is_good() {
            true => Ok(()),
            false => Err(CompressError::Config(
                "SDC: entries and ways are powers of two, 2 to 65536 entries and no more ways; shift is 0 \
                 to 16, align 1 or 2, upper 1 to 28, and run is 1 <= wmin <= w0 <= wmax <= 32, 1 <= m0 \
                 <= 14"
                    .into(),
            )),
        }
    }

    pub(crate) fn coder(self, xlen: u32) -> SdcCoder {
        SdcCoder {
            config: self,
            xlen,
            cache: vec![None; self.entries as usize],
            used: vec![false; self.entries as usize],
            follows: vec![0; self.entries as usize],
            history: 0,
            upper: 0,
            run: self.run.counter(true, true),
            tally: Tally::new(["predicted", "cached", "miss"]),
        }
    }
}

// Kinds of records: a stream is the predicted one, only in the cache, or neither.
const PREDICTED: usize = 0;
const CACHED: usize = 1;
const MISS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct SdcCoder {
    config: Sdc,
    xlen: u32,
    /// Address (r: its low part) and length by index, which is set times ways plus way. Index 0 represents
    /// a miss.
    cache: Vec<Option<(u64, u8)>>,
    /// Whether an entry was used recently.
    used: Vec<bool>,
    /// By index, the index of the last successor.
    follows: Vec<u32>,
    /// Index of the last stream.
    history: u32,
    /// Upper bits of an address: of the last stream (r), or of the last stream that missed (e).
    upper: u64,
    run: Counter,
    tally: Tally,
}

impl SdcCoder {
    /// All state on which both sides must agree.
    #[cfg(test)]
    pub(crate) fn tables(&self) -> impl PartialEq + std::fmt::Debug + '_ {
        (&self.cache, &self.used, &self.follows, self.history, self.upper, self.run.adapted())
    }

    fn is(&self, variant: SdcVariant) -> bool {
        self.config.variant == variant
    }

    fn key(&self, start: u64, length: u8) -> (u64, u8) {
        (if self.is(SdcVariant::R) { start & ((1 << LOW) - 1) } else { start }, length)
    }

    /// Usable indices of the ways of a set.
    fn set(&self, start: u64, length: u8) -> std::ops::Range<usize> {
        let hash = start >> self.config.shift ^ u64::from(length);
        let set = hash as usize & (self.config.sets() as usize - 1);
        let ways = self.config.ways as usize;
        (set * ways).max(1)..(set + 1) * ways
    }

    fn find(&self, key: (u64, u8), set: std::ops::Range<usize>) -> Option<usize> {
        set.into_iter().find(|index| self.cache[*index] == Some(key))
    }

    /// Marks an entry as recently used; once all are marked, clears the other marks.
    fn touch(&mut self, index: usize, set: std::ops::Range<usize>) {
        self.used[index] = true;
        if self.used[set.clone()].iter().all(|used| *used) {
            self.used[set].fill(false);
            self.used[index] = true;
        }
    }

    /// Enters a stream, unless it is present and only its upper bits were mispredicted.
    fn enter(&mut self, start: u64, length: u8) {
        let (key, set) = (self.key(start, length), self.set(start, length));
        let found = self.find(key, set.clone());
        let free = || set.clone().find(|index| self.cache[*index].is_none());
        let old = || set.clone().find(|index| !self.used[*index]);
        // A set with one unusable way has no entry.
        if let Some(index) = found.or_else(free).or_else(old).or(set.clone().next()) {
            self.cache[index] = Some(key);
            self.touch(index, set);
        }
    }

    fn is_near(&self, start: u64) -> bool {
        start >> self.config.low() == self.upper
    }

    fn put_other(&mut self, index: usize, out: &mut Bits) {
        self.run.flush(out);
        self.tally.bits(PREDICTED, out);
        out.put_bool(false);
        out.put(index as u64, self.config.width());
    }

    fn put_miss(&mut self, stream: &Stream, out: &mut Bits) {
        self.put_other(0, out);
        self.put_descriptor(stream, out);
    }

    /// Writes what the reader needs of a stream that is not in the cache.
    pub(crate) fn put_descriptor(&self, stream: &Stream, out: &mut Bits) {
        if !stream.known {
            let (low, align) = (self.config.low(), self.config.align);
            if self.is(SdcVariant::B) {
                out.put(stream.start, self.xlen);
            } else {
                let near = self.is_near(stream.start);
                out.put_bool(!near);
                out.put(stream.start >> align, if near { low } else { self.xlen } - align);
            }
        }
        stream.put_end(self.xlen, out);
    }

    /// Reads what [`SdcCoder::put_descriptor`] writes.
    pub(crate) fn get_miss(
        &self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let (low, align) = (self.config.low(), self.config.align);
        let start = match known {
            Some(start) => start,
            None if self.is(SdcVariant::B) => from.get(self.xlen)?,
            None if from.get_bool()? => from.get(self.xlen - align)? << align,
            None => self.upper << low | from.get(low - align)? << align,
        };
        Ok(Stream { start, known: known.is_some(), end: End::get(self.xlen, from)? })
    }

    /// Updates the tables after a stream, in the same way on both sides. Traps are in no table.
    pub(crate) fn update(&mut self, stream: &Stream, index: usize) {
        if !stream.is_trap() {
            self.follows[self.history as usize] = index as u32;
            if index == 0 {
                self.enter(stream.start, stream.length());
            } else {
                let ways = self.config.ways as usize;
                let set = index / ways * ways;
                self.touch(index, set.max(1)..set + ways);
            }
        }
        match self.config.variant {
            SdcVariant::R => self.upper = stream.last_address() >> LOW,
            // Of every miss, whether its record carries the address or not: both sides know it.
            SdcVariant::E if index == 0 => {
                self.upper = stream.start >> self.config.low();
            }
            _ => {}
        }
        self.history = index as u32;
    }

    /// Reads an event: the index of a stream, 0 for a miss.
    fn get_index(&mut self, from: &mut BitSource<'_>) -> Result<usize, DecodeError> {
        let predicted = self.follows[self.history as usize] as usize;
        if self.run.again() {
            return Ok(predicted);
        }
        let at = from.clone();
        if !from.get_bool()? {
            self.run.interrupted();
            return Ok(from.get(self.config.width())? as usize);
        }
        if !self.is(SdcVariant::B) {
            self.run.read(from)?;
        }
        match predicted {
            0 => Err(at.error(Fault::Malformed("a hit of an empty predictor"))),
            index => Ok(index),
        }
    }
}

impl SdcCoder {
    /// The index of a stream, 0 if it is not in the cache.
    pub(crate) fn index(&self, stream: &Stream) -> usize {
        let (start, length) = (stream.start, stream.length());
        let near = !self.is(SdcVariant::R) || self.is_near(start);
        let found = self.find(self.key(start, length), self.set(start, length));
        found.filter(|_| near && !stream.is_trap()).unwrap_or(0)
    }

    /// The stream at an index, which was read at `at`.
    pub(crate) fn cached(
        &self,
        index: usize,
        known: Option<u64>,
        at: &BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let (address, length) =
            self.cache[index].ok_or_else(|| at.error(Fault::Empty(index as u64)))?;
        let start = if self.is(SdcVariant::R) { self.upper << LOW | address } else { address };
        Ok(Stream { start, known: known.is_some(), end: End::of_length(length) })
    }
}

impl StreamCoder for SdcCoder {
    fn align(&self) -> u32 {
        if self.is(SdcVariant::B) { 0 } else { self.config.align }
    }

    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        let index = self.index(stream);
        let kind = if index == 0 {
            self.put_miss(stream, out);
            MISS
        } else if self.follows[self.history as usize] as usize == index {
            match self.config.variant {
                SdcVariant::B => out.put_bool(true),
                _ => self.run.hit(out),
            }
            PREDICTED
        } else {
            self.put_other(index, out);
            CACHED
        };
        self.tally.stream(kind, out);
        self.update(stream, index);
    }

    fn flush(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        self.run.flush(out);
        self.tally.bits(PREDICTED, out);
        Ok(())
    }

    fn tally(&mut self) -> Option<&mut Tally> {
        Some(&mut self.tally)
    }

    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let at = from.clone();
        let index = self.get_index(from)?;
        let stream = match index {
            0 => self.get_miss(known, from)?,
            _ => self.cached(index, known, &at)?,
        };
        self.update(&stream, index);
        Ok(stream)
    }

    fn pending(&self) -> u64 {
        self.run.pending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bits::parse;

    fn coded(config: Sdc, count: usize, first_only: bool) -> (Bits, SdcCoder) {
        let mut coder = config.coder(32);
        let mut out = Bits::default();
        for number in 0..count {
            let known = first_only && number > 0;
            coder.encode(&Stream { start: 0x0200_01f4, known, end: End::Natural(9) }, &mut out);
        }
        coder.flush(&mut out).unwrap();
        (out, coder)
    }

    #[test]
    fn basic() {
        let config = Sdc { variant: SdcVariant::B, entries: 64, ..Sdc::default() };
        let (out, coder) = coded(config, 5, false);
        let first = format!("0 000000 {:032b} 00001001", 0x0200_01f4);
        assert_eq!(out, parse(&(first + "0 011000  0 011000  1 1")));
        let found = coder.tally.records().iter().map(|one| (&one.kind[..], one.streams, one.bits));
        let expected = [("predicted", 2, 2), ("cached", 2, 14), ("miss", 1, 47)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn reduced() {
        let (out, _) = coded(Sdc { align: 2, ..Sdc::default() }, 12, true);
        let first = format!("0 0000000 1 {:030b} 00001001", 0x0200_01f4 >> 2);
        assert_eq!(out, parse(&(first + "0 1011000  0 1011000  1 111  1 000")));
        assert_eq!(out.len(), 71);
    }

    /// The upper bits of e are those of the last miss, also of one whose record carries no address.
    #[test]
    fn a_miss_without_an_address_is_the_last_miss() {
        let config = Sdc { variant: SdcVariant::E, align: 2, ..Sdc::default() };
        let (mut coder, mut out) = (config.coder(32), Bits::default());
        let stream = |start, known| Stream { start, known, end: End::Natural(9) };
        coder.encode(&stream(0x0200_01f4, true), &mut out);
        coder.encode(&stream(0x0200_0400, false), &mut out);
        let near = format!("0 0000000 0 {:016b} 00001001", 0x400 >> 2);
        assert_eq!(out, parse(&("0 0000000 00001001 ".to_owned() + &near)));
    }

    /// 1.5 times the bits that the source counts, for addresses of 30 bits: streams, tables, the last index, and a buffer of 80.
    #[test]
    fn gates_of_the_source() {
        let gates = |variant, entries| {
            let config = Sdc { variant, entries, align: 2, ..Sdc::default() };
            let cost = config.cost(32);
            let parts = [
                PartKind::Input,
                PartKind::Queue,
                PartKind::Tables,
                PartKind::Valid,
                PartKind::Order,
            ];
            let bits = parts.iter().map(|part| cost.bits_of(*part)).sum::<u64>();
            1.5 * (bits + u64::from(config.width()) + 80) as f64
        };
        for (entries, reduced, enhanced) in [
            (32, 1_701.0, 2_259.0),
            (64, 3_144.0, 4_278.0),
            (128, 6_027.0, 8_313.0),
            (256, 11_790.0, 16_380.0),
            (512, 23_313.0, 32_511.0),
            (1024, 46_356.0, 64_770.0),
        ] {
            assert_eq!(gates(SdcVariant::R, entries), reduced);
            assert_eq!(gates(SdcVariant::B, entries), enhanced);
            assert_eq!(gates(SdcVariant::E, entries), enhanced);
        }
    }
}
