//! Finds paths that were followed before, by their start and by the bits of their payload.
//!
//! Programs loop, so most payloads of a long trace are repetitions: if the same bits arrive in the
//! same state, the same instructions retire. The payload is then not parsed, and the program is not
//! followed again.

use crate::blocks::Blocks;
use crate::event::{Event, StreamPos};
use crate::paths::{NewPath, Paths};
use crate::run::{BlockId, Run, Span};
use crate::sink::{AnySink, Sink};

/// Longest path worth remembering, in spans.
const MAX_SPANS: usize = 1 << 10;

/// Number of slots in which a key may be.
const PROBES: usize = 4;

/// Most variants of a path, which require different contents of the tables.
const VARIANTS: u8 = 8;

/// Initial number of slots: small programs, and short parts of a stream, need few.
const FIRST_SLOTS: usize = 1 << 10;

/// Everything that the meaning of a payload depends on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    /// The payload.
    pub(crate) bits: [u64; 2],
    /// The address reported last.
    pub(crate) address: u64,
    /// The block that starts with the instruction retired last.
    pub(crate) block: BlockId,
    /// Number of bits, 8 bits of it.
    pub(crate) len: u8,
    /// The outcome of that instruction in the lowest two bits: 0 = no branch, 1 = not taken, 2 = taken.
    /// The modes that the payload depends on in the others: sources that share the paths may differ in
    /// them.
    pub(crate) pending: u8,
    /// Some bits of the return address on top of the stack, if returns are implicit: a hint, since a
    /// path may depend on the caller. The entries that the path actually uses are checked.
    pub(crate) caller: u16,
}

impl Key {
    #[inline(always)]
    fn hash(&self) -> u64 {
        let small = u64::from(self.caller) << 48
            | u64::from(self.block) << 16
            | u64::from(self.len) << 8
            | u64::from(self.pending);
        let [low, high] = self.bits;
        let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (high ^ self.address.rotate_left(32)).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ small.wrapping_mul(0xd6e8_feb8_6659_fd93);
        // The highest bits of a product depend on most bits of its factors.
        mixed.swap_bytes()
    }
}

/// What is known about a key.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Unused,
    /// The key has occurred once; most never occur again.
    Once,
    /// Number of its path.
    Path(u32),
}

/// The answer to a key.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing is known, and nothing is to be remembered.
    Nothing,
    /// The path is worth remembering, in this slot.
    Record(Slot),
    /// Number of its path.
    Path(u32),
}

/// Where a path is to be remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    place: Place,
    epoch: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In the slot of its key.
    Key(usize),
    /// As a variant of this path.
    Variant(u32),
}

/// Remembers the paths of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    /// Indexed by the hash of the key; a new key replaces an old one.
    slots: Vec<(Key, State)>,
    pub(crate) paths: Paths,
    /// Kept so that recording does not allocate.
    scratch: Scratch,
    cap: usize,
}

impl Memo {
    /// Remembers `cap` paths.
    pub(crate) fn new(cap: usize) -> Self {
        let cap = if cap == 0 { 0 } else { cap.min(1 << 24).next_power_of_two() };
        Self { cap, paths: Paths::new(cap), ..Self::default() }
    }

    /// Looks for a key, and notes that it occurred.
    #[inline(always)]
    pub(crate) fn find(&mut self, key: &Key) -> Found {
        let index = (key.hash() as usize) & self.slots.len().wrapping_sub(1);
        match self.slots.get(index) {
            Some((known, State::Path(path))) if known == key => Found::Path(*path),
            _ => self.find_near(key, index),
        }
    }

    /// Searches the slots after the first, and claims one if the key is not known.
    #[inline(never)]
    fn find_near(&mut self, key: &Key, index: usize) -> Found {
        if self.slots.is_empty() {
            // Allocated only when there is something to remember.
            self.slots.resize(self.cap.min(FIRST_SLOTS), <(Key, State)>::default());
        }
        let index = index & self.slots.len().wrapping_sub(1);
        let mut free = None;
        let mut again = false;
        for near in index..index.saturating_add(PROBES).min(self.slots.len()) {
            match self.slots.get(near) {
                Some((known, state)) if known == key && *state != State::Unused => {
                    if let State::Path(path) = state {
                        return Found::Path(*path);
                    }
                    (free, again) = (Some(near), true);
                    break;
                }
                // Better to replace this key than one that has proved useful.
                Some((_, State::Unused | State::Once)) => free = free.or(Some(near)),
                _ => {}
            }
        }
        let chosen = free.unwrap_or(index);
        if let Some(slot) = self.slots.get_mut(chosen) {
            *slot = (*key, State::Once);
        }
        // While there is room, every path is worth remembering, since most are followed again. Later,
        // only paths that were followed again are remembered.
        if again || self.paths.len() < self.cap / 2 {
            return Found::Record(Slot { place: Place::Key(chosen), epoch: self.paths.epoch() });
        }
        Found::Nothing
    }

