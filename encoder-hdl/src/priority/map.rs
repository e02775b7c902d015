//! The branch map.

use super::context::Context;
use super::pending::Pending;
use crate::branch_map::{self, BranchMapOut};
use hartrace_rtl::{Expr, concat};

/// The part of the branch map that is read and driven here. In signals with one bit per branch, bit
/// 0 is the pending step; the others are all lanes but the newest.
pub(super) struct BranchMap {
    pub(super) out: BranchMapOut,
    inputs: [Expr; 6],
    predicted: Option<Expr>,
}

/// Inputs of the map in a cycle.
pub(super) struct Branches {
    /// There is a branch.
    pub(super) there: Vec<Expr>,
    /// It is taken over into the map.
    pub(super) pushes: Vec<Expr>,
    pub(super) not_taken: Vec<Expr>,
    /// It comes after the packet that is sent.
    pub(super) cuts: Vec<Expr>,
    pub(super) moves: Expr,
    pub(super) flush: Expr,
}

impl BranchMap {
    pub(super) fn new(cx: &Context<'_>) -> Self {
        let (m, n) = (cx.m, cx.config.n());
        let inputs = [
            m.wire("branches_there", n),
            m.wire("push", n),
            m.wire("not_taken", n),
            m.wire("cut", n),
            m.wire("moves_map", 1),
            m.wire("flush", 1),
        ];
        let names = ["branch_i", "push_i", "not_taken_i", "cut_i", "moves_i", "flush_i"];
        let mut ports: Vec<(&str, &Expr)> = names.into_iter().zip(&inputs).collect();
        let predicted = cx.config.predicts().then(|| m.wire("predicted", n));
        if let Some(predicted) = &predicted {
            ports.push(("predicting_i", &cx.modes.predicts));
            ports.push(("predicted_i", predicted));
        }
        let out = BranchMapOut::of(&m.inst("i_branch_map", &branch_map::build(cx.config), &ports));
        Self { out, inputs, predicted }
    }

    /// Whether the pending step fills the branch map, or is a branch that ends a count.
    pub(super) fn fills(&self) -> Expr {
        self.out.must.bit(0)
    }

    /// Passes the predicted branches to the map.
    pub(super) fn predict(&self, cx: &Context<'_>, pending: &Pending) {
        let Some((predicted, known)) = self.predicted.as_ref().zip(cx.looked.as_ref()) else {
            return;
        };
        let lanes = (0..cx.config.n() - 1).rev().map(|i| known.right.bit(i));
        let slots: Vec<Expr> = lanes.chain([pending.right()]).collect();
        cx.m.assign(predicted, flat(&slots));
    }

    pub(super) fn drive(&self, cx: &Context<'_>, branches: Branches) {
        let newest_first = |mut bits: Vec<Expr>| {
            bits.reverse();
            flat(&bits)
        };
        let values = [
            newest_first(branches.there),
            newest_first(branches.pushes),
            newest_first(branches.not_taken),
            newest_first(branches.cuts),
            branches.moves,
            branches.flush,
        ];
        for (wire, value) in self.inputs.iter().zip(values) {
            cx.m.assign(wire, value);
        }
    }
}

fn flat(bits: &[Expr]) -> Expr {
    concat(&bits.iter().collect::<Vec<_>>())
}
