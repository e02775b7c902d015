//! What the predictor remembers of outcomes, returns and targets.

use super::{LOW, Tmbp};
use crate::compressors::tables::Clear;
use hartrace_rtl::{Component, Expr, Module, concat, index_width, lit, zero};

/// Bits of a tag.
pub(super) const TAG: u32 = 8;

/// The module `te_outcome_counters`.
pub(super) fn outcomes(config: &Tmbp) -> Component {
    let m = Module::new(
        "te_outcome_counters",
        "Predicts branches: a counter of two bits for each entry, which starts at 1; 2 and 3 mean taken.",
    )
    .clocked();
    let index = m.input("index_i", index_width(config.entries), "of the branch");
    let update = m.input("update_i", 1, "count its outcome");
    let taken = m.input("taken_i", 1, "its outcome");
    let clear = Clear::inputs(&m, config.entries);
    let taken_o = m.output("taken_o", 1, "the prediction");

    let counter = m.wire("counter", 2);
    let up = counter.all().mux(&counter, &counter + lit(2, 1));
    let down = counter.any().mux(&counter - lit(2, 1), &counter);
    let next = taken.mux(up, down);
    clear.table(&m, "i_counters", (&update, &index, next), lit(2, 1), (&index, &counter));
    m.assign(&taken_o, counter.bit(1));
    m.finish()
}

/// The module `te_return_ring`.
pub(super) fn returns(config: &Tmbp) -> Component {
    let m = Module::new(
        "te_return_ring",
        "Remembers where calls return to, in a ring: a return that no call precedes is predicted from\n\
         whatever is there.",
    )
    .clocked();
    let width = index_width(config.ras);
    let push = m.input("push_i", 1, "a call");
    let pop = m.input("pop_i", 1, "a return, before the call");
    let link = m.input("link_i", LOW - 1, "where the call returns to");
    let clear = Clear::inputs(&m, config.ras);
    let newest_o = m.output("newest_o", LOW - 1, "where a return is predicted to lead");

    let top = m.reg("top", zero(width));
    let above = m.let_("above", &top.q + lit(width, 1));
    m.comb(|b| {
        b.when(&push & !&pop, |b| b.set(&top.d, &above));
        b.when(&pop & !&push, |b| b.set(&top.d, &top.q - lit(width, 1)));
    });
    let to = pop.mux(&top.q, &above);
    clear.table(&m, "i_links", (&push, &to, link), zero(LOW - 1), (&top.q, &newest_o));
    m.finish()
}

/// The module `te_target_buffer`.
pub(super) fn targets(config: &Tmbp) -> Component {
    let (sets, ways) = (config.sets(), config.ways);
    let m = Module::new(
        "te_target_buffer",
        "Remembers targets of indirect jumps by tag. The entries of a set are in the order of their last\n\
         use, so that the last one is replaced.",
    )
    .clocked();
    let set = m.input("set_i", index_width(sets), "of the jump");
    let tag = m.input("tag_i", TAG, "of the jump");
    let update = m.input("update_i", 1, "remember its target");
    let low = m.input("low_i", LOW - 1, "its target");
    let clear = Clear::inputs(&m, sets);
    let low_o = m.output("low_o", LOW - 1, "the target that is remembered, or zero");

    let entry = 1 + TAG + LOW - 1;
    let word = m.wire("word", entry * ways);
    let entries: Vec<Expr> = (0..ways).map(|way| word.slice(way * entry, entry)).collect();
    let hits: Vec<Expr> = (0..)
        .zip(&entries)
        .map(|(way, old)| {
            let hit = old.msb() & old.slice(LOW - 1, TAG).eq(&tag);
            m.let_(&format!("hit_{way}"), hit)
        })
        .collect();
    let found = entries.iter().zip(&hits).map(|(old, hit)| hit.gate(old.trunc(LOW - 1)));
    m.assign(&low_o, found.reduce(|a, b| a | b).unwrap_or_else(|| zero(LOW - 1)));
    // The new entry comes first; those that were before the entry that is replaced move up.
    let mut after = vec![concat(&[&lit(1, 1), &tag, &low])];
    let mut found_before = lit(1, 0);
    for (pair, hit) in entries.windows(2).zip(&hits) {
        found_before = found_before | hit;
        after.push(found_before.mux(&pair[1], &pair[0]));
    }
    let after = concat(&after.iter().rev().collect::<Vec<_>>());
    clear.table(&m, "i_entries", (&update, &set, after), zero(entry * ways), (&set, &word));
    m.finish()
}
