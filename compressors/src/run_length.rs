//! A counter of equal events whose width adapts to the length of the runs.

use crate::cost::index_bits;
use crate::{BitSource, Bits, DecodeError};
use serde::{Deserialize, Serialize};

/// Initial values and limits of the counter.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunLength {
    /// Initial number of bits.
    pub w0: u32,
    /// Smallest number of bits.
    pub wmin: u32,
    /// Largest number of bits.
    pub wmax: u32,
    /// The monitor, 0 to 15, initially and after each change.
    pub m0: u32,
    /// What raises the monitor.
    pub grows: Grows,
}

/// What raises the monitor, so that the counter grows.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grows {
    /// A run that exceeds the counter, as in the source. The last record of such a run does not lower the monitor,
    /// since the run is not short. The reader knows that a run exceeds the counter from the next header.
    Overflow,
    /// A record that fills the counter, whether the run goes on or not. Each record counts on its own.
    Full,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { w0: 3, wmin: 1, wmax: 10, m0: 8, grows: Grows::Overflow }
    }
}

/// The largest monitor.
const FULL: u32 = 15;

impl RunLength {
    pub(crate) fn is_good(&self) -> bool {
        let Self { w0, wmin, wmax, m0, .. } = *self;
        (1..=32).contains(&wmin)
            && (wmin..=32).contains(&wmax)
            && (wmin..=wmax).contains(&w0)
            && (1..FULL).contains(&m0)
    }

    /// Bits of the counter, its width, its monitor, and whether the run is long.
    pub(crate) fn counter_bits(&self) -> u64 {
        u64::from(self.wmax + index_bits(u64::from(self.wmax) + 1) + 4 + 1)
    }

