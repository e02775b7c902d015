//! Memory and devices, shared by all harts.

use crate::map;
use std::ops::Range;

/// `dret` twice.
const DRET: u64 = 0x7b20_0073_7b20_0073;

/// The input wires of a hart.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    pub(crate) software: bool,
    pub(crate) compare: u64,
    pub(crate) external: u8,
    /// Number of cycles for which debug mode is still requested.
    pub(crate) debug: u64,
    /// The double-word of the last load-reserved, until somebody writes to it.
    reservation: Option<u64>,
}

/// Memory and devices.
#[derive(Debug)]
pub(crate) struct Bus {
    ram: Vec<u8>,
    /// The mailbox of programs that end with a store to memory.
    tohost: Option<u64>,
    pub(crate) lines: Vec<Lines>,
    pub(crate) time: u64,
    pub(crate) console: Vec<u8>,
    /// The exit code, once the program has ended.
    pub(crate) exit: Option<u64>,
}

impl Bus {
    pub(crate) fn new(ram: Vec<u8>, tohost: Option<u64>, harts: usize) -> Self {
        let lines =
            Lines { software: false, compare: u64::MAX, external: 0, debug: 0, reservation: None };
        let lines = vec![lines; harts];
        Self { ram, tohost, lines, time: 0, console: Vec::new(), exit: None }
    }

    /// Reads the double-word that contains `address`. Unmapped addresses read as zero.
    pub(crate) fn read(&self, address: u64) -> u64 {
        let address = address & !7;
        if let Some(bytes) = self.ram_at(address) {
            return u64::from_le_bytes(bytes);
        }
        let software = |hart: usize| self.lines.get(hart).is_some_and(|l| l.software).into();
        match address {
            map::MTIME => self.time,
            map::DEBUG_ENTRY | map::DEBUG_EXCEPTION => DRET,
            map::MSIP..map::MTIMECMP => {
                let hart = ((address - map::MSIP) / 4) as usize;
                let [low, high]: [u64; 2] = [software(hart), software(hart + 1)];
                low | high << 32
            }
            map::MTIMECMP..map::MTIME => {
                let hart = ((address - map::MTIMECMP) / 8) as usize;
                self.lines.get(hart).map_or(0, |lines| lines.compare)
            }
            _ => match self.device(address) {
                Some((hart, map::EXTERNAL)) => self.lines[hart].external.into(),
                _ => 0,
            },
        }
    }

    /// Writes the bytes of a double-word that `strobe` selects.
    pub(crate) fn write(&mut self, address: u64, data: u64, strobe: u8) {
        let address = address & !7;
        let mask =
            (0..8).filter(|i| strobe >> i & 1 == 1).fold(0, |mask, i| mask | 0xff << (8 * i));
        let data = data & mask;
        for lines in &mut self.lines {
            lines.reservation.take_if(|reserved| *reserved == address);
        }
        if let Some(bytes) = self.ram_at(address) {
            let value = u64::from_le_bytes(bytes) & !mask | data;
            let at = (address - map::RAM) as usize;
            self.ram[at..at + 8].copy_from_slice(&value.to_le_bytes());
            if self.tohost == Some(address) && value & 1 == 1 {
                self.exit = Some(value >> 1);
            }
            return;
        }
        match address {
            map::EXIT => self.exit = Some(data >> 1),
            map::CONSOLE => self.console.push(data as u8),
            map::MSIP..map::MTIMECMP => {
                let hart = ((address - map::MSIP) / 4) as usize;
                for (half, shift) in [(hart, 0), (hart + 1, 32)] {
                    if let Some(lines) = self.lines.get_mut(half)
                        && mask >> shift & 1 == 1
                    {
                        lines.software = data >> shift & 1 == 1;
                    }
                }
            }
            map::MTIMECMP..map::MTIME => {
                let hart = ((address - map::MTIMECMP) / 8) as usize;
                if let Some(lines) = self.lines.get_mut(hart) {
                    lines.compare = lines.compare & !mask | data;
                }
            }
            _ => match self.device(address) {
                Some((hart, map::EXTERNAL)) => self.lines[hart].external = data as u8 & 3,
                Some((hart, map::DEBUG)) => self.lines[hart].debug = data & 0xffff_ffff,
                _ => {}
            },
        }
    }

