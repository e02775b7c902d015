//! The steps of a group, and how far they are taken in one cycle.

use super::chart::Chart;
use super::pending::Pending;
use super::plan::Plan;
use super::{Context, counts, is_mark};
use crate::bundle::Bundle;
use crate::config::ResyncUnit;
use crate::group::mark;
use crate::ingress::any;
use crate::queue;
use hartrace_rtl::{Expr, Module, Reg, concat, lit, zero};

/// The steps of the group that are still there.
pub(super) struct Lanes {
    first: Vec<Expr>,
    last: Vec<Expr>,
    trap: Expr,
    mark: Expr,
    begun: Reg,
    done: Bundle,
    /// The first of them changes privilege or context precisely.
    pub(super) changes: Expr,
    /// It changes the privilege.
    privilege_changes: Expr,
    /// It changes the context, and jumps.
    tears: Expr,
    /// It changes the context imprecisely.
    pub(super) drifts: Expr,
    n: u32,
    lanes: Vec<Lane>,
    starts: Expr,
    stops: Expr,
}

/// What is known of the last instruction of a lane.
struct Lane {
    qualified: Expr,
    branch: Expr,
    not_taken: Expr,
    updiscon: Expr,
    /// Nothing about it needs a closer look.
    plain: Expr,
    /// It is a branch that was not looked up ahead.
    unknown: Expr,
    /// It is a branch that was not predicted.
    wrong: Expr,
}

/// The step behind some other.
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
    /// Where it is; if the pending step is no return, where what follows lane 0 is.
    pub(super) target: Expr,
}

