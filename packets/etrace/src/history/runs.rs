/// How long the runs of a class are: a state that grows with right predictions and shrinks with wrong
/// ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Run(u8);

impl Default for Run {
    fn default() -> Self {
        Self(4)
    }
}

impl Run {
    const MOST: u8 = 43;

    /// Bits of the number of right predictions in a record.
    #[inline]
    pub const fn bits(self) -> u32 {
        (self.0 >> 2) as u32
    }

    /// Right predictions after which a run ends.
    #[inline]
    pub const fn most(self) -> u32 {
        1u32.wrapping_shl(self.bits())
    }

    /// The state after a run that has ended, with a wrong prediction or without.
    #[inline]
    #[must_use]
    pub const fn after(self, wrong: bool) -> Self {
        match wrong {
            true => Self(self.0.saturating_sub(1)),
            false if self.0 < Self::MOST => Self(self.0.wrapping_add(1)),
            false => self,
        }
    }
}
