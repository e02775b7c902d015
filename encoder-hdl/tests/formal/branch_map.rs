//! The branch map holds the outcomes since the last packet, in order, and indicates when it is
//! full.

use crate::blocks::{assume_constant, block, tiny};
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::prove::{Proof, Rig, num};
use hartrace_rtl::{Component, Expr, concat, lit, zero};

/// Branches of a full map.
const FULL: u32 = 31;

/// A list of outcomes, the newest in bit 0, and their number; and the branches after a full list.
#[derive(Clone)]
struct List {
    outcomes: Expr,
    count: Expr,
    /// All of them had the predicted outcome.
    right: Expr,
    /// Number of branches after a full list, and how many of them had the predicted outcome.
    more: Expr,
    more_right: Expr,
}

impl List {
    fn empty() -> Self {
        let [more, more_right] = [zero(6), zero(6)];
        Self { outcomes: zero(FULL), count: zero(6), right: lit(1, 1), more, more_right }
    }

    fn full(&self) -> Expr {
        self.count.is(FULL.into())
    }

    fn push(&self, when: &Expr, not_taken: &Expr, predicted: &Expr) -> Self {
        let longer = concat(&[&self.outcomes.slice(0, FULL - 1), not_taken]);
        let (lists, counts) = (when & !self.full(), when & self.full());
        let step = |when: &Expr, n: &Expr| n + when.zext(n.width());
        Self {
            outcomes: lists.mux(longer, &self.outcomes),
            count: step(&lists, &self.count),
            right: &self.right & (!&lists | predicted),
            more: step(&counts, &self.more),
            more_right: step(&(counts & predicted), &self.more_right),
        }
    }

    /// This one or the other.
    fn or(&self, is: &Expr, other: &Self) -> Self {
        Self {
            outcomes: is.mux(&self.outcomes, &other.outcomes),
            count: is.mux(&self.count, &other.count),
            right: is.mux(&self.right, &other.right),
            more: is.mux(&self.more, &other.more),
            more_right: is.mux(&self.more_right, &other.more_right),
        }
    }
}

/// A list next to the map, of the same branches.
fn collects(config: &Config) -> Component {
    let rig = Rig::new(&block(config, "te_branch_map"));
    let m = &rig.m;
    let n = u32::from(config.lanes);
    let [branch, push, not_taken, cut] =
        ["branch_i", "push_i", "not_taken_i", "cut_i"].map(|name| rig.port(name));
    let (moves, flush) = (rig.port("moves_i"), rig.port("flush_i"));
    m.assume_always("pushes_branches", (&push & !&branch).is(0));
    m.assume_always("slot_0_before_cut", !cut.bit(0));
    m.assume_always("cut_goes_with_packet", (&moves & &flush) | (&push & &cut).is(0));
    let predicts = rig.find("predicted_i").map(|predicted| {
        assume_constant(&rig, "predicting_i");
        (predicted, rig.port("predicting_i"))
    });
    let predicted = |i| predicts.as_ref().map_or_else(|| lit(1, 1), |(p, _)| p.bit(i));
    let predicting = predicts.as_ref().map_or_else(|| zero(1), |(_, on)| on.clone());

    let reg = |name: &str, init: &Expr| m.reg(name, init.clone());
    let empty = List::empty();
    let [outcomes, count, right, more, more_right] = [
        reg("outcomes", &empty.outcomes),
        reg("list_count", &empty.count),
        reg("list_right", &empty.right),
        reg("more", &empty.more),
        reg("more_right", &empty.more_right),
    ];
    let list = List {
        outcomes: outcomes.q.clone(),
        count: count.q.clone(),
        right: right.q.clone(),
        more: more.q.clone(),
        more_right: more_right.q.clone(),
    };
    let (mut sent, mut rest) = (list.clone(), List::empty());
    for i in 0..n {
        let (before, behind) = (push.bit(i) & !cut.bit(i), push.bit(i) & cut.bit(i));
        // After a full map, a branch is counted, or there is none: it has been reported.
        let counts = &predicting & &sent.right & sent.more.eq(&sent.more_right);
        m.assume_always(&format!("reported_in_time_{i}"), !(&before & sent.full()) | counts);
        sent = sent.push(&before, &not_taken.bit(i), &predicted(i));
        rest = rest.push(&behind, &not_taken.bit(i), &predicted(i));
    }
    // As many as the counters here can count.
    m.assume_always("few_enough", list.more.lt(num(&list.more, 60)));
    // What is offered goes into a packet, and is kept only if it moves.
    let kept = rest.or(&flush, &sent.or(&moves, &list));
    for (reg, value) in [
        (&outcomes, kept.outcomes),
        (&count, kept.count),
        (&right, kept.right),
        (&more, kept.more),
        (&more_right, kept.more_right),
    ] {
        m.assign(&reg.d, value);
    }

    m.assert_always("number", rig.port("branches_o").zext(6).eq(&sent.count));
    m.assert_always("some", rig.port("some_o").eq(list.count.any()));
    // The outcome at any place, and nothing after the last one.
    let at = m.input("at_i", 5, "");
    m.assume_always("at_in_map", at.lt(lit(5, FULL.into())));
    let newer = &sent.count - lit(6, 1) - at.zext(6);
    let outcome = at.zext(6).lt(&sent.count) & sent.outcomes.bit_at(newer);
    m.assert_always("outcome", rig.port("map_o").bit_at(&at).eq(outcome));
    if predicts.is_some() {
        m.assert_always("counting", rig.port("counting_o").eq(sent.more.any()));
        m.assert_always("count", rig.port("count_o").eq(sent.more_right.zext(32)));
    }

    // Whether a branch must be reported. The outputs for branches after such a branch do not
    // matter.
    let mut earlier = zero(1);
    let mut all = &predicting & &list.right;
    let mut before = list.count.clone();
    for i in 0..n {
        let there = branch.bit(i);
        all = all & (!&there | predicted(i));
        let fills = before.is(u128::from(FULL) - 1);
        let full = before.ge(lit(6, FULL.into()));
        let must = &there & ((fills & !&all) | (&full & !predicted(i)));
        // Without prediction, nothing is pushed to a full map, so the output does not matter.
        let matters = (&predicting | !full) & !&earlier;
        let said = rig.port("must_o").bit(i);
        m.assert_always(&format!("must_report_{i}"), !matters | said.eq(&must));
        earlier = earlier | must;
        before = before + there.zext(6);
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let lanes = |lanes| collects(&Config { lanes, ..tiny() });
    let predicted = |lanes| {
        let mut config = Config { lanes, ..tiny() };
        config.etrace.bpred_size_p = 2;
        collects(&config)
    };
    let mut one = Proof::any_run("branch_map_1", &lanes(1), 34);
    for port in
        ["branch_i", "push_i", "not_taken_i", "moves_i", "flush_i", "map_o", "branches_o", "some_o"]
    {
        one = one.refuted_without(port);
    }
    vec![
        one,
        Proof::any_run("branch_map_2", &lanes(2), 19)
            .refuted_without("cut_i")
            .refuted_without("must_o"),
        Proof::any_run("branch_map_1_predicted", &predicted(1), 36)
            .refuted_without("predicted_i")
            .refuted_without("predicting_i")
            .refuted_without("must_o")
            .refuted_without("counting_o")
            .refuted_without("count_o"),
        Proof::any_run("branch_map_2_predicted", &predicted(2), 20)
            .refuted_without("predicted_i")
            .refuted_without("must_o")
            // The lock step does not reach it.
            .refuted_by("all_right_0 & (!branch_i[1]", "all_right_0 & (branch_i[1]"),
    ]
}
