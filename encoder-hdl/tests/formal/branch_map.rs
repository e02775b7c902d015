//! The branch map holds the outcomes since the last packet, in order, and says when it is full.

use crate::blocks::{assume_constant, block, ones_of, tiny};
use hartrace_encoder_hdl::Config;
use hartrace_prove::{Proof, Rig, num};
use hartrace_rtl::{Component, Expr, concat, lit, zero};

/// Branches of a full map.
const FULL: u32 = 31;

/// A list of outcomes, the newest in bit 0, and how many they are.
#[derive(Clone)]
struct List {
    outcomes: Expr,
    count: Expr,
}

impl List {
    fn empty() -> Self {
        Self { outcomes: zero(FULL), count: zero(6) }
    }

    fn push(&self, when: &Expr, not_taken: &Expr) -> Self {
        let longer = concat(&[&self.outcomes.slice(0, FULL - 1), not_taken]);
        Self {
            outcomes: when.mux(longer, &self.outcomes),
            count: &self.count + when.zext(self.count.width()),
        }
    }
}

/// A list beside the map, of the same branches.
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

    let outcomes = m.reg("outcomes", zero(FULL));
    let count = m.reg("list_count", zero(6));
    let list = List { outcomes: outcomes.q.clone(), count: count.q.clone() };
    let mut first = push.bit(0);
    if let Some(predicted) = rig.find("predicted_i") {
        first = counts(&rig, n, &list, &predicted);
    }
    let mut sent = list.push(&first, &not_taken.bit(0));
    let mut rest = List::empty();
    for i in 1..n {
        sent = sent.push(&(push.bit(i) & !cut.bit(i)), &not_taken.bit(i));
        rest = rest.push(&(push.bit(i) & cut.bit(i)), &not_taken.bit(i));
    }
    m.assume_always("reported_in_time", sent.count.le(num(&sent.count, FULL)));
    // What is offered goes into a packet, and is only kept if it moves.
    let kept = |sent: &Expr, before: &Expr| moves.mux(sent, before);
    m.assign(&outcomes.d, flush.mux(&rest.outcomes, kept(&sent.outcomes, &list.outcomes)));
    m.assign(&count.d, flush.mux(&rest.count, kept(&sent.count, &list.count)));

    m.assert_always("number", rig.port("branches_o").zext(6).eq(&sent.count));
    m.assert_always("some", rig.port("some_o").eq(list.count.any()));
    // The outcome at any place, and nothing behind the last one.
    let at = m.input("at_i", 5, "");
    m.assume_always("at_in_map", at.lt(lit(5, FULL.into())));
    let newer = &sent.count - lit(6, 1) - at.zext(6);
    let outcome = at.zext(6).lt(&sent.count) & sent.outcomes.bit_at(newer);
    m.assert_always("outcome", rig.port("map_o").bit_at(&at).eq(outcome));

    for i in 0..n {
        let before: Vec<Expr> = (0..i).map(|i| branch.bit(i)).collect();
        let with_it = &list.count + ones_of(&before, 6) + lit(6, 1);
        let full = rig.port("full_o").bit(i);
        let fills = branch.bit(i) & with_it.eq(lit(6, FULL.into()));
        m.assert_always(&format!("full_is_said_{i}"), !fills | &full);
        let is = branch.bit(i) & with_it.ge(lit(6, FULL.into()));
        m.assert_always(&format!("full_is_true_{i}"), !full | is);
    }
    rig.finish()
}

/// More branches than a map has, all of them predicted, are counted. Returns whether slot 0 goes to the
/// map.
fn counts(rig: &Rig, n: u32, list: &List, predicted: &Expr) -> Expr {
    let m = &rig.m;
    let (push, predicting) = (rig.port("push_i"), rig.port("predicting_i"));
    assume_constant(rig, "predicting_i");
    if n > 1 {
        let others = push.slice(1, n - 1).any();
        m.assume_always("one_branch_a_cycle", !(&predicting & others));
    }
    let full = m.let_("list_full", list.count.is(FULL.into()));
    let push = push.bit(0);
    let flush = rig.port("flush_i");
    let moves = rig.port("moves_i");
    let keep = |now: &Expr, before: &Expr| (!&flush).gate(moves.mux(now, before));
    // Branches of the map that were predicted, and those behind a full map.
    let step = |when: &Expr, n: &Expr| n + when.zext(n.width());
    let to_map = &push & !&full;
    let right = rig.count("right_in_map", 6, |n| keep(&step(&(&to_map & predicted), n), n));
    let more = m.reg("more", zero(6));
    let more_right = m.reg("more_right", zero(6));
    let more_now = step(&(&push & &full), &more.q);
    let more_right_now = step(&(&push & &full & predicted), &more_right.q);
    m.assign(&more.d, keep(&more_now, &more.q));
    m.assign(&more_right.d, keep(&more_right_now, &more_right.q));

    // As many as the counters here can count.
    m.assume_always("few_enough", more.q.lt(num(&more.q, 60)));
    let all_right = right.is(FULL.into());
    let none_wrong = more.q.eq(&more_right.q);
    m.assume_always("counts_predicted", !(&push & &full) | (&predicting & all_right & none_wrong));
    m.assert_always("counting", rig.port("counting_o").eq(more_now.any()));
    m.assert_always("count", rig.port("count_o").eq(more_right_now.zext(32)));
    let there = rig.port("branch_i").bit(0);
    let fills = list.count.is(u128::from(FULL) - 1);
    let all = &predicting & right.is(u128::from(FULL) - 1) & predicted;
    let must = &there & ((fills & !all) | (&full & !predicted));
    // Without prediction nothing is pushed to a full map, so that it does not matter what is said.
    let matters = &predicting | !&full;
    m.assert_always("must_report", !matters | rig.port("must_o").eq(must));
    to_map
}

pub(crate) fn proofs() -> Vec<Proof> {
    let lanes = |lanes| collects(&Config { lanes, ..tiny() });
    let mut predicted = tiny();
    predicted.etrace.bpred_size_p = 2;
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
            .refuted_without("full_o"),
        Proof::any_run("branch_map_1_predicted", &collects(&predicted), 36)
            .refuted_without("predicted_i")
            .refuted_without("predicting_i")
            .refuted_without("must_o")
            .refuted_without("counting_o")
            .refuted_without("count_o"),
    ]
}
