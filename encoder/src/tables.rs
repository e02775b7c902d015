//! The tables that encoder and decoder keep in step.
//!
//! Every synchronisation empties them. Their entries carry the number of the synchronisation after
//! which they were written, so this takes the same time for a table of any size.

use hartrace_etrace::Params;

/// Predicts branches (3.2.6): two-bit states, of which the upper bit is the prediction and the lower
/// one the last outcome.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    /// The state, below the epoch in which it was written.
    entries: Box<[u32]>,
    epoch: u32,
    lsb: u8,
}

impl Predictor {
    /// Not taken, but the last outcome was.
    const INITIAL: u32 = 0b01;
    const LAST_EPOCH: u32 = u32::MAX >> 2;

    pub(crate) fn new(params: &Params) -> Self {
        let entries = if params.bpred_size_p == 0 { 0 } else { 1 << params.bpred_size_p };
        let lsb = params.iaddress_lsb_p.max(1);
        Self { entries: vec![Self::INITIAL; entries].into(), epoch: 0, lsb }
    }

    pub(crate) fn reset(&mut self) {
        if self.epoch == Self::LAST_EPOCH {
            self.entries.fill(Self::INITIAL);
            self.epoch = 0;
        } else {
            self.epoch += 1;
        }
    }

    #[inline]
    fn index(&self, address: u64) -> usize {
        (address >> self.lsb) as usize & self.entries.len().wrapping_sub(1)
    }

    #[inline]
    fn state(&self, entry: u32) -> u32 {
        if entry >> 2 == self.epoch { entry & 3 } else { Self::INITIAL }
    }

    /// Whether the branch at `address` is predicted to be taken.
    #[inline]
    pub(crate) fn predict(&self, address: u64) -> bool {
        self.entries.get(self.index(address)).is_some_and(|entry| self.state(*entry) & 2 != 0)
    }

    /// Learns the outcome of the branch at `address`. Returns whether it had been predicted.
    #[inline]
    pub(crate) fn learn(&mut self, address: u64, taken: bool) -> bool {
        let (index, epoch) = (self.index(address), self.epoch);
        let Some(entry) = self.entries.get_mut(index) else { return !taken };
        let state = if *entry >> 2 == epoch { *entry & 3 } else { Self::INITIAL };
        let outcome = u32::from(taken);
        // The prediction must fail twice to change.
        let prediction = if matches!(state, 0b01 | 0b10) { outcome } else { state >> 1 };
        *entry = epoch << 2 | prediction << 1 | outcome;
        state >> 1 == outcome
    }
}

/// Remembers the targets of uninferable jumps (3.2.7): direct mapped, indexed by the target.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// The target, and the epoch in which it was stored.
    entries: Box<[(u64, u64)]>,
    epoch: u64,
    lsb: u8,
}

impl Cache {
    pub(crate) fn new(params: &Params) -> Self {
        let entries = if params.cache_size_p == 0 { 0 } else { 1 << params.cache_size_p };
        let lsb = params.iaddress_lsb_p.max(1);
        Self { entries: vec![(0, 0); entries].into(), epoch: 1, lsb }
    }

    pub(crate) fn reset(&mut self) {
        self.epoch += 1;
    }

    /// Stores `target`, and returns its index if it was there already.
    #[inline]
    pub(crate) fn enter(&mut self, target: u64) -> Option<u32> {
        let index = (target >> self.lsb) as usize & self.entries.len().wrapping_sub(1);
        let new = (target, self.epoch);
        let old = std::mem::replace(self.entries.get_mut(index)?, new);
        (old == new).then_some(index as u32)
    }
}

/// Predicts returns (3.2.5): a return stack, or a call counter.
#[derive(Clone, Debug)]
pub(crate) struct Returns {
    /// A ring: the newest entry is before `top`. Empty for a counter, which checks no target.
    ring: Box<[u64]>,
    top: usize,
    depth: u32,
    capacity: u32,
}

impl Returns {
    /// `wide_counter`: the counter holds `2^n` calls, as in the C model (C5), instead of the
    /// `2^n - 1` that fit into its `n` bits.
    pub(crate) fn new(params: &Params, wide_counter: bool) -> Self {
        let stack = params.return_stack_size_p > 0;
        let counter = 1u32 << params.call_counter_size_p;
        let capacity = match (stack, params.irdepth_bits()) {
            (true, _) => 1 << params.return_stack_size_p,
            (false, 0) => 0,
            (false, _) => counter - u32::from(!wide_counter),
        };
        let entries = if stack { capacity as usize } else { 0 };
        Self { ring: vec![0; entries].into(), top: 0, depth: 0, capacity }
    }

    /// Whether returns can be predicted at all.
    #[inline]
    pub(crate) fn exists(&self) -> bool {
        self.capacity > 0
    }

    pub(crate) fn reset(&mut self) {
        self.depth = 0;
    }

    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// A full stack forgets its oldest entry.
    #[inline]
    pub(crate) fn call(&mut self, return_address: u64) {
        let index = self.top & self.ring.len().wrapping_sub(1);
        if let Some(entry) = self.ring.get_mut(index) {
            *entry = return_address;
            self.top = index.wrapping_add(1);
        }
        self.depth = (self.depth + 1).min(self.capacity);
    }

    /// Removes the newest entry; returns whether there was one.
    #[inline]
    pub(crate) fn pop(&mut self) -> bool {
        let some = self.depth > 0;
        self.depth = self.depth.saturating_sub(1);
        self.top = self.top.wrapping_sub(some.into());
        some
    }

    /// Whether a return to `target` is predicted.
    #[inline]
    pub(crate) fn predicts(&self, target: u64) -> bool {
        let index = self.top.wrapping_sub(1) & self.ring.len().wrapping_sub(1);
        self.depth > 0 && self.ring.get(index).is_none_or(|top| *top == target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stack_drops_the_oldest() {
        let params = Params { return_stack_size_p: 1, ..Params::default() };
        let mut returns = Returns::new(&params, false);
        assert!(returns.exists() && !returns.pop());
        (1..=5).for_each(|address| returns.call(address));
        assert!(returns.predicts(5) && !returns.predicts(4) && returns.pop());
        assert!(returns.predicts(4) && returns.pop());
        assert!(!returns.predicts(3) && !returns.pop());
        returns.call(6);
        assert!(returns.predicts(6) && returns.depth() == 1);
    }

    #[test]
    fn a_counter_does_not_check() {
        let params = Params { call_counter_size_p: 2, ..Params::default() };
        let mut returns = Returns::new(&params, false);
        assert!(!returns.predicts(0));
        (0..9).for_each(|_| returns.call(7));
        assert!(returns.depth() == 3 && returns.predicts(0));
        assert_eq!(Returns::new(&params, true).capacity, 4);
        assert!(!Returns::new(&Params::default(), true).exists());
    }

    #[test]
    fn a_reset_empties_a_table_of_any_age() {
        let params = Params { bpred_size_p: 1, cache_size_p: 1, ..Params::default() };
        let mut predictor = Predictor::new(&params);
        predictor.epoch = Predictor::LAST_EPOCH - 1;
        for _ in 0..3 {
            assert!(!predictor.predict(2));
            assert!(!predictor.learn(2, true));
            assert!(predictor.predict(2));
            predictor.reset();
        }
        let mut cache = Cache::new(&params);
        assert_eq!(
            [cache.enter(0), cache.enter(0), cache.enter(4), cache.enter(0)],
            [None, Some(0), None, None]
        );
        cache.reset();
        assert_eq!(cache.enter(0), None);
        assert_eq!(Cache::new(&Params::default()).enter(0), None);
    }
}
