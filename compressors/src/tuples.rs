//! Tuples: a cache of streams whose indices are sent eight at a time, and a list of the last tuples of them.
//!
//! Section 3.3 of the source describes it in prose and without figures.

use crate::base::detector_bits;
use crate::cost::{Cost, PartKind};
use crate::records::Tally;
use crate::sdc::{Sdc, SdcCoder, SdcVariant};
use crate::stream::{Stream, StreamCoder};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Streams in a tuple.
const STREAMS: usize = 8;

/// Sizes of the cache and the list.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuples {
    /// Tuples in the list, a power of two.
    pub tuples: u32,
    /// Entries of the cache, a power of two.
    pub entries: u32,
    /// Ways of the cache, a power of two.
    pub ways: u32,
}

impl Default for Tuples {
    fn default() -> Self {
        Self { tuples: 32, entries: 128, ways: 4 }
    }
}

impl Tuples {
    fn cache(&self) -> Sdc {
        let (entries, ways) = (self.entries, self.ways);
        Sdc { variant: SdcVariant::B, entries, ways, ..Sdc::default() }
    }

    fn index_bits(&self) -> u32 {
        self.entries.ilog2()
    }

    /// The current stream, and those of a tuple, which wait until it is complete; the cache; and the list, which is searched for
    /// whole tuples.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let [tuples, width] = [self.tuples, self.index_bits()].map(u64::from);
        let (streams, tuple) = (STREAMS as u64, STREAMS as u64 * width);
        let stream = detector_bits(xlen, 1);
        self.cache()
            .cache_cost(Cost::new(xlen), xlen)
            .memory(PartKind::Input, stream)
            .memory(PartKind::Queue, streams * (stream + width))
            .searched(PartKind::Tables, tuples * tuple)
            .memory(PartKind::Valid, tuples)
            .memory(PartKind::Order, self.tuples.ilog2().into())
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        match self.tuples.is_power_of_two() && (2..=1 << 16).contains(&self.tuples) {
            true => self.cache().check(),
            false => {
                Err(CompressError::Config("Tuples: tuples is a power of two, 2 to 65536".into()))
            }
        }
    }

    pub(crate) fn coder(self, xlen: u32) -> TuplesCoder {
        TuplesCoder {
            config: self,
            cache: self.cache().coder(xlen),
            list: Vec::new(),
            oldest: 0,
            waiting: Vec::new(),
            left: VecDeque::new(),
            tally: Tally::new(["listed", "new"]),
        }
    }
}

// Kinds of records: streams in tuples that are in the list, or not.
const LISTED: usize = 0;
const NEW: usize = 1;

/// Indices of streams, 0 for those that are not in the cache, and where a trace ends before its last tuple does.
type Tuple = [u32; STREAMS];

#[derive(Clone, Debug)]
pub(crate) struct TuplesCoder {
    config: Tuples,
    cache: SdcCoder,
    list: Vec<Tuple>,
    /// The place of the tuple that is replaced next, once the list is full.
    oldest: usize,
    /// Streams of a tuple that is not complete, with their indices.
    waiting: Vec<(u32, Stream)>,
    /// Indices that have been read, of streams that have not been returned.
    left: VecDeque<u32>,
    tally: Tally,
}

impl TuplesCoder {
    /// Enters a tuple, in the same way on both sides.
    fn enter(&mut self, tuple: Tuple) {
        if self.list.len() < self.config.tuples as usize {
            self.list.push(tuple);
        } else {
            self.list[self.oldest] = tuple;
            self.oldest = (self.oldest + 1) % self.list.len();
        }
    }

    /// Writes the tuple: its place in the list or its indices, then what the cache lacks.
    fn put(&mut self, out: &mut Bits) {
        let mut tuple = Tuple::default();
        for (place, (index, _)) in tuple.iter_mut().zip(&self.waiting) {
            *place = *index;
        }
        let place = self.list.iter().position(|other| *other == tuple);
        out.put_bool(place.is_some());
        match place {
            Some(place) => out.put(place as u64, self.config.tuples.ilog2()),
            None => {
                let width = self.config.index_bits();
                tuple.iter().for_each(|index| out.put((*index).into(), width));
                self.enter(tuple);
            }
        }
        for (index, stream) in &self.waiting {
            if *index == 0 {
                self.cache.put_descriptor(stream, out);
            }
        }
        let kind = if place.is_some() { LISTED } else { NEW };
        self.waiting.drain(..).for_each(|_| self.tally.stream(kind, out));
    }

    fn get(&mut self, from: &mut BitSource<'_>) -> Result<Tuple, DecodeError> {
        let at = from.clone();
        if from.get_bool()? {
            let place = from.get(self.config.tuples.ilog2())?;
            let tuple = self.list.get(place as usize);
            return tuple.copied().ok_or_else(|| at.error(Fault::Empty(place)));
        }
        let mut tuple = Tuple::default();
        for index in &mut tuple {
            *index = from.get(self.config.index_bits())? as u32;
        }
        self.enter(tuple);
        Ok(tuple)
    }
}

impl StreamCoder for TuplesCoder {
    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        let index = self.cache.index(stream);
        self.cache.update(stream, index);
        self.waiting.push((index as u32, *stream));
        if self.waiting.len() == STREAMS {
            self.put(out);
        }
    }

    fn flush(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        if !self.waiting.is_empty() {
            self.put(out);
        }
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
        if self.left.is_empty() {
            let tuple = self.get(from)?;
            self.left.extend(tuple);
        }
        let index = self.left.pop_front().unwrap_or(0) as usize;
        let stream = match index {
            0 => self.cache.get_miss(known, from)?,
            _ => self.cache.cached(index, known, &at)?,
        };
        self.cache.update(&stream, index);
        Ok(stream)
    }

    fn pending(&self) -> u64 {
        self.left.iter().filter(|index| **index != 0).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::End;
    use crate::test_bits::parse;

    /// A loop of one stream, whose descriptor is sent once: its second tuple has only hits, and its third is that again.
    #[test]
    fn a_loop() {
        let config = Tuples { tuples: 4, entries: 64, ways: 4 };
        let (mut coder, mut out) = (config.coder(32), Bits::default());
        for _ in 0..25 {
            let stream = Stream { start: 0x0200_01f4, known: true, end: End::Natural(9) };
            coder.encode(&stream, &mut out);
        }
        coder.flush(&mut out).unwrap();
        let hit = " 011000";
        let first = format!("0 000000{} 00001001", hit.repeat(7));
        let second = format!("0{}", hit.repeat(8));
        let last = format!("0{hit}{}", " 000000".repeat(7));
        assert_eq!(out, parse(&format!("{first} {second} 1 01 {last}")));
        let found = coder.tally.records().iter().map(|one| (&one.kind[..], one.streams, one.bits));
        assert_eq!(found.collect::<Vec<_>>(), [("listed", 8, 3), ("new", 17, 155)]);
    }

    #[test]
    fn the_oldest_tuple_is_replaced() {
        let mut coder = Tuples { tuples: 2, ..Tuples::default() }.coder(32);
        [1, 2, 3, 4, 5].into_iter().for_each(|index| coder.enter([index; STREAMS]));
        assert_eq!(coder.list, [[5; STREAMS], [4; STREAMS]]);
    }
}
