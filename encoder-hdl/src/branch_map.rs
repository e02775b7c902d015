//! Branches that have not been reported.

use crate::config::Config;
use crate::ingress::any;
use hartrace_rtl::{Component, Expr, Module, Reg, bundle, concat, lit, zero};

bundle! {
    /// The outputs of the module; those of counts only with a predictor.
    pub(crate) struct BranchMapOut {
        map, branches, some, must,
        counting: Option, count: Option, limit: Option, spent: Option, exhausted: Option
    }
}

/// Number of branches in a full map.
const FULL: u32 = 31;

/// The module `te_branch_map`.
///
/// Slot 0 is the pending step, the others are lanes. A packet takes the branches in the map and
/// those of the slots before the cut; those after the cut stay. A cut requires a packet. The place
/// of the next branch is stored as one bit per place, since a shift by a number would need a lookup
/// table for each bit.
pub(crate) fn build(config: &Config) -> Component {
    let n = config.n();
    let m = Module::new(
        "te_branch_map",
        "Collects the outcomes of branches until they are reported, slot 0 oldest.",
    )
    .clocked();
    let branch = m.input("branch_i", n, "there is a branch in the slot");
    let push = m.input("push_i", n, "and it goes into the map, or the packet");
    let not_taken = m.input("not_taken_i", n, "it was not taken");
    let cut = m.input("cut_i", n, "the slot is behind the packet that is sent");
    let moves = m.input("moves_i", 1, "they are taken over now");
    let flush = m.input("flush_i", 1, "a packet with all branches before the cut is sent");
    let map_o =
        m.output("map_o", FULL, "outcomes for that packet; a set bit is a branch not taken");
    let branches_o = m.output("branches_o", 5, "their number");
    let some_o = m.output("some_o", 1, "there are branches already");
    let must_o = m.output("must_o", n, "a branch in this slot has to be reported at once");

    let changes = m.let_("changes", &moves | &flush);
    let map = m.reg_en("map", zero(FULL), &changes);
    // Bit n: the next branch is number n. The last bit indicates that the map is full.
    let place = m.reg_en("place", lit(FULL + 1, 1), &changes);
    let count = m.reg_en("count", zero(5), &changes);
    m.assign(&some_o, !place.q.bit(0));
    let mut counter = config.predicts().then(|| Counter::new(&m, n, &changes));

    let mut slot = |i: u32, at: &(Expr, Expr, Expr), before: bool| {
        let side = if before { !cut.bit(i) } else { cut.bit(i) };
        let mut puts = push.bit(i) & side;
        match (&mut counter, before) {
            (Some(counter), true) => puts = counter.push(&m, i, &puts, &at.1.bit(FULL)),
            (Some(counter), false) => counter.push_behind(i, &puts),
            (None, _) => {}
        }
        let name = if before { "before" } else { "behind" };
        let puts = m.let_(&format!("puts_{name}_{i}"), puts);
        let (map, place, count) = at;
        let here = place.slice(0, FULL);
        let marks = m.let_(&format!("marks_{name}_{i}"), &puts & not_taken.bit(i));
        let map = m.let_(&format!("map_{name}_{i}"), map | marks.gate(here));
        let next = concat(&[&place.slice(0, FULL), &zero(1)]);
        let place = m.let_(&format!("place_{name}_{i}"), puts.mux(next, place));
        let count = m.let_(&format!("count_{name}_{i}"), count + puts.zext(5));
        (map, place, count)
    };
    m.section("The packet: what was there, and the slots before the cut.");
    let mut at = (map.q.clone(), place.q.clone(), count.q.clone());
    for i in 0..n {
        at = slot(i, &at, true);
    }
    m.assign(&map_o, &at.0);
    m.assign(&branches_o, &at.2);
    m.section("What is kept. Behind a packet there are only the slots behind the cut.");
    let mut rest = (zero(FULL), lit(FULL + 1, 1), zero(5));
    for i in 1..n {
        rest = slot(i, &rest, false);
    }
    m.assign(&map.d, flush.mux(&rest.0, &at.0));
    m.assign(&place.d, flush.mux(&rest.1, &at.1));
    m.assign(&count.d, flush.mux(&rest.2, &at.2));

    m.section("Whether a branch has to be reported, if nothing is sent for a slot before it.");
    let fills = |i: u32| {
        // Enough of the preceding slots are branches for this one to be the last.
        let last =
            (0..=i).map(|before| place.q.bit(FULL - 1 - before) & set_of(&branch, i, before));
        branch.bit(i) & any(last.collect::<Vec<_>>())
    };
    let fills: Vec<Expr> = (0..n).map(fills).collect();
    let musts: Vec<Expr> = match &counter {
        Some(counter) => counter.must_report(&m, &branch, &fills, &place.q.bit(FULL)),
        None => fills,
    };
    m.assign(&must_o, concat(&musts.iter().rev().collect::<Vec<_>>()));
    if let Some(counter) = counter {
        counter.finish(&m, &place.q.bit(FULL), &branch.bit(0), &flush);
    }
    m.assert_always("cut_with_packet", !&moves | &flush | !(&push & &cut).any());
    m.assert_always("slot_0_before", !cut.bit(0));
    m.finish()
}

