use super::History;
use alloc::vec;
use alloc::vec::Vec;
use hartrace_bits::mask;

/// Number of tagged tables.
const TAGGED: usize = 4;
/// Outcomes that each of them looks at.
const LENGTHS: [u32; TAGGED] = [4, 8, 16, 32];
/// Number of return addresses; a power of two.
const RETURNS: usize = 16;
/// Low bits of addresses that are kept.
const KEPT: u64 = mask(History::NEAR_BITS + 1);

/// An entry of a tagged table.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    tag: u8,
    counter: i8,
    useful: bool,
}

/// An entry of the table of places by path.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Trail {
    tag: u8,
    trust: u8,
    place: u16,
}

/// The tables of history prediction, which encoder and decoder keep in step.
///
/// `docs/design/extension-mode.md` defines them. The golden model has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    index_bits: u32,
    base: Vec<u8>,
    tagged: [Vec<Entry>; TAGGED],
    outcomes: u32,
    /// Of the outcomes that each table looks at.
    folds: [Folds; TAGGED],
    returns: [u32; RETURNS],
    top: usize,
    targets: Vec<u32>,
    by_jump: Vec<u16>,
    by_path: Vec<Trail>,
    path: u32,
}

/// The prediction for a branch.
#[derive(Copy, Clone, Debug)]
pub struct BranchGuess {
    /// The prediction.
    pub taken: bool,
    /// How reliable it is: which run counts it.
    pub class: usize,
    base: usize,
    /// Index and tag in every table.
    places: [(usize, u8); TAGGED],
    /// Number of the table that knows the branch, from 1; 0 if there is none.
    provider: usize,
    first: bool,
    second: bool,
    doubted: bool,
}

/// The prediction for an uninferable jump.
#[derive(Copy, Clone, Debug)]
pub struct JumpGuess {
    /// The predicted target.
    pub target: u64,
    /// How reliable it is: which run counts it.
    pub class: usize,
    by_jump: usize,
    by_path: usize,
    tag: u8,
}

impl JumpGuess {
    /// Whether the return stack predicts the jump: its target is never sent as a place.
    #[inline]
    pub const fn returns(&self) -> bool {
        self.class == 5
    }
}

/// The exclusive or of all parts of `width` bits, at least 1.
#[inline]
fn fold(value: u32, width: u32) -> u32 {
    let (mut sum, mut rest) = (0, value);
    while rest != 0 {
        sum ^= rest;
        rest = rest.checked_shr(width).unwrap_or(0);
    }
    // Of what was added, only the lowest part is complete.
    sum & mask(width) as u32
}

/// The same of the last outcomes, kept while outcomes come and go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Folded {
    sum: u32,
    width: u32,
    mask: u32,
    /// Where the outcome is that is no longer among the last.
    end: u32,
}

impl Folded {
    /// Of `length` outcomes in parts of `width` bits, 1 to 31.
    fn new(length: u32, width: u32) -> Self {
        let end = length.checked_rem(width).unwrap_or(0);
        Self { sum: 0, width, mask: mask(width) as u32, end }
    }

    /// Every outcome moves on by a place, from the last of a part to the first.
    #[inline]
    fn enter(&mut self, outcome: u32, left: u32) {
        let turned = self.sum << 1 | self.sum.wrapping_shr(self.width.wrapping_sub(1));
        self.sum = (turned ^ outcome ^ left.wrapping_shl(self.end)) & self.mask;
    }
}

/// What the index and the tag of a table are made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Folds {
    index: Folded,
    eight: Folded,
    seven: Folded,
}

impl Folds {
    fn new(length: u32, index_bits: u32) -> Self {
        let [index, eight, seven] = [index_bits, 8, 7].map(|width| Folded::new(length, width));
        Self { index, eight, seven }
    }

    /// For each table.
    fn all(index_bits: u32) -> [Self; TAGGED] {
        LENGTHS.map(|length| Self::new(length, index_bits))
    }
}

#[inline]
fn half(address: u64) -> u32 {
    (address >> 1) as u32
}

#[inline]
fn within(number: u32, len: usize) -> usize {
    number as usize & len.wrapping_sub(1)
}

impl Tables {
    /// The tables of an encoder whose `hpred_size_p` is this, as a synchronisation leaves them.
    pub fn new(hpred_size_p: u8) -> Self {
        let index_bits = u32::from(hpred_size_p.clamp(1, 9));
        let sized = |shift: u32| 1usize.wrapping_shl(index_bits.wrapping_add(shift));
        Self {
            index_bits,
            base: vec![1; sized(3)],
            tagged: core::array::from_fn(|_| vec![Entry::default(); sized(0)]),
            outcomes: 0,
            folds: Folds::all(index_bits),
            returns: [0; RETURNS],
            top: 0,
            targets: vec![0; sized(1)],
            by_jump: vec![0; sized(0)],
            by_path: vec![Trail::default(); sized(1)],
            path: 0,
        }
    }

