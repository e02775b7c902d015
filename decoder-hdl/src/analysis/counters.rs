//! Counters of packets.

use super::{COUNTER, Config, counter, population};
use crate::wires::join;
use hartrace_rtl::{Component, Expr, Module, index_width, lit, zero};

/// The module `packet_counters`: any number of lanes may end a packet in a cycle.
pub(super) fn build(config: &Config) -> Component {
    let Config { lanes, kinds, lengths, sync_bytes, .. } = *config;
    let m = Module::new(
        "packet_counters",
        "Counts bytes, errors, synchronisations, and packets by kind and by length.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "start from zero");
    let enable = m.input("enable_i", 1, "count");
    let byte = m.input("byte_i", lanes, "lanes with a byte");
    let ends = m.input("ends_i", lanes, "a packet ends with it");
    let error = m.input("error_i", lanes, "it is an error, which ends what came before");
    let sync = m.input(
        "sync_i",
        lanes,
        "a search for packets ends with it; if a packet does, too, its length is known",
    );
    let width = index_width(kinds).max(1);
    let kind = m.input("kind_i", width * lanes, "the kind of the packet");
    let outputs = [("bytes", &byte), ("errors", &error), ("synchronisations", &sync)]
        .map(|(name, lanes)| (name, m.output(&format!("{name}_o"), COUNTER, ""), lanes));
    let kinds_o = m.output("kinds_o", COUNTER * kinds, "packets of each kind, the first lowest");
    let lengths_o =
        m.output("lengths_o", COUNTER * lengths, "packets of each length, the shortest lowest");

    for (name, output, set) in &outputs {
        let bits: Vec<Expr> = (0..lanes).map(|i| &enable & set.bit(i)).collect();
        m.assign(output, counter(&m, name, &clear, &population(&bits)));
    }

    m.section("Kinds.");
    let all: Vec<Expr> = (0..kinds)
        .map(|number| {
            let lane =
                |i: u32| &enable & ends.bit(i) & kind.slice(width * i, width).is(number.into());
            let bits: Vec<Expr> = (0..lanes).map(lane).collect();
            counter(&m, &format!("kind_{number}"), &clear, &population(&bits))
        })
        .collect();
    m.assign(&kinds_o, join(&all));

    m.section("Lengths: bytes of the packet before this one, up to the largest number.");
    let width = index_width(lengths).max(1);
    let most = lit(width, u128::from(lengths - 1));
    let before = m.reg("before", zero(width));
    let mut now = before.q.clone();
    let mut of_lane = Vec::new();
    let of_sync = lit(width, u128::from(sync_bytes.clamp(1, lengths) - 1));
    for i in 0..lanes {
        of_lane.push(m.let_(&format!("length_of_{i}"), sync.bit(i).mux(&of_sync, &now)));
        let longer = now.eq(&most).mux(&most, &now + lit(width, 1));
        let stops = ends.bit(i) | error.bit(i) | sync.bit(i);
        let next = byte.bit(i).mux((!stops).gate(longer), &now);
        now = m.let_(&format!("before_{}", i + 1), next);
    }
    m.assign(&before.d, (!&clear).gate(&now));
    let all: Vec<Expr> = (0..lengths)
        .map(|number| {
            let lane = |i: u32| &enable & ends.bit(i) & of_lane[i as usize].is(number.into());
            let bits: Vec<Expr> = (0..lanes).map(lane).collect();
            counter(&m, &format!("length_{}", number + 1), &clear, &population(&bits))
        })
        .collect();
    m.assign(&lengths_o, join(&all));
    m.finish()
}
