//! Branches that have not been reported.

use crate::config::Config;
use hartrace_rtl::{Block, Component, Expr, Module, Reg, lit, ones, zero};

/// Branches of a full map.
const FULL: u128 = 31;

/// The module `te_branch_map`.
///
/// Slot 0 is the pending step, the others are lanes. A packet takes the branches in the map and those of
/// the slots before the cut; what is behind stays.
pub(crate) fn build(config: &Config) -> Component {
    let n = config.n();
    let m = Module::new(
        "te_branch_map",
        "Collects the outcomes of branches until they are reported, slot 0 oldest.",
    )
    .clocked();
    let branch = m.input("branch_i", n, "there is a branch in the slot");
    let push = m.input("push_i", n, "and it is taken over now");
    let not_taken = m.input("not_taken_i", n, "it was not taken");
    let cut = m.input("cut_i", n, "the slot is behind the packet that is sent");
    let flush = m.input("flush_i", 1, "a packet with all branches before the cut is sent");
    let map_o = m.output("map_o", 31, "outcomes for that packet; a set bit is a branch not taken");
    let branches_o = m.output("branches_o", 5, "their number");
    let some_o = m.output("some_o", 1, "there are branches already");
    let full_o = m.output("full_o", n, "a branch in this slot has to be reported at once");

    let map = m.reg("map", zero(31));
    let count = m.reg("count", zero(5));
    let counter = config.predicts().then(|| Counter::new(&m));
    m.assign(&some_o, count.q.any());
    m.comb(|b| {
        b.note("the packet: what was there, and the slots before the cut");
        b.set(&map_o, &map.q);
        b.set(&branches_o, &count.q);
        if let Some(counter) = &counter {
            counter.start(b, true);
        }
        for i in 0..n {
            b.when(push.bit(i) & !cut.bit(i), |b| {
                let put = |b: &mut Block| {
                    b.set(&map_o, &map_o | (not_taken.bit(i).zext(31) << &branches_o));
                    b.set(&branches_o, &branches_o + lit(5, 1));
                };
                match &counter {
                    Some(counter) if i == 0 => counter.push(b, &branches_o, put),
                    _ => put(b),
                }
            });
        }
        b.note("what is kept");
        b.set(&map.d, &map_o);
        b.set(&count.d, &branches_o);
        if let Some(counter) = &counter {
            counter.keep(b);
        }
        b.when(&flush, |b| {
            b.set(&map.d, zero(31));
            b.set(&count.d, zero(5));
            if let Some(counter) = &counter {
                counter.start(b, false);
            }
        });
        for i in 0..n {
            b.when(push.bit(i) & cut.bit(i), |b| {
                b.set(&map.d, &map.d | (not_taken.bit(i).zext(31) << &count.d));
                b.set(&count.d, &count.d + lit(5, 1));
                if let (Some(counter), 0) = (&counter, i) {
                    b.set(&counter.right.d, &counter.right.d & &counter.predicted);
                }
            });
        }
    });
    let full = |i: u32| {
        let mut full = zero(1);
        for before in 0..=i {
            let missing = count.q.is(FULL - 1 - u128::from(before));
            let others = if before == 0 { ones(1) } else { set_of(&branch, i, before) };
            full = full | (missing & others);
        }
        full & branch.bit(i)
    };
    let mut bits: Vec<Expr> = (0..n).rev().map(full).collect();
    if let (Some(counter), Some(first)) = (&counter, bits.last_mut()) {
        *first = counter.must_report(first, &count.q, &branch.bit(0));
    }
    m.assign(&full_o, hartrace_rtl::concat(&bits.iter().collect::<Vec<_>>()));
    if let Some(counter) = counter {
        counter.finish(&m, &count.q, &branch.bit(0));
    }
    m.finish()
}

/// Whether exactly `count` of the lowest `n` bits are set.
fn set_of(bits: &Expr, n: u32, count: u32) -> Expr {
    let patterns = (0..1u32 << n).filter(|pattern| pattern.count_ones() == count);
    let hits = patterns.map(|pattern| bits.slice(0, n).is(pattern.into()));
    hits.reduce(|a, b| a | b).unwrap_or_else(|| zero(1))
}

/// More than a map of branches, all of them predicted.
struct Counter {
    predicting: Expr,
    predicted: Expr,
    counting_o: Expr,
    count_o: Expr,
    counting: Reg,
    count: Reg,
    /// All branches in the map were predicted.
    right: Reg,
    right_now: Expr,
}

impl Counter {
    fn new(m: &Module) -> Self {
        Self {
            predicting: m.input("predicting_i", 1, "branch prediction is on"),
            predicted: m.input("predicted_i", 1, "the branch in slot 0 was predicted"),
            counting_o: m.output("counting_o", 1, "there are too many for a map, all predicted"),
            count_o: m.output("count_o", 32, "of them, less 31"),
            counting: m.reg("counting", false),
            count: m.reg("correct", zero(32)),
            right: m.reg("right", true),
            right_now: m.wire("right", 1),
        }
    }

    /// As it was, or as it is when everything has been reported.
    fn start(&self, b: &mut Block, kept: bool) {
        if kept {
            b.set(&self.counting_o, &self.counting.q);
            b.set(&self.count_o, &self.count.q);
            b.set(&self.right_now, &self.right.q);
        } else {
            b.set(&self.counting.d, false);
            b.set(&self.count.d, zero(32));
            b.set(&self.right.d, true);
        }
    }

    fn keep(&self, b: &mut Block) {
        b.set(&self.counting.d, &self.counting_o);
        b.set(&self.count.d, &self.count_o);
        b.set(&self.right.d, &self.right_now);
    }

    /// The branch goes to the map, or counts.
    fn push(&self, b: &mut Block, branches: &Expr, put: impl FnOnce(&mut Block)) {
        b.when(branches.is(FULL), |b| {
            b.set(&self.counting_o, true);
            b.set(&self.count_o, &self.count_o + self.predicted.zext(32));
        })
        .otherwise(|b| {
            put(b);
            b.set(&self.right_now, &self.right_now & &self.predicted);
        });
    }

    /// Whether the branch in slot 0 must be reported: it fills a map that was not all predicted, or
    /// ends a count.
    fn must_report(&self, fills: &Expr, branches: &Expr, branch: &Expr) -> Expr {
        let all = &self.predicting & &self.right.q & &self.predicted;
        (fills & !all) | (branch & branches.is(FULL) & !&self.predicted)
    }

    /// The count has no room for one more.
    fn finish(self, m: &Module, branches: &Expr, branch: &Expr) {
        let exhausted = m.output("exhausted_o", 1, "the branch in slot 0 was the last that counts");
        let last = self.count.q.is((1 << 32) - 2) & branch & &self.predicted;
        let full = branches.is(FULL) & (last | self.count.q.is((1 << 32) - 1));
        m.assign(&exhausted, full);
    }
}
