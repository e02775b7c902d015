//! The blocks of addresses.
//!
//! The block of the address in a record is searched while the walker follows the record before it. A search takes as many
//! cycles as the number of a block has bits, and two more. Blocks that were found before are remembered, since a program
//! jumps to the same places again and again: that takes two cycles.

use super::table::Word;
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit, zero};

bundle! {
    /// The outputs of the module, besides [`Found`].
    pub(super) struct SearchOut { valid, record, after_loss }
}

/// Addresses that are remembered: 2 to the power of this.
const RECENT_BITS: u32 = 6;

bundle! {
    /// What is known of the address in a record.
    pub(super) struct Found { block, offset, code, inside, last, branch }
}

impl Found<Wire> {
    pub(super) fn new(layout: &WordLayout) -> Self {
        Self {
            block: Wire::new(layout.index_bits, "number of the block of its address"),
            offset: Wire::new(layout.start_bits, "half-words from the base to the address"),
            code: Wire::new(1, "there is code"),
            inside: Wire::new(1, "the address is inside the last instruction of the block, or odd"),
            last: Wire::new(1, "it is that of the last instruction"),
            branch: Wire::new(1, "which is a branch"),
        }
    }
}

impl Found {
    /// The inputs `found_{name}_i` of a walk.
    pub(super) fn inputs_of_walk(m: &Module, layout: &WordLayout) -> Self {
        let input =
            |name: &str, wire: &Wire| m.input(&format!("found_{name}_i"), wire.width, wire.doc);
        Found::new(layout).map(input)
    }

    /// Connections to these inputs.
    pub(super) fn to_walk(&self) -> Vec<(String, Expr)> {
        let fields = self.fields().into_iter();
        fields.map(|(name, signal)| (format!("found_{name}_i"), signal.clone())).collect()
    }
}

bundle! {
    /// The fields of a record that matter here. If it has `known`, the address counts only where that is set.
    pub(super) struct Searched { address, addressed, known: Option }
}

/// The places of fields in a record: the lowest bit and the width of each, and the width of the record.
pub(super) struct Places {
    pub(super) searched: Searched<(u32, u32)>,
    pub(super) width: u32,
}

