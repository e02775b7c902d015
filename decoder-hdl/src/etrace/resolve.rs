//! The last address, and the jump target cache.
//!
//! Addresses are differences from the last one, so each packet depends on the one before it. Yet only one addition
//! depends on an earlier cycle:
//!
//! ```text
//!   indices       cache          offsets (one stage per slot)       read           resolve
//! [low bits] -> [entries] -> [slot 1] -> ... -> [last slot] -> [memories] -> [start + offset] -> addresses
//! ```
//!
//! An address is an offset from a start: from the last address of the cycle before, from an entry of the cache, or
//! from nothing. Start and offset of a slot follow from those of the slots before it alone. An entry of the cache is at
//! the index that the low bits of its address say, so which entry a packet means is known before its address.

mod cache;
mod pipe;

use super::shape::Shape;
use crate::wires::{any, delay, join};
use cache::Cache;
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};
use pipe::Pipe;

/// The effects of packets, and whether only the cache needs them.
const EFFECTS: [(&str, bool); 6] = [
    ("addressed", false),
    ("absolute", false),
    ("jump", false),
    ("forgets", false),
    ("stores", true),
    ("clears", true),
];

/// The sizes of the addresses and of the cache.
#[derive(Copy, Clone, Debug)]
struct Sizes {
    slots: u32,
    /// Bits of transmitted addresses.
    address: u32,
    /// Bits of the index of the cache; 0 if there is none.
    index: u32,
    /// The lowest bit of an address that is in its index.
    index_lo: u32,
}

impl Sizes {
    fn new(shape: &Shape) -> Self {
        let params = shape.layout.params();
        Self {
            slots: shape.slots(),
            address: params.address_bits(),
            index: params.cache_size_p.into(),
            // Bit 0 of a byte address is never in the index.
            index_lo: u32::from(params.iaddress_lsb_p == 0),
        }
    }
}

/// The cycles that this stage takes.
pub(super) fn latency(shape: &Shape) -> u32 {
    let sizes = Sizes::new(shape);
    if sizes.index > 0 { sizes.slots + 4 } else { sizes.slots }
}

/// The module `etrace_resolve`: the last address after every packet.
pub(super) fn unit(shape: &Shape) -> Component {
    let sizes = Sizes::new(shape);
    let slots = sizes.slots;
    let m = Module::new(
        "etrace_resolve",
        "The last address after every packet. Addresses do not have the bits that are never sent.",
    )
    .clocked();
    let cached = sizes.index > 0;
    let effects: Vec<(&str, Expr)> = EFFECTS
        .into_iter()
        .filter(|(_, only_cache)| cached || !only_cache)
        .map(|(name, _)| (name, m.input(&format!("{name}_i"), slots, "")))
        .collect();
    let sent = m.input("sent_i", slots * sizes.address, "addresses or differences in the packets");
    let index =
        cached.then(|| m.input("index_i", slots * sizes.index, "indices of the jump target cache"));
    let address_o = m.output("address_o", slots * sizes.address, "the last addresses");
    let known_o = m.output("known_o", slots, "they are known");

    let mut pipe = Pipe::new(&m);
    for slot in 0..slots {
        let effect = |name: &str| {
            let found = effects.iter().find(|(other, _)| *other == name);
            found.map_or_else(|| lit(1, 0), |(_, bits)| bits.bit(slot))
        };
        let (jump, absolute) = (effect("jump"), effect("absolute"));
        let other = effect("addressed") & !&jump;
        pipe.put("absolute", slot, &other & &absolute);
        pipe.put("relative", slot, other & !absolute);
        pipe.put("jump", slot, jump);
        pipe.put("forgets", slot, effect("forgets"));
        pipe.put("sent", slot, sent.slice(slot * sizes.address, sizes.address));
        if let Some(index) = &index {
            pipe.put("index", slot, index.slice(slot * sizes.index, sizes.index));
            pipe.put("stores", slot, effect("stores"));
            pipe.put("clears", slot, effect("clears"));
        }
    }
    let cache = cached.then(|| {
        cache::indices(&m, sizes, &mut pipe);
        Cache::new(&m, sizes)
    });
    known(&m, sizes, &mut pipe, cache.as_ref());
    offsets(&m, sizes, &mut pipe);
    if let Some(cache) = &cache {
        cache.read(&m, &mut pipe);
    }

    m.section("Addresses, and the last ones of the cycle before.");
    let last: Vec<_> = (0..slots)
        .map(|slot| m.reg_data(&format!("address_{slot}"), sizes.address, lit(1, 1)))
        .collect();
    let last_q: Vec<Expr> = last.iter().map(|reg| reg.q.clone()).collect();
    let targets: Vec<Expr> = (0..slots)
        .filter(|_| cached)
        .map(|slot| {
            let newer = pipe.take("newer", slot);
            let passed = (0u32..).zip(&last_q).map(|(from, last)| newer.bit(from).gate(last));
            let value = any(passed.chain([(!newer.any()).gate(pipe.take("target", slot))]));
            m.let_(&format!("target_{slot}"), value)
        })
        .collect();
    for (slot, reg) in (0..).zip(&last) {
        let start = pipe.take("start", slot);
        let starts = last_q.last().into_iter().chain(&targets).take(start.width() as usize);
        let start = any((0u32..).zip(starts).map(|(bit, value)| start.bit(bit).gate(value)));
        m.assign(&reg.d, start + pipe.take("offset", slot));
        if let Some(cache) = &cache {
            cache.write(&m, slot, &mut pipe, &reg.d);
        }
    }
    m.assign(&address_o, join(&last_q));
    let known: Vec<Expr> = (0..slots).map(|slot| pipe.take("known", slot)).collect();
    m.assign(&known_o, delay(&m, "known", &join(&known), true));
    m.finish()
}