    /// Where to remember another path for the key of `path`, since the tables hold something else; `None` if there are
    /// many already.
    pub(crate) fn vary(&self, path: u32) -> Option<Slot> {
        let few = self.paths.variants(path)? < VARIANTS;
        few.then(|| Slot { place: Place::Variant(path), epoch: self.paths.epoch() })
    }

    /// Remembers the path of a key.
    pub(crate) fn remember(&mut self, slot: Slot, path: NewPath<'_>, blocks: &Blocks) {
        if self.paths.is_full() {
            self.forget();
        }
        // The blocks of the path may have been discarded since.
        if slot.epoch != self.paths.epoch() {
            return;
        }
        let new = self.paths.push(path, blocks);
        match slot.place {
            Place::Key(index) => {
                if let Some((_, state)) = self.slots.get_mut(index) {
                    *state = State::Path(new);
                }
            }
            Place::Variant(first) => self.paths.add_variant(first, new),
        }
        if self.paths.len() > self.slots.len() / 2 {
            self.grow();
        }
    }

    /// Adds slots, up to the cap.
    #[cold]
    fn grow(&mut self) {
        let len = self.slots.len().saturating_mul(8).min(self.cap);
        if len <= self.slots.len() {
            return;
        }
        let old = std::mem::take(&mut self.slots);
        self.slots.resize(len, <(Key, State)>::default());
        for (key, state) in old.into_iter().filter(|(_, state)| *state != State::Unused) {
            let index = (key.hash() as usize) & len.wrapping_sub(1);
            let mut near = self.slots.iter_mut().skip(index).take(PROBES);
            if let Some(slot) = near.find(|(_, state)| *state == State::Unused) {
                *slot = (key, state);
            }
        }
    }

    /// Returns empty lists to record a path in; give them back with [`Memo::keep_scratch`].
    pub(crate) fn scratch(&mut self) -> Scratch {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.spans.clear();
        scratch.turn.clear();
        scratch
    }

    pub(crate) fn keep_scratch(&mut self, scratch: Scratch) {
        self.scratch = scratch;
    }

    /// Discards all paths.
    pub(crate) fn forget(&mut self) {
        self.slots.clear();
        self.paths.clear();
    }
}

/// Lists to record a path in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) spans: Vec<Span>,
    /// A turn of a loop that is reported together with others.
    turn: Vec<Span>,
}

/// Passes everything on to a sink of any type, and records the spans.
pub(crate) struct Recorder<'s, const REPEATS: bool> {
    sink: &'s mut dyn AnySink,
    pub(crate) scratch: Scratch,
    /// How often the present loop is repeated.
    turns: u64,
    /// Only instructions were reported, and not too many.
    pub(crate) plain: bool,
}

impl<const REPEATS: bool> Sink for Recorder<'_, REPEATS> {
    const REPEATS: bool = REPEATS;

    fn repeats(&self) -> bool {
        REPEATS && self.sink.repeats()
    }

    #[inline]
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        if !self.scratch.turn.is_empty() {
            self.unroll();
        }
        self.push(run.span);
        self.sink.run(at, run);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.turns = times;
        self.scratch.turn.push(run.span);
        self.plain &= self.scratch.turn.len() < MAX_SPANS;
        self.sink.repeat(at, run, times);
    }

    fn end_turn(&mut self) {
        self.sink.end_turn();
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.plain = false;
        self.sink.event(at, event);
    }
}

impl<'s, const REPEATS: bool> Recorder<'s, REPEATS> {
    pub(crate) fn new(sink: &'s mut dyn AnySink, scratch: Scratch) -> Self {
        Self { sink, scratch, turns: 0, plain: true }
    }

    #[inline]
    fn push(&mut self, span: Span) {
        if self.scratch.spans.len() < MAX_SPANS {
            self.scratch.spans.push(span);
        } else {
            self.plain = false;
        }
    }

    /// Appends all turns of a loop that were reported together. An instruction outside the loop always follows.
    #[cold]
    fn unroll(&mut self) {
        let turn = std::mem::take(&mut self.scratch.turn);
        while self.turns > 0 && self.plain {
            turn.iter().for_each(|span| self.push(*span));
            self.turns = self.turns.wrapping_sub(1);
        }
        self.scratch.turn = turn;
        self.scratch.turn.clear();
    }
}