    /// Copies bytes to memory; `false` if they do not fit.
    pub(crate) fn load(&mut self, address: u64, bytes: &[u8]) -> bool {
        let range = ram_range(address, bytes.len() as u64);
        match range.and_then(|range| self.ram.get_mut(range)) {
            Some(place) => place.copy_from_slice(bytes),
            None => return false,
        }
        true
    }

    /// Bytes of memory, if the range exists.
    pub(crate) fn bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.ram.get(ram_range(address, size)?)
    }

    /// Remembers the address of a load-reserved.
    pub(crate) fn reserve(&mut self, hart: usize, address: u64) {
        self.lines[hart].reservation = Some(address & !7);
    }

    /// Performs a store-conditional, and returns whether it stored.
    pub(crate) fn conditional(&mut self, hart: usize, address: u64, data: u64, strobe: u8) -> bool {
        let reserved = self.lines[hart].reservation.take() == Some(address & !7);
        if reserved {
            self.write(address, data, strobe);
        }
        reserved
    }

    /// Performs an atomic operation of AXI, and returns the previous double-word.
    pub(crate) fn atomic(
        &mut self,
        address: u64,
        size: u8,
        atop: u8,
        data: u64,
        strobe: u8,
    ) -> u64 {
        let old = self.read(address);
        let (bits, shift) = (8u32 << size.min(3), 8 * (address & 7) as u32);
        let mask = u64::MAX >> (64 - bits);
        let (value, operand) = (old >> shift & mask, data >> shift & mask);
        let new = combine(atop, bits, value, operand);
        self.write(address, (new & mask) << shift, strobe);
        old
    }

    /// Advances one cycle.
    pub(crate) fn tick(&mut self) {
        self.time += 1;
    }

    /// The hart that a device register belongs to, and the corresponding register of hart 0.
    fn device(&self, address: u64) -> Option<(usize, u64)> {
        let offset = address.checked_sub(map::EXIT)?;
        let hart = usize::try_from(offset / map::NEXT_HART).ok()?;
        (hart < self.lines.len()).then_some((hart, map::EXIT + offset % map::NEXT_HART))
    }

    fn ram_at(&self, address: u64) -> Option<[u8; 8]> {
        self.bytes(address, 8)?.try_into().ok()
    }
}

/// The position of an address in memory.
fn ram_range(address: u64, size: u64) -> Option<Range<usize>> {
    let at = usize::try_from(address.checked_sub(map::RAM)?).ok()?;
    Some(at..at.checked_add(usize::try_from(size).ok()?)?)
}

