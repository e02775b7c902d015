//! A counter of equal events whose width adapts to the length of the runs.

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
}

impl Default for RunLength {
    fn default() -> Self {
        Self { w0: 3, wmin: 1, wmax: 10, m0: 8 }
    }
}

/// The largest monitor.
const FULL: u32 = 15;

impl RunLength {
    pub(crate) fn is_good(&self) -> bool {
        let Self { w0, wmin, wmax, m0 } = *self;
        (1..=32).contains(&wmin)
            && (wmin..=32).contains(&wmax)
            && (wmin..=wmax).contains(&w0)
            && (1..FULL).contains(&m0)
    }

    /// Bits of the counter and its monitor.
    pub(crate) fn storage_bits(&self) -> u64 {
        u64::from(self.wmax) + 4
    }

    /// Creates a counter. `header` distinguishes a run from other records. The width decreases after
    /// runs that are shorter than the counter can count, or with `half`, shorter than half of that.
    pub(crate) fn counter(self, header: bool, half: bool) -> Counter {
        Counter { config: self, header, half, width: self.w0, monitor: self.m0, count: 0 }
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
}

impl Counter {
    /// Counts one more event.
    pub(crate) fn hit(&mut self, out: &mut Bits) {
        self.count += 1;
        if self.count == 1 << self.width {
            self.flush(out);
        }
    }

    /// Writes the run so far: before any other record, and at the end.
    pub(crate) fn flush(&mut self, out: &mut Bits) {
        if self.count > 0 {
            out.put_bool(self.header);
            out.put(self.count - 1, self.width);
            self.adapt(self.count);
            self.count = 0;
        }
    }

    /// Reads a run whose header has been read; the first of its events counts as returned.
    pub(crate) fn read(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        let run = from.get(self.width)? + 1;
        self.adapt(run);
        self.count = run - 1;
        Ok(())
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

    /// Adapts the width from the record alone, since the reader knows nothing else.
    fn adapt(&mut self, run: u64) {
        let RunLength { wmin, wmax, m0, .. } = self.config;
        let most = 1 << self.width;
        if run == most {
            self.monitor = FULL.min(self.monitor + 3);
        } else if run < if self.half { most / 2 } else { most } {
            self.monitor = self.monitor.saturating_sub(1);
        }
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

    #[test]
    fn zero_lengths() {
        let mut counter = RunLength::default().counter(false, false);
        let out = runs(&mut counter);
        assert_eq!(out, parse("0111 0111 0011 0000 0001 0010 0111 0111 01101"));
        assert_eq!((counter.width, counter.monitor), (4, 7));
    }

    #[test]
    fn one_lengths() {
        let mut counter = RunLength::default().counter(true, true);
        let out = runs(&mut counter);
        assert_eq!(out, parse("1111 1111 1011 1000 1001 1010 1111 1111 11101"));
        assert_eq!((counter.width, counter.monitor), (4, 8));
    }
}