    /// Forgets everything, as at a synchronisation.
    pub fn reset(&mut self) {
        self.base.fill(1);
        self.tagged.iter_mut().for_each(|table| table.fill(Entry::default()));
        self.targets.fill(0);
        self.by_jump.fill(0);
        self.by_path.fill(Trail::default());
        (self.outcomes, self.path, self.top) = (0, 0, 0);
        self.folds = Folds::all(self.index_bits);
        self.returns = [0; RETURNS];
    }

    /// Predicts the branch at `pc`.
    #[inline]
    pub fn branch(&self, pc: u64) -> BranchGuess {
        let h = half(pc);
        let base = within(h, self.base.len());
        let counter = self.base.get(base).copied().unwrap_or(0);
        let hashed = h ^ h.wrapping_shr(self.index_bits);
        let mut places = [(0, 0); TAGGED];
        let (mut provider, mut best, mut next) = (0, None, None);
        let tables = self.tagged.iter().zip(&self.folds).zip(&mut places);
        for (number, ((table, Folds { index, eight, seven }), place)) in (1..).zip(tables) {
            let index = within(hashed ^ index.sum, table.len());
            let tag = (h ^ eight.sum ^ seven.sum << 1) as u8;
            *place = (index, tag);
            if let Some(entry) = table.get(index)
                && entry.tag == tag
            {
                (provider, best, next) = (number, Some(*entry), best);
            }
        }
        let plain = counter >= 2;
        let says = |entry: Option<Entry>| entry.map_or(plain, |entry| entry.counter >= 0);
        let (first, second) = (says(best), says(next));
        let doubted = best.is_some_and(|entry| matches!(entry.counter, -1 | 0) && !entry.useful);
        let (taken, used) = if doubted { (second, next) } else { (first, best) };
        let class = match used.map(|entry| entry.counter) {
            None => usize::from(!matches!(counter, 1 | 2)),
            Some(-1 | 0) => 2,
            Some(-4 | 3) => 4,
            Some(_) => 3,
        };
        BranchGuess { taken, class, base, places, provider, first, second, doubted }
    }

    /// Learns the outcome of a branch.
    #[inline]
    pub fn learn_branch(&mut self, guess: &BranchGuess, taken: bool) {
        let BranchGuess { base, places, provider, first, second, doubted, .. } = *guess;
        let known = provider.checked_sub(1);
        let known = known.and_then(|at| self.tagged.get_mut(at).zip(places.get(at)));
        match known.and_then(|(table, place)| table.get_mut(place.0)) {
            Some(entry) => {
                let step = if taken { 1 } else { -1 };
                entry.counter = entry.counter.saturating_add(step).clamp(-4, 3);
                if first != second {
                    entry.useful = first == taken;
                }
            }
            None => {
                if let Some(counter) = self.base.get_mut(base) {
                    let more = counter.saturating_add(1).min(3);
                    *counter = if taken { more } else { counter.saturating_sub(1) };
                }
            }
        }
        if guess.taken != taken && !(doubted && first == taken) {
            self.allocate(provider, &places, taken);
        }
        self.enter(taken);
    }

    /// Takes the entry of the first table from `from` on that is not useful; if all are, none is any
    /// longer.
    #[cold]
    fn allocate(&mut self, from: usize, places: &[(usize, u8); TAGGED], taken: bool) {
        let counter = if taken { 0 } else { -1 };
        for (table, (index, tag)) in self.tagged.iter_mut().zip(places).skip(from) {
            if let Some(entry) = table.get_mut(*index)
                && !entry.useful
            {
                *entry = Entry { tag: *tag, counter, useful: false };
                return;
            }
        }
        for (table, (index, _)) in self.tagged.iter_mut().zip(places).skip(from) {
            if let Some(entry) = table.get_mut(*index) {
                entry.useful = false;
            }
        }
    }

    #[inline]
    fn enter(&mut self, outcome: bool) {
        let outcome = u32::from(outcome);
        for (folds, length) in self.folds.iter_mut().zip(LENGTHS) {
            let left = self.outcomes.wrapping_shr(length.wrapping_sub(1)) & 1;
            let Folds { index, eight, seven } = folds;
            [index, eight, seven].into_iter().for_each(|folded| folded.enter(outcome, left));
        }
        self.outcomes = self.outcomes << 1 | outcome;
    }

