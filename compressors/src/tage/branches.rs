//! The predictor of conditional branches: a table of counters, and tagged tables indexed by more and more of the
//! history.

use super::Tage;

/// What one tagged table knows about a branch after a certain history.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    tag: u32,
    /// From -4 to 3; 0 and above predict taken.
    counter: i8,
    /// Whether it was right where the next best prediction was wrong.
    useful: bool,
}

/// The last outcomes, folded to a width: bit `i` is the sum of all bits `i + n * width` of the history, without carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Folded {
    width: u32,
    /// The bit where the oldest one leaves.
    last: u32,
    value: u32,
}

impl Folded {
    fn new(length: u32, width: u32) -> Self {
        Self { width, last: length % width.max(1), value: 0 }
    }

    /// Follows a history to which `new` is added and from which the oldest bit, `old`, is lost.
    #[inline]
    fn push(&mut self, new: u32, old: u32) {
        if self.width > 0 {
            let value = (self.value << 1 | new) ^ old << self.last;
            self.value = (value ^ value >> self.width) & ((1 << self.width) - 1);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    entries: Vec<Entry>,
    /// Number of outcomes.
    length: u32,
    index: Folded,
    /// Folded to the width of a tag, and to one bit less, so that histories with equal index have other tags.
    tag: [Folded; 2],
}

/// The most tables.
pub(super) const TABLES: usize = 8;

/// The prediction for a branch, and where it comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The prediction.
    pub(super) taken: bool,
    /// How sure it is.
    pub(super) sure: Sureness,
    base: usize,
    /// Index and tag in every table.
    places: [(usize, u32); TABLES],
    /// The table with the longest history that knows the branch, its prediction, and the next best one.
    provider: Option<usize>,
    first: bool,
    second: bool,
    doubted: bool,
}

/// How sure a prediction is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Sureness {
    /// From the table without history, with a counter of 1 or 2, or of 0 or 3.
    Base { strong: bool, doubted: bool },
    /// From a tagged table. `strength` is 0 to 3, the distance of the counter from a change.
    Tagged { strength: u8, useful: bool, agreed: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Branches {
    base: Vec<u8>,
    tables: Vec<Table>,
    /// The last bit is the latest.
    history: u128,
    index_bits: u32,
    tag_bits: u32,
}

impl Branches {
    pub(super) fn new(config: &Tage) -> Self {
        let (index_bits, tag_bits) = (config.entries.ilog2(), config.tag);
        let table = |number| {
            let length = config.length(number);
            let [index, long, short] =
                [index_bits, tag_bits, tag_bits - 1].map(|width| Folded::new(length, width));
            let entries = vec![Entry::default(); config.entries as usize];
            Table { entries, length, index, tag: [long, short] }
        };
        Self {
            base: vec![1; config.base as usize],
            tables: (0..config.tables).map(table).collect(),
            history: 0,
            index_bits,
            tag_bits,
        }
    }

    pub(super) fn predict(&self, pc: u64) -> Outcome {
        let half = (pc >> 1) as u32;
        let base = half as usize & (self.base.len() - 1);
        let counter = self.base[base];
        let (mut places, mut provider, mut other) = ([(0, 0); TABLES], None, None);
        for (number, table) in self.tables.iter().enumerate() {
            let index = half ^ half >> self.index_bits ^ table.index.value;
            let index = index as usize & (table.entries.len() - 1);
            let tag = half ^ table.tag[0].value ^ table.tag[1].value << 1;
            let tag = tag & ((1 << self.tag_bits) - 1);
            places[number] = (index, tag);
            if table.entries[index].tag == tag {
                (provider, other) = (Some(number), provider);
            }
        }
        let known = |number: usize| self.tables[number].entries[places[number].0];
        let plain = counter >= 2;
        let second = other.map_or(plain, |number| known(number).counter >= 0);
        let first = provider.map_or(plain, |number| known(number).counter >= 0);
        // An entry that is new, or has been wrong, is not believed yet.
        let doubted = provider.is_some_and(|number| {
            let entry = known(number);
            matches!(entry.counter, -1 | 0) && !entry.useful
        });
        let used = if doubted { other } else { provider };
        let sure = match used {
            None => Sureness::Base { strong: matches!(counter, 0 | 3), doubted },
            Some(number) => {
                let Entry { counter, useful, .. } = known(number);
                let strength = counter.max(-1 - counter) as u8;
                Sureness::Tagged { strength, useful, agreed: first == second }
            }
        };
        let taken = if doubted { second } else { first };
        Outcome { taken, sure, base, places, provider, first, second, doubted }
    }

    /// Learns the outcome of a branch that was predicted.
    pub(super) fn update(&mut self, predicted: &Outcome, taken: bool) {
        let Outcome { base, places, provider, first, second, doubted, .. } = *predicted;
        if let Some(number) = provider {
            let entry = &mut self.tables[number].entries[places[number].0];
            entry.counter =
                if taken { 3.min(entry.counter + 1) } else { (-4).max(entry.counter - 1) };
            if first != second {
                entry.useful = first == taken;
            }
        } else {
            let counter = &mut self.base[base];
            *counter = if taken { 3.min(*counter + 1) } else { counter.saturating_sub(1) };
        }
        if predicted.taken != taken && !(doubted && first == taken) {
            self.allocate(provider.map_or(0, |number| number + 1), &places, taken);
        }
        self.push(taken);
    }

    /// Takes the first entry that is not useful, from a table on. If all are, none is any longer.
    fn allocate(&mut self, from: usize, places: &[(usize, u32); TABLES], taken: bool) {
        let mut candidates = self.tables.iter_mut().zip(places).skip(from);
        let free = candidates.find_map(|(table, (index, tag))| {
            let entry = &mut table.entries[*index];
            (!entry.useful).then_some((entry, *tag))
        });
        if let Some((entry, tag)) = free {
            *entry = Entry { tag, counter: if taken { 0 } else { -1 }, useful: false };
            return;
        }
        for (table, (index, _)) in self.tables.iter_mut().zip(places).skip(from) {
            table.entries[*index].useful = false;
        }
    }

    /// Adds a bit to the history.
    pub(super) fn push(&mut self, bit: bool) {
        for table in &mut self.tables {
            let old = (self.history >> (table.length - 1)) as u32 & 1;
            table.index.push(bit.into(), old);
            table.tag[0].push(bit.into(), old);
            table.tag[1].push(bit.into(), old);
        }
        self.history = self.history << 1 | u128::from(bit);
    }
}
