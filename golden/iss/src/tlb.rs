//! Recent address translations.

use crate::memory::PAGE;
use crate::privileged::cause;
use crate::stop::Stop;

/// Purpose of an access.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Fetch,
    Load,
    Store,
}

impl Purpose {
    /// The fault if no page is mapped at the address, or none for this purpose.
    pub(crate) fn page_fault(self, address: u64) -> Stop {
        let cause = match self {
            Self::Fetch => cause::FETCH_PAGE,
            Self::Load => cause::LOAD_PAGE,
            Self::Store => cause::STORE_PAGE,
        };
        Stop::Trap { cause, tval: address }
    }

    /// The fault if there is neither memory nor a device at the address.
    pub(crate) fn access_fault(self, address: u64) -> Stop {
        let cause = match self {
            Self::Fetch => cause::FETCH_ACCESS,
            Self::Load => cause::LOAD_ACCESS,
            Self::Store => cause::STORE_ACCESS,
        };
        Stop::Trap { cause, tval: address }
    }
}

/// A virtual page number that no address has.
pub(crate) const NO_PAGE: u64 = u64::MAX;

/// Recent translations, one table per purpose.
#[derive(Clone, Debug)]
pub(crate) struct Tlb {
    /// Virtual page number and physical page address.
    entries: [[(u64, u64); 64]; 3],
    empty: bool,
}

impl Tlb {
    pub(crate) const fn new() -> Self {
        Self { entries: [[(NO_PAGE, 0); 64]; 3], empty: true }
    }

    pub(crate) fn clear(&mut self) {
        if !self.empty {
            *self = Self::new();
        }
    }

    /// The physical address, if the page is in the table.
    pub(crate) const fn find(&self, address: u64, purpose: Purpose) -> Option<u64> {
        let page = address / PAGE;
        let (tag, base) = self.entries[purpose as usize][page as usize % 64];
        if tag == page { Some(base | (address % PAGE)) } else { None }
    }

    /// Stores the translation of the page that holds `address`.
    pub(crate) const fn keep(&mut self, address: u64, purpose: Purpose, physical: u64) {
        let page = address / PAGE;
        self.entries[purpose as usize][page as usize % 64] = (page, physical & !(PAGE - 1));
        self.empty = false;
    }
}
