//! System calls on files that are given beforehand. None can be written.

use crate::abi::{errno, stat_of_console, stat_of_file};
use crate::hart::Hart;
use crate::host::FIRST_FILE;
use crate::memory::Memory;

/// The longest name of a file, with its end.
const LONGEST_NAME: u64 = 4096;

impl Hart {
    /// `openat`: the descriptor of the file whose name is at `path`. Only reading is possible.
    pub(crate) fn open_path(&mut self, path: u64, flags: u64) -> u64 {
        const ACCESS: u64 = 3;
        const CREATE: u64 = 0o100;
        let Some(name) = text_at(&self.memory, path) else { return errno(14) };
        if flags & (ACCESS | CREATE) != 0 {
            return errno(30);
        }
        self.host.open(&name)
    }

    /// `faccessat`: whether there is such a file.
    pub(crate) fn find_path(&mut self, path: u64) -> u64 {
        match text_at(&self.memory, path) {
            Some(name) => self.host.size_of(&name).map_or(errno(2), |_| 0),
            None => errno(14),
        }
    }

    /// `newfstatat`: `struct stat` of the file whose name is at `path`, or of the descriptor if the name is empty.
    pub(crate) fn stat_path(&mut self, descriptor: u64, path: u64, place: u64) -> u64 {
        let Some(name) = text_at(&self.memory, path) else { return errno(14) };
        if name.is_empty() {
            return self.stat_descriptor(descriptor, place);
        }
        let Some(size) = self.host.size_of(&name) else { return self.stat_folder(&name, place) };
        let number = self.host.number_of(&name);
        if self.memory.write(place, &stat_of_file(size, number)) { 0 } else { errno(14) }
    }

    /// `fstat`.
    pub(crate) fn stat_descriptor(&mut self, descriptor: u64, place: u64) -> u64 {
        let number = self.host.number_at(descriptor);
        let stat = match self.host.file(descriptor) {
            Some((bytes, _)) => stat_of_file(bytes.len() as u64, number),
            None if descriptor < FIRST_FILE => stat_of_console(),
            None => return errno(9),
        };
        if self.memory.write(place, &stat) { 0 } else { errno(14) }
    }

    /// `close`.
    pub(crate) fn close_descriptor(&mut self, descriptor: u64) -> u64 {
        match descriptor.checked_sub(FIRST_FILE) {
            Some(index) => match self.host.open.get_mut(index as usize) {
                Some(slot) => slot.take().map_or(errno(9), |_| 0),
                None => errno(9),
            },
            None => 0,
        }
    }

    /// `lseek`.
    pub(crate) fn seek(&mut self, descriptor: u64, offset: u64, whence: u64) -> u64 {
        let Some((bytes, position)) = self.host.file(descriptor) else { return errno(29) };
        let from = match whence {
            0 => 0,
            1 => *position,
            2 => bytes.len() as u64,
            _ => return errno(22),
        };
        match from.checked_add_signed(offset as i64).filter(|at| i64::try_from(*at).is_ok()) {
            Some(at) => {
                *position = at;
                at
            }
            None => errno(22),
        }
    }

    /// `read`: from the present position on, or from standard input.
    pub(crate) fn read_next(&mut self, descriptor: u64, buffer: u64, size: u64) -> u64 {
        let position = match self.host.readable(descriptor) {
            Some((_, position)) => *position,
            None => 0,
        };
        let count = self.read_at(descriptor, buffer, size, position);
        if let Some((_, position)) = self.host.readable(descriptor)
            && (count as i64) > 0
        {
            *position += count;
        }
        count
    }

    /// `pread64`: from `position` on.
    pub(crate) fn read_at(
        &mut self,
        descriptor: u64,
        buffer: u64,
        size: u64,
        position: u64,
    ) -> u64 {
        let Some((bytes, _)) = self.host.readable(descriptor) else {
            return if descriptor < FIRST_FILE { 0 } else { errno(9) };
        };
        let rest = bytes.get(usize::try_from(position).unwrap_or(usize::MAX)..).unwrap_or_default();
        let part = rest.get(..usize::try_from(size).unwrap_or(usize::MAX)).unwrap_or(rest);
        let part = part.to_vec();
        if self.memory.write(buffer, &part) { part.len() as u64 } else { errno(14) }
    }
}

/// The bytes at an address up to a zero.
pub(crate) fn text_at(memory: &Memory, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for offset in 0..LONGEST_NAME {
        match memory.load::<1>(address.wrapping_add(offset))? as u8 {
            0 => return Some(text),
            byte => text.push(byte),
        }
    }
    None
}
