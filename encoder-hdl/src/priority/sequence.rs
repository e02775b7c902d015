//! Several packets for one step, one after the other.

use super::chart::Chart;
use super::lanes::Next;
use super::pending::Previous;
use super::{Context, Tables};
use crate::ingress::any;
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

/// Which packet of a hard step it is the turn of.
pub(super) struct Sequence {
    /// There is one to send.
    pub(super) emits: Expr,
    /// Nothing is left after this cycle.
    pub(super) last: Expr,
    /// The step is done with.
    pub(super) commits: Expr,
    /// Its description begins.
    pub(super) begins: Expr,
    pub(super) main: Expr,
    /// The main one has been sent in an earlier cycle.
    pub(super) main_sent: Expr,
    pub(super) marks: Expr,
    pub(super) second_mark: Expr,
    pub(super) report: Expr,
    pub(super) map_only: Expr,
    pub(super) start: Expr,
    pub(super) trap: Expr,
    pub(super) context: Expr,
    pub(super) support: Expr,
    /// The trap is that of the step before.
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
    sent: Reg,
    lost: Reg,
}

impl Sequence {
    pub(super) fn new(
        cx: &Context<'_>,
        previous: &Previous,
        chart: &Chart,
        tables: &Tables,
        next: &Next,
    ) -> Self {
        let m = cx.m;
        m.section("The packets of a hard step, one a cycle.");
        let count = ORDER.len() as u32;
        let sent = m.reg("sent", zero(count));
        let lost = m.reg("lost", false);
        let marks =
            |name: &str| tables.returns.as_ref().map_or_else(|| zero(1), |r| r.marks[name].clone());
        let (some, full) = (marks("some_o"), marks("full_o"));
        let before = &chart.plain | (&chart.target & previous.mismatch());
        let needs = [
            zero(1),
            &before & &some,
            &before & &full,
            chart.main.clone(),
            chart.trap_end.clone(),
            chart.context.clone(),
            &chart.marks_overflow & &some,
            &chart.marks_overflow & &full,
            chart.support.clone(),
        ];
        let other = any(needs.iter());
        let mut needs = needs;
        needs[0] = &lost.q & other;
        let flat: Vec<&Expr> = needs.iter().rev().collect();
        let left = m.let_("left", concat(&flat) & !&sent.q);
        let mut turn = Vec::new();
        let mut none = zero(1).not();
        for i in 0..count {
            turn.push(m.let_(&format!("turn_{}", ORDER[i as usize]), &none & left.bit(i)));
            none = none & !left.bit(i);
        }
        let active = m.let_("active", &next.exists & &chart.hard & !&chart.waits);
        let emits = m.let_("sequence_emits", &active & left.any());
        // At most one packet is left.
        let mut several = zero(1);
        for (i, turn) in (0..count).zip(&turn) {
            if i + 1 < count {
                several = several | (turn & left.slice(i + 1, count - i - 1).any());
            }
        }
        let last = m.let_("last", &active & !several & (&cx.can | !left.any()));
        let is = |name: &str| match ORDER.iter().position(|n| *n == name) {
            Some(i) => turn[i].clone(),
            None => zero(1),
        };
        let main = is("main");
        let marking = is("mark_first") | is("mark_second") | is("late_first") | is("late_second");
        let marking = m.let_("marking", marking);
        let trap_end = is("trap_end");
        let mut irreport = zero(1);
        let mut irdepth = zero(1);
        if let Some(returns) = &tables.returns {
            let own = (&chart.target & previous.mismatch()) | (&chart.plain & &returns.popped.q);
            irreport = &marking | (&main & own);
            let depth = match &previous.mismatch {
                Some((_, depth)) => chart.target.mux(&depth.q, &returns.depth),
                None => returns.depth.clone(),
            };
            irdepth = marking.mux(&returns.marks["depth_o"], depth);
        }
        let ended = chart.was_due.q.mux(lit(2, 3), lit(2, 1));
        let status = is("lost").mux(lit(2, 2), chart.traced.gate(ended));
        Self {
            report: &marking | (&main & (&chart.target | &chart.plain)),
            map_only: &main & &chart.map_only,
            start: &main & &chart.start,
            trap: &trap_end | (&main & (&chart.trap_own | &chart.trap_before | &chart.handler)),
            context: is("context"),
            support: is("support") | is("lost"),
            older_trap: &main & (&chart.trap_before | &chart.handler),
            thaddr: &main & &chart.handler,
            notify: &marking | (&main & &chart.plain & &chart.notify),
            updiscon: &main & &chart.target & &chart.updiscon,
            target: &main & &chart.target,
            second_mark: is("mark_second") | is("late_second"),
            ienable: is("lost") | !&next.stops,
            commits: m.let_("commits", &chart.hard & &last),
            begins: &active & !sent.q.any() & (&cx.can | !left.any()),
            marks: marking,
            main_sent: sent.q.bit(3),
            irreport,
            irdepth,
            status,
            emits,
            last,
            main,
            turn,
            sent,
            lost,
        }
    }

    pub(super) fn drive(&self, cx: &Context<'_>, accepted: &Expr, take: &Expr, next: &Next) {
        let m = cx.m;
        let flat: Vec<&Expr> = self.turn.iter().rev().collect();
        let turn = concat(&flat);
        m.assign(&cx.busy, self.sent.q.any());
        m.comb(|b| {
            b.when(&self.commits, |b| b.set(&self.sent.d, zero(ORDER.len() as u32)))
                .elsif(&self.emits & accepted, |b| b.set(&self.sent.d, &self.sent.q | turn));
            b.when(&self.emits & accepted & &self.turn[0], |b| b.set(&self.lost.d, false));
            b.when(&cx.group["lost"] & &next.mark & take, |b| b.set(&self.lost.d, true));
        });
    }
}
