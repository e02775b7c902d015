//! Buffers lose nothing, duplicate nothing and keep the order.

use hartrace_encoder_hdl::transport::{fifo, spill};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream, num};
use hartrace_rtl::{Component, zero};

const IN: Stream = Stream { valid: "valid_i", ready: "ready_o", data: &["data_i"] };
const OUT: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &["data_o"] };

/// Any word that goes in, chosen by a free input, comes out after exactly those before it.
fn ordered(block: &Component, depth: u32) -> Component {
    let rig = Rig::new(block);
    let m = &rig.m;
    let track = m.input("track_i", 1, "");
    let (push, pop) = (rig.moves(IN), rig.moves(OUT));
    let within = rig.count("within", 4, |n| n + push.zext(4) - pop.zext(4));
    let tracks = m.reg("tracks", zero(1));
    let ahead = m.reg("ahead", zero(4));
    let data = rig.port("data_i");
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
    m.assert_always("comes_out", !&leaves | rig.port("data_o").eq(&word.q));
    m.assert_always("is_within", !&tracks.q | ahead.q.lt(&within));
    m.assert_always("valid_if_any", rig.port("valid_o").eq(within.any()));
    m.assert_always("ready_if_room", rig.port("ready_o").eq(within.lt(num(&within, depth))));
    m.assert_always("no_more_than_fit", within.le(num(&within, depth)));
    if let Some(usage) = rig.find("usage_o") {
        m.assert_always("usage_is_count", usage.zext(4).eq(&within));
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let mut proofs = Vec::new();
    for depth in [2, 3, 4, 5] {
        // The content of a word does not matter to a buffer, so one bit is enough.
        let rig = ordered(&fifo(1, depth), depth);
        proofs.push(
            Proof::any_run(&format!("fifo_{depth}_order"), &rig, depth + 6)
                .refuted_by("push = valid_i & ready_o", "push = valid_i")
                .refuted_by("ready_o = !full_o", "ready_o = 1'b1")
                .refuted_by("mem[write_q]", "mem[read_q]"),
        );
    }
    proofs.push(
        Proof::any_run("spill_order", &ordered(&spill(1), 2), 10)
            .refuted_by("spilled_q ? second_q : data_i", "data_i")
            .refuted_by("ready_o = !spilled_q", "ready_o = 1'b1"),
    );
    proofs
}
