//! Determines how many steps of a group are taken in one cycle.
//!
//! Steps after the pending one are taken as long as they are quiet, or one is easy. All of this
//! holds *if* the pending step is taken. That is known late, so nothing here waits for it; it only
//! enables the registers.

use super::chart::Chart;
use super::context::Context;
use super::lanes::Lanes;
use super::map::BranchMap;
use super::pending::Pending;
use super::plan::Plan;
use crate::ingress::any;
use hartrace_rtl::{Expr, lit, zero};

/// How far the steps were taken.
pub(super) struct Walk {
    /// A step of a lane needs a packet.
    pub(super) wants: Expr,
    /// It is the target of a jump.
    pub(super) at_target: Expr,
    /// It is a mispredicted branch.
    pub(super) wrong: Expr,
    wants_first: Vec<Expr>,
    wants_last: Vec<Expr>,
    at_target_last: Vec<Expr>,
    pub(super) passes_first: Vec<Expr>,
    pub(super) passes_last: Vec<Expr>,
    /// The step becomes the pending one.
    pub(super) rests_first: Vec<Expr>,
    pub(super) rests_last: Vec<Expr>,
    pub(super) takes_trap: Expr,
    /// The last step of the group, if it is not a mark, was taken.
    pub(super) finishes: Expr,
    /// Branches of all lanes but the newest that are taken over.
    pub(super) pushes: Vec<Expr>,
    /// They come after the packet that is sent.
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

/// The chain of steps, from the pending one to the newest lane.
struct Chain<'a> {
    cx: &'a Context<'a>,
    lanes: &'a Lanes,
    map: &'a BranchMap,
    /// A hard step is pending: the steps after it wait.
    hard: &'a Expr,
    /// Nothing prevents steps after the pending one from being taken.
    goes_on: Expr,
    /// The oldest step, with one bit for each step.
    oldest: Expr,
    /// Every preceding step was described: the next one follows.
    reached: Expr,
    /// The preceding step is traced.
    valid: Expr,
    /// It is an uninferable jump.
    updiscon: Expr,
    /// A packet is already sent.
    sent: Expr,
    /// The newest last step of a lane follows.
    newest: Expr,
}

impl Walk {
    pub(super) fn new(
        cx: &Context<'_>,
        lanes: &Lanes,
        chart: &Chart,
        plan: &Plan,
        map: &BranchMap,
    ) -> Self {
        let m = cx.m;
        m.section("Steps that are taken in the same cycle, if the pending one is.");
        let goes_on = &chart.calm & !&lanes.changes & !&lanes.drifts;
        let hard = &plan.valid.q;
        let mut chain = Chain {
            cx,
            lanes,
            map,
            hard,
            goes_on: m.let_("goes_on", goes_on),
            oldest: lanes.oldest_step(m),
            reached: lit(1, 1),
            valid: chart.traced.clone(),
            updiscon: chart.jumps.clone(),
            sent: chart.fires.clone(),
            newest: zero(1),
        };
        let mut walk = Self::empty(chart, !&lanes.begun.q);
        for i in 0..lanes.n {
            chain.first(&mut walk, i);
            match i + 1 == lanes.n {
                true => chain.last_of_newest(&mut walk, i),
                false => chain.last(&mut walk, i),
            }
        }
        walk.valid = hard.mux(&chart.traced, &walk.valid);
        walk.updiscon = hard.mux(&plan.leaves_updiscon, &walk.updiscon);
        let wanted = walk.wants_first.iter().chain(&walk.wants_last).cloned().collect::<Vec<_>>();
        walk.wants = m.let_("lane_wants", any(wanted));
        let targets = walk.wants_first.iter().chain(&walk.at_target_last);
        walk.at_target = any(targets.cloned().collect::<Vec<_>>());
        let wrong = walk.wants_last.iter().zip(&lanes.lanes);
        let wrong = wrong.map(|(wants, lane)| wants & &lane.wrong);
        walk.wrong = any(wrong.collect::<Vec<_>>());
        chain.end(&mut walk);
        let aw = cx.config.address();
        walk.firsts = (0..lanes.n).map(|i| cx.group.first.slice(i * aw, aw)).collect();
        walk.lasts = (0..lanes.n).map(|i| cx.group.last.slice(i * aw, aw)).collect();
        walk
    }

