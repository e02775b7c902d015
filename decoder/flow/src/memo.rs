//! Paths that were followed before, by where they start and by the bits of their payload.
//!
//! Programs loop, so most payloads of a long trace are repetitions: where the same bits arrive in the
//! same state, the same instructions retire. Then neither the payload is parsed nor the program
//! followed again.

use crate::blocks::{BlockId, Blocks, Span};
use crate::event::{Path, PathId};
use crate::tables::StackUse;
use crate::{Event, Leaves, Run, Sink, StreamPos};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Spans that all paths may have together, for every path that may be remembered.
const SPANS_PER_PATH: usize = 32;

/// Longest path worth remembering, in spans.
const MAX_SPANS: usize = 1 << 10;

/// Slots in which a key may be.
const PROBES: usize = 4;

/// Slots to start with: small programs, and short parts of a stream, need few.
const FIRST_SLOTS: usize = 1 << 10;

/// All that what a payload means depends on.
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
    /// The outcome of that instruction: 0 = no branch, 1 = not taken, 2 = taken.
    pub(crate) pending: u8,
    /// Some bits of the return address on top, where returns are implicit: a hint where one path
    /// depends on who called. What it needs is checked.
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

/// Where a path ends.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Landing {
    pub(crate) pc: u64,
    pub(crate) address: u64,
    pub(crate) block: BlockId,
    /// Whether the branch there is taken, if it is one.
    pub(crate) pending: Option<bool>,
}

/// A path that was gone.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Trail<'a> {
    /// The instruction retired before, and how it goes on.
    pub(crate) entry: (u64, Leaves),
    pub(crate) spans: &'a [Span],
    pub(crate) landing: Landing,
    pub(crate) stack: &'a StackUse,
}

/// A path that is remembered.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The instruction retired before, and how it goes on.
    pub(crate) entry: (u64, Leaves),
    spans: Range<u32>,
    /// Address of the first instruction.
    pub(crate) base: u64,
    /// Where its instructions are, from there on; none if they are too far apart.
    offsets: Range<u32>,
    pub(crate) insns: u64,
    landing: Landing,
    /// What it does with the return stack, if anything.
    stack: Option<u32>,
}

/// What is known about a key.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Unused,
    /// It has occurred; most never do again.
    Once,
    /// Number of its path.
    Path(u32),
}

/// The answer to a key.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing is known, or to be remembered.
    Nothing,
    /// Its path is worth remembering, in this slot.
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

/// An epoch that no other memo has or had: a sink may be used with several tracers.
fn next_epoch() -> u64 {
    static EPOCHS: AtomicU64 = AtomicU64::new(1);
    EPOCHS.fetch_add(1, Ordering::Relaxed)
}

/// The paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    /// By hash of the key; a new key takes the place of an old one.
    slots: Vec<(Key, State)>,
    known: Vec<Known>,
    spans: Vec<Span>,
    /// Where instructions are, for sinks that visit them all.
    offsets: Vec<i32>,
    stacks: Vec<StackUse>,
    /// So that recording does not allocate.
    scratch: Vec<Span>,
    cap: usize,
    epoch: u64,
}

impl Memo {
    /// Remembers `cap` paths.
    pub(crate) fn new(cap: usize) -> Self {
        let cap = if cap == 0 { 0 } else { cap.min(1 << 24).next_power_of_two() };
        Self { cap, epoch: next_epoch(), ..Self::default() }
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

    /// Looks behind the first slot, and takes one if the key is not known.
    #[inline(never)]
    fn find_near(&mut self, key: &Key, index: usize) -> Found {
        if self.slots.is_empty() {
            // Not before there is something to remember.
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
                // Rather this than one that has proved useful.
                Some((_, State::Unused | State::Once)) => free = free.or(Some(near)),
                _ => {}
            }
        }
        let chosen = free.unwrap_or(index);
        if let Some(slot) = self.slots.get_mut(chosen) {
            *slot = (*key, State::Once);
        }
        // While there is room, it is worth a try: most paths are gone again. Later, only those are
        // remembered that were.
        if again || self.known.len() < self.cap / 2 {
            return Found::Record(Slot { index: chosen, epoch: self.epoch });
        }
        Found::Nothing
    }

