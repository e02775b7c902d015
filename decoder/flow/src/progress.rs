//! Detects loops that a walk can never leave.

use crate::event::Fault;
use crate::tables::Returns;

/// Detects that a walk can never end.
///
/// As long as no branch is executed, the next address is a function of the address and the return stack:
/// if both repeat, they repeat forever. Brent's algorithm detects this without storing the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// An address that a block led to; the return stack there was `stack`.
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

    /// Starts again after a branch: what follows depends on more than address and return stack.
    #[inline]
    pub(crate) fn branch(&mut self) {
        self.distance = 0;
        self.power = 0;
        self.mark = None;
    }

    /// Notes that the instruction at `at` leads to `next`; an error if this repeats forever.
    #[inline]
    pub(crate) fn check(&mut self, next: u64, returns: &Returns, at: u64) -> Result<(), Fault> {
        self.distance = self.distance.wrapping_add(1);
        if self.mark == Some(next) && self.stack.same(returns) {
            return Err(Fault::NoProgress(at));
        }
        // Few walks get this far: most meet a branch within a few blocks.
        if self.distance > self.power.max(32) {
            self.mark = Some(next);
            self.stack.clone_from(returns);
            self.power = self.power.max(32).saturating_mul(2);
            self.distance = 0;
        }
        Ok(())
    }
}
