//! Updates counters, tables and the branch map after steps that are done.

use super::context::Context;
use super::map::Branches;
use super::parts::Parts;
use super::send::Sent;
use super::{counter, tables};
use hartrace_rtl::{Expr, zero};

/// Drives counters and tables. Returns whether a packet takes the branch map with it.
pub(super) fn drive(cx: &Context<'_>, parts: &Parts, sent: &Sent) -> Expr {
    let m = cx.m;
    let Parts { pending, walk, sequence, simple, take, .. } = parts;
    m.section("What has been done with.");
    let flush = m.let_("flush_now", &sent.accepted & &sent.reports);
    // The branch of a hard step goes with its main packet, or without a packet.
    let sent_main = (&sequence.main & &sent.accepted) | &sequence.commits;
    let moves = m.let_("moves", simple | (&sequence.main_left & sent_main));
    let hard = &parts.plan.valid.q;
    let counts = !hard | (&sequence.main_left & !&sequence.marks);
    let push = m.shared("push_pending", &pending.traced & counts & pending.branch());
    parts.map.drive(cx, branches(parts, &push, &moves, &flush));

    let events = counter::Events {
        accepted: &sent.accepted,
        synced: &sent.synced,
        take,
        described: &(&pending.traced & (simple | &parts.chart.decides)),
    };
    let more = |width| simple.gate(walk.units(cx, width));
    parts.counter.drive(cx, &events, pending.units.as_ref().map(|reg| &reg.q), more);
    let events = tables::Events {
        commits: &sequence.commits,
        simple,
        flush: &flush,
        branch_done: &moves & walk.pushes.iter().fold(push, |any, push| any | push),
        marks: &sequence.marks,
        second_mark: &sequence.second_mark,
        more: walk.reports(cx),
    };
    parts.tables.drive(cx, &parts.plan, (pending, &parts.next), &events);
    look_ahead(cx, parts);
    if let Some(returns) = &parts.tables.returns {
        let rests = walk.rests_return(cx, &parts.lanes);
        let early = simple & rests & !pending.call() & !pending.ret();
        m.assign(&returns.compared.d, (&parts.next.exists & !take) | early);
    }
    flush
}

/// Inputs of the branch map: the pending step, then all lanes but the newest.
fn branches(parts: &Parts, push: &Expr, moves: &Expr, flush: &Expr) -> Branches {
    let Parts { pending, walk, .. } = parts;
    let (there, not_taken): (Vec<Expr>, Vec<Expr>) = parts.lanes.branches().into_iter().unzip();
    let with = |own: Expr, lanes: &[Expr]| [own].into_iter().chain(lanes.iter().cloned()).collect();
    Branches {
        there: with(&pending.traced & pending.branch(), &there),
        pushes: with(push.clone(), &walk.pushes),
        not_taken: with(pending.not_taken.q.clone(), &not_taken),
        cuts: with(zero(1), &walk.cuts),
        moves: moves.clone(),
        flush: flush.clone(),
    }
}

/// Looks up branches of the next group while this one is described.
fn look_ahead(cx: &Context<'_>, parts: &Parts) {
    let Parts { pending, lanes, tables, .. } = parts;
    let Some((ahead, far)) = parts.ahead.as_ref().zip(parts.counter.far.as_ref()) else { return };
    let looks = ahead.look(cx, (&parts.chart, far), lanes, (pending, &parts.previous));
    tables.look(cx, looks, &parts.sequence.commits, pending);
    ahead.learn(cx, tables);
    let ahead = pending.looked() | lanes.looked();
    cx.m.assert_always("nothing_ahead_is_forgotten", !(&tables.forget & ahead));
}
