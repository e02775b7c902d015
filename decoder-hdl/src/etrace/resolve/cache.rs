//! The jump target cache.

use super::Sizes;
use super::pipe::Pipe;
use crate::wires::{any, delay, join};
use hartrace_rtl::{Expr, Memory, Module, Reg, concat, index_width, lit, zero};

/// The low bits of every address, which are its index in the cache: two stages.
pub(super) fn indices(m: &Module, sizes: Sizes, pipe: &mut Pipe<'_>) {
    m.section("The low bits of addresses, from those of the last address or from nothing.");
    let width = sizes.index_lo + sizes.index;
    let mut now = (lit(1, 1), zero(width));
    for slot in 0..sizes.slots {
        let [absolute, relative, jump] =
            ["absolute", "relative", "jump"].map(|name| pipe.get(name, slot));
        let sent = pipe.get("sent", slot).trunc(width);
        let index = pipe.get("index", slot);
        // Only even addresses enter the cache.
        let target = if sizes.index_lo > 0 { concat(&[&index, &zero(1)]) } else { index };
        let from_last = &now.0 & !(&absolute | &jump);
        let low = jump.mux(target, absolute.mux(&sent, &now.1 + relative.gate(&sent)));
        now =
            (m.let_(&format!("low_moves_{slot}"), from_last), m.let_(&format!("low_{slot}"), low));
        pipe.put("moves", slot, now.0.clone());
        pipe.put("low", slot, now.1.clone());
    }
    pipe.advance("low");
    let last = m.reg("last_low", zero(width));
    for slot in 0..sizes.slots {
        let low = pipe.take("low", slot) + pipe.take("moves", slot).gate(&last.q);
        let low = m.let_(&format!("index_of_{slot}"), low);
        if slot + 1 == sizes.slots {
            m.assign(&last.d, &low);
        }
        pipe.put("low", slot, low);
    }
    pipe.advance("index");
}

/// The memories of the cache. Each slot has one of its own, since it has a write port of its own.
pub(super) struct Cache {
    sizes: Sizes,
    memories: Vec<Memory>,
    /// Which entries are there.
    there: Reg,
    /// The slot that wrote an entry last.
    owner: Reg,
}

impl Cache {
    pub(super) fn new(m: &Module, sizes: Sizes) -> Self {
        let entries = 1 << sizes.index;
        let memory = |slot| m.memory(&format!("targets_{slot}"), sizes.address, entries);
        let there = m.reg("there", zero(entries));
        let owner = m.reg("owner", zero(entries * index_width(sizes.slots)));
        Self { sizes, memories: (0..sizes.slots).map(memory).collect(), there, owner }
    }

    /// Begins a stage in which entries are found and stored, in the order of the packets.
    pub(super) fn entries(&self) -> Entries<'_> {
        Entries { cache: self, stored: Vec::new() }
    }

    /// Reads the entries that packets mean. The packets of the cycle before are not written yet.
    pub(super) fn read(&self, m: &Module, pipe: &mut Pipe<'_>) {
        m.section("Entries of the cache.");
        let slots = self.sizes.slots;
        let ahead: Vec<(Expr, Expr)> = (0..slots)
            .map(|slot| {
                let (enters, entry) = (pipe.take("enters", slot), pipe.take("entry", slot));
                (
                    delay(m, &format!("ahead_enters_{slot}"), &enters, true),
                    delay(m, &format!("ahead_entry_{slot}"), &entry, false),
                )
            })
            .collect();
        for slot in 0..slots {
            let (index, owner) = (pipe.take("index", slot), pipe.take("owner", slot));
            let words = (0u32..).zip(&self.memories).map(|(bank, memory)| {
                let word = m.read(memory, &format!("word_{slot}_{bank}"), &index);
                owner.is(bank.into()).gate(word)
            });
            pipe.put("target", slot, any(words));
            let newer: Vec<Expr> = (0..)
                .zip(&ahead)
                .map(|(bank, (enters, entry))| owner.is(bank) & enters & entry.eq(&index))
                .collect();
            pipe.put("newer", slot, join(&newer));
        }
        pipe.advance("read");
        for (slot, (enters, entry)) in (0..).zip(ahead) {
            pipe.put("enters", slot, enters);
            pipe.put("entry", slot, entry);
        }
    }

    /// Stores the address of a slot.
    pub(super) fn write(&self, m: &Module, slot: u32, pipe: &mut Pipe<'_>, address: &Expr) {
        let (enters, entry) = (pipe.take("enters", slot), pipe.take("entry", slot));
        m.write(&self.memories[slot as usize], enters, entry, address);
    }
}

/// Which entries are in the cache, packet by packet.
pub(super) struct Entries<'a> {
    cache: &'a Cache,
    /// For each packet: whether it stores, the index, and whether it clears.
    stored: Vec<(Expr, Expr, Expr)>,
}

impl Entries<'_> {
    /// Whether the entry that a packet means is there. Also says which slots store it: of this cycle, where the last
    /// one counts, or else of an earlier one.
    pub(super) fn find(&self, m: &Module, pipe: &mut Pipe<'_>, slot: u32) -> Expr {
        let index = pipe.get("index", slot);
        let mut there = self.cache.there.q.bit_at(&index);
        let mut from: Vec<Expr> = Vec::new();
        for (stores, entry, clears) in &self.stored {
            let here = stores & entry.eq(&index);
            there = &here | (!clears & there);
            from.push(here);
        }
        if !from.is_empty() {
            pipe.put("from", slot, m.let_(&format!("from_{slot}"), join(&from)));
        }
        let bits = index_width(self.cache.sizes.slots);
        pipe.put("owner", slot, self.cache.owner.q.index(&index, bits));
        there
    }

    /// Stores the address of a packet, if it is known.
    pub(super) fn store(&mut self, m: &Module, pipe: &mut Pipe<'_>, slot: u32, known: &Expr) {
        let low = pipe.take("low", slot);
        let mut enters = pipe.take("stores", slot) & known;
        if self.cache.sizes.index_lo > 0 {
            enters = enters & !low.bit(0);
        }
        let enters = m.let_(&format!("enters_{slot}"), enters);
        let entry = low.slice(self.cache.sizes.index_lo, self.cache.sizes.index);
        pipe.put("enters", slot, enters.clone());
        pipe.put("entry", slot, entry.clone());
        self.stored.push((enters, entry, pipe.take("clears", slot)));
    }

    /// The entries after the last packet.
    pub(super) fn update(self, m: &Module) {
        let (there, owner) = (&self.cache.there.d, &self.cache.owner.d);
        let bits = index_width(self.cache.sizes.slots);
        m.comb(|b| {
            for (slot, (enters, entry, clears)) in (0u128..).zip(&self.stored) {
                b.when(clears, |b| b.set(there, zero(there.width())));
                b.when(enters, |b| {
                    b.set_at(there, entry, true);
                    b.set_at(owner, entry, lit(bits, slot));
                });
            }
        });
    }
}