impl Lanes {
    pub(super) fn new(cx: &Context<'_>) -> Self {
        let (m, g, n) = (cx.m, &cx.group, cx.config.n());
        m.section("The steps of the group that have not been taken.");
        let begun = m.reg("begun", false);
        let done = Bundle::outputs(m, &queue::done(cx.config));
        let valid = &cx.group_valid;
        let first = (0..n).map(|i| g["two"].bit(i)).collect();
        let last = (0..n).map(|i| g["retires"].bit(i)).collect();
        let trap = g["trap"].clone();
        let mark = m.let_("has_mark", g["mark"].any());
        let fresh = m.let_("fresh", valid & !&begun.q);
        let context = |name: &str| g.get(name).cloned().unwrap_or_else(|| zero(1));
        let privilege_changes = m.let_("now_privilege", &fresh & &g["privilege_changes"]);
        let changes = &privilege_changes | (&fresh & context("context_changes"));
        let lanes = (0..n).map(|i| Lane::new(cx, i)).collect();
        Self {
            changes: m.let_("now_changes", changes),
            tears: &fresh & context("context_tears"),
            drifts: m.let_("now_drifts", &fresh & context("context_drifts")),
            starts: is_mark(&g["mark"], mark::START),
            stops: is_mark(&g["mark"], mark::STOP),
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

    /// For the lanes from `from` on: whether there is one, and which is the oldest.
    fn oldest(&self, from: u32) -> (Expr, Vec<Expr>) {
        let mut none = zero(1).not();
        let mut which = Vec::new();
        for i in from..self.n {
            let there = &self.last[i as usize];
            which.push(&none & there);
            none = none & !there;
        }
        (!none, which)
    }

    /// What follows the pending step.
    pub(super) fn next_of_pending(&self, cx: &Context<'_>, pending: &Pending) -> Next {
        let (m, g, aw) = (cx.m, &cx.group, cx.config.address());
        m.section("The step behind the pending one.");
        let (lane, which) = self.oldest(0);
        let lane = m.let_("next_lane", lane);
        let trap = m.let_("next_trap", !&lane & &self.trap);
        let mark = m.let_("next_mark", !&lane & !&self.trap & &self.mark);
        let of_lane = which.iter().zip(&self.lanes).map(|(which, lane)| which & &lane.qualified);
        let qualified = any(of_lane.collect::<Vec<_>>()) | (&trap & &g["trap_qualified"]);
        let mut target = zero(aw);
        for (i, which) in (0..).zip(&which) {
            let here = which | (&trap & g["trap_alone"].bit(i));
            let here = match (self.n, i) {
                (1, _) => here,
                (_, 1) => !pending.ret() | here,
                _ => pending.ret() & here,
            };
            target = target | here.gate(g["first"].slice(i * aw, aw));
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

    /// For each lane but the newest: a branch is there, and it was not taken.
    pub(super) fn branches(&self) -> Vec<(Expr, Expr)> {
        let older = self.lanes.iter().zip(&self.last).take(self.n as usize - 1);
        older
            .map(|(lane, there)| (there & &lane.qualified & &lane.branch, lane.not_taken.clone()))
            .collect()
    }

    /// Nothing in the group can be a synchronisation, nor is a branch not looked up.
    pub(super) fn sure(&self) -> Expr {
        let unsure = self.last.iter().zip(&self.lanes);
        let unsure = unsure.map(|(there, lane)| there & (!&lane.qualified | &lane.unknown));
        !(&self.trap | &self.mark | &self.changes | any(unsure.collect::<Vec<_>>()))
    }

    /// A branch in the group was looked up.
    pub(super) fn looked(&self) -> Expr {
        let looked = self.last.iter().zip(&self.lanes);
        let looked = looked.map(|(there, lane)| there & &lane.branch & !&lane.unknown);
        any(looked.collect::<Vec<_>>())
    }

    /// The oldest step, one bit for each: first and last of the lanes, the trap.
    fn oldest_step(&self, m: &Module) -> Expr {
        let (_, which) = self.oldest(0);
        let mut bits = Vec::new();
        for (which, first) in which.iter().zip(&self.first) {
            bits.push(which & first);
            bits.push(which & !first);
        }
        bits.push(!any(which) & &self.trap);
        m.let_("oldest", concat(&bits.iter().rev().collect::<Vec<_>>()))
    }

    /// Only one step is left.
    fn single(&self, m: &Module) -> Expr {
        let firsts = any(self.first.iter());
        let mut tail: Vec<&Expr> = self.last.iter().collect();
        tail.extend([&self.trap, &self.mark]);
        let two = (0..tail.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| tail[i] & tail[j]);
        m.let_("single", !firsts & !any(two.collect::<Vec<_>>()))
    }

    /// Steps behind the pending one as long as they are quiet, or one is easy.
    ///
    /// All of it holds *if* the pending step is taken. That is known late, and so nothing here waits
    /// for it; it comes in as the enable of what is kept.
    pub(super) fn walk(
        &self,
        cx: &Context<'_>,
        chart: &Chart,
        plan: &Plan,
        must: &Expr,
        limit: Option<&Expr>,
    ) -> Walk {
        let m = cx.m;
        m.section("Steps that are taken in the same cycle, if the pending one is.");
        let goes_on = &chart.calm & !&self.changes & !&self.drifts;
        let goes_on = m.let_("goes_on", goes_on);
        // Behind a hard step, the next one waits.
        let hard = &plan.valid.q;
        let oldest = self.oldest_step(m);
        // What the chain knows: the step before was described, traced, an uninferable jump, and a
        // packet is sent already.
        let mut reached = lit(1, 1);
        let mut valid = chart.traced.clone();
        let mut updiscon = chart.jumps.clone();
        let mut sent = chart.fires.clone();
        let mut newest = zero(1);
        let mut walk = Walk::new(chart, !&self.begun.q);
        for i in 0..self.n {
            let at = i as usize;
            let (lane, has_first, has_last) = (&self.lanes[at], &self.first[at], &self.last[at]);

            let comes = m.let_(&format!("comes_first_{i}"), has_first & &reached);
            let plain = &goes_on & &valid & &lane.qualified;
            let wants = &comes & &plain & &updiscon & !&sent;
            let taken = &comes & &plain & (!&updiscon | (!&sent & &cx.can));
            let taken = m.let_(&format!("passes_first_{i}"), taken);
            walk.wants_first.push(m.let_(&format!("wants_first_{i}"), wants.clone()));
            walk.rests_first.push(hard.mux(oldest.bit(2 * i), &comes & !&taken));
            walk.describes(&taken, &lane.qualified, &zero(1));
            walk.passes_first.push(taken.clone());
            reached = has_first.mux(&taken, &reached);
            valid = has_first.mux(&lane.qualified, &valid);
            updiscon = &updiscon & !has_first;
            sent = sent | wants;

            let comes = m.let_(&format!("comes_last_{i}"), has_last & &reached);
            newest = has_last.mux(&comes, &newest);
            if i + 1 == self.n {
                walk.rests_last.push(hard.mux(oldest.bit(2 * i + 1), &comes));
                reached = &reached & !has_last;
                continue;
            }
            let (later, which) = self.oldest(i + 1);
            let of_lane =
                which.iter().zip(&self.lanes[at + 1..]).map(|(w, lane)| w & &lane.qualified);
            let next_qualified = any(of_lane.collect::<Vec<_>>());
            let mut plain = &goes_on & &valid & &lane.qualified & &lane.plain & &next_qualified;
            if let Some(limit) = limit {
                plain = plain & !(&lane.branch & limit);
            }
            let fires = m.let_(&format!("fires_{i}"), &updiscon | (must.bit(i + 1) & !&sent));
            let wants = &comes & &plain & &fires & !&sent;
            // One that is not traced is passed, unless a mark is behind it.
            let skips = !&lane.qualified & (&later | &self.trap);
            let passes = skips | (&plain & (!&fires | (!&sent & &cx.can)));
            let taken = m.let_(&format!("passes_last_{i}"), &comes & passes);
            walk.wants_last.push(m.let_(&format!("wants_last_{i}"), wants.clone()));
            walk.rests_last.push(hard.mux(oldest.bit(2 * i + 1), &comes & !&taken));
            walk.passes_last.push(taken.clone());
            walk.pushes.push(!hard & &taken & &lane.qualified & &lane.branch);
            walk.cuts.push(m.let_(&format!("behind_packet_{i}"), sent.clone()));
            walk.at_target_last.push(&wants & &updiscon);
            let inferred = cx.group.get("sijump").map(|s| &cx.modes.sijump & s.bit(i) & &valid);
            let jumps = inferred.map_or_else(|| lane.updiscon.clone(), |i| &lane.updiscon & !i);
            reached = has_last.mux(&taken, &reached);
            walk.describes(&taken, &lane.qualified, &(&lane.qualified & &jumps));
            updiscon = m.let_(&format!("updiscon_{i}"), has_last.mux(jumps, &updiscon));
            valid = has_last.mux(&lane.qualified, &valid);
            sent = sent | wants;
        }
        walk.valid = hard.mux(&chart.traced, &walk.valid);
        walk.updiscon = hard.mux(&plan.leaves_updiscon, &walk.updiscon);
        let wanted = walk.wants_first.iter().chain(&walk.wants_last).cloned().collect::<Vec<_>>();
        walk.wants = m.let_("lane_wants", any(wanted));
        let targets =
            walk.wants_first.iter().chain(&walk.at_target_last).cloned().collect::<Vec<_>>();
        walk.at_target = any(targets);
        let wrong =
            walk.wants_last.iter().zip(&self.lanes).map(|(wants, lane)| wants & &lane.wrong);
        walk.wrong = any(wrong.collect::<Vec<_>>());
        let to_trap = &self.trap & &reached;
        walk.takes_trap = m.let_("takes_trap", hard.mux(oldest.bit(2 * self.n), to_trap));
        let whole = !&self.mark & self.trap.mux(&reached, &newest);
        walk.finishes = m.let_("finishes", hard.mux(self.single(m), whole));
        let aw = cx.config.address();
        walk.firsts = (0..self.n).map(|i| cx.group["first"].slice(i * aw, aw)).collect();
        walk.lasts = (0..self.n).map(|i| cx.group["last"].slice(i * aw, aw)).collect();
        walk
    }

    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        ready: &Expr,
        take: &Expr,
        walk: &Walk,
        next: &Next,
    ) {
        let m = cx.m;
        m.section("The group is done with when its last step is.");
        let over = m.let_("over", take & (&walk.finishes | &next.mark));
        m.assign(ready, &over);
        let rests = |rests: &[Expr]| concat(&rests.iter().rev().collect::<Vec<_>>());
        let hard = &cx.busy;
        let came = |has: &[Expr], passes: &[Expr], rest: &[Expr]| {
            let passed = (0..has.len()).map(|i| match passes.get(i) {
                Some(passes) => !hard & passes,
                None => zero(1),
            });
            rests(&passed.collect::<Vec<_>>()) | rests(rest)
        };
        let first = came(&self.first, &walk.passes_first, &walk.rests_first);
        let last = came(&self.last, &walk.passes_last, &walk.rests_last);
        let trap = &walk.takes_trap;
        m.assign(&self.done["done_first"], take.gate(&first));
        m.assign(&self.done["done_last"], take.gate(&last));
        m.assign(&self.done["done_trap"], take & trap);
        m.comb(|b| {
            b.when(take, |b| b.set(&self.begun.d, true));
            b.when(&over, |b| b.set(&self.begun.d, false));
        });
        let group = &cx.group;
        let left = (&group["two"] & !first).any() | (&group["retires"] & !last).any();
        m.assert_always("all_steps_are_done", !over | !(left | (&group["trap"] & !trap)));
    }
}

impl Lane {
    fn new(cx: &Context<'_>, i: u32) -> Self {
        let g = &cx.group;
        let bit = |name: &str| g.get(name).map_or_else(|| zero(1), |lanes| lanes.bit(i));
        let branch = bit("taken") | bit("not_taken");
        let call = &cx.modes.returns & (bit("call") | bit("ret"));
        let unknown = match g.get("looked") {
            Some(looked) => &branch & !looked.bit(i),
            None => branch.clone(),
        };
        let wrong = &branch & !bit("right");
        let hard = bit("notify") | call | (&cx.modes.predicts & &unknown);
        Self {
            qualified: bit("qualified"),
            branch,
            not_taken: bit("not_taken"),
            updiscon: bit("uninferable"),
            plain: !hard,
            unknown,
            wrong,
        }
    }
}

/// How far the steps were taken.
pub(super) struct Walk {
    /// A step of a lane wants to be reported.
    pub(super) wants: Expr,
    /// It is the target of a jump.
    pub(super) at_target: Expr,
    /// It is a branch that was not predicted.
    pub(super) wrong: Expr,
    wants_first: Vec<Expr>,
    wants_last: Vec<Expr>,
    at_target_last: Vec<Expr>,
    passes_first: Vec<Expr>,
    passes_last: Vec<Expr>,
    /// The step becomes the pending one.
    pub(super) rests_first: Vec<Expr>,
    pub(super) rests_last: Vec<Expr>,
    pub(super) takes_trap: Expr,
    /// The last step of the group, if it is no mark, was taken.
    finishes: Expr,
    /// Branches of the lanes but the newest that are taken over.
    pub(super) pushes: Vec<Expr>,
    /// They are behind the packet that is sent.
    pub(super) cuts: Vec<Expr>,
    /// The last step that was described is traced.
    pub(super) valid: Expr,
    /// It is an uninferable discontinuity.
    pub(super) updiscon: Expr,
    firsts: Vec<Expr>,
    lasts: Vec<Expr>,
    /// No step of the group had been taken before.
    fresh: Expr,
}

impl Walk {
    fn new(chart: &Chart, fresh: Expr) -> Self {
        Self {
            wants: zero(1),
            at_target: zero(1),
            wrong: zero(1),
            wants_first: Vec::new(),
            wants_last: Vec::new(),
            at_target_last: Vec::new(),
            passes_first: Vec::new(),
            passes_last: Vec::new(),
            rests_first: Vec::new(),
            rests_last: Vec::new(),
            takes_trap: zero(1),
            finishes: zero(1),
            pushes: Vec::new(),
            cuts: Vec::new(),
            valid: chart.traced.clone(),
            updiscon: chart.jumps.clone(),
            firsts: Vec::new(),
            lasts: Vec::new(),
            fresh,
        }
    }

    /// If `taken`, this was the last step described so far.
    fn describes(&mut self, taken: &Expr, qualified: &Expr, updiscon: &Expr) {
        self.valid = taken.mux(qualified, &self.valid);
        self.updiscon = taken.mux(updiscon, &self.updiscon);
    }

    /// A return in lane 0 waits now, and what follows it is in lane 1.
    pub(super) fn rests_return(&self, cx: &Context<'_>, lanes: &Lanes) -> Expr {
        match lanes.last.get(1) {
            Some(behind) => &self.rests_last[0] & cx.group["ret"].bit(0) & behind,
            None => zero(1),
        }
    }

    /// Something behind the pending step is reported, or is a branch.
    pub(super) fn reports(&self, cx: &Context<'_>) -> Expr {
        self.pushes.iter().fold(&self.wants & &cx.can, |any, push| any | push)
    }

    /// The address of the step that is reported: of one of a lane, of the pending one, which may be
    /// in a lane too, or of a mark.
    pub(super) fn address(
        &self,
        cx: &Context<'_>,
        pending: &Pending,
        mark: &Expr,
        own: &Expr,
    ) -> Expr {
        let hard = &cx.busy;
        let waits = hard.mux(!mark, !&self.wants);
        let firsts = self.wants_first.iter().zip(&pending.at_first).zip(&self.firsts);
        let firsts = firsts.map(|((wants, at), value)| ((!hard & wants) | (&waits & &at.q), value));
        let lasts = self.wants_last.iter().map(|wants| !hard & wants).zip(&self.lasts);
        let choices: Vec<(Expr, &Expr)> = firsts.chain(lasts).collect();
        // By number, not by one bit each: four of them fit a lookup table.
        let bits = (choices.len() + 1).next_power_of_two().ilog2();
        let numbers = (0..bits).map(|bit| {
            let some = (1usize..).zip(&choices).filter(|(n, _)| n >> bit & 1 == 1);
            let some: Vec<Expr> = some.map(|(_, (when, _))| when.clone()).collect();
            cx.m.let_(&format!("address_from_{bit}"), any(some))
        });
        let numbers: Vec<Expr> = numbers.collect();
        let mut level: Vec<Expr> =
            std::iter::once(own).chain(choices.iter().map(|(_, v)| *v)).cloned().collect();
        for number in numbers {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [low, high] => number.mux(high, low),
                    rest => rest[0].clone(),
                })
                .collect();
        }
        level.swap_remove(0)
    }

    /// The step that waits now is the oldest of its group.
    pub(super) fn rests_oldest(&self, cx: &Context<'_>, lanes: &Lanes) -> Expr {
        let first = &lanes.first[0];
        let lane = first.mux(&self.rests_first[0], &self.rests_last[0]);
        let trap = &self.takes_trap & cx.group["trap_alone"].bit(0);
        &self.fresh & (lane | trap)
    }

    /// What the steps that are described in the lanes count for.
    pub(super) fn units(&self, cx: &Context<'_>, width: u32) -> Expr {
        let mut sum = zero(width);
        if counts(cx.config, ResyncUnit::Cycles) {
            let oldest = self.passes_first.iter().take(1).chain(self.passes_last.iter().take(1));
            let passed = any(oldest.cloned().collect::<Vec<_>>()) & &self.fresh;
            sum = sum + (cx.resync_mode.is(2) & passed).gate(cx.group["cycles"].zext(width));
        }
        if counts(cx.config, ResyncUnit::HalfWords) {
            let rw = cx.config.iretire_width_p.into();
            for (i, passes) in (0..).zip(&self.passes_last) {
                let here = cx.resync_mode.is(3) & passes;
                sum = sum + here.gate(cx.group["half_words"].slice(i * rw, rw).zext(width));
            }
        }
        sum
    }
}
