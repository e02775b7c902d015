//! The flow chart, for the pending step.

use super::lanes::Next;
use super::pending::{Pending, Previous};
use super::{Context, State};
use hartrace_rtl::{Expr, Reg, zero};

/// What the chart says about the pending step.
pub(super) struct Chart {
    /// It exists and is traced.
    pub(super) traced: Expr,
    /// No resynchronisation is due or near.
    pub(super) calm: Expr,
    /// There is nothing to describe.
    pub(super) skip: Expr,
    /// Nothing comes of it.
    pub(super) quiet: Expr,
    /// It is the target of a jump, or fills the branch map, and no more.
    pub(super) easy: Expr,
    /// Anything else.
    pub(super) hard: Expr,
    /// Format 3.0.
    pub(super) start: Expr,
    /// Format 3.1: with its own trap, with that of the step before where nothing or the first
    /// instruction of the handler retired, and its own behind one of these.
    pub(super) trap_own: Expr,
    pub(super) trap_before: Expr,
    pub(super) handler: Expr,
    pub(super) trap_end: Expr,
    /// Format 0, 1 or 2, of a jump's target or of another instruction.
    pub(super) target: Expr,
    pub(super) plain: Expr,
    pub(super) map_only: Expr,
    /// Any of these.
    pub(super) main: Expr,
    /// Format 3.0 or 3.1.
    pub(super) synced: Expr,
    pub(super) trap_reported: Expr,
    pub(super) updiscon: Expr,
    pub(super) notify: Expr,
    /// The step leaves an uninferable discontinuity behind.
    pub(super) leaves_updiscon: Expr,
    /// It is a call, or a return, that the stack is to know of.
    pub(super) calls: Expr,
    pub(super) returns: Expr,
    /// A return that is as predicted, or not.
    pub(super) pops: Expr,
    pub(super) mismatch: Expr,
    /// A call to remember (D1), and whether there is no room for it.
    pub(super) marks_call: Expr,
    pub(super) marks_overflow: Expr,
    /// A context packet, a support packet.
    pub(super) context: Expr,
    pub(super) support: Expr,
    /// Tracing starts anew behind it.
    pub(super) restarts: Expr,
    /// What is pending is forgotten.
    pub(super) clears: Expr,
    flush_due: Expr,
    flush_held: Reg,
    sync_due: Reg,
    open: Reg,
    /// The last packet would also have been sent had tracing gone on.
    pub(super) was_due: Reg,
    /// It is not known yet whether a target was sent as an index.
    pub(super) waits: Expr,
}

