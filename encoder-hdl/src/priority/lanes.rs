//! The steps of a group.

use super::context::{Context, is_mark};
use super::pending::Pending;
use crate::group::mark;
use crate::ingress::any;
use crate::queue;
use hartrace_rtl::{Expr, Module, Reg, concat, zero};

/// The remaining steps of the group.
pub(super) struct Lanes {
    pub(super) first: Vec<Expr>,
    pub(super) last: Vec<Expr>,
    pub(super) trap: Expr,
    pub(super) mark: Expr,
    pub(super) begun: Reg,
    pub(super) done: queue::Done,
    /// The first of them changes privilege or context precisely.
    pub(super) changes: Expr,
    /// It changes the privilege.
    pub(super) privilege_changes: Expr,
    /// It changes the context together with a jump.
    pub(super) tears: Expr,
    /// It changes the context imprecisely.
    pub(super) drifts: Expr,
    pub(super) n: u32,
    pub(super) lanes: Vec<Lane>,
    pub(super) starts: Expr,
    pub(super) stops: Expr,
}

/// What is known about the last instruction of a lane.
pub(super) struct Lane {
    pub(super) qualified: Expr,
    pub(super) branch: Expr,
    pub(super) not_taken: Expr,
    pub(super) updiscon: Expr,
    /// It needs no closer inspection.
    pub(super) plain: Expr,
    /// It is a branch that was not looked up ahead.
    pub(super) unknown: Expr,
    /// It is a mispredicted branch.
    pub(super) wrong: Expr,
}

/// The step that follows another.
pub(super) struct Next {
    pub(super) exists: Expr,
    /// It is traced.
    pub(super) qualified: Expr,
    pub(super) trap: Expr,
    pub(super) mark: Expr,
    pub(super) starts: Expr,
    pub(super) stops: Expr,
    pub(super) changes: Expr,
    pub(super) privilege_changes: Expr,
    pub(super) tears: Expr,
    /// Its address; if the pending step is not a return, the address of the step that follows
    /// lane 0.
    pub(super) target: Expr,
}

impl Lanes {
    pub(super) fn new(cx: &Context<'_>) -> Self {
        let (m, g, n) = (cx.m, &cx.group, cx.config.n());
        m.section("The steps of the group that have not been taken.");
        let begun = m.reg("begun", false);
        let done = queue::Done::new(cx.config).outputs(m);
        let valid = &cx.group_valid;
        let first = (0..n).map(|i| g.two.bit(i)).collect();
        let last = (0..n).map(|i| g.retires.bit(i)).collect();
        let trap = g.trap.clone();
        let mark = m.let_("has_mark", g.mark.any());
        let fresh = m.let_("fresh", valid & !&begun.q);
        let context = |bit: &Option<Expr>| bit.clone().unwrap_or_else(|| zero(1));
        let privilege_changes = m.let_("now_privilege", &fresh & &g.privilege_changes);
        let changes = &privilege_changes | (&fresh & context(&g.context_changes));
        let lanes = (0..n).map(|i| Lane::new(cx, i)).collect();
        Self {
            changes: m.let_("now_changes", changes),
            tears: &fresh & context(&g.context_tears),
            drifts: m.let_("now_drifts", &fresh & context(&g.context_drifts)),
            starts: is_mark(&g.mark, mark::START),
            stops: is_mark(&g.mark, mark::STOP),
            privilege_changes,
            first,
            last,
            trap,
            mark,
            begun,
            done,
            n,
            lanes,
        }
    }

    /// For the lanes from `from` on: whether there is a step, and which is the oldest.
    pub(super) fn oldest(&self, from: u32) -> (Expr, Vec<Expr>) {
        let mut none = zero(1).not();
        let mut which = Vec::new();
        for i in from..self.n {
            let there = &self.last[i as usize];
            which.push(&none & there);
            none = none & !there;
        }
        (!none, which)
    }

