//! System calls that map memory: `mmap` of files and of zeros, `munmap`, `mremap`, `mprotect`.
//!
//! All memory can be read, written and executed, whatever the program asks for.

use crate::abi::errno;
use crate::config::Xlen;
use crate::hart::Hart;
use crate::mappings::{ARENA, Mapping};
use crate::memory::PAGE;

/// Flags of `mmap`.
mod flag {
    pub(super) const SHARED: u64 = 1;
    pub(super) const FIXED: u64 = 0x10;
    pub(super) const ANONYMOUS: u64 = 0x20;
    pub(super) const FIXED_NOREPLACE: u64 = 0x10_0000;
}

const WRITE: u64 = 2;
const EXECUTE: u64 = 4;

impl Hart {
    /// Executes a system call that maps memory. `None` if it is another one.
    pub(crate) fn mapping_call(&mut self, number: u64) -> Option<u64> {
        let [a0, a1] = [self.x[10], self.x[11]].map(|value| value & self.mask);
        Some(match number {
            215 => self.unmap(a0, a1),
            222 => self.map(),
            216 => self.remap(),
            226 => 0,
            233 => self.advise(a0, a1, self.x[12] & self.mask),
            _ => return None,
        })
    }

    fn map(&mut self) -> u64 {
        let [wanted, size, protection, flags, file, offset]: [u64; 6] =
            std::array::from_fn(|index| self.x[10 + index] & self.mask);
        // On RV32, offsets are pages.
        let offset = if self.xlen == Xlen::Rv32 { offset * PAGE } else { offset };
        let Some(length) = size.checked_next_multiple_of(PAGE) else { return errno(12) };
        if size == 0 || !offset.is_multiple_of(PAGE) {
            return errno(22);
        }
        let content = match flags & flag::ANONYMOUS {
            0 => match self.host.mapped(file, offset, length) {
                Some(_) if flags & flag::SHARED != 0 && protection & WRITE != 0 => {
                    return errno(13);
                }
                Some(content) => Some(content),
                None => return errno(9),
            },
            _ => None,
        };
        let Some(process) = &mut self.process else { return errno(38) };
        let (address, used) = if flags & flag::FIXED_NOREPLACE != 0 {
            return errno(17);
        } else if flags & flag::FIXED != 0 {
            if !wanted.is_multiple_of(PAGE) || self.memory.read(wanted, length).is_none() {
                return errno(if wanted.is_multiple_of(PAGE) { 12 } else { 22 });
            }
            process.mappings.claim(wanted, wanted + length);
            (wanted, true)
        } else {
            match process.mappings.take(length) {
                Some(place) => place,
                None => return errno(12),
            }
        };
        if used {
            self.memory.clear(address, length);
        }
        if let Some((file, bytes)) = content {
            self.memory.write(address, &bytes);
            if protection & EXECUTE != 0 {
                process.mappings.code.push(Mapping { file, address, size: length, offset });
            }
        }
        address
    }

    /// `mremap`: in its place if it becomes smaller, otherwise elsewhere.
    fn remap(&mut self) -> u64 {
        const MAY_MOVE: u64 = 1;
        let [address, size, new_size, flags]: [u64; 4] = self.arguments();
        let sizes = (size.checked_next_multiple_of(PAGE), new_size.checked_next_multiple_of(PAGE));
        let (Some(size), Some(new_size)) = sizes else { return errno(12) };
        if !address.is_multiple_of(PAGE) || size == 0 || new_size == 0 || flags & !MAY_MOVE != 0 {
            return errno(22);
        }
        if new_size <= size {
            if new_size < size {
                self.unmap(address + new_size, size - new_size);
            }
            return address;
        }
        if self.memory.read(address, size).is_none() {
            return errno(14);
        }
        if flags & MAY_MOVE == 0 {
            return errno(12);
        }
        let Some(process) = &mut self.process else { return errno(38) };
        let Some((place, used)) = process.mappings.take(new_size) else { return errno(12) };
        if used {
            self.memory.clear(place, new_size);
        }
        let bytes = self.memory.read(address, size).map(<[u8]>::to_vec).unwrap_or_default();
        self.memory.write(place, &bytes);
        self.unmap(address, size);
        place
    }

    /// `madvise`: pages that are not needed are zero afterwards, as anonymous memory is.
    fn advise(&mut self, address: u64, size: u64, advice: u64) -> u64 {
        const NOT_NEEDED: u64 = 4;
        let end = address.checked_add(size).and_then(|end| end.checked_next_multiple_of(PAGE));
        let (Some(end), true) = (end, address.is_multiple_of(PAGE)) else { return errno(22) };
        let is_arena = address >= ARENA.base && end <= ARENA.base + ARENA.size;
        let code = self.process.iter().flat_map(|process| &process.mappings.code);
        let is_code =
            code.into_iter().any(|code| code.address < end && address < code.address + code.size);
        if advice == NOT_NEEDED && is_arena && !is_code {
            self.memory.clear(address, end - address);
        }
        0
    }

    fn unmap(&mut self, address: u64, size: u64) -> u64 {
        let end = address.checked_add(size).and_then(|end| end.checked_next_multiple_of(PAGE));
        match (end, &mut self.process) {
            (Some(end), Some(process)) if address.is_multiple_of(PAGE) && size > 0 => {
                process.mappings.release(address, end);
                0
            }
            _ => errno(22),
        }
    }
}
