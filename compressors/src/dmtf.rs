//! DMTF (double move to front): streams are sent as their position in a list with the most recent ones
//! first, and these positions as their position in another such list.

use crate::base::detector_bits;
use crate::cost::{Cost, PartKind};
use crate::records::Tally;
use crate::run_length::{Counter, RunLength};
use crate::stream::{End, Stream, StreamCoder};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// Number of low address bits that the lists of variants h and e hold.
pub(crate) const LOW: u32 = 20;

/// The variant of DMTF.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DmtfVariant {
    /// Basic: whole addresses.
    B,
    /// With a predictor of the upper bits, which are not in the list.
    H,
    /// Enhanced: h, and runs of the most frequent event are counted.
    E,
}

/// Sizes of the lists.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dmtf {
    /// The variant.
    pub variant: DmtfVariant,
    /// Size of the first list; one place is not used.
    pub mtf1: u32,
    /// Size of the second list; one place is not used.
    pub mtf2: u32,
    /// The run-length counter of variant e.
    pub run: RunLength,
}

impl Default for Dmtf {
    fn default() -> Self {
        Self { variant: DmtfVariant::E, mtf1: 192, mtf2: 4, run: RunLength::default() }
    }
}

impl Dmtf {
    /// The configuration of a name such as `eDMTF(192,4)`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (variant, rest) = name.split_at_checked(1)?;
        let variant = match variant {
            "b" => DmtfVariant::B,
            "h" => DmtfVariant::H,
            "e" => DmtfVariant::E,
            _ => return None,
        };
        let sizes = rest.strip_prefix("DMTF(")?.strip_suffix(')')?;
        let (mtf1, mtf2) = sizes.split_once(',')?;
        let (mtf1, mtf2) = (mtf1.parse().ok()?, mtf2.trim().parse().ok()?);
        Some(Self { variant, mtf1, mtf2, ..Self::default() })
    }

    fn widths(&self) -> (u32, u32) {
        let width = |size: u32| size.saturating_sub(1).max(1).ilog2() + 1;
        (width(self.mtf1), width(self.mtf2))
    }

    fn tag(&self, xlen: u32) -> u64 {
        8 + u64::from(if self.variant == DmtfVariant::B { xlen } else { LOW })
    }

    fn upper(&self, xlen: u32) -> u64 {
        if self.variant == DmtfVariant::B { 0 } else { u64::from(xlen - LOW) }
    }

    /// The current stream and two that wait, since a look-up takes two cycles; both lists, of which the first has its contents in
    /// a memory that is searched and the order beside it; upper bits, and the counter of runs.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let (w1, _) = self.widths();
        let [n1, n2, w1] = [self.mtf1 - 1, self.mtf2 - 1, w1].map(u64::from);
        let stream = detector_bits(xlen, 0);
        let counted = self.variant == DmtfVariant::E;
        Cost::new(xlen)
            .memory(PartKind::Input, stream)
            .memory(PartKind::Queue, 2 * stream)
            .searched(PartKind::Tables, n1 * self.tag(xlen))
            .memory(PartKind::Valid, n1 + n2)
            .listed(PartKind::Order, (n1 + n2) * w1)
            .compared(PartKind::Registers, self.upper(xlen))
            .memory(PartKind::Counters, if counted { self.run.counter_bits() } else { 0 })
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let sizes = (2..=1 << 16).contains(&self.mtf1) && (2..=1 << 16).contains(&self.mtf2);
        match sizes && self.run.is_good() {
            true => Ok(()),
            false => Err(CompressError::Config(
                "DMTF: mtf1 and mtf2 are 2 to 65536, and run is 1 <= wmin <= w0 <= wmax <= 32, 1 <= m0 \
                 <= 14"
                    .into(),
            )),
        }
    }

    pub(crate) fn coder(self, xlen: u32) -> DmtfCoder {
        let (w1, w2) = self.widths();
        DmtfCoder {
            config: self,
            xlen,
            w1,
            w2,
            streams: Vec::with_capacity(self.mtf1 as usize),
            places: Vec::with_capacity(self.mtf2 as usize),
            upper: 0,
            run: self.run.counter(false, false),
            tally: Tally::new(["zero", "near", "far", "miss"]),
        }
    }
}

// Kinds of records: the place is first in the second list, elsewhere in it, or only the stream is in its list, or nothing is.
const ZERO: usize = 0;
const NEAR: usize = 1;
const FAR: usize = 2;
const MISS: usize = 3;

#[derive(Clone, Debug)]
pub(crate) struct DmtfCoder {
    config: Dmtf,
    xlen: u32,
    w1: u32,
    w2: u32,
    /// Address (its low part) and length of streams, the most recent first.
    streams: Vec<(u64, u8)>,
    /// Places in that list, the most recent first.
    places: Vec<u32>,
    /// Upper bits of the last address.
    upper: u64,
    run: Counter,
    tally: Tally,
}