    /// The step that follows the pending one.
    pub(super) fn next_of_pending(&self, cx: &Context<'_>, pending: &Pending) -> Next {
        let (m, g, aw) = (cx.m, &cx.group, cx.config.address());
        m.section("The step behind the pending one.");
        let (lane, which) = self.oldest(0);
        let lane = m.let_("next_lane", lane);
        let trap = m.let_("next_trap", !&lane & &self.trap);
        let mark = m.let_("next_mark", !&lane & !&self.trap & &self.mark);
        let of_lane = which.iter().zip(&self.lanes).map(|(which, lane)| which & &lane.qualified);
        let qualified = any(of_lane.collect::<Vec<_>>()) | (&trap & &g.trap_qualified);
        let mut target = zero(aw);
        for (i, which) in (0..).zip(&which) {
            let here = which | (&trap & g.trap_alone.bit(i));
            let here = match (self.n, i) {
                (1, _) => here,
                (_, 1) => !pending.ret() | here,
                _ => pending.ret() & here,
            };
            target = target | here.gate(g.first.slice(i * aw, aw));
        }
        Next {
            exists: m.let_("next_exists", &lane | &self.trap | &self.mark),
            qualified: m.let_("next_qualified", qualified),
            starts: &mark & &self.starts,
            stops: &mark & &self.stops,
            trap,
            mark,
            changes: self.changes.clone(),
            privilege_changes: self.privilege_changes.clone(),
            tears: self.tears.clone(),
            target,
        }
    }

    /// For each lane but the newest: whether it has a branch, and whether the branch was not
    /// taken.
    pub(super) fn branches(&self) -> Vec<(Expr, Expr)> {
        let older = self.lanes.iter().zip(&self.last).take(self.n as usize - 1);
        older
            .map(|(lane, there)| (there & &lane.qualified & &lane.branch, lane.not_taken.clone()))
            .collect()
    }

    /// Whether nothing in the group can be a synchronisation, and every branch has been looked
    /// up.
    pub(super) fn sure(&self) -> Expr {
        let unsure = self.last.iter().zip(&self.lanes);
        let unsure = unsure.map(|(there, lane)| there & (!&lane.qualified | &lane.unknown));
        !(&self.trap | &self.mark | &self.changes | any(unsure.collect::<Vec<_>>()))
    }

    /// Whether a branch in the group has been looked up.
    pub(super) fn looked(&self) -> Expr {
        let looked = self.last.iter().zip(&self.lanes);
        let looked = looked.map(|(there, lane)| there & &lane.branch & !&lane.unknown);
        any(looked.collect::<Vec<_>>())
    }

    /// The oldest step, with one bit for each: first and last of the lanes, the trap.
    pub(super) fn oldest_step(&self, m: &Module) -> Expr {
        let (_, which) = self.oldest(0);
        let mut bits = Vec::new();
        for (which, first) in which.iter().zip(&self.first) {
            bits.push(which & first);
            bits.push(which & !first);
        }
        bits.push(!any(which) & &self.trap);
        m.let_("oldest", concat(&bits.iter().rev().collect::<Vec<_>>()))
    }

    /// Whether only one step is left.
    pub(super) fn single(&self, m: &Module) -> Expr {
        let firsts = any(self.first.iter());
        let mut tail: Vec<&Expr> = self.last.iter().collect();
        tail.extend([&self.trap, &self.mark]);
        let two = (0..tail.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| tail[i] & tail[j]);
        m.let_("single", !firsts & !any(two.collect::<Vec<_>>()))
    }
}

impl Lane {
    fn new(cx: &Context<'_>, i: u32) -> Self {
        let g = &cx.group;
        let bit = |lanes: &Option<Expr>| lanes.as_ref().map_or_else(|| zero(1), |l| l.bit(i));
        let branch = g.taken.bit(i) | g.not_taken.bit(i);
        let call = &cx.modes.returns & (bit(&g.call) | bit(&g.ret));
        let (unknown, wrong) = match &cx.looked {
            Some(known) => (&branch & !known.looked.bit(i), &branch & !known.right.bit(i)),
            None => (branch.clone(), branch.clone()),
        };
        let hard = bit(&g.notify) | call | (&cx.modes.predicts & &unknown);
        Self {
            qualified: g.qualified.bit(i),
            branch,
            not_taken: g.not_taken.bit(i),
            updiscon: g.uninferable.bit(i),
            plain: !hard,
            unknown,
            wrong,
        }
    }
}
