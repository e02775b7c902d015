//! Detects loops in a walk.

use crate::event::Fault;
use crate::tables::Returns;

/// Detects that a walk repeats itself.
///
/// As long as no outcome of a branch is used up that was reported by itself, the next address is a function
/// of the address and the return stack: if both repeat, they repeat until something else is reported. This
/// includes branches that are only counted as correctly predicted, since a correct prediction never changes
/// what the predictor predicts. Brent's algorithm detects this without storing the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// An address that a block led to; the return stack there was `stack`, and so many outcomes were left.
    mark: Option<(u64, u64)>,
    stack: Returns,
    distance: u64,
    power: u64,
}

/// A way through the program that leads back to its start.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Lap {
    /// Its length in blocks.
    pub(crate) blocks: u64,
    /// Its branches, all of them predicted correctly.
    pub(crate) branches: u64,
}

impl Progress {
    /// `stack` is any return stack of the hart.
    pub(crate) fn new(stack: Returns) -> Self {
        Self { mark: None, stack, distance: 0, power: 0 }
    }

    /// Starts again after a branch: what follows depends on more than address and return stack.
    #[inline]
    pub(crate) fn branch(&mut self) {
        self.distance = 0;
        self.power = 0;
        self.mark = None;
    }

    /// Notes that the instruction at `at` leads to `next`, where `left` outcomes are left. Returns the way
    /// since the last visit if it is now repeated; an error if that never ends.
    #[inline]
    pub(crate) fn check(
        &mut self,
        next: u64,
        returns: &Returns,
        left: u64,
        at: u64,
    ) -> Result<Option<Lap>, Fault> {
        self.distance = self.distance.wrapping_add(1);
        if let Some((mark, before)) = self.mark
            && mark == next
            && self.stack.same(returns)
        {
            let branches = before.saturating_sub(left);
            if branches == 0 {
                return Err(Fault::NoProgress(at));
            }
            let lap = Lap { blocks: self.distance, branches };
            self.branch();
            return Ok(Some(lap));
        }
        // Few walks get this far: most meet a branch within a few blocks.
        if self.distance > self.power.max(32) {
            self.mark = Some((next, left));
            self.stack.clone_from(returns);
            self.power = self.power.max(32).saturating_mul(2);
            self.distance = 0;
        }
        Ok(None)
    }
}
