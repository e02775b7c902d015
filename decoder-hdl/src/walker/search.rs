//! The block of an address.
//!
//! The blocks of addresses that were found before are remembered, since a program jumps to the same places again and again:
//! a search takes as many cycles as the number of a block has bits, and three more; the memory takes two.

use super::Config;
use super::table::word;
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Component, Module, concat, lit, zero};

/// Addresses that are remembered: 2 to the power of this.
const RECENT_BITS: u32 = 6;

/// The module `walker_search`: finds the entry of an address, one bit of its number per cycle.
pub(super) fn unit(config: &Config) -> Component {
    let layout = &config.table;
    let (address_bits, offset, index) =
        (config.address_bits(), layout.start_bits, layout.index_bits);
    let word = word(layout);
    let m = Module::new(
        "walker_search",
        "Finds the block of an address: the last one that starts at or before it. One bit of its number per cycle, or at \
         once if the same address was found before.",
    )
    .clocked();
    let start = m.input("start_i", 1, "there is an address; it stays until done");
    let again = m.input("again_i", 1, "another one comes");
    let address = m.input("address_i", address_bits, "the address");
    let base = m.input("base_i", address_bits, "the address that starts are counted from");
    let changes = m.input("changes_i", 1, "the table is written");
    let final_i = m.input("final_i", index, "number of the last entry");
    let read_o = m.output("read_o", 1, "read a word");
    let index_o = m.output("index_o", index, "its number");
    let word_i = m.input("word_i", layout.width(), "the word of the cycle before");
    let done_o = m.output("done_o", 1, "the block is found");
    let block_o = m.output("block_o", index, "its number");
    let offset_o = m.output("offset_o", offset, "half-words from the base to the address");
    let code_o = m.output("code_o", 1, "there is code");
    let inside_o = m.output("inside_o", 1, "the address is inside the last instruction, or odd");
    let last_o = m.output("last_o", 1, "it is that of the last instruction");
    let branch_o = m.output("branch_o", 1, "which is a branch");

    m.section("What is searched.");
    let distance = m.let_("distance", &address - &base);
    let here = m.reg("offset", zero(offset));
    let outside = m.reg("outside", zero(1));
    let odd = m.reg("odd", zero(1));
    let asks = m.reg("asks", zero(1));
    let bit = m.reg("bit", zero(index));
    let found = m.reg("found", zero(index));
    let ends = m.reg("ends", zero(1));
    let done = m.reg("done", zero(1));
    let idle = m.let_("idle", !(&asks.q | bit.q.any() | &ends.q | &done.q));
    let begins = m.let_("begins", &start & &idle & !&again);

    m.section("What is known of the block at the end of a search.");
    let get = |name| word.get(&word_i, name).unwrap_or_else(|| zero(1));
    let last = m.let_("last", get("start") + get("span").zext(offset));
    let what = get("ends");
    let at_last = m.let_("at_last", here.q.eq(&last) & !&odd.q);
    let there_is_code = m.let_("there_is_code", !&outside.q & !what.is(Ends::NoCode as u128));
    let is_inside = m.let_("is_inside", here.q.gt(&last) | &odd.q);
    let at_branch = m.let_("at_branch", &at_last & what.is(Ends::Branch as u128));

    m.section("Addresses that were found before.");
    let place_bits = RECENT_BITS.min(offset - 1);
    let place = here.q.trunc(place_bits);
    let tag = here.q.slice(place_bits, offset - place_bits);
    let known = m.reg("known", zero(1 << place_bits));
    let memory = m.memory("recent", tag.width() + index + 2, 1 << place_bits);
    let stores = m.let_("stores", &ends.q & &there_is_code & !&is_inside);
    let entry = concat(&[&at_last, &at_branch, &found.q, &tag]);
    m.write(&memory, &stores, &place, entry);
    let entry = m.read(&memory, "entry", &place);
    let same = entry.trunc(tag.width()).eq(&tag) & known.q.bit_at(&place) & !&outside.q & !&odd.q;
    let same = m.let_("same", same);
    m.comb(|b| {
        b.when(&changes, |b| b.set(&known.d, zero(1 << place_bits)))
            .elsif(&stores, |b| b.set_at(&known.d, &place, true));
    });

    m.section("The next bit of the number.");
    let candidate = m.let_("candidate", &found.q | &bit.q);
    let before = candidate.le(&final_i) & get("start").le(&here.q);
    let now = m.let_("now", before.mux(&candidate, &found.q));
    let next_bit = if index > 1 { &bit.q >> lit(1, 1) } else { zero(1) };
    let top = lit(index, 1 << (index - 1));
    m.assign(&read_o, &asks.q | bit.q.any());
    m.assign(&index_o, asks.q.mux(&top, &now | &next_bit));
    let [code, inside, is_last, branch] =
        ["code", "inside", "is_last", "branch"].map(|name| m.reg(name, zero(1)));
    m.comb(|b| {
        b.when(&again, |b| {
            b.set(&asks.d, false);
            b.set(&bit.d, zero(index));
            b.set(&ends.d, false);
            b.set(&done.d, false);
        })
        .elsif(&begins, |b| {
            b.set(&asks.d, true);
            b.set(&found.d, zero(index));
            b.set(&here.d, distance.slice(1, offset));
            b.set(&odd.d, distance.bit(0));
            let high = address_bits - 1 - offset;
            let far = if high > 0 { distance.slice(1 + offset, high).any() } else { lit(1, 0) };
            b.set(&outside.d, address.lt(&base) | far);
        })
        .elsif(&asks.q, |b| {
            b.set(&asks.d, false);
            b.set(&code.d, true);
            b.set(&inside.d, false);
            b.set(&is_last.d, entry.msb());
            b.set(&branch.d, entry.bit(tag.width() + index));
            b.when(&same, |b| {
                b.set(&found.d, entry.slice(tag.width(), index));
                b.set(&done.d, true);
            })
            .otherwise(|b| b.set(&bit.d, &top));
        })
        .elsif(bit.q.any(), |b| {
            b.set(&found.d, &now);
            b.set(&bit.d, &next_bit);
            b.when(bit.q.bit(0), |b| b.set(&ends.d, true));
        })
        .elsif(&ends.q, |b| {
            b.set(&ends.d, false);
            b.set(&done.d, true);
            b.set(&code.d, &there_is_code);
            b.set(&inside.d, &is_inside);
            b.set(&is_last.d, &at_last);
            b.set(&branch.d, &at_branch);
        });
    });
    m.unused(&word_i);
    m.assign(&done_o, &done.q);
    m.assign(&block_o, &found.q);
    m.assign(&offset_o, &here.q);
    m.assign(&code_o, &code.q);
    m.assign(&inside_o, &inside.q);
    m.assign(&last_o, &is_last.q);
    m.assign(&branch_o, &branch.q);
    m.finish()
}