    /// The state before any step of a lane.
    fn empty(chart: &Chart, fresh: Expr) -> Self {
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

    /// Notes that, if `taken`, this was the last step described so far.
    fn describes(&mut self, taken: &Expr, qualified: &Expr, updiscon: &Expr) {
        self.valid = taken.mux(qualified, &self.valid);
        self.updiscon = taken.mux(updiscon, &self.updiscon);
    }
}

impl Chain<'_> {
    /// The first step of lane `i`.
    fn first(&mut self, walk: &mut Walk, i: u32) {
        let (m, lanes, at) = (self.cx.m, self.lanes, i as usize);
        let (lane, has) = (&lanes.lanes[at], &lanes.first[at]);
        let (valid, updiscon, sent) = (&self.valid, &self.updiscon, &self.sent);
        let comes = m.let_(&format!("comes_first_{i}"), has & &self.reached);
        let plain = &comes & &self.goes_on & valid & &lane.qualified;
        let plain = m.shared(&format!("plain_first_{i}"), plain);
        let wants = m.let_(&format!("wants_first_{i}"), &plain & updiscon & !sent);
        let taken = &plain & (!updiscon | (!sent & &self.cx.can));
        let taken = m.let_(&format!("passes_first_{i}"), taken);
        walk.wants_first.push(wants.clone());
        let rests = self.hard.mux(self.oldest.bit(2 * i), &comes & !&taken);
        walk.rests_first.push(m.shared(&format!("rests_first_{i}"), rests));
        walk.describes(&taken, &lane.qualified, &zero(1));
        walk.passes_first.push(taken.clone());
        self.reached = m.shared(&format!("reached_last_{i}"), has.mux(&taken, &self.reached));
        self.valid = m.shared(&format!("valid_last_{i}"), has.mux(&lane.qualified, valid));
        self.updiscon = m.shared(&format!("jumped_last_{i}"), updiscon & !has);
        self.sent = m.shared(&format!("behind_packet_{i}"), sent | wants);
    }

    /// The last step of lane `i`, after which there is another lane.
    fn last(&mut self, walk: &mut Walk, i: u32) {
        let (m, cx, lanes, at) = (self.cx.m, self.cx, self.lanes, i as usize);
        let (lane, has) = (&lanes.lanes[at], &lanes.last[at]);
        let comes = self.comes_last(i);
        let (valid, updiscon, sent) = (&self.valid, &self.updiscon, &self.sent);
        let (later, which) = lanes.oldest(i + 1);
        let of_lane = which.iter().zip(&lanes.lanes[at + 1..]).map(|(w, lane)| w & &lane.qualified);
        let next_qualified = any(of_lane.collect::<Vec<_>>());
        let mut plain = &self.goes_on & valid & &lane.qualified & &lane.plain & &next_qualified;
        if let Some(limit) = &self.map.out.limit {
            plain = plain & !(&lane.branch & limit);
        }
        let plain = m.shared(&format!("plain_last_{i}"), plain);
        let fires =
            m.let_(&format!("fires_{i}"), updiscon | (self.map.out.must.bit(i + 1) & !sent));
        let wants = m.let_(&format!("wants_last_{i}"), &comes & &plain & &fires & !sent);
        // A step that is not traced is skipped, unless a mark follows.
        let skips = !&lane.qualified & (&later | &lanes.trap);
        let passes = skips | (&plain & (!&fires | (!sent & &cx.can)));
        let taken = m.let_(&format!("passes_last_{i}"), &comes & passes);
        walk.wants_last.push(wants.clone());
        let rests = self.hard.mux(self.oldest.bit(2 * i + 1), &comes & !&taken);
        walk.rests_last.push(m.shared(&format!("rests_last_{i}"), rests));
        walk.passes_last.push(taken.clone());
        let pushes = !self.hard & &taken & &lane.qualified & &lane.branch;
        walk.pushes.push(m.shared(&format!("pushes_{i}"), pushes));
        walk.cuts.push(sent.clone());
        walk.at_target_last.push(&wants & updiscon);
        let inferred = cx.group.sijump.as_ref().map(|s| &cx.modes.sijump & s.bit(i) & valid);
        let jumps = inferred.map_or_else(|| lane.updiscon.clone(), |i| &lane.updiscon & !i);
        let jumps = m.shared(&format!("jumps_{i}"), jumps);
        self.reached =
            m.shared(&format!("reached_first_{}", i + 1), has.mux(&taken, &self.reached));
        walk.describes(&taken, &lane.qualified, &(&lane.qualified & &jumps));
        self.updiscon = m.let_(&format!("updiscon_{i}"), has.mux(jumps, updiscon));
        self.valid = m.shared(&format!("valid_first_{}", i + 1), has.mux(&lane.qualified, valid));
        self.sent = m.shared(&format!("sent_first_{}", i + 1), sent | wants);
    }

