//! Outcomes of branches.

use super::intake::OUTCOME_BITS;
use hartrace_rtl::{Block, Expr, Module, Reg, concat, index_width, lit, zero};

/// Bits of outcomes that are known: those of a map, and one that was left.
const KNOWN_BITS: u32 = OUTCOME_BITS;

/// Outcomes of branches that were sent, but not reached yet: known ones, then a number of predicted ones, then a
/// mispredicted one.
pub(super) struct Outcomes {
    /// The oldest lowest; a set bit is a branch that was not taken.
    pub(super) known: Reg,
    pub(super) count: Reg,
    pub(super) predicted: Option<(Reg, Reg)>,
    pub(super) none: Expr,
    pub(super) one: Expr,
}

impl Outcomes {
    pub(super) fn new(m: &Module, predicts: bool) -> Self {
        m.section("Outcomes that were sent, but not reached yet.");
        let known = m.reg("known", zero(KNOWN_BITS));
        let count = m.reg("known_count", zero(index_width(KNOWN_BITS + 1)));
        let predicted = predicts
            .then(|| (m.reg("predicted", zero(OUTCOME_BITS + 1)), m.reg("mispredicted", zero(1))));
        let (none, one) = match &predicted {
            None => (!count.q.any(), count.q.is(1)),
            Some((number, wrong)) => {
                let known = [!count.q.any(), count.q.is(1)];
                let number = [!number.q.any(), number.q.is(1)];
                let wrong = [!&wrong.q, wrong.q.clone()];
                let is = |k: usize, n: usize, w: usize| &known[k] & &number[n] & &wrong[w];
                (is(0, 0, 0), is(1, 0, 0) | is(0, 1, 0) | is(0, 0, 1))
            }
        };
        let (none, one) = (m.let_("no_outcome", none), m.let_("one_outcome", one));
        Self { known, count, predicted, none, one }
    }

    pub(super) fn clear(&self, b: &mut Block) {
        b.set(&self.known.d, zero(KNOWN_BITS));
        b.set(&self.count.d, zero(self.count.q.width()));
        if let Some((number, wrong)) = &self.predicted {
            b.set(&number.d, zero(OUTCOME_BITS + 1));
            b.set(&wrong.d, false);
        }
    }

    /// Only this outcome is left.
    pub(super) fn only(&self, b: &mut Block, not_taken: &Expr) {
        self.clear(b);
        b.set(&self.known.d, not_taken.zext(KNOWN_BITS));
        b.set(&self.count.d, lit(self.count.q.width(), 1));
    }

    /// Appends a number of outcomes; at most one was left.
    pub(super) fn append(&self, b: &mut Block, number: &Expr, map: &Expr) {
        let left = self.count.q.any();
        let shifted = concat(&[&map.trunc(KNOWN_BITS - 1), &self.known.q.bit(0)]);
        b.set(&self.known.d, left.mux(shifted, map));
        let width = self.count.q.width();
        b.set(&self.count.d, &self.count.q + number.zext(width));
    }

    /// Whether the oldest branch is taken.
    pub(super) fn taken(&self, prediction: Option<&Expr>) -> Expr {
        let known = !self.known.q.bit(0);
        match (&self.predicted, prediction) {
            (Some((number, _)), Some(prediction)) => {
                let predicted = number.q.any().eq(prediction);
                self.count.q.any().mux(known, predicted)
            }
            _ => known,
        }
    }

    /// The oldest branch was reached.
    pub(super) fn step(&self, b: &mut Block) {
        let count = &self.count.q;
        let one = |width| lit(width, 1);
        let known = |b: &mut Block| {
            b.set(&self.known.d, &self.known.q >> lit(1, 1));
            b.set(&self.count.d, count - one(count.width()));
        };
        match &self.predicted {
            None => known(b),
            Some((number, wrong)) => b
                .when(count.any(), known)
                .elsif(number.q.any(), |b| b.set(&number.d, &number.q - one(number.q.width())))
                .otherwise(|b| b.set(&wrong.d, false)),
        }
    }
}
