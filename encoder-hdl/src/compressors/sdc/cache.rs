//! A cache of streams, and for each stream its last successor.

use super::{LOW, Sdc};
use crate::compressors::tables::Clear;
use crate::transport::fit;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of [`streams`].
    pub(super) struct CacheOut { found, index }
}

/// The module `te_stream_cache`.
pub(super) fn streams(config: &Sdc) -> Component {
    let (sets, ways) = (config.sets(), config.ways);
    let m = Module::new(
        "te_stream_cache",
        "Remembers streams by set and way, without the address bits that the set tells. Number 0 is not used:\n\
         it means that a stream is not here.",
    )
    .clocked();
    let low = m.input("low_i", LOW - 1, "low bits of the address of a stream, but for the lowest");
    let length = m.input("length_i", 8, "its length");
    let update = m.input("update_i", 1, "it was used: enter it if it is not here");
    let clear = Clear::inputs(&m, sets);
    let out = CacheOut {
        found: Wire::new(1, "it is here"),
        index: Wire::new(config.index(), "where it is, or will be"),
    };
    let out = out.outputs(&m);

    m.section("The set, and what is left of the address.");
    let width = index_width(sets);
    let from = config.shift - 1;
    let hash = low.slice(from, width) ^ fit(&length, width);
    let set = m.let_("set_index", hash);
    let mut parts = vec![low.slice(from + width, LOW - 1 - from - width)];
    if from > 0 {
        parts.push(low.trunc(from));
    }
    parts.push(length);
    let key = m.let_("key", concat(&parts.iter().collect::<Vec<_>>()));

    m.section("Ways that have it, that are free, and that were not used lately.");
    // Valid, used, key.
    let entry = 2 + key.width();
    let word = m.wire("word", entry * ways);
    let first = m.let_("first_set", !set.any());
    let at = |way: u32, bit: u32| word.bit(way * entry + bit);
    let usable = |way: u32| if way == 0 { !&first } else { lit(1, 1) };
    let each = |of: &dyn Fn(u32) -> Expr| {
        concat(&(0..ways).rev().map(of).collect::<Vec<_>>().iter().collect::<Vec<_>>())
    };
    let has = m.let_(
        "has",
        each(&|way| at(way, entry - 1) & word.slice(way * entry, key.width()).eq(&key)),
    );
    let free = m.let_("free", each(&|way| usable(way) & !at(way, entry - 1)));
    let used = m.let_("used", each(&|way| !usable(way) | at(way, entry - 2)));
    let found = m.let_("found", has.any());
    // Only a set with one way that can be used has used all of them.
    let one = lit(ways, 1) << first.zext(2);
    let old = used.all().mux(one, lowest(&!&used));
    let chosen = found.mux(&has, free.any().mux(lowest(&free), old));
    let chosen = m.let_("chosen", chosen);

    m.section(
        "The way that is chosen has the stream and is marked; once all are, the others are not.",
    );
    let marked = m.let_("marked", &used | &chosen);
    let marks = m.let_("marks", marked.all().mux(&chosen, &marked));
    let after = each(&|way| {
        let old = word.slice(way * entry, key.width());
        let valid = at(way, entry - 1) | chosen.bit(way);
        concat(&[&valid, &marks.bit(way), &chosen.bit(way).mux(&key, old)])
    });
    clear.table(&m, "i_entries", (&update, &set, after), zero(entry * ways), (&set, &word));
    m.assign(&out.found, &found);
    m.assign(&out.index, concat(&[&set, &number(&chosen)]));
    m.finish()
}

/// The module `te_successors`.
pub(super) fn successors(config: &Sdc) -> Component {
    let m = Module::new(
        "te_successors",
        "Remembers for each stream which one followed it last, by their numbers in the cache.",
    )
    .clocked();
    let index = m.input("index_i", config.index(), "number of a stream");
    let update = m.input("update_i", 1, "another one was followed");
    let before = m.input("before_i", config.index(), "its number");
    let next = m.input("next_i", config.index(), "by this one");
    let clear = Clear::inputs(&m, config.entries);
    let next_o = m.output("next_o", config.index(), "what followed it last, or 0");
    let none = zero(config.index());
    clear.table(&m, "i_successors", (&update, &before, next), none, (&index, &next_o));
    m.finish()
}

/// The lowest bit that is set, alone.
fn lowest(bits: &Expr) -> Expr {
    bits & (!bits + lit(bits.width(), 1))
}

/// The number of the only bit that is set.
fn number(bits: &Expr) -> Expr {
    let digits = (0..index_width(bits.width())).rev().map(|digit| {
        let set = (0..bits.width()).filter(|i| i >> digit & 1 == 1).map(|i| bits.bit(i));
        set.reduce(|a, b| a | b).unwrap_or_else(|| lit(1, 0))
    });
    concat(&digits.collect::<Vec<_>>().iter().collect::<Vec<_>>())
}