impl Chart {
    pub(super) fn new(
        cx: &Context<'_>,
        p: &Pending,
        previous: &Previous,
        next: &Next,
        state: &State<'_>,
    ) -> Self {
        let m = cx.m;
        let modes = &cx.modes;
        m.section(
            "The chart. A resynchronisation first has what is pending reported, then it is due.",
        );
        let sync_due = m.reg("sync_due", false);
        let flush_held = m.reg("flush_held", false);
        let open = m.reg("open_target", false);
        let was_due = m.reg("was_due", false);
        let busy = &cx.busy;
        let traced = p.traced.clone();
        let flush_due = busy.mux(&flush_held.q, !&sync_due.q & state.near & state.due);
        let flush_due = m.let_("flush_due", &traced & flush_due);
        let resync = m.let_("resync", &flush_due | &sync_due.q);
        let calm = m.let_("calm", !state.near & !&resync);

        let before = &previous.valid.q;
        let branch = m.let_("is_branch", p.branch());
        let returns = state.tables.returns.as_ref();
        let sequential =
            m.let_("sequential", &modes.sijump & p.sijump() & before & !&previous.trap.q);
        let some_calls = returns.map_or_else(|| zero(1), |r| r.depth.any());
        let predicts = returns.map_or_else(|| zero(1), |r| r.predicts.clone());
        let predicted = m.let_("return_predicted", &next.qualified & predicts);
        let returning = m.let_("returning", &modes.returns & p.ret());
        let bad_return = &returning & !&sequential & &some_calls & &next.qualified & !&predicted;
        let bad_return = m.let_("bad_return", bad_return);
        let retired_next = &next.qualified & !&next.trap;
        let torn = m.let_("torn", &retired_next & &next.tears);
        let restart = m.let_("restart", &torn | (&bad_return & &retired_next & &next.changes));
        let goes_on = m.let_("next_shown", &next.qualified & !&restart);
        let trap_next = &goes_on & &next.trap;
        let change_next = m.let_("change_next", &goes_on & &next.changes);

        let first = !before;
        let after_trap = before & &previous.trap.q;
        let after_other = before & !&previous.trap.q;
        let (trap, retired) = (&p.trap.q, !&p.trap.q);
        let reported = &previous.reported.q;
        let jumped = &previous.updiscon.q;
        let mismatch_before = previous.mismatch();
        let trap_own = (&first & trap)
            | (&after_trap & trap & reported)
            | (&after_other & trap & (jumped | !&goes_on));
        let trap_before = &after_trap & trap & !reported;
        let trap_end = &trap_before & !&goes_on;
        let handler = &after_trap & &retired & !reported;
        let due = &p.changes.q | (&sync_due.q & !&mismatch_before);
        let start = &retired & (&first | (&after_trap & reported) | (&after_other & due));
        let start = m.let_("sends_start", &traced & start);
        let other = m.let_("reports_none_yet", &traced & &after_other & &retired & !&start);
        let target = m.let_("sends_target", &other & jumped);

        let marks = returns.map_or_else(|| zero(1), |r| r.marks["some_o"].clone());
        let popped = returns.map_or_else(|| zero(1), |r| r.popped.q.clone());
        let counted = state.exhausted.map_or_else(|| zero(1), |e| &traced & e);
        let indexed = match &cx.settled {
            Some((_, indexed)) => &modes.caches & indexed,
            None => zero(1),
        };
        let pending = state.some_branches | &branch | &popped | &marks | (&open.q & !indexed);
        let same_level = &p.uninferable.q & &goes_on & !&next.privilege_changes;
        let flushable = m.let_("flushable", pending | same_level);
        let reasons = (&flush_due & !&bad_return & &flushable)
            | &trap_next
            | (&change_next & &flushable)
            | !&goes_on;
        let reasons = m.let_("reasons", reasons);
        let plain = &other & !jumped & (&reasons | p.notify() | &counted);
        let plain = m.let_("sends_plain", plain);
        let map_only = m.let_("sends_map", &other & !jumped & !&plain & state.full.bit(0));
        let trap_own = m.let_("sends_own_trap", &traced & trap_own);
        let trap_before = m.let_("sends_trap_before", &traced & trap_before);
        let handler = m.let_("sends_handler", &traced & handler);
        let trap_end = &traced & trap_end;
        let synced = m.let_("synced", &start | &trap_own | &trap_before | &handler);
        let main = m.let_("sends", &synced | &target | &plain | &map_only);

        m.section("What the step does to what follows.");
        let inferred = m.let_("inferred", &sequential & !&synced);
        let uninferable = &p.uninferable.q & !&inferred;
        let on_stack = m.let_("on_stack", &some_calls & !&synced);
        let pops = &traced & &returning & &on_stack & (&inferred | &predicted);
        let mismatch = &traced & &returning & &on_stack & !(&inferred | &predicted);
        let mismatch = m.let_("mismatch", mismatch);
        let pops = m.let_("pops", pops);
        let calls = m.let_("calling", &traced & &modes.returns & p.call());
        let marks_call = m.let_("marks_call", &calls & &popped & !&main);
        let marks_full = returns.map_or_else(|| zero(1), |r| r.marks["full_o"].clone());
        let leaves = &traced & ((&uninferable & !&pops) | &mismatch);
        let leaves_updiscon = m.let_("leaves_updiscon", leaves);
        let restarts = m.let_("restarts", &traced & (&torn | (&restart & &mismatch)));
        let context = &traced & before & p.drifts() & !&synced;
        let stops = &traced & !&next.qualified;
        let support = &restarts | &stops | &next.stops | &next.starts;

        m.section("How much work it is.");
        let skip = m.let_("skip", !&traced & !&next.stops & !&next.starts);
        let known = &modes.returns & (p.call() | p.ret());
        let simple = &traced
            & &after_other
            & &retired
            & !&p.changes.q
            & &next.qualified
            & !&next.trap
            & !&next.changes
            & !p.notify()
            & !p.drifts()
            & !known
            & !(&modes.predicts & &branch)
            & !&counted
            & &calm
            & !&mismatch_before
            & !busy;
        let simple = m.let_("simple", simple);
        let fires = jumped | state.full.bit(0);
        let quiet = m.let_("quiet", &simple & !&fires);
        let easy = m.let_("easy", &simple & &fires);
        let hard = m.let_("hard", !&skip & !&simple);
        let counted_up = state.near & !state.known & !busy;
        let waits = match &cx.settled {
            // Whether the last target is open matters only here.
            Some((settled, _)) => &open.q & !settled & (&flush_due | &change_next),
            None => zero(1),
        };
        let waits = m.let_("waits", waits | (&traced & counted_up));
        Self {
            calm,
            skip,
            quiet,
            easy,
            trap_reported: &trap_own | &trap_end,
            updiscon: &trap_next | &change_next | &resync,
            notify: p.notify() | (&counted & !&reasons),
            marks_overflow: &marks_call & marks_full,
            clears: &stops | &next.stops | &next.starts | &restarts,
            returns: &traced & &returning,
            hard,
            start,
            trap_own,
            trap_before,
            handler,
            trap_end,
            target,
            plain,
            map_only,
            main,
            synced,
            leaves_updiscon,
            calls,
            pops,
            mismatch,
            marks_call,
            context,
            support,
            restarts,
            traced,
            flush_due,
            flush_held,
            sync_due,
            open,
            was_due,
            waits,
        }
    }

    /// The registers of the chart.
    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        commits: &Expr,
        flush: &Expr,
        target: &Expr,
        updiscon: &Expr,
    ) {
        let m = cx.m;
        m.assign(&self.flush_held.d, &self.flush_due);
        m.comb(|b| {
            b.when(flush, |b| {
                b.set(&self.open.d, target & !updiscon);
                b.set(&self.was_due.d, target);
            });
            b.when(commits, |b| {
                b.set(&self.sync_due.d, (&self.sync_due.q | &self.flush_due) & !&self.synced);
                b.when(&self.clears, |b| {
                    b.set(&self.open.d, false);
                    b.set(&self.was_due.d, false);
                    b.set(&self.sync_due.d, false);
                });
            });
        });
    }
}
