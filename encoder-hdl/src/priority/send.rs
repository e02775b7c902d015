//! The request to the emitter.

use super::context::{Context, Ports};
use super::parts::Parts;
use hartrace_rtl::Expr;

/// The packet that is sent in a cycle.
pub(super) struct Sent {
    /// The emitter accepts it.
    pub(super) accepted: Expr,
    /// It reports branches: the map is empty afterwards.
    pub(super) reports: Expr,
    /// It is a synchronisation.
    pub(super) synced: Expr,
    /// It reports the target of a jump.
    pub(super) target: Expr,
    pub(super) updiscon: Expr,
}

impl Sent {
    /// Drives the request.
    pub(super) fn new(cx: &Context<'_>, ports: &Ports, parts: &Parts) -> Self {
        let (m, out) = (cx.m, &ports.out);
        let Parts { chart, walk, sequence, .. } = parts;
        m.section("The request.");
        let wants = &parts.goes & (&chart.fires | &walk.wants);
        m.assign(&ports.valid, wants | &sequence.emits);
        let accepted = m.let_("accepted", &ports.valid & &cx.can);
        let jumped = (&chart.fires & &parts.previous.updiscon.q) | &walk.at_target;
        let jumped = m.let_("jumped", jumped);
        let hard = &parts.plan.valid.q;
        let report = m.let_("report", hard.mux(&sequence.report, &jumped));
        let map_only = m.let_("map_only", hard.mux(&sequence.map_only, !&jumped));
        let start = m.let_("start", hard & &sequence.start);
        let trap = m.let_("trap", hard & &sequence.trap);
        m.assign(&out.report, &report);
        m.assign(&out.map_only, &map_only);
        m.assign(&out.start, &start);
        m.assign(&out.trap, &trap);
        if let Some(to) = &out.context_only {
            m.assign(to, hard & &sequence.context);
        }
        m.assign(&out.support, hard & &sequence.support);
        step(cx, ports, parts);
        branches(cx, ports, parts);
        if let Some(notify) = &out.notify {
            m.assign(notify, hard & &sequence.notify);
        }
        let updiscon = hard & &sequence.updiscon;
        if let Some(to) = &out.updiscon {
            m.assign(to, &updiscon);
        }
        let target = m.let_("target", hard.mux(&sequence.target, &jumped));
        if let Some(to) = &out.target {
            m.assign(to, &target);
        }
        if let (Some(irreport), Some(irdepth)) = (&out.irreport, &out.irdepth) {
            m.assign(irreport, hard & &sequence.irreport);
            m.assign(irdepth, &sequence.irdepth);
        }
        m.assign(&out.ienable, &sequence.ienable);
        m.assign(&out.qual_status, &sequence.status);
        let reports = !hard | &report | &map_only | &start | &trap;
        Self { accepted, reports, synced: &start | &trap, target, updiscon }
    }
}

/// The reported step: its address, and what is known about it.
fn step(cx: &Context<'_>, ports: &Ports, parts: &Parts) {
    let (m, out) = (cx.m, &ports.out);
    let Parts { pending, previous, sequence, .. } = parts;
    let own = parts.tables.mark_address(&sequence.marks, &pending.address.q);
    m.assign(&out.address, parts.walk.address(cx, pending, &sequence.marks, &own));
    m.assign(&out.branch, !&pending.taken.q);
    m.assign(&out.privilege, &pending.privilege.q);
    if let (Some(reg), Some(to)) = (&pending.time, &out.time) {
        m.assign(to, &reg.q);
    }
    if let (Some(reg), Some(to)) = (&pending.context, &out.context) {
        m.assign(to, &reg.q);
    }
    let older = &sequence.older_trap;
    m.assign(&out.ecause, older.mux(&previous.cause.q, &pending.cause.q));
    m.assign(&out.interrupt, older.mux(&previous.interrupt.q, &pending.interrupt.q));
    m.assign(&out.tval, older.mux(&previous.tval.q, &pending.tval.q));
    m.assign(&out.thaddr, &sequence.thaddr);
}

/// The branches since the last packet.
fn branches(cx: &Context<'_>, ports: &Ports, parts: &Parts) {
    let (m, out, map) = (cx.m, &ports.out, &parts.map.out);
    let Parts { pending, walk, sequence, .. } = parts;
    m.assign(&out.branches, &map.branches);
    m.assign(&out.branch_map, &map.map);
    let counts = [(&out.counting, &map.counting), (&out.branch_count, &map.count)];
    for (to, value) in counts.into_iter().filter_map(|(to, value)| to.as_ref().zip(value.as_ref()))
    {
        m.assign(to, value);
    }
    if let Some(mispredicted) = &out.mispredicted {
        let wrong = pending.branch() & !pending.right();
        let easy = walk.wants.mux(&walk.wrong, &wrong);
        let hard = &parts.plan.valid.q;
        m.assign(mispredicted, hard.mux(&sequence.main & wrong, easy));
    }
}
