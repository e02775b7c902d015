//! Finds paths that were followed before, by their start and by the bits of their payload.
//!
//! Programs loop, so most payloads of a long trace are repetitions: if the same bits arrive in the
//! same state, the same instructions retire. The payload is then not parsed, and the program is not
//! followed again.

use crate::blocks::Blocks;
use crate::event::{Event, StreamPos};
use crate::paths::{NewPath, Paths};
use crate::run::{BlockId, Run, Span};
use crate::sink::Sink;

/// Longest path worth remembering, in spans.
const MAX_SPANS: usize = 1 << 10;

/// Number of slots in which a key may be.
const PROBES: usize = 4;

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
        let small =
            u64::from(self.block) << 16 | u64::from(self.len) << 8 | u64::from(self.pending);
        let [low, high] = self.bits;
        let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (high ^ self.address.rotate_left(32)).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ small.wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ mixed >> 29
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
    index: usize,
    epoch: u64,
}

/// Remembers the paths of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    /// Indexed by the hash of the key; a new key replaces an old one.
    slots: Vec<(Key, State)>,
    pub(crate) paths: Paths,
    /// Kept so that recording does not allocate.
    scratch: Vec<Span>,
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
            return Found::Nothing;
        }
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
            return Found::Record(Slot { index: chosen, epoch: self.paths.epoch() });
        }
        Found::Nothing
    }

    /// Remembers the path of a key, with its `addresses` if the sink will request them.
    pub(crate) fn remember(
        &mut self,
        slot: Slot,
        path: NewPath<'_>,
        blocks: &Blocks,
        addresses: bool,
    ) {
        if self.paths.is_full() {
            self.forget();
        }
        // The blocks of the path may have been discarded since.
        if slot.epoch != self.paths.epoch() {
            return;
        }
        let Some((_, state)) = self.slots.get_mut(slot.index) else { return };
        *state = State::Path(self.paths.push(path, blocks, addresses));
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

    /// Returns an empty list to record a path in; give it back with [`Memo::keep_scratch`].
    pub(crate) fn scratch(&mut self) -> Vec<Span> {
        let mut spans = std::mem::take(&mut self.scratch);
        spans.clear();
        spans
    }

    pub(crate) fn keep_scratch(&mut self, spans: Vec<Span>) {
        self.scratch = spans;
    }

    /// Discards all paths.
    pub(crate) fn forget(&mut self) {
        self.slots.clear();
        self.paths.clear();
    }
}

/// Passes everything on to a sink, and records the spans.
#[derive(Debug)]
pub(crate) struct Recorder<'s, S> {
    pub(crate) sink: &'s mut S,
    pub(crate) spans: Vec<Span>,
    /// Only instructions were reported, and not too many.
    pub(crate) plain: bool,
}

impl<S: Sink> Sink for Recorder<'_, S> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        if self.spans.len() < MAX_SPANS {
            self.spans.push(run.span);
        } else {
            self.plain = false;
        }
        self.sink.run(at, run);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.plain = false;
        self.sink.event(at, event);
    }
}
