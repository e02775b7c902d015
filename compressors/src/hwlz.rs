//! HWLZ: descriptors of streams as 12-bit symbols, through an LZ77 window that hardware can search.
//!
//! The source reports the results of others without a layout; this is a reconstruction.

use crate::base::detector_bits;
use crate::cost::{Cost, PartKind, index_bits};
use crate::stream::{End, Stream, StreamCoder, Symbol};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// Width of a symbol.
const SYMBOL: u32 = 12;
/// The largest number of symbols in a match; the length minus one is sent in 4 bits.
const LONGEST: u64 = 16;
/// Symbols that must be available before one is coded: a match, and one more to index it by.
const AHEAD: u64 = LONGEST + 1;

/// Size of the window.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hwlz {
    /// Symbols in the window, a power of two.
    pub entries: u32,
}

impl Default for Hwlz {
    fn default() -> Self {
        Self { entries: 256 }
    }
}

impl Hwlz {
    /// The current stream and two that wait, since there is one symbol in a cycle; the window, whose symbols are all compared,
    /// and how full it is; and the symbols ahead of it.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let (stream, symbol) = (detector_bits(xlen, 1), u64::from(SYMBOL));
        Cost::new(xlen)
            .memory(PartKind::Input, stream)
            .memory(PartKind::Queue, 2 * stream + symbol * LONGEST)
            .listed(PartKind::Tables, symbol * u64::from(self.entries))
            .memory(PartKind::Valid, u64::from(index_bits(u64::from(self.entries) + 1)))
            .memory(PartKind::Counters, 4)
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        match self.entries.is_power_of_two() && (2..=1 << 20).contains(&self.entries) {
            true => Ok(()),
            false => {
                Err(CompressError::Config("HWLZ: entries is a power of two, 2 to 1048576".into()))
            }
        }
    }

    pub(crate) fn coder(self, xlen: u32) -> HwlzCoder {
        let window = u64::from(self.entries);
        let ring = (window + 2 * AHEAD).next_power_of_two();
        HwlzCoder {
            xlen,
            window,
            symbols: vec![0; ring as usize],
            previous: vec![NONE; ring as usize],
            heads: vec![NONE; BUCKETS],
            at: 0,
            end: 0,
            matched: None,
        }
    }
}

/// Marks the absence of a position.
const NONE: u64 = u64::MAX;
/// Lists of positions that start with a pair of symbols.
const BUCKETS: usize = 1 << 12;

#[derive(Clone, Debug)]
pub(crate) struct HwlzCoder {
    xlen: u32,
    window: u64,
    /// A ring of the last symbols.
    symbols: Vec<u16>,
    /// For each symbol, the previous position in the same bucket.
    previous: Vec<u64>,
    heads: Vec<u64>,
    /// Number of the next symbol to be coded.
    at: u64,
    /// Number after the last symbol.
    end: u64,
    /// For reading: the distance of a match, and the number of its symbols that are left.
    matched: Option<(u64, u64)>,
}

impl HwlzCoder {
    fn slot(&self, position: u64) -> usize {
        (position & (self.symbols.len() as u64 - 1)) as usize
    }

    fn symbol(&self, position: u64) -> u16 {
        self.symbols[self.slot(position)]
    }

    fn bucket(&self, position: u64) -> usize {
        let pair = u64::from(self.symbol(position)) << 12 | u64::from(self.symbol(position + 1));
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
    }

    fn push(&mut self, symbol: u64) {
        let slot = self.slot(self.end);
        self.symbols[slot] = symbol as u16 & 0xfff;
        self.end += 1;
    }

    fn push_address(&mut self, address: u64) {
        for shift in (0..self.xlen).step_by(SYMBOL as usize) {
            self.push(address >> shift);
        }
    }

