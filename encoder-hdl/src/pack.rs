//! Joins groups with empty lanes while the queue holds others.
//!
//! Steps that take several cycles fill the queue. It empties again only if groups leave it faster
//! than they arrive, and a hart that retires one block in a cycle leaves the other lanes empty.

use crate::bundle::{Bundle, Wire, module_of_lanes};
use crate::config::{Config, ResyncUnit};
use crate::group;
use crate::ingress::any;
use hartrace_rtl::{Component, Expr, concat};

/// Signals that belong to the trap or the mark at the end of a group. All other signals without a
/// value for each lane are the same for groups that are joined.
const END: [&str; 7] = ["trap", "trap_qualified", "interrupt", "cause", "tval", "mark", "lost"];

/// Signals that indicate that a group differs from the preceding one.
const CHANGES: [&str; 4] =
    ["privilege_changes", "context_changes", "context_tears", "context_drifts"];

/// The module `te_group_pack`.
pub(crate) fn build(config: &Config) -> Component {
    let m = module_of_lanes(
        config,
        "te_group_pack",
        "Joins groups of which each needs half of the lanes, if they have to wait anyway. Groups that\n\
         differ in privilege or context stay apart, and so do those behind a trap or a mark.",
    );
    let wires = group::wires(config);
    let valid = m.input("valid_i", 1, "");
    let from = Bundle::inputs(&m, &wires);
    let hungry = m.input("hungry_i", 1, "what is here is wanted at once");
    let valid_o = m.output("valid_o", 1, "");
    let to = Bundle::outputs(&m, &wires);
    let joins_o = m.output("joins_o", 1, "a group comes to the one that waits");

    let n = config.n();
    let low = n.div_ceil(2);
    let held = m.reg("held", false);
    let load = m.wire("load", 1);
    let regs: Vec<_> =
        wires.iter().map(|wire| (wire, m.reg_data(wire.name, wire.width, &load))).collect();
    let kept = Bundle::of(regs.iter().map(|(wire, reg)| (wire.name, reg.q.clone())));

    m.section("Which groups fit together.");
    let used = |group: &Bundle| &group["retires"] | &group["trap_alone"];
    let ended = &kept["trap"] | kept["mark"].any();
    let half = !used(&kept).slice(low, n - low).any();
    let small = !used(&from).slice(n - low, low).any();
    let differs = any(CHANGES.into_iter().filter_map(|name| from.get(name)));
    let mut fits = &held.q & &valid & half & small & !ended & !differs & !from["mark"].any();
    if let (Some(old), Some(new)) = (kept.get("context"), from.get("context")) {
        // It may change without being reported.
        fits = fits & old.eq(new);
    }
    if config.counts(ResyncUnit::Cycles) {
        let mode = m.input("resync_mode_i", 2, "2: cycles are counted, and each group has its own");
        fits = fits & !mode.is(2);
    }
    let joins = m.let_("joins", fits);
    m.assign(&joins_o, &joins);

    m.section("One waits here for the next.");
    let leaves = m.let_("leaves", &held.q & !&joins & (&valid | &hungry));
    m.assign(&valid_o, &leaves);
    m.assign(&load, &valid);
    m.assign(&held.d, &valid | (&held.q & !&leaves));
    for (wire, reg) in &regs {
        let (old, new) = (&reg.q, &from[wire.name]);
        m.assign(&reg.d, joined(n, low, wire, &joins, old, new));
        m.assign(&to[wire.name], old);
    }
    m.finish()
}

/// The waiting group, with the new one in the upper lanes if it joins; otherwise the new one.
fn joined(n: u32, low: u32, wire: &Wire, joins: &Expr, old: &Expr, new: &Expr) -> Expr {
    if END.contains(&wire.name) {
        return new.clone();
    }
    if !group::is_of_lanes(wire.name) {
        return joins.mux(old, new);
    }
    let width = wire.width / n;
    let (lower, upper) = (low * width, (n - low) * width);
    let above = joins.mux(new.slice(0, upper), new.slice(lower, upper));
    concat(&[&above, &joins.mux(old.slice(0, lower), new.slice(0, lower))])
}
