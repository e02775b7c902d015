//! Which addresses a Linux process has mapped besides its program, its heap and its stack.

use crate::config::Range;
use std::collections::BTreeMap;

/// Addresses for `mmap`.
pub(crate) const ARENA: Range = Range { base: 0x4000_0000, size: 0x3e00_0000 };

/// Code of a file that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The name of the file, as the program opened it.
    pub file: String,
    /// Where the mapping starts.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The offset in the file that is there.
    pub offset: u64,
}

/// Which part of [`ARENA`] is used.
///
/// Addresses of code are never used again: a trace is decoded with one program for each address.
#[derive(Debug)]
pub(crate) struct Mappings {
    /// Everything from here on is free, and zero.
    next: u64,
    /// Start and end of what was used before.
    free: BTreeMap<u64, u64>,
    /// Code of files.
    pub(crate) code: Vec<Mapping>,
}

impl Mappings {
    pub(crate) const fn new() -> Self {
        Self { next: ARENA.base, free: BTreeMap::new(), code: Vec::new() }
    }

    /// Takes free addresses, and says whether they may have contents.
    pub(crate) fn take(&mut self, size: u64) -> Option<(u64, bool)> {
        let fits = |(start, end): &(&u64, &u64)| *end - *start >= size;
        if let Some((&start, _)) = self.free.iter().find(fits) {
            self.claim(start, start + size);
            return Some((start, true));
        }
        let start = self.next;
        let end = start.checked_add(size).filter(|end| *end <= ARENA.base + ARENA.size)?;
        self.next = end;
        Some((start, false))
    }

    /// Uses these addresses, whether they are free or not.
    pub(crate) fn claim(&mut self, start: u64, end: u64) {
        let inside = |from: u64| from < end && from >= ARENA.base;
        if inside(self.next) {
            let next = self.next;
            self.next = end.min(ARENA.base + ARENA.size);
            if next < start {
                self.free.insert(next, start);
            }
        }
        let touched: Vec<_> =
            self.free.range(..end).filter(|(_, to)| **to > start).map(|(a, b)| (*a, *b)).collect();
        for (from, to) in touched {
            self.free.remove(&from);
            if from < start {
                self.free.insert(from, start);
            }
            if to > end {
                self.free.insert(end, to);
            }
        }
    }

    /// Frees addresses, except those of code.
    pub(crate) fn release(&mut self, start: u64, end: u64) {
        let (mut start, end) = (start.max(ARENA.base), end.min(self.next));
        let code = self.code.iter().map(|code| (code.address, code.address + code.size));
        let mut code: Vec<_> = code.filter(|(from, to)| *from < end && *to > start).collect();
        code.sort_unstable();
        for (from, to) in code {
            self.free_one(start, from);
            start = start.max(to);
        }
        self.free_one(start, end);
    }

    fn free_one(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        let near: Vec<_> = self
            .free
            .range(..=end)
            .filter(|(_, to)| **to >= start)
            .map(|(a, b)| (*a, *b))
            .collect();
        for (from, to) in near {
            self.free.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.free.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_addresses_are_used_again_unless_they_were_code() {
        let mut all = Mappings::new();
        let at = |offset: u64| ARENA.base + offset;
        assert_eq!(all.take(0x3000), Some((at(0), false)));
        assert_eq!(all.take(0x2000), Some((at(0x3000), false)));
        all.release(at(0x1000), at(0x2000));
        all.release(at(0x2000), at(0x4000));
        // One free piece of three pages.
        assert_eq!(all.free.iter().collect::<Vec<_>>(), [(&at(0x1000), &at(0x4000))]);
        assert_eq!(all.take(0x2000), Some((at(0x1000), true)));
        all.claim(at(0x3000), at(0x8000));
        assert!(all.free.is_empty() && all.next == at(0x8000));
        all.claim(at(0xa000), at(0xb000));
        assert_eq!(all.take(0x2000), Some((at(0x8000), true)), "what was passed over is free");
        all.code.push(Mapping { file: "a".into(), address: at(0x2000), size: 0x1000, offset: 0 });
        all.release(0, u64::MAX);
        let free = [(&at(0), &at(0x2000)), (&at(0x3000), &at(0xb000))];
        assert_eq!(all.free.iter().collect::<Vec<_>>(), free);
        assert_eq!(all.take(ARENA.size), None);
        assert_eq!(all.take(u64::MAX), None);
    }
}
