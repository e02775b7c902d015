//! Sections 1 to 4: parameters, state, and what is predicted of branches and jumps.

/// Section 1.
#[derive(Copy, Clone)]
pub(super) struct Parameters {
    pub(super) base: u64,
    pub(super) tables: usize,
    pub(super) entries: u64,
    pub(super) tag: u32,
    pub(super) history: usize,
    pub(super) targets: u64,
    pub(super) ras: usize,
    pub(super) records: usize,
    pub(super) range: bool,
}

#[derive(Copy, Clone, Default)]
pub(super) struct Tagged {
    pub(super) tag: u64,
    pub(super) c: i32,
    pub(super) u: u64,
}

#[derive(Copy, Clone, Default)]
pub(super) struct ByPath {
    pub(super) tag: u64,
    pub(super) place: u64,
    pub(super) trust: u64,
}

/// Section 2.
pub(super) struct State {
    pub(super) b: Vec<i32>,
    pub(super) t: Vec<Vec<Tagged>>,
    /// The latest last.
    pub(super) h: Vec<u64>,
    pub(super) r: Vec<u64>,
    pub(super) top: usize,
    pub(super) c: Vec<u64>,
    pub(super) j: Vec<u64>,
    pub(super) k: Vec<ByPath>,
    pub(super) path: u64,
    pub(super) handler: u64,
}

pub(super) fn state(p: &Parameters) -> State {
    let targets = p.targets as usize;
    State {
        b: vec![1; p.base as usize],
        t: vec![vec![Tagged::default(); p.entries as usize]; p.tables],
        h: vec![0; p.history],
        r: vec![0; p.ras],
        top: 0,
        c: vec![0; targets],
        j: vec![0; targets / 2],
        k: vec![ByPath::default(); targets],
        path: 0,
        handler: 0,
    }
}

/// The exclusive or of parts of `w` bits; the first bit of the list is bit 0.
pub(super) fn fold(bits: &[u64], w: u32) -> u64 {
    let parts = bits.chunks(w.max(1) as usize);
    let number = |part: &[u64]| part.iter().rev().fold(0, |sum, bit| 2 * sum + bit);
    if w == 0 { 0 } else { parts.map(number).fold(0, |sum, part| sum ^ part) }
}

pub(super) fn bits_of(value: u64, width: u32) -> Vec<u64> {
    (0..width).map(|bit| value >> bit & 1).collect()
}

pub(super) const KEPT: u64 = (1 << 20) - 2;

/// An address of which bits 19 to 1 are kept.
pub(super) fn stands_for(kept: u64, jump: u64) -> u64 {
    jump & !((1 << 20) - 1) | kept
}

/// A prediction: right or wrong, its class and its context.
pub(super) struct Report {
    pub(super) class: usize,
    pub(super) context: usize,
    pub(super) wrong: bool,
    /// After a wrong one.
    pub(super) target: Option<Sent>,
}

pub(super) enum Sent {
    Place(u64),
    /// The address, and whether a place could have been sent.
    Address(Vec<u64>, bool),
}

