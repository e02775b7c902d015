//! Joins groups with empty lanes while the queue holds others.
//!
//! Steps that take several cycles fill the queue. It empties again only if groups leave it faster
//! than they arrive, and a hart that retires one block in a cycle leaves the other lanes empty.

use crate::config::{Config, ResyncUnit};
use crate::group::{Group, Of};
use crate::ingress::any;
use crate::lanes::module_of_lanes;
use hartrace_rtl::{Component, Expr, Reg, concat};

/// The module `te_group_pack`.
pub(crate) fn build(config: &Config) -> Component {
    let m = module_of_lanes(
        config,
        "te_group_pack",
        "Joins groups of which each needs half of the lanes, if they have to wait anyway. Groups that\n\
         differ in privilege or context stay apart, and so do those behind a trap or a mark.",
    );
    let (signals, wires) = (Group::signals(config), Group::new(config));
    let valid = m.input("valid_i", 1, "");
    let from = wires.inputs(&m);
    let hungry = m.input("hungry_i", 1, "what is here is wanted at once");
    let valid_o = m.output("valid_o", 1, "");
    let to = wires.outputs(&m);
    let joins_o = m.output("joins_o", 1, "a group comes to the one that waits");

    let n = config.n();
    let low = n.div_ceil(2);
    let held = m.reg("held", false);
    let load = m.wire("load", 1);
    let regs: Group<Reg> = wires.map(|name, wire| m.reg_data(name, wire.width, &load));
    let kept = regs.map(|_, reg| reg.q.clone());

    m.section("Which groups fit together.");
    let used = |group: &Group| &group.retires | &group.trap_alone;
    let ended = &kept.trap | kept.mark.any();
    let half = !used(&kept).slice(low, n - low).any();
    let small = !used(&from).slice(n - low, low).any();
    let Group { context_changes, context_tears, context_drifts, .. } = &from;
    let changes = [Some(&from.privilege_changes), context_changes.as_ref()];
    let changes = changes.into_iter().chain([context_tears.as_ref(), context_drifts.as_ref()]);
    let differs = any(changes.flatten());
    let mut fits = &held.q & &valid & half & small & !ended & !differs & !from.mark.any();
    if let (Some(old), Some(new)) = (&kept.context, &from.context) {
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
    let next = signals.zip(&kept.zip(&from)).map(|_, ((of, _), (old, new))| match of {
        Of::Lanes => joined(n, low, &joins, old, new),
        Of::All => joins.mux(*old, *new),
        Of::End => (*new).clone(),
    });
    for (_, ((reg, next), to)) in regs.zip(&next).zip(&to).fields() {
        m.assign(&reg.d, *next);
        m.assign(to, &reg.q);
    }
    m.finish()
}

/// The lanes of the waiting group, with those of the new one in the upper lanes if it joins; otherwise the new ones.
fn joined(n: u32, low: u32, joins: &Expr, old: &Expr, new: &Expr) -> Expr {
    let width = old.width() / n;
    let (lower, upper) = (low * width, (n - low) * width);
    let above = joins.mux(new.slice(0, upper), new.slice(lower, upper));
    concat(&[&above, &joins.mux(old.slice(0, lower), new.slice(0, lower))])
}