    /// The last step of the newest lane, `i`: its successor is not known, so it becomes the pending
    /// step.
    fn last_of_newest(&mut self, walk: &mut Walk, i: u32) {
        let comes = self.comes_last(i);
        let rests = self.hard.mux(self.oldest.bit(2 * i + 1), &comes);
        walk.rests_last.push(self.cx.m.shared(&format!("rests_last_{i}"), rests));
        let reached = &self.reached & !&self.lanes.last[i as usize];
        self.reached = self.cx.m.shared("reached_trap", reached);
    }

    fn comes_last(&mut self, i: u32) -> Expr {
        let has = &self.lanes.last[i as usize];
        let comes = self.cx.m.let_(&format!("comes_last_{i}"), has & &self.reached);
        self.newest = has.mux(&comes, &self.newest);
        comes
    }

    /// The trap, and whether nothing is left.
    fn end(&self, walk: &mut Walk) {
        let (m, lanes) = (self.cx.m, self.lanes);
        let to_trap = &lanes.trap & &self.reached;
        let takes_trap = self.hard.mux(self.oldest.bit(2 * lanes.n), to_trap);
        walk.takes_trap = m.let_("takes_trap", takes_trap);
        let whole = !&lanes.mark & lanes.trap.mux(&self.reached, &self.newest);
        walk.finishes = m.let_("finishes", self.hard.mux(lanes.single(m), whole));
    }
}

impl Walk {
    /// Whether a return in lane 0 waits now, with its successor in lane 1.
    pub(super) fn rests_return(&self, cx: &Context<'_>, lanes: &Lanes) -> Expr {
        match (lanes.last.get(1), &cx.group.ret) {
            (Some(next), Some(ret)) => &self.rests_last[0] & ret.bit(0) & next,
            _ => zero(1),
        }
    }

    /// Whether a step after the pending one is reported, or is a branch.
    pub(super) fn reports(&self, cx: &Context<'_>) -> Expr {
        self.pushes.iter().fold(&self.wants & &cx.can, |any, push| any | push)
    }

    /// The address of the reported step: a step of a lane, the pending step, which may be in a lane
    /// too, or a mark.
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
        // Selected by number, not one-hot: four addresses fit into a lookup table.
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

    /// Whether the step that waits now is the oldest of its group.
    pub(super) fn rests_oldest(&self, cx: &Context<'_>, lanes: &Lanes) -> Expr {
        let first = &lanes.first[0];
        let lane = first.mux(&self.rests_first[0], &self.rests_last[0]);
        let trap = &self.takes_trap & cx.group.trap_alone.bit(0);
        &self.fresh & (lane | trap)
    }

    /// Number of units of the steps that are described in the lanes.
    pub(super) fn units(&self, cx: &Context<'_>, width: u32) -> Expr {
        let mut sum = zero(width);
        if let Some(cycles) = &cx.group.cycles {
            let oldest = self.passes_first.iter().take(1).chain(self.passes_last.iter().take(1));
            let passed = any(oldest.cloned().collect::<Vec<_>>()) & &self.fresh;
            sum = sum + (cx.resync_mode.is(2) & passed).gate(cycles.zext(width));
        }
        if let Some(half_words) = &cx.group.half_words {
            let rw = cx.config.iretire_width_p.into();
            for (i, passes) in (0..).zip(&self.passes_last) {
                let here = cx.resync_mode.is(3) & passes;
                sum = sum + here.gate(half_words.slice(i * rw, rw).zext(width));
            }
        }
        sum
    }
}
