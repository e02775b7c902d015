//! The flow chart, for the pending step.

use super::choice::Choice;
use super::context::Context;
use super::facts::{Facts, State, Steps};
use super::plan::{After, Decision, Plan};
use hartrace_rtl::{Expr, Module, Reg, zero};

/// Immediate results of the chart for the pending step.
pub(super) struct Chart {
    /// It exists and is traced.
    pub(super) traced: Expr,
    /// No resynchronisation is due or near.
    pub(super) calm: Expr,
    /// There is nothing to describe.
    pub(super) skip: Expr,
    /// It is quiet or easy.
    pub(super) simple: Expr,
    /// If it is simple, it is easy: the target of a jump, or a branch that fills the branch map.
    pub(super) fires: Expr,
    /// It is hard: the packets are decided now, and sent from the next cycle on.
    pub(super) decides: Expr,
    /// The step, unless it was hard, ends with an uninferable discontinuity.
    pub(super) jumps: Expr,
    sync_due: Reg,
    open: Reg,
    /// The last packet would also have been sent if tracing had continued.
    pub(super) was_due: Reg,
}

/// Effect of the step on the return stack.
struct Stack {
    calls: Expr,
    returns: Expr,
    pops: Expr,
    mismatch: Expr,
    marks: Expr,
    overflow: Expr,
}

impl Default for Stack {
    /// No effect.
    fn default() -> Self {
        let [calls, returns, pops, mismatch, marks, overflow] = std::array::from_fn(|_| zero(1));
        Self { calls, returns, pops, mismatch, marks, overflow }
    }
}

impl Chart {
    pub(super) fn new(cx: &Context<'_>, steps: Steps<'_>, state: State<'_>) -> (Self, Decision) {
        let m = cx.m;
        m.section(
            "The chart. A resynchronisation first has what is pending reported, then it is due.",
        );
        let sync_due = m.reg("sync_due", false);
        let open = m.reg("open_target", false);
        let was_due = m.reg("was_due", false);
        let facts = Facts::new(cx, steps, state, &sync_due);
        let choice = Choice::new(cx, &facts, steps, state, (&sync_due.q, &open.q));
        let counted = choice.counted.clone();
        let decision = decide(cx, &facts, choice, steps, state);

        m.section("How much work it is.");
        let (p, next) = (steps.pending, steps.next);
        let traced = p.traced.clone();
        let skip = m.let_("skip", !&traced & !&next.stops & !&next.starts);
        let simple = m.let_("simple", simple(cx, &facts, &counted, steps, state));
        let fires = &traced & (&steps.previous.updiscon.q | state.map.fills());
        let fires = m.let_("fires", fires);
        let hard = m.let_("hard", &next.exists & !&skip & !&simple & !&cx.busy);
        let waits = m.let_("waits", waits(cx, &facts, &open.q, steps, state));
        let mut jumps = &traced & &p.uninferable.q & !&facts.sequential;
        if let Some(returns) = &state.tables.returns {
            jumps = jumps & !(&facts.returning & &returns.some);
        }
        let jumps = m.shared("jumps", jumps);
        let decides = m.let_("decides", hard & !waits);
        let calm = facts.calm;
        (
            Self { traced, calm, skip, simple, fires, decides, jumps, sync_due, open, was_due },
            decision,
        )
    }

