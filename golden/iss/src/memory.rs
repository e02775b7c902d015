//! Plain memory, and the decoded instructions of its pages.

use crate::config::Range;
use crate::op::Op;

/// Bytes in a page.
pub(crate) const PAGE: u64 = 4096;

/// Slots of a decoded page, one per half-word.
const SLOTS: usize = 2048;

/// Properties of a page besides its data.
#[derive(Copy, Clone, Debug, Default)]
struct Page {
    /// Number of its decoded page plus one; 0 if it has none.
    code: u32,
    /// Whether it holds `tohost`.
    watched: bool,
}

impl Page {
    const fn is_plain(self) -> bool {
        self.code == 0 && !self.watched
    }
}

#[derive(Debug)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    pages: Vec<Page>,
}

impl Region {
    /// Offset of the `size` bytes at `address` in the region.
    #[inline(always)]
    fn offset(&self, address: u64, size: usize) -> Option<usize> {
        let offset = usize::try_from(address.wrapping_sub(self.base)).ok()?;
        let end = offset.checked_add(size)?;
        (end <= self.bytes.len()).then_some(offset)
    }
}

/// Result of a store.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Done,
    /// It hit the watched double-word.
    Watched,
    /// There is no memory at the address.
    Nowhere,
}

#[derive(Debug, Default)]
pub(crate) struct Memory {
    regions: Vec<Region>,
    code: Vec<Box<[Op; SLOTS]>>,
    watched: Option<u64>,
}

impl Memory {
    /// Adds zeros at `range`, in whole pages. Where ranges overlap, the first one counts.
    pub(crate) fn add(&mut self, range: Range) {
        let base = range.base & !(PAGE - 1);
        let end = range.base.saturating_add(range.size).checked_next_multiple_of(PAGE);
        let size = (end.unwrap_or(!(PAGE - 1)) - base) as usize;
        let pages = vec![Page::default(); size / PAGE as usize];
        self.regions.push(Region { base, bytes: vec![0; size], pages });
    }

    /// Reports stores to the double-word at `address`.
    pub(crate) fn watch(&mut self, address: u64) {
        self.watched = Some(address & !7);
        for region in &mut self.regions {
            let index = address.wrapping_sub(region.base) / PAGE;
            if let Some(page) = region.pages.get_mut(index as usize) {
                page.watched = true;
                return;
            }
        }
    }

    /// The region that holds `size` bytes at `address`, and their offset in it.
    #[inline(always)]
    fn find(&self, address: u64, size: usize) -> Option<(usize, usize)> {
        // Nearly always the first one.
        match self.regions.first()?.offset(address, size) {
            Some(offset) => Some((0, offset)),
            None => self.find_in_others(address, size),
        }
    }

    #[cold]
    fn find_in_others(&self, address: u64, size: usize) -> Option<(usize, usize)> {
        let others = self.regions.iter().enumerate().skip(1);
        others.into_iter().find_map(|(index, region)| Some((index, region.offset(address, size)?)))
    }

    /// `N` bytes at `address`, little-endian.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, address: u64) -> Option<u64> {
        let (region, offset) = self.find(address, N)?;
        let bytes = self.regions[region].bytes.get(offset..)?.first_chunk::<N>()?;
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }

    /// Replaces `N` bytes at `address`.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&mut self, address: u64, value: u64) -> Stored {
        let Some((index, offset)) = self.find(address, N) else { return Stored::Nowhere };
        let region = &mut self.regions[index];
        if let Some(bytes) = region.bytes.get_mut(offset..).and_then(<[u8]>::first_chunk_mut::<N>) {
            bytes.copy_from_slice(&value.to_le_bytes()[..N]);
        }
        let first = offset / PAGE as usize;
        let last = (offset + N - 1) / PAGE as usize;
        if region.pages[first].is_plain() && (last == first || region.pages[last].is_plain()) {
            return Stored::Done;
        }
        self.touched(index, offset, N);
        match self.watched {
            Some(watched) if address.wrapping_sub(watched) < 8 => Stored::Watched,
            _ => Stored::Done,
        }
    }

    /// Forgets the decoded instructions that `size` changed bytes may belong to.
    #[cold]
    fn touched(&mut self, index: usize, offset: usize, size: usize) {
        // An instruction of 4 bytes may start one half-word before.
        let first = (offset / 2).saturating_sub(1);
        for half in first..=(offset + size - 1) / 2 {
            let page = self.regions[index].pages[half / SLOTS];
            if let Some(code) = page.code.checked_sub(1) {
                self.code[code as usize][half % SLOTS] = Op::UNDECODED;
            }
        }
    }

    /// The number of the decoded page for `address`, which is created if necessary.
    pub(crate) fn code_page(&mut self, address: u64) -> Option<usize> {
        let (index, offset) = self.find(address, 2)?;
        let page = &mut self.regions[index].pages[offset / PAGE as usize];
        if page.code == 0 {
            self.code.push(Box::new([Op::UNDECODED; SLOTS]));
            page.code = self.code.len() as u32;
        }
        Some(page.code as usize - 1)
    }

    /// The decoded instruction at `address` in the decoded page `page`.
    #[inline]
    pub(crate) fn op(&self, page: usize, address: u64) -> &Op {
        &self.code[page][address as usize / 2 % SLOTS]
    }

    /// Stores a decoded instruction.
    pub(crate) fn set_op(&mut self, page: usize, address: u64, op: Op) {
        self.code[page][address as usize / 2 % SLOTS] = op;
    }

    /// Copies `bytes` to `address`. Returns `false` if there is not enough memory.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        bytes.iter().zip(0..).all(|(&byte, at)| {
            self.store::<1>(address.wrapping_add(at), byte.into()) != Stored::Nowhere
        })
    }

    /// Makes `size` bytes at `address` zero, in whole pages. What is zero already is not touched: it may need no memory
    /// of the machine that we run on.
    pub(crate) fn clear(&mut self, address: u64, size: u64) {
        for page in (address..address.saturating_add(size)).step_by(PAGE as usize) {
            let Some((index, offset)) = self.find(page, PAGE as usize) else { return };
            let bytes = self.regions[index].bytes.get_mut(offset..offset + PAGE as usize);
            let Some(bytes) = bytes.filter(|bytes| bytes.iter().any(|byte| *byte != 0)) else {
                continue;
            };
            bytes.fill(0);
            self.touched(index, offset, PAGE as usize);
        }
    }

    /// The `size` bytes at `address`, if there are that many.
    pub(crate) fn read(&self, address: u64, size: u64) -> Option<&[u8]> {
        let size = usize::try_from(size).ok()?;
        let (index, offset) = self.find(address, size)?;
        self.regions[index].bytes.get(offset..offset + size)
    }
}
