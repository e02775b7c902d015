//! The last address, and the jump target cache.

use super::shape::Shape;
use super::wires::{any, delay, join};
use hartrace_rtl::{Component, Expr, Memory, Module, Reg, index_width, lit, zero};

/// Effects of packets that this stage uses, without those on the cache.
const BASIC: [&str; 4] = ["addressed", "absolute", "jump", "forgets"];

/// The sizes of the addresses and of the cache.
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

    fn index_of(&self, address: &Expr) -> Expr {
        address.slice(self.index_lo, self.index)
    }
}

/// The module `etrace_resolve_lane`: the last address after one packet.
fn lane(sizes: &Sizes) -> Component {
    let m = Module::new("etrace_resolve_lane", "The last address after one packet.");
    let [addressed, absolute, jump, forgets] =
        BASIC.map(|name| m.input(&format!("{name}_i"), 1, ""));
    let sent = m.input("sent_i", sizes.address, "the address or difference in the packet");
    let target = (sizes.index > 0)
        .then(|| m.input("target_i", sizes.address, "the address in the jump target cache"));
    let hit = m.input("hit_i", 1, "it is there");
    let before = m.input("address_before_i", sizes.address, "the last address before it");
    let known = m.input("known_before_i", 1, "that is known");
    let address_o = m.output("address_o", sizes.address, "the last address after it");
    let known_o = m.output("known_o", 1, "that is known");

    let sum = m.let_("sum", &before + &sent);
    m.comb(|b| {
        b.set(&address_o, &before);
        b.set(&known_o, &known & !&forgets);
        b.when(&jump, |b| {
            if let Some(target) = &target {
                b.set(&address_o, target);
            }
            b.set(&known_o, &hit);
        })
        .elsif(&addressed & &absolute, |b| {
            b.set(&address_o, &sent);
            b.set(&known_o, true);
        })
        .elsif(&addressed, |b| b.set(&address_o, &sum));
    });
    m.finish()
}

/// The jump target cache. Each slot has a memory of its own, since it has a write port of its own.
struct Cache {
    memories: Vec<Memory>,
    /// Which entries are there.
    there: Reg,
    /// The slot that wrote an entry last, if there are several.
    owner: Option<Reg>,
}

impl Cache {
    fn new(m: &Module, sizes: &Sizes) -> Self {
        let entries = 1 << sizes.index;
        let memory = |slot| m.memory(&format!("targets_{slot}"), sizes.address, entries);
        let owner =
            (sizes.slots > 1).then(|| m.reg("owner", zero(entries * index_width(sizes.slots))));
        let there = m.reg("there", zero(entries));
        Self { memories: (0..sizes.slots).map(memory).collect(), there, owner }
    }

    /// What was stored in earlier cycles.
    fn read(&self, m: &Module, slot: u32, index: &Expr) -> (Expr, Expr) {
        let words: Vec<Expr> = (0u32..)
            .zip(&self.memories)
            .map(|(bank, memory)| m.read(memory, &format!("target_{slot}_{bank}"), index))
            .collect();
        let word = match (&self.owner, &words[..]) {
            (Some(owner), words) => {
                let bits = index_width(words.len() as u32);
                let owner = m.let_(&format!("owner_{slot}"), owner.q.index(index, bits));
                let of = |(bank, word): (u128, &Expr)| owner.is(bank).gate(word);
                any((0u128..).zip(words).map(of))
            }
            (None, words) => any(words.iter().cloned()),
        };
        (word, self.there.q.bit_at(index))
    }
}

/// One packet in a cycle.
struct Packet {
    address: Expr,
    /// It enters the cache, at this index.
    stores: Expr,
    index: Expr,
    clears: Expr,
}