impl State {
    /// Section 3: returns the report, and whether the branch is taken.
    pub(super) fn branch(
        &mut self,
        p: &Parameters,
        pc: u64,
        outcome: Option<bool>,
    ) -> (Report, bool) {
        let h = pc >> 1 & 0xffff_ffff;
        let b = (h % p.base) as usize;
        let n = p.entries.trailing_zeros();
        let latest: Vec<u64> = self.h.iter().rev().copied().collect();
        let mut place = Vec::new();
        for t in 0..p.tables {
            let used = &latest[..p.history >> (p.tables - 1 - t)];
            let i = (h ^ h >> n ^ fold(used, n)) % p.entries;
            let g = (h ^ fold(used, p.tag) ^ fold(used, p.tag - 1) << 1) % (1 << p.tag);
            place.push((i as usize, g));
        }
        let knows = |t: &usize| self.t[*t][place[*t].0].tag == place[*t].1;
        let mut known = (0..p.tables).rev().filter(knows);
        let (provider, other) = (known.next(), known.next());
        let entry = |t: usize| self.t[t][place[t].0];
        let by = |t: Option<usize>| t.map_or(self.b[b] >= 2, |t| entry(t).c >= 0);
        let (first, second) = (by(provider), by(other));
        let doubted =
            provider.is_some_and(|t| (entry(t).c == -1 || entry(t).c == 0) && entry(t).u == 0);
        let predicted = if doubted { second } else { first };
        let (class, context) = match if doubted { other } else { provider } {
            None => {
                let strong = usize::from(self.b[b] == 0 || self.b[b] == 3);
                (strong, strong + if doubted { 2 } else { 0 })
            }
            Some(t) => {
                let Tagged { c, u, .. } = entry(t);
                let strength = c.max(-1 - c) as usize;
                let context = 4 + 4 * strength + 2 * u as usize + usize::from(first == second);
                ([2, 3, 3, 4][strength], context)
            }
        };
        let taken = outcome.unwrap_or(predicted);
        // 3.3, step 1
        match provider {
            Some(t) => {
                let entry = &mut self.t[t][place[t].0];
                entry.c = (entry.c + if taken { 1 } else { -1 }).clamp(-4, 3);
                if first != second {
                    entry.u = u64::from(first == taken);
                }
            }
            None => self.b[b] = (self.b[b] + if taken { 1 } else { -1 }).clamp(0, 3),
        }
        // Step 2
        let wrong = predicted != taken;
        if wrong && !(doubted && first == taken) {
            let above = provider.map_or(0, |t| t + 1)..p.tables;
            match above.clone().find(|t| self.t[*t][place[*t].0].u == 0) {
                Some(t) => {
                    let c = if taken { 0 } else { -1 };
                    self.t[t][place[t].0] = Tagged { tag: place[t].1, c, u: 0 };
                }
                None => above.for_each(|t| self.t[t][place[t].0].u = 0),
            }
        }
        // Step 3
        self.enter(u64::from(taken));
        (Report { class, context, wrong, target: None }, taken)
    }

    pub(super) fn enter(&mut self, bit: u64) {
        self.h.remove(0);
        self.h.push(bit);
    }

    /// Section 4, but for the return stack: returns the report, and the target.
    pub(super) fn jump(
        &mut self,
        p: &Parameters,
        pc: u64,
        returns: bool,
        to: Option<u64>,
        xlen: u32,
    ) -> (Report, u64) {
        let address = |to: u64| {
            let near = pc >> 20 == to >> 20;
            let mut bits = vec![u64::from(!near)];
            bits.extend((1..if near { 20 } else { xlen }).rev().map(|bit| to >> bit & 1));
            bits
        };
        if returns {
            let predicted = stands_for(self.r.get(self.top).copied().unwrap_or(0), pc);
            let to = to.unwrap_or(predicted);
            let wrong = to != predicted;
            let target = wrong.then(|| Sent::Address(address(to), false));
            return (Report { class: 5, context: 20, wrong, target }, to);
        }
        let h = pc >> 1 & 0xffff_ffff;
        let width = p.targets.trailing_zeros();
        let path = bits_of(self.path, 16);
        let j = ((h ^ h >> (width - 1)) % (p.targets / 2)) as usize;
        let k = ((h ^ h >> width ^ fold(&path, width)) % p.targets) as usize;
        let tag = (h ^ fold(&path, 6) ^ fold(&path, 5) << 1) % 64;
        let by_path = self.k[k];
        let has = by_path.tag == tag;
        let place = if has { by_path.place } else { self.j[j] };
        let predicted = stands_for(self.c[place as usize], pc);
        let (class, context) = if has { (7, 22 + by_path.trust as usize) } else { (6, 21) };
        let to = to.unwrap_or(predicted);
        let wrong = to != predicted;
        let place = to >> 1 & (p.targets - 1);
        let cached = stands_for(self.c[place as usize], pc) == to;
        let target = match (wrong, cached) {
            (false, _) => None,
            (true, true) => Some(Sent::Place(place)),
            (true, false) => Some(Sent::Address(address(to), true)),
        };
        // 4.3
        self.c[place as usize] = to & KEPT;
        if has && !wrong {
            self.k[k].trust = (by_path.trust + 1).min(3);
        } else if wrong && by_path.trust > 0 {
            self.k[k].trust -= 1;
        } else if wrong {
            self.k[k] = ByPath { tag, place, trust: 0 };
        }
        if !has {
            self.j[j] = place;
        }
        let q = to >> 1 & 0xffff_ffff;
        self.path = (self.path << 3 ^ q ^ q >> 4) % 65_536;
        let x = to >> 1 ^ to >> 3 ^ to >> 5 ^ to >> 7;
        self.enter(x & 1);
        self.enter(x >> 1 & 1);
        (Report { class, context, wrong, target }, to)
    }

    pub(super) fn push(&mut self, address: u64) {
        if !self.r.is_empty() {
            self.top = (self.top + 1) % self.r.len();
            self.r[self.top] = address & KEPT;
        }
    }
}
