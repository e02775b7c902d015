//! Where a walk ends, and where the present block leads.

use super::place::{Place, Visit};
use super::{Predictor, field};
use crate::walker::etrace::intake::{Class, Stored};
use crate::walker::present::{Present, Stack};
use crate::walker::search::Found;
use crate::wires::any;
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Expr, Module, lit, zero};

/// Where the walk ends.
pub(super) struct Goal {
    pub(super) report: Expr,
    pub(super) starts: Expr,
    pub(super) traps: Expr,
    pub(super) addressed: Expr,
    pub(super) to_branch: Expr,
    pub(super) block: Expr,
    pub(super) offset: Expr,
    pub(super) last: Expr,
    pub(super) branch: Expr,
    pub(super) bad: Expr,
    /// There is an address, but no code there.
    pub(super) missing: Expr,
    pub(super) counted: Expr,
    pub(super) arrives: Expr,
    depth_said: Expr,
}

impl Goal {
    pub(super) fn new(
        m: &Module,
        record: &Stored,
        (found, present_branch): (&Found, &Expr),
        (place, visit): (&Place, &Visit),
        stack: Option<&Stack>,
    ) -> Self {
        m.section("Where the walk ends.");
        let deciding = &visit.deciding.q;
        let report = m.let_("report", record.is(Class::Report));
        let starts = m.let_("starts", record.is(Class::Start));
        let traps = m.let_("traps", record.is(Class::Trap));
        let addressed = m.let_("addressed", &record.addressed);
        let to_branch = m.let_("to_branch", !deciding & &report & !&addressed);
        let block = m.let_("goal", deciding.mux(&visit.block.q, &found.block));
        let offset = m.let_("goal_offset", deciding.mux(&visit.offset.q, &found.offset));
        let last = m.let_("goal_last", deciding.mux(&visit.last.q, &found.last));
        let branch = m.let_("goal_branch", deciding.mux(&visit.branch.q, &found.branch));
        let bad = m.let_("bad_goal", !&found.code | &found.inside);
        let missing = m.let_("no_goal", !deciding & &addressed & &bad);
        let as_target = m.let_("as_target", deciding | (&report & &record.target));
        // The outcome of a branch at the goal is sent with the goal.
        let pending = m.let_("pending", &to_branch | &branch);
        let outcomes = &place.outcomes;
        let counted = m.let_("counted", pending.mux(&outcomes.one, &outcomes.none));
        let (depth_fits, depth_said) = match (&visit.depth, stack) {
            (Some((reported, depth)), Some(stack)) => {
                let said = deciding.mux(&reported.q, &report & field(&record.irreport));
                let said = m.let_("depth_said", said);
                let depth = deciding.mux(&depth.q, field(&record.irdepth));
                let width = depth.width().max(stack.depth.width());
                let same = depth.zext(width).eq(stack.depth.zext(width));
                (m.let_("depth_fits", !&said | &same), m.let_("depth_same", said & same))
            }
            _ => (lit(1, 1), lit(1, 0)),
        };
        let (fresh, privilege) = (&place.fresh.q, &place.privilege.q);
        let later = m.let_("later", offset.gt(&place.pc.q));
        let same_privilege = !&starts | deciding | privilege.eq(&record.privilege);
        let passes_goal =
            !&as_target & block.eq(&place.here.q) & (fresh | &later) & depth_fits & same_privilege;
        let passes_branch = present_branch & (fresh | !&place.at_last.q);
        let passes = m.let_("passes", to_branch.mux(passes_branch, passes_goal));
        let arrives = m.let_("arrives", &counted & passes);
        Self {
            report,
            starts,
            traps,
            addressed,
            to_branch,
            block,
            offset,
            last,
            branch,
            bad,
            missing,
            counted,
            arrives,
            depth_said,
        }
    }
}

/// Where the present block leads.
pub(super) struct Leads {
    pub(super) implicit: Expr,
    /// To the address in the record.
    pub(super) hits: Expr,
    pub(super) taken: Expr,
    /// The next block in memory.
    pub(super) after: Expr,
    pub(super) to: Expr,
    pub(super) impatient: Expr,
}

impl Leads {
    pub(super) fn new(
        m: &Module,
        record: &Stored,
        (present, branch): (&Present, &Expr),
        (place, goal): (&Place, &Goal),
        (stack, predictor): (Option<&Stack>, Option<&Predictor>),
    ) -> Self {
        m.section("Where the present block leads.");
        let (fresh, in_sequence) = (&place.fresh.q, &place.in_sequence.q);
        let index = place.here.q.width();
        let implicit = &record.implicit_return;
        let follows =
            fresh.mux(present.word.span.any() | in_sequence, !&place.at_last.q | in_sequence);
        let by_constant =
            m.let_("by_constant", &present.word.sequential & &record.sequential_jump & follows);
        let by_stack = stack.map_or_else(
            || lit(1, 0),
            |stack| {
                let failed = goal.depth_said.clone() & &goal.counted;
                let known = stack.depth.any();
                m.let_("by_stack", present.is(Ends::Return) & implicit & known & !failed)
            },
        );
        let hits = m.let_("hits", &present.indirect & !&by_constant & !&by_stack);
        let taken = m.let_("taken", place.outcomes.taken(predictor.map(|table| &table.predicted)));
        let after = m.let_("after", &place.here.q + lit(index, 1));
        let by_return = &by_stack & !&by_constant;
        let falls = m.let_("falls", present.is(Ends::Next) | (branch & !&taken));
        let to = any([
            falls.gate(&after),
            hits.gate(&goal.block),
            stack.map_or_else(|| zero(index), |stack| by_return.gate(&stack.top)),
            (!(&falls | &hits | by_return.clone())).gate(&present.word.target),
        ]);
        let to = m.let_("leads", to);
        let impatient = m.let_("impatient", place.patience.q.all());
        Self { implicit: implicit.clone(), hits, taken, after, to, impatient }
    }
}
