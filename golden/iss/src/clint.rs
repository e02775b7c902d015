//! The core-local interruptor: timer and software interrupt of one hart.

use crate::privileged::interrupt;

/// First address.
pub(crate) const BASE: u64 = 0x200_0000;
/// Size of its range.
pub(crate) const SIZE: u64 = 0xc_0000;

const MTIMECMP: u64 = 0x4000;
const MTIME: u64 = 0xbff8;

#[derive(Clone, Debug)]
pub(crate) struct Clint {
    /// `mtime`.
    pub(crate) time: u64,
    /// `mtimecmp`.
    pub(crate) compare: u64,
    /// Whether it had been reached at the last change of the time.
    timer: bool,
    software: bool,
}

impl Clint {
    pub(crate) const fn new(compare: u64) -> Self {
        Self { time: 0, compare, timer: false, software: false }
    }

    /// Sets the time.
    pub(crate) const fn set_time(&mut self, time: u64) {
        self.time = time;
        self.timer = time >= self.compare;
    }

    /// The interrupts it raises.
    pub(crate) const fn pending(&self) -> u64 {
        (self.software as u64) << interrupt::MSI | (self.timer as u64) << interrupt::MTI
    }

    /// Returns the `size` bytes at `offset`. Addresses without a register read as zero.
    pub(crate) fn load(&self, offset: u64, size: u64) -> u64 {
        let (register, first) = match offset {
            0..4 => (self.software.into(), 0),
            MTIMECMP..0x4008 => (self.compare, MTIMECMP),
            MTIME..0xc000 => (self.time, MTIME),
            _ => return 0,
        };
        register >> ((offset - first) * 8) & mask(size)
    }

    /// Stores the low `size` bytes of `value` at `offset`.
    pub(crate) fn store(&mut self, offset: u64, size: u64, value: u64) {
        let place = |register: &mut u64, first: u64| {
            let shift = (offset - first) * 8;
            *register = *register & !(mask(size) << shift) | (value & mask(size)) << shift;
        };
        match offset {
            0 => self.software = value & 1 == 1,
            MTIMECMP..0x4008 => place(&mut self.compare, MTIMECMP),
            MTIME..0xc000 => place(&mut self.time, MTIME),
            _ => {}
        }
        self.set_time(self.time);
    }
}

/// A mask for the low `size` bytes.
const fn mask(size: u64) -> u64 {
    u64::MAX >> (64 - size * 8)
}