    /// Creates a counter. `header` distinguishes a run from other records. The width decreases after
    /// runs that are shorter than the counter can count, or with `half`, shorter than half of that.
    pub(crate) fn counter(self, header: bool, half: bool) -> Counter {
        let (width, monitor) = (self.w0, self.m0);
        Counter { config: self, header, half, width, monitor, count: 0, full: false, long: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    config: RunLength,
    header: bool,
    half: bool,
    width: u32,
    monitor: u32,
    /// Events that have not been written; for reading, events that have been read but not yet
    /// returned.
    count: u64,
    /// For reading: the last record was of a run and filled the counter.
    full: bool,
    /// The current run has exceeded the counter.
    long: bool,
}

impl Counter {
    /// Counts one more event.
    pub(crate) fn hit(&mut self, out: &mut Bits) {
        if self.count == self.most() {
            self.put(out);
            self.exceeded();
        }
        self.count += 1;
        if self.config.grows == Grows::Full && self.count == self.most() {
            self.flush(out);
        }
    }

    /// Writes the run so far: before any other record, and at the end.
    pub(crate) fn flush(&mut self, out: &mut Bits) {
        if self.count > 0 {
            let run = self.count;
            self.put(out);
            self.ended(run);
        }
        self.long = false;
    }

    fn put(&mut self, out: &mut Bits) {
        out.put_bool(self.header);
        out.put(self.count - 1, self.width);
        self.count = 0;
    }

    /// Reads a run whose header has been read; the first of its events counts as returned.
    pub(crate) fn read(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        if std::mem::take(&mut self.full) {
            self.exceeded();
        }
        let run = from.get(self.width)? + 1;
        self.full = self.config.grows == Grows::Overflow && run == self.most();
        if !self.full {
            self.ended(run);
        }
        self.count = run - 1;
        Ok(())
    }

    /// Notes that another record was read: the run before it has ended.
    pub(crate) fn interrupted(&mut self) {
        (self.full, self.long) = (false, false);
    }

    /// Returns one of the events that have been read, if any is left.
    pub(crate) fn again(&mut self) -> bool {
        let some = self.count > 0;
        self.count -= u64::from(some);
        some
    }

    /// Events that have been read but not yet returned.
    pub(crate) fn pending(&self) -> u64 {
        self.count
    }

    /// State on which both sides must agree after whole runs.
    #[cfg(test)]
    pub(crate) fn adapted(&self) -> (u32, u32) {
        (self.width, self.monitor)
    }

    /// Events in a full record.
    fn most(&self) -> u64 {
        1 << self.width
    }

    /// The run goes on after a full record.
    fn exceeded(&mut self) {
        self.long = true;
        self.adapt(3);
    }

    /// The last record of a run has this many events; or any record, if each counts on its own.
    fn ended(&mut self, run: u64) {
        let short = run < if self.half { self.most() / 2 } else { self.most() };
        match self.config.grows {
            Grows::Full if run == self.most() => self.adapt(3),
            _ if short && !self.long => self.adapt(-1),
            _ => {}
        }
    }

    fn adapt(&mut self, by: i32) {
        let RunLength { wmin, wmax, m0, .. } = self.config;
        self.monitor = FULL.min(self.monitor.saturating_add_signed(by));
        match self.monitor {
            FULL => (self.width, self.monitor) = (wmax.min(self.width + 1), m0),
            0 => (self.width, self.monitor) = (wmin.max(self.width - 1), m0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bits::parse;

    fn runs(counter: &mut Counter) -> Bits {
        let mut out = Bits::default();
        for run in [20, 1, 2, 3, 30] {
            (0..run).for_each(|_| counter.hit(&mut out));
            counter.flush(&mut out);
        }
        out
    }

    fn of(grows: Grows) -> RunLength {
        RunLength { grows, ..RunLength::default() }
    }

    #[test]
    fn zero_lengths() {
        for (grows, monitor) in [(Grows::Overflow, 8), (Grows::Full, 7)] {
            let mut counter = of(grows).counter(false, false);
            let out = runs(&mut counter);
            assert_eq!(out, parse("0111 0111 0011 0000 0001 0010 0111 0111 01101"));
            assert_eq!(counter.adapted(), (4, monitor));
        }
    }

    #[test]
    fn one_lengths() {
        for grows in [Grows::Overflow, Grows::Full] {
            let mut counter = of(grows).counter(true, true);
            let out = runs(&mut counter);
            assert_eq!(out, parse("1111 1111 1011 1000 1001 1010 1111 1111 11101"));
            assert_eq!(counter.adapted(), (4, 8));
        }
    }

    /// A run that just fills the counter does not exceed it. Where each record counts on its own, three such
    /// runs make the counter grow.
    #[test]
    fn a_full_counter_is_not_exceeded() {
        for (grows, expected) in [(Grows::Overflow, (3, 8)), (Grows::Full, (4, 8))] {
            let mut counter = of(grows).counter(false, false);
            let mut out = Bits::default();
            for _ in 0..3 {
                (0..8).for_each(|_| counter.hit(&mut out));
                counter.flush(&mut out);
            }
            assert_eq!(out, parse("0111 0111 0111"));
            assert_eq!(counter.adapted(), expected);
        }
    }

    /// A run of 9 exceeds a counter of 8: the monitor rises by 3, and the single event at its end does not lower it.
    #[test]
    fn the_rest_of_a_long_run_is_not_a_short_run() {
        let mut counter = of(Grows::Overflow).counter(false, false);
        let mut out = Bits::default();
        (0..9).for_each(|_| counter.hit(&mut out));
        counter.flush(&mut out);
        assert_eq!(out, parse("0111 0000"));
        assert_eq!(counter.adapted(), (3, 11));
        let mut reader = of(Grows::Overflow).counter(false, false);
        let mut from = BitSource::new(&out);
        for _ in 0..2 {
            assert_eq!(from.get_bool(), Ok(false));
            reader.read(&mut from).unwrap();
        }
        assert_eq!(reader.adapted(), (3, 11));
    }
}
