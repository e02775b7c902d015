//! Sends several packets for one step, one after the other.

use super::chart::Chart;
use super::context::Context;
use super::facts::{State, Steps};
use super::lanes::Next;
use super::plan::{Decision, Plan};
use hartrace_rtl::{Expr, Reg, concat, lit, zero};

/// The packets of a hard step, in the order in which they are sent.
const ORDER: [&str; 9] = [
    "lost",
    "mark_first",
    "mark_second",
    "main",
    "trap_end",
    "context",
    "late_first",
    "late_second",
    "support",
];

/// The packet of a hard step whose turn it is.
pub(super) struct Sequence {
    /// There is one to send.
    pub(super) emits: Expr,
    /// Nothing is left after this cycle: the step is done.
    pub(super) commits: Expr,
    pub(super) main: Expr,
    /// The main packet has not been sent before, and a branch is not in the map.
    pub(super) main_left: Expr,
    pub(super) marks: Expr,
    pub(super) second_mark: Expr,
    pub(super) report: Expr,
    pub(super) map_only: Expr,
    pub(super) start: Expr,
    pub(super) trap: Expr,
    pub(super) context: Expr,
    pub(super) support: Expr,
    /// The trap is that of the preceding step.
    pub(super) older_trap: Expr,
    pub(super) thaddr: Expr,
    pub(super) notify: Expr,
    pub(super) updiscon: Expr,
    pub(super) target: Expr,
    pub(super) irreport: Expr,
    pub(super) irdepth: Expr,
    pub(super) ienable: Expr,
    pub(super) status: Expr,
    turn: Vec<Expr>,
    needs: Expr,
    left: Reg,
    lost: Reg,
}

/// Number of the main packet in `ORDER`; the marks come before it.
const MAIN: u32 = 3;

impl Sequence {
    pub(super) fn new(
        cx: &Context<'_>,
        (chart, decision, plan): (&Chart, &Decision, &Plan),
        steps: Steps<'_>,
        state: State<'_>,
    ) -> Self {
        let m = cx.m;
        let (tables, previous, next) = (state.tables, steps.previous, steps.next);
        m.section("Which packets a hard step has.");
        let count = ORDER.len() as u32;
        let lost = m.reg("lost", false);
        let marks = tables.returns.as_ref().map(|returns| &returns.marks);
        let some = marks.map_or_else(|| zero(1), |marks| marks.some.clone());
        let full = marks.map_or_else(|| zero(1), |marks| marks.full.clone());
        let d = decision;
        let mut before = &d.plain | (&d.target & previous.mismatch());
        if state.map.out.exhausted.is_some() {
            before = before | &d.maybe;
        }
        let before = m.shared("marks_before", before);
        // The first traced step after a loss is always reported, and so is a stop.
        let needs = [
            lost.q.clone(),
            &before & &some,
            &before & &full,
            &d.synced | &d.target | &d.plain | &d.maybe,
            d.after.trap_end.clone(),
            d.after.context.clone(),
            &d.marks_overflow & &some,
            &d.marks_overflow & &full,
            d.after.support.clone(),
        ];
        let flat: Vec<&Expr> = needs.iter().rev().collect();
        let needs = m.let_("needs", concat(&flat));

        m.section("They are sent one a cycle.");
        let kept = m.reg("left", zero(count));
        let counted =
            state.map.out.exhausted.as_ref().map_or_else(|| zero(1), |e| &chart.traced & e);
        let counted = m.let_("counted", &plan.maybe & counted);
        let map_only = m.let_("map_only_now", &plan.maybe & !&counted & state.map.fills());
        let left = (0..count).map(|i| match i {
            1 | 2 => kept.q.bit(i) & (!&plan.maybe | &counted),
            MAIN => kept.q.bit(i) & (!&plan.maybe | &counted | &map_only),
            _ => kept.q.bit(i),
        });
        let left: Vec<Expr> = left.collect();
        let left = m.let_("to_send", concat(&left.iter().rev().collect::<Vec<_>>()));
        let mut turn = Vec::new();
        for (i, name) in (0..).zip(ORDER) {
            let none = if i == 0 { zero(1).not() } else { !left.slice(0, i).any() };
            turn.push(m.let_(&format!("turn_{name}"), left.bit(i) & none));
        }
        let emits = m.let_("sequence_emits", &plan.valid.q & left.any());
        // At most one packet may be left. Packets that turn out not to be sent are counted here,
        // since that is known late; this costs a cycle if others follow.
        let mut several = zero(1);
        for i in 1..count {
            several = several | (kept.q.bit(i) & kept.q.slice(0, i).any());
        }
        let last = &plan.valid.q & ((!several & &cx.can) | !left.any());
        let last = m.let_("last", last);
        let is = |name: &str| match ORDER.iter().position(|n| *n == name) {
            Some(i) => turn[i].clone(),
            None => zero(1),
        };
        let main = is("main");
        let marking = is("mark_first") | is("mark_second") | is("late_first") | is("late_second");
        let marking = m.let_("marking", marking);
        let trap_end = is("trap_end");
        let plain = m.let_("plain_now", &plan.plain | &counted);
        let mut irreport = zero(1);
        let mut irdepth = zero(1);
        if let Some(returns) = &tables.returns {
            let own = (&plan.target & previous.mismatch()) | (&plain & &returns.popped.q);
            irreport = &marking | (&main & own);
            let depth = match &previous.mismatch {
                Some((_, depth)) => plan.target.mux(&depth.q, &returns.depth),
                None => returns.depth.clone(),
            };
            irdepth = marking.mux(&returns.marks.depth, depth);
        }
        let older_trap = &main & (&plan.trap_before | &plan.handler);
        let older_trap = m.shared("older_trap", older_trap);
        let target = m.shared("main_target", &main & &plan.target);
        let ended = chart.was_due.q.mux(lit(2, 3), lit(2, 1));
        let status = is("lost").mux(lit(2, 2), chart.traced.gate(ended));
        Self {
            report: &marking | (&main & (&plan.target | &plain)),
            map_only: &main & &map_only,
            start: &main & &plan.start,
            trap: &trap_end | (&main & (&plan.trap_own | &plan.trap_before | &plan.handler)),
            context: is("context"),
            support: is("support") | is("lost"),
            older_trap,
            thaddr: &main & &plan.handler,
            notify: &marking | (&main & &plain & (&plan.notify | &counted)),
            updiscon: &target & &plan.updiscon,
            target,
            second_mark: is("mark_second") | is("late_second"),
            ienable: is("lost") | !&next.stops,
            commits: last,
            marks: marking,
            main_left: &plan.valid.q & kept.q.bit(MAIN),
            irreport,
            irdepth,
            status,
            emits,
            main,
            turn,
            needs,
            left: kept,
            lost,
        }
    }

    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        (plan, decides): (&Plan, &Expr),
        accepted: &Expr,
        take: &Expr,
        next: &Next,
    ) {
        let flat: Vec<&Expr> = self.turn.iter().rev().collect();
        let turn = concat(&flat);
        cx.m.assign(&plan.valid.d, decides | (&plan.valid.q & !&self.commits));
        cx.m.comb(|b| {
            b.when(decides, |b| b.set(&self.left.d, &self.needs))
                .elsif(&self.emits & accepted, |b| b.set(&self.left.d, &self.left.q & !turn));
            b.when(&self.emits & accepted & &self.turn[0], |b| b.set(&self.lost.d, false));
            b.when(&cx.group.lost & &next.mark & take, |b| b.set(&self.lost.d, true));
        });
    }
}