/// Moves the entry at `place` to the front.
fn to_front<T: Copy>(list: &mut [T], place: usize) {
    if let Some(part) = list.get_mut(..=place) {
        part.rotate_right(1);
    }
}

/// Puts a new entry in front of a list that holds `room` of them.
fn insert<T: Copy>(list: &mut Vec<T>, entry: T, room: usize) {
    list.truncate(room.saturating_sub(1));
    list.push(entry);
    list.rotate_right(1);
}

impl DmtfCoder {
    /// All state on which both sides must agree.
    #[cfg(test)]
    pub(crate) fn tables(&self) -> impl PartialEq + std::fmt::Debug + '_ {
        (&self.streams, &self.places, self.upper, self.run.adapted())
    }

    fn is_basic(&self) -> bool {
        self.config.variant == DmtfVariant::B
    }

    fn key(&self, start: u64, length: u8) -> (u64, u8) {
        (if self.is_basic() { start } else { start & ((1 << LOW) - 1) }, length)
    }

    /// Records the use of a place in the first list.
    fn touch_place(&mut self, place: usize) {
        let place = place as u32;
        match self.places.iter().position(|other| *other == place) {
            Some(at) => to_front(&mut self.places, at),
            None => insert(&mut self.places, place, self.config.mtf2 as usize - 1),
        }
    }

    /// Enters a stream that missed. It may already be in the list, if only its upper bits were
    /// mispredicted.
    fn enter(&mut self, key: (u64, u8)) {
        match self.streams.iter().position(|other| *other == key) {
            Some(at) => to_front(&mut self.streams, at),
            None => insert(&mut self.streams, key, self.config.mtf1 as usize - 1),
        }
    }

    fn put_other(&mut self, out: &mut Bits, place: u64) {
        self.run.flush(out);
        self.tally.bits(ZERO, out);
        out.put_bool(true);
        out.put(place, self.w2);
    }

    fn put_miss(&mut self, stream: &Stream, out: &mut Bits) {
        self.put_other(out, u64::from(self.config.mtf2 - 1));
        out.put(u64::from(self.config.mtf1 - 1), self.w1);
        if !stream.known {
            let far = stream.start >> LOW != self.upper;
            if !self.is_basic() {
                out.put_bool(far);
            }
            out.put(stream.start, if self.is_basic() || far { self.xlen } else { LOW });
        }
        stream.put_end(self.xlen, out);
    }

    fn get_miss(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let start = match known {
            Some(start) => start,
            None if self.is_basic() || from.get_bool()? => from.get(self.xlen)?,
            None => self.upper << LOW | from.get(LOW)?,
        };
        let stream = Stream { start, known: known.is_some(), end: End::get(self.xlen, from)? };
        if !stream.is_trap() {
            self.enter(self.key(start, stream.length()));
        }
        Ok(stream)
    }

    /// Reads an event up to the place in the first list; `None` for a miss.
    fn get_place(&mut self, from: &mut BitSource<'_>) -> Result<Option<usize>, DecodeError> {
        if self.run.again() {
            return Ok(self.places.first().map(|place| *place as usize));
        }
        let at = from.clone();
        let empty = |place: u64| at.error(Fault::Empty(place));
        if !from.get_bool()? {
            if self.config.variant == DmtfVariant::E {
                self.run.read(from)?;
            }
            return self.places.first().map(|place| Some(*place as usize)).ok_or(empty(0));
        }
        self.run.interrupted();
        match from.get(self.w2)? {
            0 => Err(at.error(Fault::Malformed("the first place is not sent in full"))),
            place if place < u64::from(self.config.mtf2 - 1) => {
                let found = self.places.get(place as usize).ok_or(empty(place))?;
                Ok(Some(*found as usize))
            }
            place if place > u64::from(self.config.mtf2 - 1) => Err(empty(place)),
            _ => match from.get(self.w1)? {
                place if place == u64::from(self.config.mtf1 - 1) => Ok(None),
                place => Ok(Some(place as usize)),
            },
        }
    }
}

