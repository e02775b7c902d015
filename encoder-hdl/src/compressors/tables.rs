//! Memories that start with a known content.

use crate::cells::memory;
use hartrace_rtl::{Expr, Module, index_width, lit, zero};

/// Entries are cleared one by one after a reset: memories have no reset.
pub(crate) struct Clear {
    /// An entry is cleared, and nothing can be looked up.
    pub(crate) active: Expr,
    /// Which one; tables with fewer entries use its low bits.
    pub(crate) index: Expr,
}

impl Clear {
    /// Clears tables of up to so many entries, a power of two.
    pub(crate) fn new(m: &Module, entries: u32) -> Self {
        m.section("Tables are cleared after a reset.");
        let width = index_width(entries);
        let active = m.reg("clearing", true);
        let index = m.reg_en("clear_index", zero(width), &active.q);
        m.assign(&index.d, &index.q + lit(width, 1));
        m.assign(&active.d, &active.q & !index.q.all());
        Self { active: active.q, index: index.q }
    }

    /// The inputs of a table.
    pub(crate) fn inputs(m: &Module, entries: u32) -> Self {
        let active = m.input("clear_i", 1, "clear an entry instead of an update");
        let index = m.input("clear_index_i", index_width(entries), "which one");
        Self { active, index }
    }

    /// The index for a table of so many entries.
    pub(crate) fn index(&self, entries: u32) -> Expr {
        self.index.trunc(index_width(entries))
    }

    /// Adds the memory of a table with as many entries; `word` is what it has at `from`.
    pub(crate) fn table(
        &self,
        m: &Module,
        name: &str,
        (enable, index, data): (&Expr, &Expr, Expr),
        initial: Expr,
        (from, word): (&Expr, &Expr),
    ) {
        let enable = &self.active | enable;
        let index = self.active.mux(&self.index, index);
        let data = self.active.mux(initial, data);
        memory(m, name, 1 << self.index.width(), (&enable, &index, &data), (from, word));
    }
}
