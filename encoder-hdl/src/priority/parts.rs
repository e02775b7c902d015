//! All parts of the module, put together.

use super::ahead::Ahead;
use super::chart::Chart;
use super::context::Context;
use super::counter::Counter;
use super::facts::{State, Steps};
use super::lanes::{Lanes, Next};
use super::map::BranchMap;
use super::pending::{Pending, Previous};
use super::plan::Plan;
use super::sequence::Sequence;
use super::tables::Tables;
use super::walk::Walk;
use hartrace_rtl::{Expr, Reg};

/// The parts, all of which can be read; their state is driven later.
pub(super) struct Parts {
    pub(super) ahead: Option<Ahead>,
    pub(super) pending: Pending,
    pub(super) previous: Previous,
    pub(super) lanes: Lanes,
    pub(super) map: BranchMap,
    pub(super) tables: Tables,
    pub(super) counter: Counter,
    pub(super) next: Next,
    pub(super) chart: Chart,
    pub(super) plan: Plan,
    pub(super) sequence: Sequence,
    pub(super) walk: Walk,
    /// The pending step is quiet or easy, and the next one is known.
    pub(super) goes: Expr,
    /// It is also taken in this cycle.
    pub(super) simple: Expr,
    /// The pending step, simple or hard, is done.
    pub(super) take: Expr,
}

impl Parts {
    pub(super) fn new(cx: &Context<'_>, planned: Reg, resync_max: &Expr) -> Self {
        let m = cx.m;
        let ahead = Ahead::declare(cx);
        let pending = Pending::declare(cx);
        let previous = Previous::declare(cx);
        let lanes = Lanes::new(cx);

        m.section("What is counted and remembered.");
        let map = BranchMap::new(cx);
        let tables = Tables::new(cx, &pending);
        let counter = Counter::new(cx, resync_max);

        let next = lanes.next_of_pending(cx, &pending);
        let steps = Steps { pending: &pending, previous: &previous, next: &next };
        let state = State { counter: &counter, map: &map, tables: &tables };
        let (chart, decision) = Chart::new(cx, steps, state);
        m.section("What has been decided about a hard step.");
        let plan = Plan::new(m, planned, &chart.decides, &decision);
        map.predict(cx, &pending);
        let sequence = Sequence::new(cx, (&chart, &decision, &plan), steps, state);

        let walk = Walk::new(cx, &lanes, &chart, &plan, &map);
        let goes = m.let_("goes", &next.exists & (&chart.skip | &chart.simple));
        let simple = m.let_("take_simple", &goes & (!&chart.fires | &cx.can));
        let take = m.let_("take", &simple | &sequence.commits);
        Self {
            ahead,
            pending,
            previous,
            lanes,
            map,
            tables,
            counter,
            next,
            chart,
            plan,
            sequence,
            walk,
            goes,
            simple,
            take,
        }
    }
}
