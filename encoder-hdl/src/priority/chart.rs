//! The flow chart, for the pending step.

use super::lanes::Next;
use super::pending::{Pending, Previous};
use super::plan::{Behind, Decision, Plan};
use super::{Context, State};
use hartrace_rtl::{Expr, Module, Reg, zero};

/// What the chart says about the pending step at once.
pub(super) struct Chart {
    /// It exists and is traced.
    pub(super) traced: Expr,
    /// No resynchronisation is due or near.
    pub(super) calm: Expr,
    /// There is nothing to describe.
    pub(super) skip: Expr,
    /// It is quiet or easy.
    pub(super) simple: Expr,
    /// It is easy if it is simple: the target of a jump, or it fills the branch map.
    pub(super) fires: Expr,
    /// Anything else: what is sent is decided now, and done from the next cycle on.
    pub(super) decides: Expr,
    /// The step, unless it was hard, leaves an uninferable discontinuity behind.
    pub(super) jumps: Expr,
    sync_due: Reg,
    open: Reg,
    /// The last packet would also have been sent had tracing gone on.
    pub(super) was_due: Reg,
}

/// What the step means to the return stack.
struct Stack {
    calls: Expr,
    returns: Expr,
    pops: Expr,
    mismatch: Expr,
    marks: Expr,
    overflow: Expr,
}

impl Default for Stack {
    /// There is none.
    fn default() -> Self {
        let [calls, returns, pops, mismatch, marks, overflow] = std::array::from_fn(|_| zero(1));
        Self { calls, returns, pops, mismatch, marks, overflow }
    }
}

impl Chart {
    pub(super) fn new(
        cx: &Context<'_>,
        p: &Pending,
        previous: &Previous,
        next: &Next,
        state: &State<'_>,
    ) -> (Self, Decision) {
        let m = cx.m;
        let modes = &cx.modes;
        m.section(
            "The chart. A resynchronisation first has what is pending reported, then it is due.",
        );
        let sync_due = m.reg("sync_due", false);
        let open = m.reg("open_target", false);
        let was_due = m.reg("was_due", false);
        let busy = &cx.busy;
        let traced = p.traced.clone();
        let flush_due = &traced & !&sync_due.q & state.near & state.due;
        let flush_due = m.let_("flush_due", flush_due);
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
        let counted = state.spent.map_or_else(|| zero(1), |spent| &traced & spent);
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
        // Whether it fills the map, or is the last that can be counted, is known later.
        let maybe = m.let_("may_send", &other & !jumped & !&plain);
        let trap_own = m.let_("sends_own_trap", &traced & trap_own);
        let trap_before = m.let_("sends_trap_before", &traced & trap_before);
        let handler = m.let_("sends_handler", &traced & handler);
        let trap_end = &traced & trap_end;
        let synced = m.let_("synced", &start | &trap_own | &trap_before | &handler);

        m.section("What the step does to what follows.");
        let inferred = m.let_("inferred", &sequential & !&synced);
        let uninferable = &p.uninferable.q & !&inferred;
        // A call is no branch: what may be sent for it is not.
        let silent = !&synced & !&target & !&plain;
        let stack = returns.map(|returns| {
            let known = m.let_("on_stack", &traced & &some_calls & !&synced & &returning);
            let right = m.let_("as_predicted", &inferred | &predicted);
            let calls = m.let_("calling", &traced & &modes.returns & p.call());
            let marks = m.let_("marks_call", &calls & &popped & silent);
            Stack {
                returns: &traced & &returning,
                pops: m.let_("pops", &known & &right),
                mismatch: m.let_("mismatch", &known & !&right),
                overflow: &marks & &returns.marks["full_o"],
                marks,
                calls,
            }
        });
        let stack = stack.unwrap_or_default();
        let (pops, mismatch) = (&stack.pops, &stack.mismatch);
        let leaves = &traced & ((&uninferable & !pops) | mismatch);
        let leaves_updiscon = m.let_("leaves_updiscon", leaves);
        let restarts = m.let_("restarts", &traced & (&torn | (&restart & mismatch)));
        let context = &traced & before & p.drifts() & !&synced;
        let stops = &traced & !&next.qualified;
        let support = &restarts | &stops | &next.stops | &next.starts;

        m.section("How much work it is.");
        let skip = m.let_("skip", !&traced & !&next.stops & !&next.starts);
        // A call without a return before it since the last branch or packet, and a return as predicted,
        // which has been compared, are simple.
        let known = returns.map_or_else(
            || zero(1),
            |r| {
                let settled = match &r.expected {
                    Some(expected) => &r.compared.q & expected,
                    None => r.compared.q.clone(),
                };
                &modes.returns & ((p.call() & &r.popped.q) | (p.ret() & !settled))
            },
        );
        let mut unsettled = &modes.predicts & &branch;
        if let Some(few) = state.limit {
            unsettled = unsettled & (!p.looked() | few);
        }
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
            & !unsettled
            & !&counted
            & &calm
            & !&mismatch_before
            & !busy;
        let simple = m.let_("simple", simple);
        let fires = m.let_("fires", &traced & (jumped | state.fills));
        let hard = m.let_("hard", &next.exists & !&skip & !&simple & !busy);
        let counted_up = &traced & state.near & !state.known;
        let waits = match &cx.settled {
            // Whether the last target is open matters only here.
            Some((settled, _)) => &open.q & !settled & (&flush_due | &change_next),
            None => zero(1),
        };
        let compares = returns.map_or_else(|| zero(1), |r| &traced & &returning & !&r.compared.q);
        let waits = m.let_("waits", waits | counted_up | compares);
        let notify = match cx.config.triggers || cx.config.predicts() {
            true => p.notify() | (&counted & !&reasons),
            false => zero(1),
        };
        let decision = Decision {
            behind: Behind { trap_end: trap_end.clone(), context, support },
            trap_reported: &trap_own | &trap_end,
            updiscon: &trap_next | &change_next | &resync,
            notify,
            marks_overflow: stack.overflow,
            marks_call: stack.marks,
            calls: stack.calls,
            returns: stack.returns,
            pops: stack.pops,
            mismatch: stack.mismatch,
            clears: &stops | &next.stops | &next.starts | &restarts,
            start,
            trap_own,
            trap_before,
            handler,
            target,
            plain,
            maybe,
            synced,
            leaves_updiscon,
            restarts,
            flush_due,
        };
        let mut jumps = &traced & &p.uninferable.q & !&sequential;
        if let Some(returns) = returns {
            jumps = jumps & !(&returning & &returns.some);
        }
        let decides = m.let_("decides", hard & !waits);
        (
            Self { traced, calm, skip, simple, fires, decides, jumps, sync_due, open, was_due },
            decision,
        )
    }

    /// The registers of the chart.
    pub(super) fn drive(
        &self,
        m: &Module,
        plan: &Plan,
        commits: &Expr,
        flush: &Expr,
        target: &Expr,
        updiscon: &Expr,
    ) {
        m.comb(|b| {
            b.when(flush, |b| {
                b.set(&self.open.d, target & !updiscon);
                b.set(&self.was_due.d, target);
            });
            b.when(commits, |b| {
                b.set(&self.sync_due.d, (&self.sync_due.q | &plan.flush_due) & !&plan.synced);
                b.when(&plan.clears, |b| {
                    b.set(&self.open.d, false);
                    b.set(&self.was_due.d, false);
                    b.set(&self.sync_due.d, false);
                });
            });
        });
    }
}
