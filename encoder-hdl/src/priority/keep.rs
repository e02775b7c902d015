//! State for the next cycle: the pending step, the preceding one, and the rest of the group.

use super::context::Context;
use super::parts::Parts;
use crate::ingress::any;
use hartrace_rtl::{Expr, concat, zero};

/// Drives the registers of the step that precedes the pending one.
pub(super) fn previous(cx: &Context<'_>, parts: &Parts) {
    let m = cx.m;
    let Parts { pending, previous, plan, walk, next, tables, take, .. } = parts;
    m.section("The last step that was described is the one before.");
    m.assign(&previous.load_trap, take & &pending.traced & &pending.trap.q);
    m.assign(&previous.cause.d, &pending.cause.q);
    m.assign(&previous.interrupt.d, &pending.interrupt.q);
    m.assign(&previous.tval.d, &pending.tval.q);
    let planned = &plan.valid.q;
    m.comb(|b| {
        b.when(take, |b| {
            b.set(&previous.valid.d, &walk.valid & !(planned & &plan.restarts) & !&next.mark);
            b.set(&previous.trap.d, &pending.trap.q);
            b.set(&previous.reported.d, planned & &plan.trap_reported);
            b.set(&previous.updiscon.d, &walk.updiscon);
            if let (Some((is, depth)), Some(returns)) = (&previous.mismatch, &tables.returns) {
                b.set(&is.d, planned & &plan.mismatch);
                b.set(&depth.d, &returns.depth);
            }
        });
    });
}

/// Drives the registers of the pending step.
pub(super) fn pending(cx: &Context<'_>, parts: &Parts) {
    let (m, g) = (cx.m, &cx.group);
    let Parts { pending, walk, next, take, .. } = parts;
    m.section(
        "The last step that is taken waits for the one behind it. Nothing waits behind a mark.",
    );
    m.assign(&pending.load, take & !&next.mark);
    // It is known late which steps are taken. The data of a trap matters only if a trap is pending,
    // and may be stored before it is.
    m.assign(&pending.load_trap, &g.trap & (take | !&pending.trap.q));
    m.assign(&pending.valid.d, take.mux(!&next.mark, &pending.valid.q));
    let (first, last) = (&walk.rests_first, &walk.rests_last);
    let n = 0..cx.config.n();
    let lane = |i: u32| &first[i as usize] | &last[i as usize];
    let lane_bit = |lanes: &Expr| any(n.clone().map(|i| lane(i) & lanes.bit(i)));
    let last_bit = |lanes: &Expr| any(n.clone().map(|i| &last[i as usize] & lanes.bit(i)));
    m.assign(&pending.qualified.d, lane_bit(&g.qualified) | (&walk.takes_trap & &g.trap_qualified));
    m.assign(&pending.wide.d, lane_bit(&g.wide));
    m.assign(&pending.trap.d, &walk.takes_trap);
    m.assign(&pending.taken.d, last_bit(&g.taken));
    m.assign(&pending.not_taken.d, last_bit(&g.not_taken));
    m.assign(&pending.uninferable.d, last_bit(&g.uninferable));
    for (reg, lanes) in [
        (&pending.call, &g.call),
        (&pending.ret, &g.ret),
        (&pending.sijump, &g.sijump),
        (&pending.notify, &g.notify),
        (&pending.looked, &cx.looked.as_ref().map(|known| known.looked.clone())),
    ] {
        if let (Some(reg), Some(lanes)) = (reg, lanes) {
            m.assign(&reg.d, last_bit(lanes));
        }
    }
    let right = pending.right.as_ref().zip(cx.looked.as_ref());
    if let (Some((right, known)), Some(late)) = (right, &parts.tables.right) {
        let late = pending.looked().mux(&right.q, late);
        let kept = parts.chart.decides.mux(late, &right.q);
        m.assign(&right.d, pending.load.mux(last_bit(&known.right), kept));
    }
    address(cx, parts);
    group_facts(cx, parts);
    units(cx, parts);
}

