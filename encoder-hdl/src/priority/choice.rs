//! Chooses the packet of the pending step.

use super::context::Context;
use super::facts::{Facts, State, Steps};
use hartrace_rtl::{Expr, lit, zero};

/// The packet of the pending step, and the reason for it.
pub(super) struct Choice {
    pub(super) start: Expr,
    pub(super) trap_own: Expr,
    pub(super) trap_before: Expr,
    /// The trap of the preceding step, followed by its own.
    pub(super) trap_end: Expr,
    pub(super) handler: Expr,
    pub(super) target: Expr,
    pub(super) plain: Expr,
    pub(super) maybe: Expr,
    /// Format 3.0 or 3.1.
    pub(super) synced: Expr,
    /// A return has been popped since the last branch or packet.
    pub(super) popped: Expr,
    /// No further branch can be counted.
    pub(super) counted: Expr,
    /// There is a reason for a plain packet other than a notification or the count.
    pub(super) reasons: Expr,
}

impl Choice {
    /// `open` indicates that the last packet reported a target.
    pub(super) fn new(
        cx: &Context<'_>,
        facts: &Facts,
        steps: Steps<'_>,
        state: State<'_>,
        (sync_due, open): (&Expr, &Expr),
    ) -> Self {
        let m = cx.m;
        let (p, previous) = (steps.pending, steps.previous);
        let traced = &p.traced;
        let before = &previous.valid.q;
        let first = !before;
        let after_trap = before & &previous.trap.q;
        let after_other = before & !&previous.trap.q;
        let (trap, retired) = (&p.trap.q, !&p.trap.q);
        let reported = &previous.reported.q;
        let jumped = &previous.updiscon.q;
        let trap_own = (&first & trap)
            | (&after_trap & trap & reported)
            | (&after_other & trap & (jumped | !&facts.goes_on));
        // Where the trace may not show all levels, a trap is reported when its handler is seen: cause and value of one
        // into a forbidden level are not for the trace.
        let followed = if cx.config.permission { !&steps.next.mark } else { lit(1, 1) };
        let trap_own = trap_own & &followed;
        let trap_before = m.shared("trap_after_trap", &after_trap & trap & !reported);
        let trap_end = &trap_before & !&facts.goes_on & &followed;
        let handler = &after_trap & &retired & !reported;
        let due = &p.changes.q | (sync_due & !previous.mismatch());
        let start = &retired & (&first | (&after_trap & reported) | (&after_other & due));
        let start = m.let_("sends_start", traced & start);
        let other = m.let_("reports_none_yet", &facts.continues & !&start);
        let target = m.let_("sends_target", &other & jumped);

        let returns = state.tables.returns.as_ref();
        let marks = returns.map_or_else(|| zero(1), |r| r.marks.some.clone());
        let popped = returns.map_or_else(|| zero(1), |r| r.popped.q.clone());
        let counted = state.map.out.spent.as_ref().map_or_else(|| zero(1), |spent| traced & spent);
        let indexed = match &cx.settled {
            Some((_, indexed)) => &cx.modes.caches & indexed,
            None => zero(1),
        };
        let pending = &state.map.out.some | &facts.branch | &popped | &marks | (open & !indexed);
        let same_level = &p.uninferable.q & &facts.goes_on & !&steps.next.privilege_changes;
        let flushable = m.let_("flushable", pending | same_level);
        let reasons = (&facts.flush_due & !&facts.bad_return & &flushable)
            | &facts.trap_next
            | (&facts.change_next & &flushable)
            | !&facts.goes_on;
        let reasons = m.let_("reasons", reasons);
        let plain = &other & !jumped & (&reasons | p.notify() | &counted);
        let plain = m.let_("sends_plain", plain);
        // Whether it fills the map, or is the last that can be counted, is known only later.
        let maybe = m.let_("may_send", &other & !jumped & !&plain);
        let trap_own = m.let_("sends_own_trap", traced & trap_own);
        let trap_before = m.let_("sends_trap_before", traced & trap_before);
        let handler = m.let_("sends_handler", traced & handler);
        let trap_end = m.shared("sends_trap_end", traced & trap_end);
        let synced = m.let_("synced", &start | &trap_own | &trap_before | &handler);
        Self {
            start,
            trap_own,
            trap_before,
            trap_end,
            handler,
            target,
            plain,
            maybe,
            synced,
            popped,
            counted,
            reasons,
        }
    }
}
