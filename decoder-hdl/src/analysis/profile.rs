//! The edge profile.

use super::{COUNTER, Config, counter};
use crate::wires::delay;
use hartrace_decoder::block_table::Ends;
use hartrace_encoder_hdl::transport::{FifoOut, fifo};
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};

/// Bytes of a spilled entry: from, to, count (seven bytes) and kind, the lowest byte first.
pub const RECORD_BYTES: u32 = 24;

/// The module `edge_profile`: entries in block RAM, one edge in every cycle.
///
/// The place of an edge is a hash of its addresses. An entry that another edge needs, or whose count is full, is
/// spilled. If too many spilled entries wait, the edge is lost, and counted as such: entries stay.
pub(super) fn build(config: &Config) -> Component {
    let Config { address_bits, entries, count_bits, spills, .. } = *config;
    let m = Module::new(
        "edge_profile",
        "Counts edges in a memory whose place is a hash of their addresses. An entry that makes place for another\n\
         edge, or whose count is full, is spilled: the entries and what was spilled are all edges.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "clear all entries");
    let enable = m.input("enable_i", 1, "count");
    let edge = m.input("edge_i", 1, "there is an edge");
    let from_i = m.input("from_i", address_bits, "the branch or jump");
    let to_i = m.input("to_i", address_bits, "where it went");
    let kind_i = m.input("kind_i", Ends::BITS, "what it is");
    let bits = entries.ilog2();
    let index_i = m.input("index_i", bits, "the entry that is read while nothing is counted");
    let from_o = m.output("from_o", address_bits, "");
    let to_o = m.output("to_o", address_bits, "");
    let kind_o = m.output("kind_o", Ends::BITS, "");
    let count_o = m.output("count_o", COUNTER, "0 if the entry is empty");
    let lost_o = m.output("lost_o", COUNTER, "edges that were not counted");
    let clearing_o = m.output("clearing_o", 1, "entries are being cleared");
    let busy_o = m.output("busy_o", 1, "an edge is on its way, or spilled entries wait");
    let spill_valid_o = m.output("spill_valid_o", 1, "");
    let spill_ready_i = m.input("spill_ready_i", 1, "");
    let spill_o = m.output("spill_o", 8 * RECORD_BYTES, "from, to, count and kind");

    m.section("Clearing.");
    let sweep = m.reg("sweep", zero(bits));
    let clearing = m.reg("clearing", true);
    m.assign(&sweep.d, (&clearing.q & !&clear).gate(&sweep.q + lit(bits, 1)));
    m.assign(&clearing.d, &clear | (&clearing.q & !sweep.q.all()));
    m.assign(&clearing_o, &clearing.q);

    m.section("The entry of the edge.");
    let counts = m.let_("counts", &enable & &edge);
    let hash = m.let_("hash", hash(&from_i, &to_i, bits));
    let place = m.let_("place", counts.mux(&hash, &index_i));
    let word = count_bits + Ends::BITS + 2 * address_bits;
    let table = m.memory("entries", word, entries);
    let read = m.read_clocked(&table, "read", lit(1, 1), &place);
    let here = delay(&m, "here", &counts, true);
    let at = delay(&m, "at", &place, false);
    let new = delay(&m, "new", &concat(&[&kind_i, &to_i, &from_i]), false);
    // What was written while the entry was read.
    let [write, write_at] = [("write", 1), ("write_at", bits)].map(|(name, w)| m.wire(name, w));
    let written = m.wire("written", word);
    let write_before = delay(&m, "write_before", &write, true);
    let at_before = delay(&m, "at_before", &write_at, false);
    let before = delay(&m, "before", &written, false);
    let entry = m.let_("entry", (write_before & at_before.eq(&at)).mux(before, &read));

    m.section("The entry after the edge.");
    let key_bits = word - count_bits;
    let key = entry.trunc(key_bits);
    let count = m.let_("count", entry.slice(key_bits, count_bits));
    let same = m.let_("same", key.eq(&new));
    let spills_now = m.let_("spills_now", count.any() & (!&same | count.all()));
    let room = m.wire("room", 1);
    let counted = m.let_("counted", &here & !&clearing.q & (!&spills_now | &room));
    let goes_on = &same & !count.all();
    let next = goes_on.mux(&count + lit(count_bits, 1), lit(count_bits, 1));
    m.assign(&write, &clearing.q | &counted);
    m.assign(&write_at, clearing.q.mux(&sweep.q, &at));
    m.assign(&written, (!&clearing.q).gate(concat(&[&next, &new])));
    m.write(&table, &write, &write_at, &written);
    m.assign(&lost_o, counter(&m, "lost", &clear, &(&here & !&counted)));

    m.section("Spilled entries.");
    let push = m.let_("push", &counted & &spills_now);
    let waiting = FifoOut::of(&m.inst(
        "i_spills",
        &fifo(word, spills),
        &[("valid_i", &push), ("data_i", &entry), ("ready_o", &room), ("ready_i", &spill_ready_i)],
    ));
    m.unused(&waiting.full);
    m.unused(&waiting.usage);
    m.assign(&spill_valid_o, &waiting.valid);
    m.assign(&spill_o, record(&waiting.data, address_bits, count_bits));
    m.assign(&busy_o, &here | &waiting.valid);

    m.section("The entry that is read.");
    let fields = [(&from_o, 0), (&to_o, address_bits), (&kind_o, 2 * address_bits)];
    for (output, lo) in fields {
        m.assign(output, entry.slice(lo, output.width()));
    }
    m.assign(&count_o, count.zext(COUNTER));
    m.finish()
}

/// A place for an edge: the addresses, without the bit that is always 0, folded.
fn hash(from: &Expr, to: &Expr, bits: u32) -> Expr {
    let fold = |address: &Expr| {
        let address = address.slice(1, address.width() - 1);
        let parts = (0..address.width()).step_by(bits as usize).map(|lo| {
            let width = bits.min(address.width() - lo);
            address.slice(lo, width).zext(bits)
        });
        parts.reduce(|a, b| a ^ b).unwrap_or_else(|| zero(bits))
    };
    // Branches to places nearby have most bits in common with them.
    let to = fold(to);
    let half = bits / 2;
    fold(from) ^ concat(&[&to.trunc(half), &to.slice(half, bits - half)])
}

/// An entry in the form of a record in memory.
fn record(entry: &Expr, address_bits: u32, count_bits: u32) -> Expr {
    let from = entry.trunc(address_bits).zext(64);
    let to = entry.slice(address_bits, address_bits).zext(64);
    let kind = entry.slice(2 * address_bits, Ends::BITS).zext(8);
    let count = entry.slice(2 * address_bits + Ends::BITS, count_bits).zext(56);
    concat(&[&kind, &count, &to, &from])
}