/// Whether at least `count` of the lowest `n` bits are set. There cannot be more: the map would
/// have been full before.
fn set_of(bits: &Expr, n: u32, count: u32) -> Expr {
    let patterns = (0..1u32 << n).filter(|pattern| pattern.count_ones() == count);
    let hits = patterns.map(|pattern| {
        let wanted = (0..n).filter(|i| pattern >> i & 1 == 1).map(|i| bits.bit(i));
        wanted.reduce(|a, b| a & b).unwrap_or_else(|| lit(1, 1))
    });
    hits.reduce(|a, b| a | b).unwrap_or_else(|| zero(1))
}

/// Counts correctly predicted branches beyond a full map.
struct Counter {
    predicting: Expr,
    predicted: Expr,
    counting: Reg,
    correct: Reg,
    /// There is no room for more (`spent`), or for one more only (`scarce`); computed ahead of the
    /// cycle in which it matters.
    spent: Reg,
    scarce: Reg,
    /// There is room for only a few more.
    limit: Reg,
    /// All branches in the map had the predicted outcome.
    right: Reg,
    /// For each slot: whether it is counted, and whether it is counted as predicted.
    counts: Vec<(Expr, Expr)>,
    /// Whether all branches in the map of the packet had the predicted outcome, and all in the map
    /// after it.
    right_before: Expr,
    right_behind: Expr,
}

/// Number of bits of the count that are 1 in its last stretch, where branches are counted one at a
/// time.
const LIMIT: u32 = 26;

impl Counter {
    fn new(m: &Module, n: u32, changes: &Expr) -> Self {
        let right = m.reg_en("right", true, changes);
        Self {
            predicting: m.input("predicting_i", 1, "branch prediction is on"),
            predicted: m.input("predicted_i", n, "the branch in this slot was predicted"),
            counting: m.reg_en("counting", false, changes),
            correct: m.reg_en("correct", zero(32), changes),
            spent: m.reg_en("spent", false, changes),
            scarce: m.reg_en("scarce", false, changes),
            limit: m.reg("limit", false),
            counts: Vec::new(),
            right_before: right.q.clone(),
            right_behind: lit(1, 1),
            right,
        }
    }

    /// Counts a branch if the map is full. Returns whether it goes into the map.
    fn push(&mut self, m: &Module, i: u32, puts: &Expr, full: &Expr) -> Expr {
        let predicted = self.predicted.bit(i);
        let counts = m.let_(&format!("counts_{i}"), puts & full);
        let to_map = m.let_(&format!("to_map_{i}"), puts & !full);
        self.right_before = &self.right_before & (!&to_map | &predicted);
        self.counts.push((counts.clone(), counts & predicted));
        to_map
    }

    /// Counts a branch after the packet.
    fn push_behind(&mut self, i: u32, puts: &Expr) {
        self.right_behind = &self.right_behind & (!puts | self.predicted.bit(i));
    }

    /// Whether the branch in a slot must be reported: it fills a map in which not all branches were
    /// predicted, or ends a count.
    fn must_report(&self, m: &Module, branch: &Expr, fills: &[Expr], full: &Expr) -> Vec<Expr> {
        let (mut all, mut full) = (&self.predicting & &self.right.q, full.clone());
        let mut musts = Vec::new();
        for (i, fills) in (0..).zip(fills) {
            let predicted = self.predicted.bit(i);
            all = m.shared(&format!("all_right_{i}"), all & (!branch.bit(i) | &predicted));
            musts.push((fills & !&all) | (branch.bit(i) & &full & !predicted));
            full = full | fills;
        }
        musts
    }

    fn finish(self, m: &Module, full: &Expr, branch: &Expr, flush: &Expr) {
        let counting_o = m.output("counting_o", 1, "there are too many for a map, all predicted");
        let count_o = m.output("count_o", 32, "of them, less 31");
        let limit = m.output("limit_o", 1, "few can be counted: only in slot 0 from here on");
        let spent = m.output("spent_o", 1, "no other branch can be counted");
        let exhausted = m.output("exhausted_o", 1, "or the one in slot 0 is the last that can");
        let (counts, adds): (Vec<Expr>, Vec<Expr>) = self.counts.into_iter().unzip();
        let counting = m.let_("counting", &self.counting.q | any(counts));
        let more = adds.iter().fold(zero(3), |sum, adds| sum + adds.zext(3));
        let correct = m.let_("correct", &self.correct.q + more.zext(32));
        m.assign(&counting_o, &counting);
        m.assign(&count_o, &correct);
        m.assign(&self.counting.d, !flush & counting);
        m.assign(&self.correct.d, (!flush).gate(&correct));
        m.assign(&self.right.d, flush.mux(&self.right_behind, &self.right_before));
        m.assign(&self.limit.d, self.correct.q.slice(32 - LIMIT, LIMIT).all());
        m.assign(&limit, &self.limit.q);
        let adds = &adds[0];
        let becomes_scarce = adds.mux(self.correct.q.is((1 << 32) - 3), &self.scarce.q);
        m.assign(&self.scarce.d, !flush & becomes_scarce);
        m.assign(&self.spent.d, !flush & adds.mux(&self.scarce.q, &self.spent.q));
        m.assign(&spent, full & &self.spent.q);
        let last = &self.scarce.q & branch & self.predicted.bit(0);
        m.assign(&exhausted, full & (&self.spent.q | last));
    }
}