/// The module `etrace_resolve`: the last address after every packet, in the same cycle.
pub(super) fn unit(shape: &Shape) -> Component {
    let sizes = Sizes::new(shape);
    let slots = sizes.slots;
    let m = Module::new(
        "etrace_resolve",
        "The last address after every packet: a chain of lanes. Addresses do not have the bits that are never sent.",
    )
    .clocked();
    let basic = BASIC.map(|name| m.input(&format!("{name}_i"), slots, ""));
    let sent = m.input("sent_i", slots * sizes.address, "addresses or differences in the packets");
    let caching = (sizes.index > 0).then(|| {
        let [stores, clears] =
            ["stores", "clears"].map(|name| m.input(&format!("{name}_i"), slots, ""));
        (
            stores,
            clears,
            m.input("index_i", slots * sizes.index, "indices of the jump target cache"),
        )
    });
    let address_o = m.output("address_o", slots * sizes.address, "the last addresses");
    let known_o = m.output("known_o", slots, "they are known");

    let lane = lane(&sizes);
    let cache = caching.as_ref().map(|_| Cache::new(&m, &sizes));
    let address = m.reg("address", zero(sizes.address));
    let known = m.reg("known", zero(1));
    let mut now = (address.q.clone(), known.q.clone());
    let mut packets: Vec<Packet> = Vec::new();
    let mut results: (Vec<Expr>, Vec<Expr>) = Default::default();
    for slot in 0..slots {
        let mut ports: Vec<(String, Expr)> = BASIC
            .iter()
            .zip(&basic)
            .map(|(name, value)| (format!("{name}_i"), value.bit(slot)))
            .collect();
        ports.push(("sent_i".to_owned(), sent.slice(slot * sizes.address, sizes.address)));
        let mut hit = lit(1, 0);
        if let (Some((.., index)), Some(cache)) = (&caching, &cache) {
            let index = index.slice(slot * sizes.index, sizes.index);
            let (mut target, mut there) = cache.read(&m, slot, &index);
            for packet in &packets {
                let here = &packet.stores & packet.index.eq(&index);
                target = here.mux(&packet.address, target);
                there = here | (!&packet.clears & there);
            }
            hit = there;
            ports.push(("target_i".to_owned(), target));
        }
        ports.push(("hit_i".to_owned(), hit));
        ports.push(("address_before_i".to_owned(), now.0.clone()));
        ports.push(("known_before_i".to_owned(), now.1.clone()));
        let out = super::wires::instance(&m, &format!("i_lane_{slot}"), &lane, &ports);
        now = (out["address_o"].clone(), out["known_o"].clone());
        if let Some((stores, clears, _)) = &caching {
            packets.push(Packet {
                stores: stores.bit(slot) & &now.1,
                index: sizes.index_of(&now.0),
                address: now.0.clone(),
                clears: clears.bit(slot),
            });
        }
        results.0.push(now.0.clone());
        results.1.push(now.1.clone());
    }
    m.assign(&address.d, &now.0);
    m.assign(&known.d, &now.1);
    if let Some(cache) = &cache {
        update(&m, cache, &packets);
    }
    m.assign(&address_o, delay(&m, "resolved_address", &join(&results.0), false));
    m.assign(&known_o, delay(&m, "resolved_known", &join(&results.1), true));
    m.finish()
}

/// Stores the targets of a cycle.
fn update(m: &Module, cache: &Cache, packets: &[Packet]) {
    m.section("The jump target cache after the packets.");
    for (memory, packet) in cache.memories.iter().zip(packets) {
        m.write(memory, &packet.stores, &packet.index, &packet.address);
    }
    let there = &cache.there.d;
    m.comb(|b| {
        for packet in packets {
            b.when(&packet.clears, |b| b.set(there, zero(there.width())));
            b.when(&packet.stores, |b| b.set_at(there, &packet.index, true));
        }
    });
    if let Some(owner) = &cache.owner {
        let bits = index_width(packets.len() as u32);
        m.comb(|b| {
            for (slot, packet) in (0u128..).zip(packets) {
                b.when(&packet.stores, |b| b.set_at(&owner.d, &packet.index, lit(bits, slot)));
            }
        });
    }
}