/// The module `walker_search`: records, with the blocks of their addresses.
pub(super) fn unit(layout: &WordLayout, record: &Places) -> Component {
    let (offset, index) = (layout.start_bits, layout.index_bits);
    let (_, address_bits) = record.searched.address;
    let m = Module::new(
        "walker_search",
        "Finds the block of the address in a record: the last one that starts at or before it. One bit of its number per \
         cycle, or at once if the same address was found before.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "there is a record");
    let record_i = m.input("record_i", record.width, "the record");
    let after_loss_i = m.input("after_loss_i", 1, "records before it are lost");
    let take_o = m.output("take_o", 1, "it is taken");
    let base = m.input("base_i", address_bits, "the address that starts are counted from");
    let changes = m.input("changes_i", 1, "the table is written");
    let final_i = m.input("final_i", index, "number of the last entry");
    let read_o = m.output("read_o", 1, "read a word");
    let index_o = m.output("index_o", index, "its number");
    let word_i = m.input("word_i", layout.width(), "the word that was read last");
    let valid_o = m.output("valid_o", 1, "there is a record");
    let record_o = m.output("record_o", record.width, "the record");
    let after_loss_o = m.output("after_loss_o", 1, "records before it are lost");
    let results_o = Found::new(layout).outputs(&m);
    let take_i = m.input("take_i", 1, "it is taken");

    m.section("What is searched.");
    let Searched { address, addressed, known } =
        record.searched.map(|_, (lo, width)| record_i.slice(*lo, *width));
    let distance = m.let_("distance", &address - &base);
    let high = address_bits - 1 - offset;
    let far = if high > 0 { distance.slice(1 + offset, high).any() } else { lit(1, 0) };
    let there = m.reg("there", zero(1));
    let free = m.let_("free", !&there.q | &take_i);
    let asks = m.reg("asks", zero(1));
    let bit = m.reg("bit", zero(index));
    let ends = m.reg("ends", zero(1));
    let idle = m.let_("idle", !(&asks.q | bit.q.any() | &ends.q));
    let needed = match known {
        Some(known) => addressed & known,
        None => addressed,
    };
    let needed = m.let_("needed", needed);
    let begins = m.let_("begins", &idle & &valid_i & &needed);
    let held = |name: &str, value: &Expr| {
        let reg = m.reg_data(name, value.width(), &begins);
        m.assign(&reg.d, value);
        reg.q
    };
    let here = held("here", &distance.slice(1, offset));
    let odd = held("odd", &distance.bit(0));
    let outside = held("is_outside", &(address.lt(&base) | far));

    m.section("The next bit of the number.");
    let word = Word::new(layout).split(&word_i);
    let found = m.reg("found", zero(index));
    let candidate = m.let_("candidate", &found.q | &bit.q);
    let before = candidate.le(&final_i) & word.start.le(&here);
    let now = m.let_("now", before.mux(&candidate, &found.q));
    let next_bit = if index > 1 { &bit.q >> lit(1, 1) } else { zero(1) };
    let top = lit(index, 1 << (index - 1));
    m.assign(&read_o, &asks.q | bit.q.any());
    m.assign(&index_o, asks.q.mux(&top, &now | &next_bit));

    m.section("What is known of the block at the end.");
    let last = m.let_("last", &word.start + word.span.zext(offset));
    let is = |which: Ends| word.ends.is(which as u128);
    let at_last = m.let_("at_last", here.eq(&last) & !&odd);
    let code = m.let_("there_is_code", !&outside & !is(Ends::NoCode));
    let inside = m.let_("is_inside", here.gt(&last) | &odd);
    let branch = m.let_("at_branch", &at_last & is(Ends::Branch));

    m.section("Addresses that were found before.");
    let place_bits = RECENT_BITS.min(offset - 1);
    let place = here.trunc(place_bits);
    let tag = here.slice(place_bits, offset - place_bits);
    let known = m.reg("known", zero(1 << place_bits));
    let memory = m.memory("recent", tag.width() + index + 2, 1 << place_bits);
    let stores = m.let_("stores", &ends.q & &code & !&inside);
    m.write(&memory, &stores, &place, concat(&[&at_last, &branch, &found.q, &tag]));
    let entry = m.read(&memory, "entry", &place);
    let same = entry.trunc(tag.width()).eq(&tag) & known.q.bit_at(&place);
    let same = m.let_("same", same & !(&outside | &odd));
    m.comb(|b| {
        b.when(&changes, |b| b.set(&known.d, zero(1 << place_bits)))
            .elsif(&stores, |b| b.set_at(&known.d, &place, true));
    });

    m.section("The record moves on if the one before it is gone.");
    let done = (&idle & &valid_i & !&needed) | (&asks.q & &same) | &ends.q;
    let moves = m.let_("moves", &free & done);
    m.assign(&take_o, &moves);
    m.comb(|b| {
        b.when(&take_i, |b| b.set(&there.d, false));
        b.when(&moves, |b| {
            b.set(&there.d, true);
            b.set(&asks.d, false);
            b.set(&ends.d, false);
        })
        .elsif(&begins, |b| {
            b.set(&asks.d, true);
            b.set(&found.d, zero(index));
        })
        .elsif(&asks.q & !&same, |b| {
            b.set(&asks.d, false);
            b.set(&bit.d, &top);
        })
        .elsif(bit.q.any(), |b| {
            b.set(&found.d, &now);
            b.set(&bit.d, &next_bit);
            b.when(bit.q.bit(0), |b| b.set(&ends.d, true));
        });
    });
    let known_block = entry.slice(tag.width(), index);
    let values = Found {
        block: ends.q.mux(&found.q, known_block),
        offset: here.clone(),
        code: !&ends.q | code,
        inside: &ends.q & inside,
        last: ends.q.mux(at_last, entry.msb()),
        branch: ends.q.mux(branch, entry.bit(tag.width() + index)),
    };
    let out = |name: &str, value: &Expr| {
        let reg = m.reg_data(&format!("out_{name}"), value.width(), &moves);
        m.assign(&reg.d, value);
        reg.q
    };
    for (name, (port, value)) in results_o.zip(&values).fields() {
        m.assign(port, out(name, value));
    }
    m.assign(&record_o, out("record", &record_i));
    m.assign(&after_loss_o, out("after_loss", &after_loss_i));
    m.assign(&valid_o, &there.q);
    m.unused(&word_i);
    m.finish()
}