    /// A path and where it ends.
    #[inline(always)]
    pub(crate) fn path<'a>(
        &'a self,
        index: u32,
        blocks: &'a Blocks,
    ) -> Option<(Path<'a>, Landing)> {
        let known = self.known.get(index as usize)?;
        let id = PathId { epoch: self.epoch, index };
        Some((Path { id, known, memo: self, blocks }, known.landing))
    }

    /// The spans of a path.
    #[inline]
    pub(crate) fn spans(&self, known: &Known) -> &[Span] {
        let Range { start, end } = known.spans;
        self.spans.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Where the instructions of a path are; none if that has not been prepared.
    #[inline]
    pub(crate) fn offsets(&self, known: &Known) -> &[i32] {
        let Range { start, end } = known.offsets;
        self.offsets.get(start as usize..end as usize).unwrap_or_default()
    }

    /// What a path does with the return stack, if anything.
    #[inline]
    pub(crate) fn stack(&self, index: u32) -> Option<&StackUse> {
        let stack = self.known.get(index as usize)?.stack?;
        self.stacks.get(stack as usize)
    }

    /// Remembers the path of a key, with its `addresses` if they will be asked for.
    pub(crate) fn remember(
        &mut self,
        slot: Slot,
        trail: Trail<'_>,
        blocks: &Blocks,
        addresses: bool,
    ) {
        let Trail { entry, spans, landing, stack: used } = trail;
        let room = self.cap.saturating_mul(SPANS_PER_PATH);
        if self.known.len() >= self.cap || self.spans.len().max(self.offsets.len() >> 3) > room {
            self.forget();
        }
        // The blocks it is made of may be forgotten by now.
        if slot.epoch != self.epoch {
            return;
        }
        let Some((_, state)) = self.slots.get_mut(slot.index) else { return };
        *state = State::Path(self.known.len() as u32);
        let (first, offset) = (self.spans.len() as u32, self.offsets.len() as u32);
        self.spans.extend_from_slice(spans);
        let base = spans.first().and_then(|span| blocks.run(*span)).map_or(0, |run| run.start());
        if addresses {
            self.list(base, spans, blocks);
        }
        let uses = used.emptied || used.most > 0 || !used.popped.is_empty();
        let stack = uses.then_some(self.stacks.len() as u32);
        if uses {
            self.stacks.push(used.clone());
        }
        self.known.push(Known {
            stack,
            entry,
            spans: first..self.spans.len() as u32,
            base,
            offsets: offset..self.offsets.len() as u32,
            insns: spans.iter().fold(0, |sum, span| sum.wrapping_add(span.insns.into())),
            landing,
        });
        if self.known.len() > self.slots.len() / 2 {
            self.grow();
        }
    }

    /// Appends the offsets of all instructions, or none if one is too far away.
    fn list(&mut self, base: u64, spans: &[Span], blocks: &Blocks) {
        let old = self.offsets.len();
        let mut fits = true;
        for run in spans.iter().filter_map(|span| blocks.run(*span)) {
            run.addresses(|pc| match i32::try_from(pc.wrapping_sub(base) as i64) {
                Ok(offset) => self.offsets.push(offset),
                Err(_) => fits = false,
            });
        }
        if !fits {
            self.offsets.truncate(old);
        }
    }

    /// Makes more slots, up to the cap.
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

    /// An empty list to record a path in, which comes back with [`Memo::keep_scratch`].
    pub(crate) fn scratch(&mut self) -> Vec<Span> {
        let mut spans = std::mem::take(&mut self.scratch);
        spans.clear();
        spans
    }

    pub(crate) fn keep_scratch(&mut self, spans: Vec<Span>) {
        self.scratch = spans;
    }

    /// Forgets all paths.
    pub(crate) fn forget(&mut self) {
        self.slots.clear();
        self.known.clear();
        self.spans.clear();
        self.offsets.clear();
        self.stacks.clear();
        self.epoch = next_epoch();
    }
}

/// Writes down the spans that go to a sink.
#[derive(Debug)]
pub(crate) struct Recorder<'s, S> {
    pub(crate) sink: &'s mut S,
    pub(crate) spans: Vec<Span>,
    /// It is only instructions, and not too many.
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
