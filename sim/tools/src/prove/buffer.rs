//! Buffers lose nothing, duplicate nothing and keep the order.

use crate::prove::{Rig, Stream, num};
use hartrace_rtl::{Component, zero};

/// A rig that claims that a block is a buffer of `depth` words: any word that goes in, chosen by a free input, comes out
/// after exactly those before it. Both streams have one port of data.
#[must_use]
pub fn buffer(block: &Component, from: Stream, to: Stream, depth: u32) -> Component {
    let rig = Rig::new(block);
    let m = &rig.m;
    let track = m.input("track_i", 1, "");
    let (push, pop) = (rig.moves(from), rig.moves(to));
    let within = rig.count("within", 4, |n| n + push.zext(4) - pop.zext(4));
    let tracks = m.reg("tracks", zero(1));
    let ahead = m.reg("ahead", zero(4));
    let data = rig.port(from.data[0]);
    let word = m.reg("tracked", zero(data.width()));
    let starts = &push & &track & !&tracks.q;
    let leaves = &pop & &tracks.q & ahead.q.is(0);
    m.comb(|b| {
        b.when(&starts, |b| {
            b.set(&tracks.d, true);
            b.set(&word.d, &data);
            b.set(&ahead.d, &within - pop.zext(4));
        })
        .elsif(&leaves, |b| b.set(&tracks.d, false))
        .elsif(&pop & &tracks.q, |b| b.set(&ahead.d, &ahead.q - num(&ahead.q, 1)));
    });
    m.assert_always("comes_out", !&leaves | rig.port(to.data[0]).eq(&word.q));
    m.assert_always("is_within", !&tracks.q | ahead.q.lt(&within));
    m.assert_always("valid_if_any", rig.port(to.valid).eq(within.any()));
    m.assert_always("ready_if_room", rig.port(from.ready).eq(within.lt(num(&within, depth))));
    m.assert_always("no_more_than_fit", within.le(num(&within, depth)));
    if let Some(usage) = rig.find("usage_o") {
        m.assert_always("usage_is_count", usage.zext(4).eq(&within));
    }
    rig.finish()
}