impl StreamCoder for DmtfCoder {
    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        let key = self.key(stream.start, stream.length());
        let near = self.is_basic() || stream.start >> LOW == self.upper;
        let place = self.streams.iter().position(|other| *other == key);
        let kind = match place.filter(|_| near && !stream.is_trap()) {
            Some(place) => {
                let kind = match self.places.iter().position(|other| *other as usize == place) {
                    Some(0) => {
                        match self.config.variant {
                            DmtfVariant::E => self.run.hit(out),
                            _ => out.put_bool(false),
                        }
                        ZERO
                    }
                    Some(second) => {
                        self.put_other(out, second as u64);
                        NEAR
                    }
                    None => {
                        self.put_other(out, u64::from(self.config.mtf2 - 1));
                        out.put(place as u64, self.w1);
                        FAR
                    }
                };
                self.touch_place(place);
                to_front(&mut self.streams, place);
                kind
            }
            None => {
                self.put_miss(stream, out);
                if !stream.is_trap() {
                    self.enter(key);
                }
                MISS
            }
        };
        self.tally.stream(kind, out);
        self.upper = stream.last_address() >> LOW;
    }

    fn flush(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        self.run.flush(out);
        self.tally.bits(ZERO, out);
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
        let stream = match self.get_place(from)? {
            None => self.get_miss(known, from)?,
            Some(place) => {
                let (low, length) =
                    *self.streams.get(place).ok_or_else(|| at.error(Fault::Empty(place as u64)))?;
                let start = if self.is_basic() { low } else { self.upper << LOW | low };
                self.touch_place(place);
                to_front(&mut self.streams, place);
                Stream { start, known: known.is_some(), end: End::of_length(length) }
            }
        };
        self.upper = stream.last_address() >> LOW;
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

    /// Encodes streams whose addresses are sent if they are not in the list.
    fn coded(config: Dmtf, streams: &[(u64, u8)]) -> (Bits, DmtfCoder) {
        let mut coder = config.coder(32);
        let mut out = Bits::default();
        for (start, length) in streams {
            let end = End::Natural(*length);
            coder.encode(&Stream { start: *start, known: false, end }, &mut out);
        }
        coder.flush(&mut out).unwrap();
        (out, coder)
    }

    fn of(variant: DmtfVariant, mtf1: u32, mtf2: u32) -> Dmtf {
        Dmtf { variant, mtf1, mtf2, ..Dmtf::default() }
    }

    #[test]
    fn basic() {
        let [a, b, c] = [(0x1000, 5), (0x2000, 7), (0x3000, 9)];
        let descriptor =
            |(start, length): (u64, u8)| format!("1 111 111111 {start:032b} {length:08b}");
        let text = [a, b, c].map(descriptor).concat()
            + "1 111 000010  1 111 000000  1 001  1 111 000001  0 0 1 001";
        let (out, coder) = coded(of(DmtfVariant::B, 64, 8), &[a, b, c, a, a, b, a, b, a, c]);
        assert_eq!(out, parse(&text));
        let found = coder.tally.records().iter().map(|one| (&one.kind[..], one.streams, one.bits));
        let expected = [("zero", 2, 2), ("near", 2, 8), ("far", 3, 30), ("miss", 3, 150)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn enhanced() {
        let [a, b] = [(0x1000, 5), (0x2000, 7)];
        let mut streams = vec![a; 12];
        streams.extend([b, a, b, a, b]);
        let (out, _) = coded(of(DmtfVariant::E, 192, 4), &streams);
        let text = "1 11 10111111 0 00000001000000000000 00000101 | 1 11 00000000 | 0 111 | 0 001 | \
                    1 11 10111111 0 00000010000000000000 00000111 | 1 11 00000001 | 0 010";
        assert_eq!(out, parse(text));
        assert_eq!(out.len(), 114);
    }

    /// Positions in single lists: plain move to front.
    #[test]
    fn move_to_front() {
        let places = |list: &[char], input: &str| -> Vec<usize> {
            let mut list = list.to_vec();
            let one = |c| {
                let place = list.iter().position(|other| *other == c).unwrap();
                to_front(&mut list, place);
                place
            };
            input.chars().map(one).collect()
        };
        assert_eq!(places(&['C', 'B', 'A'], "AABC"), [2, 0, 2, 2]);
        assert_eq!(places(&['B', 'A'], "ABAB"), [1, 1, 1, 1]);
        assert_eq!(places(&['C', 'B', 'A'], "ABCABC"), [2; 6]);
        assert_eq!(places(&['C', 'A', 'B'], "ABACABAC"), [1, 2, 1, 2, 1, 2, 1, 2]);
        // The same places through a second list.
        assert_eq!(places(&['2', '1'], "12121212"), [1; 8]);
    }

    /// The source counts the lists and the upper bits.
    #[test]
    fn gates_of_the_source() {
        let gates = |config: Dmtf| {
            let parts = [PartKind::Tables, PartKind::Order, PartKind::Registers];
            let cost = config.cost(32);
            parts.iter().map(|part| cost.gates_of(*part)).sum::<f64>()
        };
        assert_eq!(gates(Dmtf::default()), 24_640.0);
        assert_eq!(gates(of(DmtfVariant::E, 64, 4)), 7_530.0);
    }
}
