//! Turns of a loop, of which one stands for all.

/// How often what happens at present happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) times: u64,
    /// Instructions of all times but the first.
    pub(crate) more: u64,
}

/// It happens once.
impl Default for Turns {
    fn default() -> Self {
        Self { times: 1, more: 0 }
    }
}

impl Turns {
    /// What happens from here on happens `times` times; all but the first have `more` instructions together.
    pub(crate) fn begin(times: u64, more: u64) -> Self {
        Self { times, more }
    }

    /// What is counted in one turn, for all of them.
    pub(crate) fn all(self, count: u64) -> u64 {
        count.saturating_mul(self.times)
    }

    /// The first turn ends after `at` instructions. Returns after how many the last one ends, where everything happens once
    /// again.
    pub(crate) fn end(&mut self, at: u64) -> u64 {
        at.saturating_add(std::mem::take(self).more)
    }
}
