/// Branches that have been reported but not yet executed, oldest first.
///
/// Known outcomes come first: a branch that is only counted becomes known as soon as the walk stops
/// at it, before more can be reported.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Outcomes {
    /// Total number of outcomes.
    count: u64,
    /// Known outcomes, oldest in bit 0; 0 = taken.
    known: u64,
    known_count: u32,
    /// Number of correctly predicted branches after them.
    predicted: u64,
    /// A mispredicted branch follows.
    mispredicted: bool,
}

impl Outcomes {
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Appends `count` outcomes, at most 32. They fit, since at most one is pending when a payload
    /// arrives.
    #[inline]
    pub(crate) fn push_map(&mut self, count: u8, map: u32) {
        self.known |= u64::from(map).wrapping_shl(self.known_count);
        self.known_count = self.known_count.saturating_add(count.into());
        self.count = self.count.saturating_add(count.into());
    }

    #[inline]
    pub(crate) fn push(&mut self, taken: bool) {
        self.push_map(1, u32::from(!taken));
    }

    pub(crate) fn push_predicted(&mut self, count: u64, then_mispredicted: bool) {
        self.predicted = count;
        self.mispredicted = then_mispredicted;
        self.count = u64::from(self.known_count)
            .saturating_add(count)
            .saturating_add(then_mispredicted.into());
    }

    /// Whether the next branch is taken.
    #[inline]
    pub(crate) fn take(&mut self, predict: impl FnOnce() -> bool) -> Option<bool> {
        self.count = self.count.checked_sub(1)?;
        if self.known_count > 0 {
            let taken = self.known & 1 == 0;
            self.known >>= 1;
            self.known_count = self.known_count.wrapping_sub(1);
            Some(taken)
        } else if self.predicted > 0 {
            self.predicted = self.predicted.wrapping_sub(1);
            Some(predict())
        } else {
            self.mispredicted = false;
            Some(!predict())
        }
    }

    /// Whether the next branch is one of those that are only counted, and predicted correctly.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.known_count == 0 && self.predicted > 0
    }

    /// Number of the next branches that are only counted, if `pending` outcomes have to remain.
    #[inline]
    pub(crate) fn counted(&self, pending: u64) -> u64 {
        match self.known_count {
            0 => self.predicted.min(self.count.saturating_sub(pending)),
            _ => 0,
        }
    }

    /// Drops `count` of the branches that are only counted; there are at least that many.
    #[inline]
    pub(crate) fn skip_counted(&mut self, count: u64) {
        self.predicted = self.predicted.saturating_sub(count);
        self.count = self.count.saturating_sub(count);
    }

    /// The known outcomes, oldest in bit 0, 0 = taken, and their number.
    #[inline]
    pub(crate) fn known(&self) -> (u64, u32) {
        (self.known, self.known_count)
    }

    /// Drops the oldest `count` known outcomes; there are at least that many.
    #[inline]
    pub(crate) fn skip_known(&mut self, count: u32) {
        self.known = self.known.wrapping_shr(count);
        self.known_count = self.known_count.saturating_sub(count);
        self.count = self.count.saturating_sub(count.into());
    }

    /// Converts a remaining counted branch into a known one.
    pub(crate) fn latch(&mut self, predict: impl FnOnce() -> bool) {
        if self.known_count == 0
            && self.count() > 0
            && let Some(taken) = self.take(predict)
        {
            self.push(taken);
        }
    }

    /// Whether the next branch is taken, if that is known.
    pub(crate) fn peek(&self) -> Option<bool> {
        (self.known_count > 0).then_some(self.known & 1 == 0)
    }
}
