//! Branches of the group after the head are looked up in the predictor, one per cycle, so that
//! their predictions are known when they are described.
//!
//! A synchronisation clears the predictor. Therefore a branch is looked up ahead only if no
//! synchronisation can come before it: not at the pending step, not in the group at the head, and
//! not in its own group. Any other branch is looked up when it is the pending step.

use super::chart::Chart;
use super::context::Context;
use super::lanes::Lanes;
use super::pending::{Pending, Previous};
use super::tables::Tables;
use crate::ingress::any;
use crate::queue;
use hartrace_rtl::{Expr, concat, zero};

/// The group after the head.
pub(super) struct Ahead {
    group: queue::Ahead,
    learnt: queue::Learnt,
}

impl Ahead {
    pub(super) fn declare(cx: &Context<'_>) -> Option<Self> {
        cx.config.predicts().then(|| Self {
            group: queue::Ahead::new(cx.config).inputs(cx.m),
            learnt: queue::Learnt::new(cx.config).outputs(cx.m),
        })
    }

    /// Looks up the oldest remaining branch. Returns whether it does so, the index, and whether the
    /// branch was taken.
    pub(super) fn look(
        &self,
        cx: &Context<'_>,
        (chart, far): (&Chart, &Expr),
        lanes: &Lanes,
        (pending, previous): (&Pending, &Previous),
    ) -> [Expr; 3] {
        let (m, n, g) = (cx.m, cx.config.n(), &self.group);
        m.section("Branches of the group behind this one.");
        let before = &previous.valid.q & !&previous.trap.q;
        let waits = &chart.traced & !&pending.trap.q & !&pending.changes.q;
        let known = !(pending.branch() & !pending.looked());
        let sure = before & waits & known & &chart.calm & far & !&cx.busy;
        let sure = m.let_("sure", sure & lanes.sure() & &g.ahead_sure & &g.ahead_valid);
        let looks = m.let_("looks", &cx.modes.predicts & sure & g.ahead_branch.any());
        let mut none = zero(1).not();
        let mut which = Vec::new();
        for i in 0..n {
            let there = g.ahead_branch.bit(i);
            which.push(&none & &there);
            none = none & !there;
        }
        let flat = concat(&which.iter().rev().collect::<Vec<_>>());
        let flat = m.let_("looks_at", flat);
        m.assign(&self.learnt.looks, looks.gate(&flat));
        m.assign(&self.learnt.looks_on, &looks & (&g.ahead_branch & !&flat).any());
        let size = u32::from(cx.config.etrace.bpred_size_p);
        let index = (0..n).map(|i| flat.bit(i).gate(g.ahead_index.slice(i * size, size)));
        let index = index.reduce(|a, b| a | b).unwrap_or_else(|| zero(size));
        let taken = any((0..n).map(|i| flat.bit(i) & g.ahead_taken.bit(i)));
        [looks, index, taken]
    }

    /// Passes on the answer of the predictor.
    pub(super) fn learn(&self, cx: &Context<'_>, tables: &Tables) {
        let right = tables.right.clone().unwrap_or_else(|| zero(1));
        cx.m.assign(&self.learnt.looks_right, right);
    }
}
