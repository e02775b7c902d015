//! The memory side of AXI: one hart's reads and writes, in order, with latency.

use crate::bus::Bus;
use fastrand::Rng;
use std::collections::VecDeque;

const OKAY: u8 = 0;
/// The response to a successful exclusive access.
const EXOKAY: u8 = 1;
/// Number of waiting beats at which no further read is accepted.
const MOST_BEATS: usize = 16;

/// The latency of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Cycles from a request to its response.
    pub cycles: u64,
    /// The largest number of additional random cycles. With jitter, requests also have to wait
    /// occasionally.
    pub jitter: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self { cycles: 2, jitter: 0 }
    }
}

/// The contents of `AW` or `AR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) id: u8,
    pub(crate) address: u64,
    /// Number of beats after the first.
    pub(crate) len: u8,
    /// Bytes per beat, as a power of two.
    pub(crate) size: u8,
    /// Whether it wraps around at the end of its block.
    pub(crate) wraps: bool,
    pub(crate) lock: bool,
    pub(crate) atop: u8,
}

impl Address {
    /// The address of a beat.
    fn beat(&self, number: u64) -> u64 {
        let bytes = 1u64 << self.size.min(7);
        if number == 0 {
            return self.address;
        }
        let next = (self.address & !(bytes - 1)).wrapping_add(number * bytes);
        if !self.wraps {
            return next;
        }
        let block = bytes * (u64::from(self.len) + 1).next_power_of_two();
        self.address & !(block - 1) | next & (block - 1)
    }
}

/// The core's requests in a cycle: each `Some` if valid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requests {
    pub(crate) read: Option<Address>,
    pub(crate) write: Option<Address>,
    /// Data, strobe and whether it is the last beat.
    pub(crate) data: Option<(u64, u8, bool)>,
    pub(crate) takes_read: bool,
    pub(crate) takes_written: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    pub(crate) id: u8,
    pub(crate) data: u64,
    pub(crate) resp: u8,
    pub(crate) last: bool,
    due: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) id: u8,
    pub(crate) resp: u8,
    due: u64,
}

/// The memory's offers in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offers {
    pub(crate) read_ready: bool,
    pub(crate) write_ready: bool,
    pub(crate) data_ready: bool,
    pub(crate) read: Option<Beat>,
    pub(crate) written: Option<Written>,
}

/// The state of one hart's AXI port.
#[derive(Debug)]
pub(crate) struct Axi {
    hart: usize,
    latency: Latency,
    random: Rng,
    beats: VecDeque<Beat>,
    written: VecDeque<Written>,
    /// The write whose data is awaited, and the number of its beats so far.
    write: Option<(Address, u64)>,
    offers: Offers,
    /// Requests that were not accepted in the last cycle.
    waiting: Requests,
    /// How often one of them was not there in the next cycle, or another one was.
    pub(crate) withdrawn: u64,
}

impl Axi {
    pub(crate) fn new(hart: usize, latency: Latency, seed: u64) -> Self {
        Self {
            hart,
            latency,
            random: Rng::with_seed(seed ^ hart as u64),
            beats: VecDeque::new(),
            written: VecDeque::new(),
            write: None,
            offers: Offers::default(),
            waiting: Requests::default(),
            withdrawn: 0,
        }
    }

    /// The offers in cycle `now`.
    pub(crate) fn offer(&mut self, now: u64) -> Offers {
        let patient = self.latency.jitter > 0;
        let mut awake = || !patient || self.random.u8(..4) > 0;
        self.offers = Offers {
            read_ready: self.beats.len() < MOST_BEATS && awake(),
            write_ready: self.write.is_none() && awake(),
            data_ready: self.write.is_some() && awake(),
            read: self.beats.front().filter(|beat| beat.due <= now).copied(),
            written: self.written.front().filter(|written| written.due <= now).copied(),
        };
        self.offers
    }

    /// Handles the core's side of the same cycle.
    pub(crate) fn request(&mut self, now: u64, requests: &Requests, bus: &mut Bus) {
        let offers = self.offers;
        let Requests { read, write, data, .. } = self.waiting;
        let kept = [
            read.is_none() || read == requests.read,
            write.is_none() || write == requests.write,
            data.is_none() || data == requests.data,
        ];
        self.withdrawn += kept.into_iter().filter(|kept| !kept).count() as u64;
        self.waiting = Requests {
            read: requests.read.filter(|_| !offers.read_ready),
            write: requests.write.filter(|_| !offers.write_ready),
            data: requests.data.filter(|_| !offers.data_ready),
            ..Requests::default()
        };
        if offers.read.is_some() && requests.takes_read {
            self.beats.pop_front();
        }
        if offers.written.is_some() && requests.takes_written {
            self.written.pop_front();
        }
        if let Some(read) = requests.read.filter(|_| offers.read_ready) {
            self.read(now, &read, bus);
        }
        if let Some(write) = requests.write.filter(|_| offers.write_ready) {
            self.write = Some((write, 0));
        }
        if let Some(data) = requests.data.filter(|_| offers.data_ready) {
            self.data(now, data, bus);
        }
    }

