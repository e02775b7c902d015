//! The branch predictor, which decoder and encoder update in the same way.

use crate::tables::{entries, shift};
use hartrace_etrace::Params;

/// The next state for a state and an outcome, at index `2 * state + taken`.
const NEXT: [u8; 8] = [0b00, 0b01, 0b00, 0b11, 0b00, 0b11, 0b10, 0b11];
const INITIAL: u8 = 0b01;

/// Two-bit branch predictor (Spec: E-Trace 2.0, 3.2.6): bit 1 = prediction, bit 0 = last outcome.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    /// Empty until something is stored, so that a source that sends nothing useful needs no memory.
    states: Vec<u8>,
    entries: usize,
    shift: u32,
    /// Something was stored since the last reset.
    dirty: bool,
    /// Recorded while `watched`, in the order of the first use.
    uses: Vec<EntryUse>,
    /// The place of each entry in `uses`, if its use there is of this entry; otherwise anything.
    places: Vec<u32>,
    watched: bool,
}

/// The use of an entry by a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryUse {
    index: u32,
    /// The states before the path from which it predicts what it predicted, one bit each.
    allowed: u8,
    /// The state after the path for each state before it, two bits each.
    after: u8,
}

impl EntryUse {
    /// An entry that the path has not used.
    const fn unused(index: u32) -> Self {
        Self { index, allowed: 0b1111, after: 0b11_10_01_00 }
    }

    /// Whether the path predicts what it predicted only from some states.
    pub(crate) fn is_particular(self) -> bool {
        self.allowed != 0b1111
    }

    /// The state after the path.
    #[inline]
    fn after(self, before: u8) -> u8 {
        self.after.wrapping_shr((before & 3).wrapping_mul(2).into()) & 3
    }

    /// It predicts `taken`.
    fn predict(&mut self, taken: bool) {
        // The predictions from the four states, moved together.
        let apart = self.after.wrapping_shr(1) & 0b01_01_01_01;
        let pairs = (apart | apart.wrapping_shr(1)) & 0b0011_0011;
        let predicted = (pairs | pairs.wrapping_shr(2)) & 0b1111;
        self.allowed &= if taken { predicted } else { !predicted };
    }

    /// It learns an outcome.
    fn learn(&mut self, taken: bool) {
        // All four states at once: the prediction changes with the second equal outcome.
        let prediction = self.after & 0b10_10_10_10;
        let last = self.after.wrapping_shl(1) & 0b10_10_10_10;
        self.after = if taken { prediction | last | 0b01_01_01_01 } else { prediction & last };
    }
}

fn predicts(state: u8) -> bool {
    state & 2 != 0
}

#[inline]
fn learn(state: u8, taken: bool) -> u8 {
    let next = usize::from(state & 3).wrapping_mul(2) | usize::from(taken);
    NEXT.get(next).copied().unwrap_or(INITIAL)
}