    /// Codes symbols while at least `ahead` of them are left.
    fn advance(&mut self, ahead: u64, out: &mut Bits) {
        while self.end - self.at >= ahead {
            let (distance, length) = self.longest();
            let coded = if length >= 2 {
                out.put_bool(true);
                out.put(distance - 1, self.window.ilog2());
                out.put(length - 1, 4);
                length
            } else {
                out.put(self.symbol(self.at).into(), 1 + SYMBOL);
                1
            };
            for _ in 0..coded {
                if self.at + 1 < self.end {
                    let (bucket, slot) = (self.bucket(self.at), self.slot(self.at));
                    self.previous[slot] = self.heads[bucket];
                    self.heads[bucket] = self.at;
                }
                self.at += 1;
            }
        }
    }

    /// Distance and length of the longest match; among equal ones, the most recent.
    fn longest(&self) -> (u64, u64) {
        let room = (self.end - self.at).min(LONGEST);
        let mut best = (0, 0);
        if room < 2 {
            return best;
        }
        let mut candidate = self.heads[self.bucket(self.at)];
        // Positions only decrease: whatever a slot of the ring held before is outside the window.
        while candidate < self.at && self.at - candidate <= self.window && best.1 < room {
            let same = |i: u64| self.symbol(candidate + i) == self.symbol(self.at + i);
            // Only a longer match counts, so the symbol that would make it longer is compared first.
            if same(best.1) {
                let length = (0..room).take_while(|i| same(*i)).count() as u64;
                if length > best.1 {
                    best = (self.at - candidate, length);
                }
            }
            let before = self.previous[self.slot(candidate)];
            if before >= candidate {
                break;
            }
            candidate = before;
        }
        best
    }

    fn read(&mut self, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        if self.matched.is_none() && from.get_bool()? {
            let at = from.clone();
            let distance = from.get(self.window.ilog2())? + 1;
            if distance > self.end {
                return Err(at.error(Fault::Empty(distance)));
            }
            self.matched = Some((distance, from.get(4)? + 1));
        }
        let symbol = match &mut self.matched {
            Some((distance, left)) => {
                let from = self.end - *distance;
                *left -= 1;
                if *left == 0 {
                    self.matched = None;
                }
                self.symbol(from).into()
            }
            None => from.get(SYMBOL)?,
        };
        self.push(symbol);
        Ok(symbol)
    }

    fn read_address(&mut self, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        let mut address = 0;
        for shift in (0..self.xlen).step_by(SYMBOL as usize) {
            let at = from.clone();
            let symbol = self.read(from)?;
            let width = (self.xlen - shift).min(SYMBOL);
            if symbol >> width != 0 {
                return Err(at.error(Fault::Malformed("an address is too wide")));
            }
            address |= symbol << shift;
        }
        Ok(address)
    }

    fn read_byte(&mut self, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        let at = from.clone();
        match self.read(from)? {
            byte @ 0..=0xff => Ok(byte),
            _ => Err(at.error(Fault::Malformed("a length is too wide"))),
        }
    }
}

impl StreamCoder for HwlzCoder {
    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        self.push(stream.length().into());
        if !stream.known {
            self.push_address(stream.start);
        }
        self.advance(AHEAD, out);
        if let End::Trap { retired, handler } = stream.end {
            self.push(retired.into());
            self.push_address(handler);
            self.advance(AHEAD, out);
        }
    }

    fn flush(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        self.advance(1, out);
        Ok(())
    }

    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let mut start = known;
        let mut first = true;
        let end = End::read(|symbol| {
            let value = match symbol {
                Symbol::Byte => self.read_byte(from),
                Symbol::Address => self.read_address(from),
            }?;
            // The address follows the length.
            if std::mem::take(&mut first) && start.is_none() {
                start = Some(self.read_address(from)?);
            }
            Ok::<u64, DecodeError>(value)
        })?;
        Ok(Stream { start: start.unwrap_or(0), known: known.is_some(), end })
    }

    fn pending(&self) -> u64 {
        self.matched.map_or(0, |(_, left)| left)
    }
}
