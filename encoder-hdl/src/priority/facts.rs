//! What the chart knows about the pending step and the steps next to it.

use super::context::Context;
use super::counter::Counter;
use super::lanes::Next;
use super::map::BranchMap;
use super::pending::{Pending, Previous};
use super::tables::Tables;
use hartrace_rtl::{Expr, Reg, zero};

/// The pending step, the preceding one and the next one.
#[derive(Copy, Clone)]
pub(super) struct Steps<'a> {
    pub(super) pending: &'a Pending,
    pub(super) previous: &'a Previous,
    pub(super) next: &'a Next,
}

/// Counters and tables.
#[derive(Copy, Clone)]
pub(super) struct State<'a> {
    pub(super) counter: &'a Counter,
    pub(super) map: &'a BranchMap,
    pub(super) tables: &'a Tables,
}

/// Conclusions from steps and state before a packet is chosen.
pub(super) struct Facts {
    /// Pending information is reported, so that a resynchronisation can follow.
    pub(super) flush_due: Expr,
    /// A resynchronisation is due, at this step or the next.
    pub(super) resync: Expr,
    /// No resynchronisation is due or near.
    pub(super) calm: Expr,
    /// None is due with the pending step, which is known even if it is near.
    pub(super) not_due: Expr,
    /// An instruction that follows another one in the trace.
    pub(super) continues: Expr,
    pub(super) branch: Expr,
    /// A jump whose target is known from the preceding instruction.
    pub(super) sequential: Expr,
    /// There is a call on the return stack.
    pub(super) some_calls: Expr,
    /// The next step is at the address on the return stack.
    pub(super) predicted: Expr,
    pub(super) returning: Expr,
    /// A return that does not go to the address on the return stack.
    pub(super) bad_return: Expr,
    /// The next step changes the context together with a jump.
    pub(super) torn: Expr,
    /// Tracing ends here and restarts at the next step.
    pub(super) restart: Expr,
    /// The next step is traced, and follows this one in the trace.
    pub(super) goes_on: Expr,
    pub(super) trap_next: Expr,
    /// The next step changes privilege or context.
    pub(super) change_next: Expr,
}

impl Facts {
    pub(super) fn new(
        cx: &Context<'_>,
        steps: Steps<'_>,
        state: State<'_>,
        sync_due: &Reg,
    ) -> Self {
        let (m, modes) = (cx.m, &cx.modes);
        let (p, previous, next) = (steps.pending, steps.previous, steps.next);
        let counter = state.counter;
        let flush_due = &p.traced & !&sync_due.q & &counter.near & &counter.due;
        let flush_due = m.let_("flush_due", flush_due);
        let resync = m.let_("resync", &flush_due | &sync_due.q);
        let calm = m.let_("calm", !&counter.near & !&resync);
        let not_due = m.let_("not_due", !&resync & (!&counter.near | &counter.known));

        let before = &previous.valid.q;
        let continues = &p.traced & before & !&previous.trap.q & !&p.trap.q;
        let continues = m.shared("continues", continues);
        let branch = m.let_("is_branch", p.branch());
        let returns = state.tables.returns.as_ref();
        let sequential = &modes.sijump & p.sijump() & before & !&previous.trap.q;
        let sequential = m.let_("sequential", sequential);
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
        Self {
            flush_due,
            resync,
            calm,
            not_due,
            continues,
            branch,
            sequential,
            some_calls,
            predicted,
            returning,
            bad_return,
            torn,
            restart,
            goes_on,
            trap_next,
            change_next,
        }
    }
}
