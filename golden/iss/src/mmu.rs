//! Address translation (Sv39), and loads and stores of programs.
//!
//! A page whose accessed bit is clear, or whose dirty bit is clear on a store, faults: software sets
//! these bits. RV32 has no translation.

use crate::clint;
use crate::hart::Hart;
use crate::memory::{PAGE, Stored};
use crate::privileged::{Level, cause, status};
use crate::stop::Stop;
use crate::tlb::{NO_PAGE, Purpose};

/// Bits of a page table entry.
mod entry {
    pub(super) const V: u64 = 1;
    pub(super) const R: u64 = 1 << 1;
    pub(super) const W: u64 = 1 << 2;
    pub(super) const X: u64 = 1 << 3;
    pub(super) const U: u64 = 1 << 4;
    pub(super) const A: u64 = 1 << 6;
    pub(super) const D: u64 = 1 << 7;
}

impl Hart {
    /// Forgets everything that depends on `satp`, the level or `mstatus`.
    pub(crate) fn forget_translations(&mut self) {
        self.tlb.clear();
        self.fetch_page = NO_PAGE;
        self.data_is_physical = self.csr.satp >> 60 == 0 || self.data_level() == Level::M;
    }

    /// The privilege level of loads and stores.
    fn data_level(&self) -> Level {
        match self.csr.mstatus & status::MPRV {
            0 => self.level,
            _ => Level((self.csr.mstatus >> 11 & 3) as u8),
        }
    }

    /// Translates to a physical address.
    pub(crate) fn translate(&mut self, address: u64, purpose: Purpose) -> Result<u64, Stop> {
        let level = if purpose == Purpose::Fetch { self.level } else { self.data_level() };
        if level == Level::M || self.csr.satp >> 60 == 0 {
            return Ok(address);
        }
        if let Some(physical) = self.tlb.find(address, purpose) {
            return Ok(physical);
        }
        let physical = self.walk(address, purpose, level)?;
        self.tlb.keep(address, purpose, physical);
        Ok(physical)
    }

    fn walk(&self, address: u64, purpose: Purpose, level: Level) -> Result<u64, Stop> {
        let fault = || purpose.page_fault(address);
        if (address as i64) << 25 >> 25 != address as i64 {
            return Err(fault());
        }
        let mut table = (self.csr.satp & ((1 << 44) - 1)) * PAGE;
        for depth in (0..3).rev() {
            let shift = 12 + 9 * depth;
            let index = address >> shift & 511;
            let pte = self.memory.load::<8>(table + index * 8);
            let pte = pte.ok_or_else(|| purpose.access_fault(address))?;
            let broken = pte & entry::V == 0 || pte & (entry::R | entry::W) == entry::W;
            // The top ten bits belong to extensions that are not implemented here.
            if broken || pte >> 54 != 0 {
                return Err(fault());
            }
            let base = pte >> 10 << 12;
            if pte & (entry::R | entry::X) == 0 {
                // These bits are reserved in entries that point to another level.
                if pte & (entry::U | entry::A | entry::D) != 0 {
                    return Err(fault());
                }
                table = base;
                continue;
            }
            let within = (1 << shift) - 1;
            let allowed = self.allows(pte, purpose, level) && base & within & !(PAGE - 1) == 0;
            return if allowed { Ok(base | address & within) } else { Err(fault()) };
        }
        Err(fault())
    }

    fn allows(&self, pte: u64, purpose: Purpose, level: Level) -> bool {
        let has = |bits| pte & bits == bits;
        let user = match (level, has(entry::U)) {
            (Level::U, user) => user,
            (_, true) => purpose != Purpose::Fetch && self.csr.mstatus & status::SUM != 0,
            (_, false) => true,
        };
        user && match purpose {
            Purpose::Fetch => has(entry::X | entry::A),
            Purpose::Load => {
                let executable = self.csr.mstatus & status::MXR != 0 && has(entry::X);
                has(entry::A) && (has(entry::R) || executable)
            }
            Purpose::Store => has(entry::W | entry::A | entry::D),
        }
    }

    /// Loads `N` bytes, zero-extended.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&mut self, address: u64) -> Result<u64, Stop> {
        let address = address & self.mask;
        if self.data_is_physical
            && (!self.misaligned_traps || address.is_multiple_of(N as u64))
            && let Some(value) = self.memory.load::<N>(address)
        {
            return Ok(value);
        }
        self.load_slowly::<N>(address)
    }

    #[cold]
    fn load_slowly<const N: usize>(&mut self, address: u64) -> Result<u64, Stop> {
        if !address.is_multiple_of(N as u64) {
            if self.misaligned_traps {
                return Err(Stop::Trap { cause: cause::LOAD_MISALIGNED, tval: address });
            }
            // Byte by byte, since the two ends may be on different pages. The trap value is the first
            // address that faults.
            let mut value = 0;
            for at in 0..N as u64 {
                let byte = self.load_slowly::<1>(address.wrapping_add(at) & self.mask)?;
                value |= byte << (8 * at);
            }
            return Ok(value);
        }
        let physical = self.translate(address, Purpose::Load)?;
        if let Some(value) = self.memory.load::<N>(physical) {
            return Ok(value);
        }
        let offset = clint_offset(physical).ok_or(Purpose::Load.access_fault(address))?;
        self.look_at_clock();
        Ok(self.clint.load(offset, N as u64))
    }

    /// Stores the low `N` bytes. Returns `true` if the main loop must check devices.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&mut self, address: u64, value: u64) -> Result<bool, Stop> {
        let address = address & self.mask;
        if self.data_is_physical
            && (!self.misaligned_traps || address.is_multiple_of(N as u64))
            && self.memory.store::<N>(address, value) == Stored::Done
        {
            return Ok(false);
        }
        self.store_slowly::<N>(address, value)
    }

    #[cold]
    fn store_slowly<const N: usize>(&mut self, address: u64, value: u64) -> Result<bool, Stop> {
        if !address.is_multiple_of(N as u64) {
            if self.misaligned_traps {
                return Err(Stop::Trap { cause: cause::STORE_MISALIGNED, tval: address });
            }
            let at = |index: usize| address.wrapping_add(index as u64) & self.mask;
            let bytes: [u64; N] = std::array::from_fn(at);
            // If one of two pages faults, nothing may have been written yet.
            for byte in bytes {
                let physical = self.translate(byte, Purpose::Store)?;
                if self.memory.load::<1>(physical).is_none() && clint_offset(physical).is_none() {
                    return Err(Purpose::Store.access_fault(byte));
                }
            }
            let mut look = false;
            for (byte, index) in bytes.into_iter().zip(0..) {
                look |= self.store_slowly::<1>(byte, value >> (8 * index))?;
            }
            return Ok(look);
        }
        let physical = self.translate(address, Purpose::Store)?;
        match self.memory.store::<N>(physical, value) {
            Stored::Done => return Ok(false),
            Stored::Watched => {
                self.store_to_host(physical, N as u64);
                return Ok(self.is_prompt());
            }
            Stored::Nowhere => {}
        }
        let offset = clint_offset(physical).ok_or(Purpose::Store.access_fault(address))?;
        self.look_at_clock();
        let before = self.clint.time;
        self.clint.store(offset, N as u64, value);
        // A new mtimecmp does not affect the part of a tick that has passed.
        if self.clint.time != before {
            self.time_was_set();
        }
        self.device_changed = true;
        Ok(self.is_prompt())
    }
}

/// The offset of an address in the CLINT.
fn clint_offset(physical: u64) -> Option<u64> {
    physical.checked_sub(clint::BASE).filter(|&offset| offset < clint::SIZE)
}