/// Whether addresses are known, and which of them enter the cache.
fn known(m: &Module, sizes: Sizes, pipe: &mut Pipe<'_>, cache: Option<&Cache>) {
    m.section("Which addresses are known.");
    let state = m.reg("is_known", zero(1));
    let mut now = state.q.clone();
    let mut entries = cache.map(|cache| cache.entries());
    for slot in 0..sizes.slots {
        let hit = entries.as_mut().map_or_else(|| lit(1, 0), |entries| entries.find(m, pipe, slot));
        // Without a cache, nothing else depends on it.
        let jump = match cache {
            Some(_) => pipe.get("jump", slot),
            None => pipe.take("jump", slot),
        };
        let absolute = pipe.get("absolute", slot);
        let kept = &now & !pipe.take("forgets", slot);
        now = m.let_(&format!("known_after_{slot}"), jump.mux(hit, absolute | kept));
        pipe.put("known", slot, now.clone());
        if let Some(entries) = &mut entries {
            entries.store(m, pipe, slot, &now);
        }
    }
    m.assign(&state.d, &now);
    if let Some(entries) = entries {
        entries.update(m);
        pipe.advance("known");
    }
}

/// Start and offset of every address: one addition per stage.
fn offsets(m: &Module, sizes: Sizes, pipe: &mut Pipe<'_>) {
    for slot in 0..sizes.slots {
        if slot < 2 {
            m.section("Starts and offsets of addresses: bit 0 of a start is the last address, the others are entries.");
        }
        let (absolute, relative) = (pipe.take("absolute", slot), pipe.take("relative", slot));
        let sent = pipe.take("sent", slot);
        let jump = (sizes.index > 0).then(|| pipe.take("jump", slot));
        let width = if sizes.index > 0 { slot + 2 } else { 1 };
        let before = slot.checked_sub(1);
        let (start, offset) = before.map_or_else(
            || (lit(1, 1).zext(width), zero(sizes.address)),
            |before| (pipe.get("start", before).zext(width), pipe.get("offset", before)),
        );
        let moved = if slot == 0 { sent.clone() } else { &offset + &sent };
        let start_here = m.wire(&format!("start_{slot}"), width);
        let offset_here = m.wire(&format!("offset_{slot}"), sizes.address);
        m.comb(|b| {
            b.set(&start_here, &start);
            b.set(&offset_here, &offset);
            b.when(&absolute, |b| {
                b.set(&start_here, zero(width));
                b.set(&offset_here, &sent);
            });
            b.when(&relative, |b| b.set(&offset_here, &moved));
            let Some(jump) = &jump else { return };
            b.when(jump, |b| {
                b.note("An entry of the cache, or what the last slot before stored there.");
                b.set(&start_here, concat(&[&lit(1, 1), &zero(width - 1)]));
                b.set(&offset_here, zero(sizes.address));
                for from in 0..slot {
                    b.when(pipe.get("from", slot).bit(from), |b| {
                        b.set(&start_here, pipe.get("start", from).zext(width));
                        b.set(&offset_here, pipe.get("offset", from));
                    });
                }
            });
        });
        if sizes.index > 0 && slot > 0 {
            pipe.take("from", slot);
        }
        pipe.put("start", slot, start_here);
        pipe.put("offset", slot, offset_here);
        if slot > 0 {
            pipe.advance(&format!("offset_{slot}"));
        }
    }
}