    /// Predicts the uninferable jump at `pc`, from the return stack if it `returns`.
    #[inline]
    pub fn jump(&self, pc: u64, returns: bool) -> JumpGuess {
        let h = half(pc);
        let bits = self.place_bits();
        let by_jump = within(h ^ h.wrapping_shr(self.index_bits), self.by_jump.len());
        let hashed = h ^ h.wrapping_shr(bits) ^ fold(self.path, bits);
        let by_path = within(hashed, self.by_path.len());
        let tag = (h ^ fold(self.path, 6) ^ fold(self.path, 5) << 1) as u8 & 63;
        let trail = self.by_path.get(by_path).filter(|trail| trail.tag == tag);
        let (low, class) = match trail {
            _ if returns => (self.returns.get(self.top), 5),
            Some(trail) => (self.targets.get(usize::from(trail.place)), 7),
            None => {
                let place = self.by_jump.get(by_jump).copied().unwrap_or(0);
                (self.targets.get(usize::from(place)), 6)
            }
        };
        let target = pc & !KEPT | u64::from(low.copied().unwrap_or(0));
        JumpGuess { target, class, by_jump, by_path, tag }
    }

    /// Learns the target of a jump; [`Tables::link`] follows the return stack.
    #[inline]
    pub fn learn_jump(&mut self, guess: &JumpGuess, target: u64) {
        if guess.returns() {
            return;
        }
        let place = self.place(target);
        if let Some(low) = self.targets.get_mut(usize::from(place)) {
            *low = (target & KEPT) as u32;
        }
        let wrong = target != guess.target;
        if let Some(trail) = self.by_path.get_mut(guess.by_path) {
            match (wrong, trail.trust) {
                (false, trust) if guess.class == 7 => trail.trust = trust.saturating_add(1).min(3),
                (false, _) => {}
                (true, 0) => *trail = Trail { tag: guess.tag, trust: 0, place },
                (true, trust) => trail.trust = trust.saturating_sub(1),
            }
        }
        if guess.class == 6
            && let Some(known) = self.by_jump.get_mut(guess.by_jump)
        {
            *known = place;
        }
        let q = half(target);
        self.path = (self.path << 3 ^ q ^ q >> 4) & 0xffff;
        let x = target >> 1 ^ target >> 3 ^ target >> 5 ^ target >> 7;
        self.enter(x & 1 != 0);
        self.enter(x & 2 != 0);
    }

    /// Bits of a place in the target cache.
    #[inline]
    pub const fn place_bits(&self) -> u32 {
        self.index_bits.wrapping_add(1)
    }

    /// The place of a target in the cache.
    #[inline]
    pub fn place(&self, target: u64) -> u16 {
        within(half(target), self.targets.len()) as u16
    }

    /// The target at a place of the cache, for a jump at `pc`.
    #[inline]
    pub fn target(&self, pc: u64, place: u16) -> u64 {
        let low = self.targets.get(usize::from(place)).copied().unwrap_or(0);
        pc & !KEPT | u64::from(low)
    }

    /// Follows a jump: a return, a call with its return address, or both.
    #[inline]
    pub fn link(&mut self, returns: bool, call: Option<u64>) {
        if returns {
            self.top = self.top.wrapping_sub(1) & (RETURNS - 1);
        }
        if let Some(address) = call {
            self.push(address);
        }
    }

    /// Pushes a return address, or that of an instruction that a trap interrupted.
    #[inline]
    pub fn push(&mut self, address: u64) {
        self.top = self.top.wrapping_add(1) & (RETURNS - 1);
        if let Some(entry) = self.returns.get_mut(self.top) {
            *entry = (address & KEPT) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept is what the definition says, whatever the outcomes and the size of the tables.
    #[test]
    fn folded_outcomes_are_those_of_the_definition() {
        for hpred_size_p in 1..=9 {
            let mut tables = Tables::new(hpred_size_p);
            let mut random = 1_u32;
            for number in 0..200 {
                if number == 100 {
                    tables.reset();
                }
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                tables.enter(random >> 31 != 0);
                for (folds, length) in tables.folds.iter().zip(LENGTHS) {
                    let last = tables.outcomes & mask(length) as u32;
                    let [index, eight, seven] = [hpred_size_p.into(), 8, 7].map(|w| fold(last, w));
                    let found = (folds.index.sum, folds.eight.sum, folds.seven.sum);
                    assert_eq!(found, (index, eight, seven), "{hpred_size_p} {number} {length}");
                }
            }
        }
    }
}