impl Predictor {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            states: Vec::new(),
            entries: entries(params.bpred_size_p),
            shift: shift(params),
            dirty: false,
            uses: Vec::new(),
            places: Vec::new(),
            watched: false,
        }
    }

    /// A predictor of the same size that nothing was stored in.
    pub(crate) fn empty(&self) -> Self {
        let (states, uses, places) = (Vec::new(), Vec::new(), Vec::new());
        Self { states, uses, places, dirty: false, watched: false, ..*self }
    }

    pub(crate) fn reset(&mut self) {
        if self.dirty {
            self.states.fill(INITIAL);
            self.dirty = false;
        }
    }

    #[inline]
    fn index(&self, address: u64) -> usize {
        (address.wrapping_shr(self.shift) as usize) & self.entries.wrapping_sub(1)
    }

    /// The state of an entry; of all entries before anything is stored.
    #[inline]
    fn state(&self, index: usize) -> u8 {
        self.states.get(index).map_or(INITIAL, |state| *state)
    }

    /// Whether the branch is predicted to be taken.
    #[inline]
    pub(crate) fn predict(&self, address: u64) -> bool {
        predicts(self.state(self.index(address)))
    }

    /// The same, for a path that depends on it.
    #[inline]
    pub(crate) fn consult(&mut self, address: u64) -> bool {
        let index = self.index(address);
        let taken = predicts(self.state(index));
        if self.watched {
            self.note(index, |entry| entry.predict(taken));
        }
        taken
    }

    #[inline]
    pub(crate) fn update(&mut self, address: u64, taken: bool) {
        let index = self.index(address);
        if self.watched {
            self.note(index, |entry| entry.learn(taken));
        }
        self.allocate();
        if let Some(state) = self.states.get_mut(index) {
            *state = learn(*state, taken);
            self.dirty = true;
        }
    }

    /// The same as [`Predictor::consult`] and [`Predictor::update`] with what was predicted.
    #[inline]
    pub(crate) fn confirm(&mut self, address: u64) {
        let index = self.index(address);
        let taken = predicts(self.state(index));
        if self.watched {
            self.note(index, |entry| {
                entry.predict(taken);
                entry.learn(taken);
            });
        }
        self.allocate();
        if let Some(state) = self.states.get_mut(index) {
            *state = if taken { 0b11 } else { 0b00 };
            self.dirty = true;
        }
    }

    #[inline]
    fn allocate(&mut self) {
        if self.states.is_empty() {
            self.states.resize(self.entries, INITIAL);
        }
    }

    /// Records a use of an entry.
    fn note(&mut self, index: usize, note: impl FnOnce(&mut EntryUse)) {
        let next = self.uses.len();
        let Some(place) = self.places.get_mut(index) else { return };
        let known = self.uses.get(*place as usize).is_some_and(|entry| entry.index == index as u32);
        if !known {
            *place = next as u32;
            self.uses.push(EntryUse::unused(index as u32));
        }
        if let Some(entry) = self.uses.get_mut(*place as usize) {
            note(entry);
        }
    }

    /// Starts recording the use of entries, if they are used at all.
    pub(crate) fn watch(&mut self, used: bool) {
        self.uses.clear();
        self.watched = used;
        if used {
            self.places.resize(self.entries, 0);
        }
    }

    /// Ends the recording of [`Predictor::watch`].
    pub(crate) fn unwatch(&mut self) {
        self.watched = false;
    }

    /// The uses that were recorded since [`Predictor::watch`], one for each entry.
    pub(crate) fn used(&self) -> &[EntryUse] {
        &self.uses
    }

    /// Whether a path with these uses would predict what it predicted when it was recorded.
    #[inline]
    pub(crate) fn agrees(&self, uses: &[EntryUse]) -> bool {
        uses.iter().all(|entry| entry.allowed >> (self.state(entry.index as usize) & 3) & 1 != 0)
    }

    /// Repeats recorded uses.
    #[inline]
    pub(crate) fn repeat(&mut self, uses: &[EntryUse]) {
        if uses.is_empty() {
            return;
        }
        self.allocate();
        self.dirty = true;
        for entry in uses {
            if let Some(state) = self.states.get_mut(entry.index as usize) {
                *state = entry.after(*state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_learns_and_predicts_from_every_state() {
        for (after, allowed, taken) in
            (0..=255).flat_map(|after| [(after, 0b1111, false), (after, 0b0110, true)])
        {
            let old = EntryUse { index: 0, allowed, after };
            let (mut learnt, mut asked) = (old, old);
            learnt.learn(taken);
            asked.predict(taken);
            for before in 0..4 {
                assert_eq!(
                    learnt.after(before),
                    learn(old.after(before), taken),
                    "{old:?} {taken}"
                );
                let possible = allowed >> before & 1 != 0 && predicts(old.after(before)) == taken;
                assert_eq!(asked.allowed >> before & 1 != 0, possible, "{old:?} {taken}");
            }
            assert_eq!((learnt.allowed, asked.after), (allowed, after));
        }
    }
}
