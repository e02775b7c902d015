//! Detects loops that a walk can never leave.

use crate::event::Fault;
use crate::tables::Returns;

/// Notices that a walk can never end.
///
/// As long as no branch is executed, the next address is a function of the address and the return stack:
/// if both repeat, they repeat for ever. Brent's algorithm finds that without remembering the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Where a block leads to; the return stack there is `stack`.
    mark: Option<u64>,
    stack: Returns,
    distance: u64,
    power: u64,
}

impl Progress {
    /// `stack` is any return stack of the hart.
    pub(crate) fn new(stack: Returns) -> Self {
        Self { mark: None, stack, distance: 0, power: 0 }
    }

    /// A branch was executed: what follows depends on more than the address and the return stack.
    #[inline]
    pub(crate) fn branch(&mut self) {
        self.distance = 0;
        self.power = 0;
        self.mark = None;
    }

    /// The instruction at `at` leads to `next`; an error if that repeats for ever.
    #[inline]
    pub(crate) fn check(&mut self, next: u64, returns: &Returns, at: u64) -> Result<(), Fault> {
        self.distance = self.distance.wrapping_add(1);
        if self.mark == Some(next) && self.stack.same(returns) {
            return Err(Fault::NoProgress(at));
        }
        // Few walks get this far: most meet a branch within some blocks.
        if self.distance > self.power.max(32) {
            self.mark = Some(next);
            self.stack.clone_from(returns);
            self.power = self.power.max(32).saturating_mul(2);
            self.distance = 0;
        }
        Ok(())
    }
}
