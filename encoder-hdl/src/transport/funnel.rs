//! Merges several sources of packets into one.

use crate::transport::len_width;
use hartrace_rtl::{Component, Module, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of a [`funnel`].
    pub struct FunnelOut { ready, valid, data, len }
}

/// Passes on the packets of `sources` sources, one after the other: `funnel_{sources}x{max_bytes}`.
///
/// `valid_i ready_o data_i len_i` have a part for each source, number 0 in the low bits; `valid_o
/// ready_i data_o len_o` carry one packet. A source that sends waits for at most one packet of
/// every other source. The packet itself identifies its source (srcID); there is no separate
/// signal.
///
/// A packet passes in every cycle in which any source has one; a source that starts while no other
/// sends waits one cycle for its turn.
///
/// # Panics
///
/// If there are fewer than two sources or `max_bytes` is 0.
#[must_use]
#[track_caller]
pub fn funnel(sources: u32, max_bytes: u32) -> Component {
    assert!(sources >= 2, "a funnel of {sources} sources; at least 2");
    assert!(max_bytes >= 1, "packets without bytes");
    let (data_width, len_width) = (max_bytes * 8, len_width(max_bytes));
    let m = Module::new(
        &format!("funnel_{sources}x{max_bytes}"),
        "Passes whole packets of several sources on, round robin. The turn is a register, so that\n\
         nothing changes while a packet waits.",
    )
    .clocked();
    let valid_i = m.input("valid_i", sources, "source 0 in bit 0");
    let ready_o = m.output("ready_o", sources, "");
    let data_i = m.input("data_i", sources * data_width, "source 0 in the low bits");
    let len_i = m.input("len_i", sources * len_width, "");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", data_width, "byte 0 in bits 7:0");
    let len_o = m.output("len_o", len_width, "");

    let turn = m.reg("turn", zero(index_width(sources)));
    let width = turn.q.width();
    m.assign(&valid_o, valid_i.bit_at(&turn.q));
    m.assign(&data_o, data_i.index(&turn.q, data_width));
    m.assign(&len_o, len_i.index(&turn.q, len_width));
    let readies: Vec<_> = (0..sources).rev().map(|i| &ready_i & turn.q.is(i.into())).collect();
    m.assign(&ready_o, concat(&readies.iter().collect::<Vec<_>>()));

    m.section("The next source that sends, or this one again.");
    let stays = m.let_("stays", &valid_o & !&ready_i);
    m.comb(|b| {
        b.when(!&stays, |b| {
            b.switch(&turn.q, |s| {
                for now in 0..sources {
                    s.case(lit(width, now.into()), |b| {
                        // The nearest source wins, so it is assigned last.
                        for ahead in (1..sources).rev() {
                            let next = (now + ahead) % sources;
                            b.when(valid_i.bit(next), |b| {
                                b.set(&turn.d, lit(width, next.into()));
                            });
                        }
                    });
                }
            });
        });
    });
    m.assert_always("turn_in_range", turn.q.le(lit(width, u128::from(sources - 1))));
    m.finish()
}
