//! The tables that encoder and decoder keep in step.

use hartrace_etrace::Params;

/// Predicts branches.
///
/// Spec: E-Trace 2.0, 3.2.6 "Branch prediction mode": two-bit states, msb = prediction, lsb = last
/// outcome, initially 01.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predictor {
    states: Vec<(bool, bool)>,
    lsb: u8,
}

impl Predictor {
    const INITIAL: (bool, bool) = (false, true);

    pub(crate) fn new(params: &Params) -> Self {
        let entries = if params.bpred_size_p == 0 { 0 } else { 1 << params.bpred_size_p };
        Self { states: vec![Self::INITIAL; entries], lsb: params.iaddress_lsb_p.max(1) }
    }

    pub(crate) fn reset(&mut self) {
        self.states.fill(Self::INITIAL);
    }

    fn index(&self, address: u64) -> Option<usize> {
        let entries = self.states.len() as u64;
        (address >> self.lsb).checked_rem(entries).map(|i| i as usize)
    }

    /// Whether the branch at `address` is predicted to be taken.
    pub(crate) fn predict(&self, address: u64) -> bool {
        self.index(address).is_some_and(|i| self.states[i].0)
    }

    pub(crate) fn update(&mut self, address: u64, taken: bool) {
        let Some(i) = self.index(address) else { return };
        let (prediction, last) = self.states[i];
        // The prediction must fail twice to change.
        let prediction = if prediction != last { taken } else { prediction };
        self.states[i] = (prediction, taken);
    }
}

/// Remembers the targets of uninferable jumps.
///
/// Spec: E-Trace 2.0, 3.2.7 "Jump target cache mode": direct mapped, indexed by the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    targets: Vec<Option<u64>>,
    lsb: u8,
}

impl Cache {
    pub(crate) fn new(params: &Params) -> Self {
        let entries = if params.cache_size_p == 0 { 0 } else { 1 << params.cache_size_p };
        Self { targets: vec![None; entries], lsb: params.iaddress_lsb_p.max(1) }
    }

    pub(crate) fn reset(&mut self) {
        self.targets.fill(None);
    }

    /// The index of `target`, if there is a cache.
    fn index(&self, target: u64) -> Option<usize> {
        let entries = self.targets.len() as u64;
        (target >> self.lsb).checked_rem(entries).map(|i| i as usize)
    }

    /// The index at which `target` is stored.
    pub(crate) fn find(&self, target: u64) -> Option<u32> {
        let i = self.index(target)?;
        (self.targets[i] == Some(target)).then_some(i as u32)
    }

    pub(crate) fn store(&mut self, target: u64) {
        if let Some(i) = self.index(target) {
            self.targets[i] = Some(target);
        }
    }

    pub(crate) fn get(&self, index: u32) -> Option<u64> {
        *self.targets.get(index as usize)?
    }
}

/// Predicts returns: the return stack, or the call counter together with the addresses that a
/// decoder needs and an encoder ignores.
///
/// Spec: E-Trace 2.0, 3.2.5 "Implicit return mode".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Returns {
    stack: Vec<u64>,
    capacity: usize,
    checked: bool,
}

impl Returns {
    /// `wide_counter`: the counter holds `2^n` calls, as in the C model, instead of the `2^n - 1`
    /// that fit into its `n` bits.
    pub(crate) fn new(params: &Params, wide_counter: bool) -> Self {
        let checked = params.return_stack_size_p > 0;
        let capacity = if checked {
            1 << params.return_stack_size_p
        } else {
            (1usize << params.call_counter_size_p) - usize::from(!wide_counter)
        };
        let capacity = if params.irdepth_bits() == 0 { 0 } else { capacity };
        Self { stack: Vec::new(), capacity, checked }
    }

    /// Whether returns can be predicted at all.
    pub(crate) fn exists(&self) -> bool {
        self.capacity > 0
    }

    pub(crate) fn reset(&mut self) {
        self.stack.clear();
    }

    pub(crate) fn depth(&self) -> u32 {
        self.stack.len() as u32
    }

    pub(crate) fn call(&mut self, return_address: u64) {
        if self.stack.len() == self.capacity && !self.stack.is_empty() {
            self.stack.remove(0);
        }
        if self.stack.len() < self.capacity {
            self.stack.push(return_address);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u64> {
        self.stack.pop()
    }

    /// Where the next return leads.
    pub(crate) fn top(&self) -> Option<u64> {
        self.stack.last().copied()
    }

    /// Encoder: whether a return to `target` is predicted. The counter does not check the target.
    pub(crate) fn predicts(&self, target: u64) -> bool {
        self.stack.last().is_some_and(|top| !self.checked || *top == target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictor_follows_the_state_table() {
        let params = Params { bpred_size_p: 1, ..Params::default() };
        // (state, outcome) -> state, from the table in the specification
        for (from, taken, to) in [
            ((false, false), true, (false, true)),
            ((false, false), false, (false, false)),
            ((false, true), true, (true, true)),
            ((false, true), false, (false, false)),
            ((true, false), true, (true, true)),
            ((true, false), false, (false, false)),
            ((true, true), true, (true, true)),
            ((true, true), false, (true, false)),
        ] {
            let mut predictor = Predictor::new(&params);
            predictor.states[1] = from;
            assert_eq!(predictor.predict(0x1002), from.0);
            predictor.update(0x1002, taken);
            assert_eq!(predictor.states, [Predictor::INITIAL, to]);
        }
    }

    #[test]
    fn cache_is_direct_mapped_by_target() {
        let params = Params { cache_size_p: 2, ..Params::default() };
        let mut cache = Cache::new(&params);
        cache.store(0x1002);
        assert_eq!(cache.find(0x1002), Some(1));
        assert_eq!(cache.find(0x100a), None);
        cache.store(0x100a);
        assert_eq!((cache.find(0x1002), cache.get(1)), (None, Some(0x100a)));
        assert_eq!(Cache::new(&Params::default()).find(0), None);
    }

    #[test]
    fn full_stack_drops_the_oldest() {
        let params = Params { return_stack_size_p: 1, ..Params::default() };
        let mut returns = Returns::new(&params, false);
        for address in [1, 2, 3] {
            returns.call(address);
        }
        assert!(returns.predicts(3) && !returns.predicts(2));
        assert_eq!([returns.pop(), returns.pop(), returns.pop()], [Some(3), Some(2), None]);
    }

    #[test]
    fn counter_does_not_check() {
        let params = Params { call_counter_size_p: 2, ..Params::default() };
        let mut returns = Returns::new(&params, false);
        assert!(!returns.predicts(0));
        for _ in 0..9 {
            returns.call(7);
        }
        assert_eq!(returns.depth(), 3);
        assert!(returns.predicts(0));
        assert_eq!(Returns::new(&params, true).capacity, 4);
    }
}