    fn due(&mut self, now: u64) -> u64 {
        now + 1 + self.latency.cycles + self.random.u64(..=self.latency.jitter)
    }

    fn read(&mut self, now: u64, read: &Address, bus: &mut Bus) {
        if read.lock {
            bus.reserve(self.hart, read.address);
        }
        let due = self.due(now);
        let resp = if read.lock { EXOKAY } else { OKAY };
        for number in 0..=u64::from(read.len) {
            let last = number == u64::from(read.len);
            let data = bus.read(read.beat(number));
            self.beats.push_back(Beat { id: read.id, data, resp, last, due });
        }
    }

    fn data(&mut self, now: u64, (data, strobe, last): (u64, u8, bool), bus: &mut Bus) {
        // Data is accepted only with a write, so there is one.
        let Some((write, number)) = self.write else { return };
        let due = self.due(now);
        let mut resp = OKAY;
        if write.atop != 0 {
            let old = bus.atomic(write.address, write.size, write.atop, data, strobe);
            self.beats.push_back(Beat { id: write.id, data: old, resp, last: true, due });
        } else if write.lock {
            if bus.conditional(self.hart, write.address, data, strobe) {
                resp = EXOKAY;
            }
        } else {
            bus.write(write.beat(number), data, strobe);
        }
        self.write = (!last).then_some((write, number + 1));
        if last {
            self.written.push_back(Written { id: write.id, resp, due });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::RAM;

    #[test]
    fn beats_of_a_burst() {
        let burst = Address { address: RAM + 0x14, len: 3, size: 3, ..Address::default() };
        let beats = |burst: &Address| (0..4).map(|n| burst.beat(n) - RAM).collect::<Vec<_>>();
        assert_eq!(beats(&burst), [0x14, 0x18, 0x20, 0x28]);
        let wraps = Address { address: RAM + 0x10, wraps: true, ..burst };
        assert_eq!(beats(&wraps), [0x10, 0x18, 0, 8]);
    }

    #[test]
    fn a_burst_is_written_and_answered_once() {
        let mut bus = Bus::new(vec![0; 64], None, 1);
        let mut axi = Axi::new(0, Latency { cycles: 3, jitter: 0 }, 0);
        let write = Address { id: 5, address: RAM + 8, len: 1, size: 3, ..Address::default() };
        let offers = axi.offer(0);
        assert!(offers.write_ready && !offers.data_ready);
        axi.request(0, &Requests { write: Some(write), ..Requests::default() }, &mut bus);
        for (now, last) in [(1, false), (2, true)] {
            assert!(axi.offer(now).data_ready);
            let data = Some((now, 0xff, last));
            axi.request(now, &Requests { data, ..Requests::default() }, &mut bus);
        }
        assert_eq!((bus.read(RAM + 8), bus.read(RAM + 16)), (1, 2));
        assert!(axi.offer(5).written.is_none());
        let taken = Requests { takes_written: true, ..Requests::default() };
        assert_eq!(axi.offer(6).written.map(|written| (written.id, written.resp)), Some((5, OKAY)));
        axi.request(6, &taken, &mut bus);
        assert!(axi.offer(7).written.is_none());
    }

    #[test]
    fn a_request_that_waits_has_to_stay() {
        let mut bus = Bus::new(vec![0; 64], None, 1);
        let mut axi = Axi::new(0, Latency { cycles: 9, jitter: 0 }, 0);
        let data = |word| Requests { data: Some((word, 0xff, true)), ..Requests::default() };
        // Data without a write is not accepted.
        for (now, requests, withdrawn) in [
            (0, data(1), 0),
            (1, data(1), 0),
            (2, data(2), 1),
            (3, Requests::default(), 2),
            (4, data(3), 2),
        ] {
            assert!(!axi.offer(now).data_ready);
            axi.request(now, &requests, &mut bus);
            assert_eq!(axi.withdrawn, withdrawn, "cycle {now}");
        }
        let read = Some(Address { address: RAM, ..Address::default() });
        for now in 5..7 {
            assert!(axi.offer(now).read_ready);
            axi.request(now, &Requests { read, ..data(3) }, &mut bus);
        }
        assert_eq!(axi.withdrawn, 2);
    }

    #[test]
    fn an_atomic_has_two_answers() {
        let mut bus = Bus::new(vec![3; 64], None, 1);
        let mut axi = Axi::new(0, Latency { cycles: 0, jitter: 0 }, 0);
        let write = Address { id: 1, address: RAM, size: 3, atop: 0x30, ..Address::default() };
        axi.offer(0);
        axi.request(0, &Requests { write: Some(write), ..Requests::default() }, &mut bus);
        axi.offer(1);
        let data = Some((9, 0xff, true));
        axi.request(1, &Requests { data, ..Requests::default() }, &mut bus);
        let offers = axi.offer(2);
        assert_eq!(
            offers.read.map(|beat| (beat.data, beat.last)),
            Some((0x0303_0303_0303_0303, true))
        );
        assert!(offers.written.is_some());
        assert_eq!(bus.read(RAM), 9);
    }
}
