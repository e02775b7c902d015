//! History prediction: the tables that encoder and decoder keep in step, and the states of runs.
//!
//! `docs/design/extension-mode.md` defines them; section numbers here are those of that page. The
//! tables of `hartrace compare` and of the production crates are written separately.

/// Sizes that are the same in every unit (section 1).
const TABLES: usize = 4;
const TAG_BITS: u32 = 8;
const HISTORY_BITS: u32 = 32;
const RETURNS: usize = 16;
/// Records of a packet.
pub(crate) const RECORDS: usize = 20;
/// Addresses are kept without the bits from this one on.
pub(crate) const NEAR: u32 = 20;
/// Classes of predictions.
const CLASSES: usize = 8;
/// The class of predictions from the return stack.
const RETURN_CLASS: usize = 5;

/// Section 2: the exclusive or of all parts of `width` bits.
fn fold(mut value: u32, width: u32) -> u32 {
    let mut sum = 0;
    while value != 0 && width > 0 {
        sum ^= value & ((1 << width) - 1);
        value = if width < 32 { value >> width } else { 0 };
    }
    sum
}

/// Section 2: bits 32 to 1 of an address.
fn half(address: u64) -> u32 {
    (address >> 1) as u32
}

fn low(address: u64) -> u64 {
    address & ((1 << NEAR) - 1)
}