/// Applies the operation that AXI's `AWATOP` names.
fn combine(atop: u8, bits: u32, value: u64, operand: u64) -> u64 {
    let signed = |word: u64| (word << (64 - bits)) as i64;
    let select = |first: bool| if first { value } else { operand };
    match (atop & 0x30, atop & 7) {
        (0x30, _) => operand,
        (_, 0) => value.wrapping_add(operand),
        (_, 1) => value & !operand,
        (_, 2) => value ^ operand,
        (_, 3) => value | operand,
        (_, 4) => select(signed(value) > signed(operand)),
        (_, 5) => select(signed(value) < signed(operand)),
        (_, 6) => select(value > operand),
        _ => select(value < operand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus(harts: usize) -> Bus {
        Bus::new(vec![0; 64], Some(map::RAM + 8), harts)
    }

    #[test]
    fn bytes_of_a_double_word() {
        let mut bus = bus(1);
        bus.write(map::RAM, 0x1122_3344_5566_7788, 0xff);
        bus.write(map::RAM + 3, 0xaa00_0000, 0x08);
        assert_eq!(bus.read(map::RAM + 5), 0x1122_3344_aa66_7788);
        // The last double-word, and the address after it.
        bus.write(map::RAM + 56, 1, 0xff);
        bus.write(map::RAM + 64, 2, 0xff);
        assert_eq!((bus.read(map::RAM + 56), bus.read(map::RAM + 64)), (1, 0));
        assert_eq!(bus.read(u64::MAX), 0);
    }

    #[test]
    fn a_program_ends_in_two_ways() {
        let mut first = bus(1);
        first.write(map::RAM + 8, 6, 0xff);
        assert_eq!(first.exit, None);
        first.write(map::RAM + 8, 7, 0xff);
        assert_eq!(first.exit, Some(3));
        let mut second = bus(1);
        second.write(map::EXIT, 0xffff_ffff_0000_0009, 0x0f);
        assert_eq!(second.exit, Some(4));
    }

    #[test]
    fn devices_of_each_hart() {
        let mut bus = bus(2);
        bus.write(map::MSIP + 4, 1 << 32, 0xf0);
        assert_eq!(bus.read(map::MSIP), 1 << 32);
        assert!(!bus.lines[0].software && bus.lines[1].software);
        bus.write(map::MTIMECMP + 8, 0x55, 0x01);
        assert_eq!(bus.lines[1].compare, !0xff | 0x55);
        assert_eq!(bus.lines[0].compare, u64::MAX);
        bus.write(map::EXTERNAL + map::NEXT_HART, 7, 0xff);
        bus.write(map::DEBUG, 9, 0xff);
        assert_eq!((bus.lines[0].external, bus.lines[1].external), (0, 3));
        assert_eq!((bus.lines[0].debug, bus.lines[1].debug), (9, 0));
        bus.write(map::EXTERNAL + 2 * map::NEXT_HART, 1, 0xff);
    }

    #[test]
    fn a_reservation_ends_with_any_write_there() {
        let mut bus = bus(2);
        assert!(!bus.conditional(0, map::RAM, 1, 0xff));
        bus.reserve(0, map::RAM + 4);
        bus.reserve(1, map::RAM);
        assert!(bus.conditional(1, map::RAM, 5, 0xff));
        assert!(!bus.conditional(0, map::RAM, 6, 0xff), "another hart's store was between");
        bus.reserve(0, map::RAM);
        bus.write(map::RAM + 8, 2, 0xff);
        assert!(bus.conditional(0, map::RAM, 7, 0xff), "a store elsewhere does not count");
        assert_eq!(bus.read(map::RAM), 7);
    }

    #[test]
    fn atomic_operations() {
        let minus_one = 0xffff_ffff;
        for (atop, value, operand, expected) in [
            (0x30, 1, 2, 2),
            (0x20, minus_one, 3, 2),
            (0x21, 0b1100, 0b0100, 0b1000),
            (0x22, 0b1100, 0b0100, 0b1000),
            (0x23, 0b1100, 0b0011, 0b1111),
            (0x24, minus_one, 1, 1),
            (0x25, minus_one, 1, minus_one),
            (0x26, minus_one, 1, minus_one),
            (0x27, minus_one, 1, 1),
        ] {
            let mut bus = bus(1);
            // The upper half; the lower is unchanged.
            bus.write(map::RAM, value << 32 | 0x77, 0xff);
            let old = bus.atomic(map::RAM + 4, 2, atop, operand << 32, 0xf0);
            assert_eq!(old, value << 32 | 0x77);
            assert_eq!(bus.read(map::RAM), expected << 32 | 0x77, "{atop:x}");
        }
        let mut bus = bus(1);
        bus.write(map::RAM, u64::MAX, 0xff);
        bus.atomic(map::RAM, 3, 0x24, 5, 0xff);
        assert_eq!(bus.read(map::RAM), 5, "signed in 64 bits");
    }
}