/// The address of the pending step, unless it is the first of a lane, whose address is still in the
/// group.
fn address(cx: &Context<'_>, parts: &Parts) {
    let (m, g, aw) = (cx.m, &cx.group, cx.config.address());
    let Parts { pending, walk, .. } = parts;
    let mut address = zero(aw);
    for i in 0..cx.config.n() {
        let alone = &walk.takes_trap & g.trap_alone.bit(i);
        address = address | (&walk.rests_last[i as usize] | alone).gate(g.last.slice(i * aw, aw));
        m.assign(&pending.at_first[i as usize].d, &walk.rests_first[i as usize]);
    }
    let after = &walk.takes_trap & !g.trap_alone.any();
    m.assign(&pending.address.d, address | after.gate(&pending.behind));
}

/// Signals that the steps of a group have in common.
fn group_facts(cx: &Context<'_>, parts: &Parts) {
    let (m, g) = (cx.m, &cx.group);
    let Parts { pending, lanes, .. } = parts;
    m.assign(&pending.privilege.d, &g.privilege);
    if let (Some(reg), Some(time)) = (&pending.time, &g.time) {
        m.assign(&reg.d, time);
    }
    if let (Some(reg), Some(context)) = (&pending.context, &g.context) {
        m.assign(&reg.d, context);
    }
    m.assign(&pending.changes.d, &lanes.changes);
    if let Some(drifts) = &pending.drifts {
        m.assign(&drifts.d, &lanes.drifts);
    }
    m.assign(&pending.cause.d, &g.cause);
    m.assign(&pending.interrupt.d, &g.interrupt);
    m.assign(&pending.tval.d, &g.tval);
}

/// Number of units that the pending step counts as.
fn units(cx: &Context<'_>, parts: &Parts) {
    let g = &cx.group;
    let Parts { pending, lanes, walk, .. } = parts;
    let Some(units) = &pending.units else { return };
    let width = units.q.width();
    let mut value = zero(width);
    if let Some(cycles) = &g.cycles {
        // The first step of a group carries its cycles.
        let oldest = walk.rests_oldest(cx, lanes);
        value = value | (cx.resync_mode.is(2) & oldest).gate(cycles.zext(width));
    }
    if let Some(half_words) = &g.half_words {
        let rw = cx.config.iretire_width_p.into();
        for (i, rests) in (0..).zip(&walk.rests_last) {
            let here = cx.resync_mode.is(3) & rests;
            value = value | here.gate(half_words.slice(i * rw, rw).zext(width));
        }
    }
    cx.m.assign(&units.d, value);
}

/// Drives the rest of the group, and `ready` when nothing is left.
pub(super) fn group(cx: &Context<'_>, ready: &Expr, parts: &Parts) {
    let m = cx.m;
    let Parts { lanes, walk, next, take, .. } = parts;
    m.section("The group is done with when its last step is.");
    let over = m.let_("over", take & (&walk.finishes | &next.mark));
    m.assign(ready, &over);
    let rests = |rests: &[Expr]| concat(&rests.iter().rev().collect::<Vec<_>>());
    let hard = &cx.busy;
    let came = |has: &[Expr], passes: &[Expr], rest: &[Expr]| {
        let passed = (0..has.len()).map(|i| match passes.get(i) {
            Some(passes) => !hard & passes,
            None => zero(1),
        });
        rests(&passed.collect::<Vec<_>>()) | rests(rest)
    };
    let first = came(&lanes.first, &walk.passes_first, &walk.rests_first);
    let last = came(&lanes.last, &walk.passes_last, &walk.rests_last);
    let trap = &walk.takes_trap;
    m.assign(&lanes.done.done_first, take.gate(&first));
    m.assign(&lanes.done.done_last, take.gate(&last));
    m.assign(&lanes.done.done_trap, take & trap);
    m.comb(|b| {
        b.when(take, |b| b.set(&lanes.begun.d, true));
        b.when(&over, |b| b.set(&lanes.begun.d, false));
    });
    let group = &cx.group;
    let left = (&group.two & !first).any() | (&group.retires & !last).any();
    m.assert_always("all_steps_are_done", !over | !(left | (&group.trap & !trap)));
}