/// The address with these low bits near a jump.
pub(crate) fn near(jump: u64, low: u64) -> u64 {
    jump >> NEAR << NEAR | low
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Tagged {
    tag: u32,
    c: i32,
    u: bool,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct ByPath {
    tag: u32,
    place: u64,
    trust: u32,
}

/// Section 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tables {
    size: u32,
    b: Vec<u32>,
    t: [Vec<Tagged>; TABLES],
    h: u32,
    r: [u64; RETURNS],
    top: usize,
    c: Vec<u64>,
    j: Vec<u64>,
    k: Vec<ByPath>,
    path: u32,
}

/// Section 3.1.
#[derive(Clone, Debug)]
pub(crate) struct BranchPrediction {
    pub(crate) taken: bool,
    pub(crate) class: usize,
    b: usize,
    /// Index and tag in every table.
    places: [(usize, u32); TABLES],
    provider: Option<usize>,
    first: bool,
    second: bool,
    doubted: bool,
}

/// Section 4.1.
#[derive(Clone, Debug)]
pub(crate) struct JumpPrediction {
    pub(crate) target: u64,
    pub(crate) class: usize,
    j: usize,
    k: usize,
    tag: u32,
}

impl JumpPrediction {
    /// Whether the return stack gave it: no place is sent for such a jump.
    pub(crate) fn returns(&self) -> bool {
        self.class == RETURN_CLASS
    }
}

impl Tables {
    /// The tables of a unit, as a synchronisation leaves them.
    pub(crate) fn new(hpred_size_p: u8) -> Self {
        let size = u32::from(hpred_size_p);
        let targets = 2usize << size;
        Self {
            size,
            b: vec![1; 8 << size],
            t: std::array::from_fn(|_| vec![Tagged::default(); 1 << size]),
            h: 0,
            r: [0; RETURNS],
            top: 0,
            c: vec![0; targets],
            j: vec![0; targets / 2],
            k: vec![ByPath::default(); targets],
            path: 0,
        }
    }

    pub(crate) fn branch(&self, pc: u64) -> BranchPrediction {
        let h = half(pc);
        let b = h as usize % self.b.len();
        let places = std::array::from_fn(|t| {
            let length = HISTORY_BITS >> (TABLES - 1 - t);
            let outcomes = if length < 32 { self.h & ((1 << length) - 1) } else { self.h };
            let index = h ^ h >> self.size ^ fold(outcomes, self.size);
            let tag = h ^ fold(outcomes, TAG_BITS) ^ fold(outcomes, TAG_BITS - 1) << 1;
            (index as usize % self.t[t].len(), tag % (1 << TAG_BITS))
        });
        let entry = |t: usize| self.t[t][places[t].0];
        let mut knowing = (0..TABLES).rev().filter(|t| entry(*t).tag == places[*t].1);
        let (provider, other) = (knowing.next(), knowing.next());
        let without = self.b[b] >= 2;
        let first = provider.map_or(without, |t| entry(t).c >= 0);
        let second = other.map_or(without, |t| entry(t).c >= 0);
        let doubted =
            provider.is_some_and(|t| (entry(t).c == -1 || entry(t).c == 0) && !entry(t).u);
        // Section 3.2.
        let class = match if doubted { other } else { provider } {
            None if self.b[b] == 1 || self.b[b] == 2 => 0,
            None => 1,
            Some(t) => match entry(t).c {
                -1 | 0 => 2,
                -3..=2 => 3,
                _ => 4,
            },
        };
        let taken = if doubted { second } else { first };
        BranchPrediction { taken, class, b, places, provider, first, second, doubted }
    }

    /// Section 3.3.
    pub(crate) fn learn_branch(&mut self, p: &BranchPrediction, taken: bool) {
        let step = if taken { 1 } else { -1 };
        match p.provider {
            Some(t) => {
                let entry = &mut self.t[t][p.places[t].0];
                entry.c = (entry.c + step).clamp(-4, 3);
                if p.first != p.second {
                    entry.u = p.first == taken;
                }
            }
            None => self.b[p.b] = (self.b[p.b] as i32 + step).clamp(0, 3) as u32,
        }
        if p.taken != taken && !(p.doubted && p.first == taken) {
            let candidates = p.provider.map_or(0, |t| t + 1)..TABLES;
            match candidates.clone().find(|t| !self.t[*t][p.places[*t].0].u) {
                Some(t) => {
                    let (index, tag) = p.places[t];
                    self.t[t][index] = Tagged { tag, c: if taken { 0 } else { -1 }, u: false };
                }
                None => candidates.for_each(|t| self.t[t][p.places[t].0].u = false),
            }
        }
        self.shift(taken);
    }

    fn shift(&mut self, outcome: bool) {
        self.h = self.h << 1 | u32::from(outcome);
    }

    pub(crate) fn jump(&self, pc: u64, returns: bool) -> JumpPrediction {
        let h = half(pc);
        let place_bits = self.place_bits();
        let j = (h ^ h >> (place_bits - 1)) as usize % self.j.len();
        let k = (h ^ h >> place_bits ^ fold(self.path, place_bits)) as usize % self.k.len();
        let tag = (h ^ fold(self.path, 6) ^ fold(self.path, 5) << 1) % 64;
        let (target, class) = if returns {
            (near(pc, self.r[self.top]), RETURN_CLASS)
        } else if self.k[k].tag == tag {
            (self.at(pc, self.k[k].place), 7)
        } else {
            (self.at(pc, self.j[j]), 6)
        };
        JumpPrediction { target, class, j, k, tag }
    }

    /// Section 4.3, but for the return stack.
    pub(crate) fn learn_jump(&mut self, p: &JumpPrediction, target: u64) {
        if p.returns() {
            return;
        }
        let place = self.place(target);
        self.c[place as usize] = low(target);
        let wrong = target != p.target;
        let entry = &mut self.k[p.k];
        if p.class == 7 && !wrong {
            entry.trust = (entry.trust + 1).min(3);
        } else if wrong && entry.trust > 0 {
            entry.trust -= 1;
        } else if wrong {
            *entry = ByPath { tag: p.tag, place, trust: 0 };
        }
        if p.class == 6 {
            self.j[p.j] = place;
        }
        let q = half(target);
        self.path = (self.path << 3 ^ q ^ q >> 4) % (1 << 16);
        let x = target >> 1 ^ target >> 3 ^ target >> 5 ^ target >> 7;
        self.shift(x & 1 != 0);
        self.shift(x & 2 != 0);
    }

    /// Bits of a place in the target cache.
    pub(crate) fn place_bits(&self) -> u32 {
        self.size + 1
    }

    /// The place of a target.
    pub(crate) fn place(&self, target: u64) -> u64 {
        (target >> 1) % (self.c.len() as u64)
    }

    /// The target at a place, for a jump at `pc`.
    pub(crate) fn at(&self, pc: u64, place: u64) -> u64 {
        near(pc, self.c[place as usize])
    }

    /// Section 4.3, the last paragraph: follows calls and returns.
    pub(crate) fn link(&mut self, returns: bool, return_address: Option<u64>) {
        if returns {
            self.top = (self.top + RETURNS - 1) % RETURNS;
        }
        if let Some(address) = return_address {
            self.push(address);
        }
    }

    /// Pushes a return address, or that of an instruction that a trap interrupted.
    pub(crate) fn push(&mut self, address: u64) {
        self.top = (self.top + 1) % RETURNS;
        self.r[self.top] = low(address);
    }
}

/// Section 5: the states of all classes, and their open runs. `R` is what a side knows about the
/// record of a run.
#[derive(Clone, Debug)]
pub(crate) struct Runs<R> {
    states: [u32; CLASSES],
    open: [Option<(u64, R)>; CLASSES],
}

impl<R: Copy> Runs<R> {
    pub(crate) fn new() -> Self {
        Self { states: [4; CLASSES], open: [None; CLASSES] }
    }

    /// Bits of the number of right predictions in the record that a class starts now.
    pub(crate) fn bits(&self, class: usize) -> u32 {
        self.states[class] >> 2
    }

    /// Right predictions of the open run, and its record.
    pub(crate) fn open(&self, class: usize) -> Option<(u64, R)> {
        self.open[class]
    }

    pub(crate) fn start(&mut self, class: usize, record: R) {
        self.open[class] = Some((0, record));
    }

    /// Rule 2: adds a prediction to the open run. Returns whether that ended it.
    pub(crate) fn add(&mut self, class: usize, wrong: bool) -> bool {
        let most = 1 << self.bits(class);
        let Some((right, _)) = &mut self.open[class] else { return false };
        let state = &mut self.states[class];
        if wrong {
            *state = state.saturating_sub(1);
        } else {
            *right += 1;
            if *right < most {
                return false;
            }
            *state = (*state + 1).min(43);
        }
        self.open[class] = None;
        true
    }

    /// Rule 6: ends all runs, and returns their records.
    pub(crate) fn end(&mut self) -> Vec<R> {
        self.open.iter_mut().filter_map(Option::take).map(|(_, record)| record).collect()
    }
}
