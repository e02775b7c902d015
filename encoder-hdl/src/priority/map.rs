//! The branch map.

use super::context::Context;
use super::pending::Pending;
use crate::branch_map;
use hartrace_rtl::{Expr, Outputs, concat};

/// The part of the branch map that is read and driven here. In signals with one bit per branch, bit
/// 0 is the pending step; the others are all lanes but the newest.
pub(super) struct BranchMap {
    /// There are branches that have not been reported.
    pub(super) some: Expr,
    /// The branch fills the map, or ends a count.
    pub(super) must: Expr,
    /// No branch can be counted, only few, or the pending step is the last.
    pub(super) spent: Option<Expr>,
    pub(super) limit: Option<Expr>,
    pub(super) exhausted: Option<Expr>,
    /// For the packet.
    pub(super) outputs: Outputs,
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
        let outputs = m.inst("i_branch_map", &branch_map::build(cx.config), &ports);
        let counted = |name: &str| cx.config.predicts().then(|| outputs[name].clone());
        Self {
            some: outputs["some_o"].clone(),
            must: outputs["must_o"].clone(),
            spent: counted("spent_o"),
            limit: counted("limit_o"),
            exhausted: counted("exhausted_o"),
            outputs,
            inputs,
            predicted,
        }
    }

    /// Whether the pending step fills the branch map, or is a branch that ends a count.
    pub(super) fn fills(&self) -> Expr {
        self.must.bit(0)
    }

    /// Passes the predicted branches to the map.
    pub(super) fn predict(&self, cx: &Context<'_>, pending: &Pending) {
        let Some(predicted) = &self.predicted else { return };
        let lanes = (0..cx.config.n() - 1).rev().map(|i| cx.group["right"].bit(i));
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