    /// Drives the registers of the chart. `target` and `updiscon` are those of the packet that is
    /// sent.
    pub(super) fn drive(
        &self,
        m: &Module,
        plan: &Plan,
        (commits, flush): (&Expr, &Expr),
        (target, updiscon): (&Expr, &Expr),
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

/// Decides what to do about the step if it is hard.
fn decide(
    cx: &Context<'_>,
    facts: &Facts,
    choice: Choice,
    steps: Steps<'_>,
    state: State<'_>,
) -> Decision {
    let (m, p, next) = (cx.m, steps.pending, steps.next);
    let traced = &p.traced;
    m.section("What the step does to what follows.");
    let inferred = m.let_("inferred", &facts.sequential & !&choice.synced);
    let uninferable = &p.uninferable.q & !&inferred;
    let stack = Stack::new(cx, facts, &choice, &inferred, steps, state).unwrap_or_default();
    let (pops, mismatch) = (&stack.pops, &stack.mismatch);
    let leaves = traced & ((&uninferable & !pops) | mismatch);
    let leaves_updiscon = m.let_("leaves_updiscon", leaves);
    let restarts = traced & (&facts.torn | (&facts.restart & mismatch));
    let restarts = m.let_("restarts", restarts);
    let context = traced & &steps.previous.valid.q & p.drifts() & !&choice.synced;
    let ends = (traced & !&next.qualified) | &next.stops | &next.starts;
    let ends = m.shared("ends", ends);
    let support = m.shared("sends_support", &ends | &restarts);
    let notify = match cx.config.triggers || cx.config.predicts() {
        true => p.notify() | (&choice.counted & !&choice.reasons),
        false => zero(1),
    };
    Decision {
        trap_reported: &choice.trap_own | &choice.trap_end,
        clears: support.clone(),
        after: After { trap_end: choice.trap_end, context, support },
        updiscon: &facts.trap_next | &facts.change_next | &facts.resync,
        notify,
        marks_overflow: stack.overflow,
        marks_call: stack.marks,
        calls: stack.calls,
        returns: stack.returns,
        pops: stack.pops,
        mismatch: stack.mismatch,
        start: choice.start,
        trap_own: choice.trap_own,
        trap_before: choice.trap_before,
        handler: choice.handler,
        target: choice.target,
        plain: choice.plain,
        maybe: choice.maybe,
        synced: choice.synced,
        leaves_updiscon,
        restarts,
        flush_due: facts.flush_due.clone(),
    }
}

impl Stack {
    fn new(
        cx: &Context<'_>,
        facts: &Facts,
        choice: &Choice,
        inferred: &Expr,
        steps: Steps<'_>,
        state: State<'_>,
    ) -> Option<Self> {
        let (m, traced) = (cx.m, &steps.pending.traced);
        let returns = state.tables.returns.as_ref()?;
        // A call is not a branch, so a packet that may be sent for a branch (`maybe`) is not sent
        // for it.
        let silent = !&choice.synced & !&choice.target & !&choice.plain;
        let known = traced & &facts.some_calls & !&choice.synced & &facts.returning;
        let known = m.let_("on_stack", known);
        let right = m.let_("as_predicted", inferred | &facts.predicted);
        let calls = m.let_("calling", traced & &cx.modes.returns & steps.pending.call());
        let marks = m.let_("marks_call", &calls & &choice.popped & silent);
        Some(Self {
            returns: traced & &facts.returning,
            pops: m.let_("pops", &known & &right),
            mismatch: m.let_("mismatch", &known & !&right),
            overflow: &marks & &returns.marks.full,
            marks,
            calls,
        })
    }
}

/// Whether the step is quiet or easy.
fn simple(
    cx: &Context<'_>,
    facts: &Facts,
    counted: &Expr,
    steps: Steps<'_>,
    state: State<'_>,
) -> Expr {
    let (p, previous, next) = (steps.pending, steps.previous, steps.next);
    // A call is simple if no return was popped since the last branch or packet; a return is simple
    // if it was compared and goes to the predicted address.
    let known = state.tables.returns.as_ref().map_or_else(
        || zero(1),
        |r| {
            let settled = match &r.expected {
                Some(expected) => &r.compared.q & expected,
                None => r.compared.q.clone(),
            };
            &cx.modes.returns & ((p.call() & &r.popped.q) | (p.ret() & !settled))
        },
    );
    let mut unsettled = &cx.modes.predicts & &facts.branch;
    if let Some(few) = &state.map.out.limit {
        unsettled = unsettled & (!p.looked() | few);
    }
    &facts.continues
        & !&p.changes.q
        & &next.qualified
        & !&next.trap
        & !&next.changes
        & !p.notify()
        & !p.drifts()
        & !known
        & !unsettled
        & !counted
        & &facts.not_due
        & !previous.mismatch()
        & !&cx.busy
}

/// Whether the facts needed for a decision about the step are not known yet.
fn waits(cx: &Context<'_>, facts: &Facts, open: &Expr, steps: Steps<'_>, state: State<'_>) -> Expr {
    let traced = &steps.pending.traced;
    let counted_up = traced & &state.counter.near & !&state.counter.known;
    let target = match &cx.settled {
        // Only here it matters whether the last target is open.
        Some((settled, _)) => open & !settled & (&facts.flush_due | &facts.change_next),
        None => zero(1),
    };
    let returns = state.tables.returns.as_ref();
    let compares = returns.map_or_else(|| zero(1), |r| traced & &facts.returning & !&r.compared.q);
    target | counted_up | compares
}
