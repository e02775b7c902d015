//! Paths that were followed before, by where they start and by the bits of their payload.
//!
//! Programs loop, so most payloads of a long trace are repetitions: where the same bits arrive in the
//! same state, the same instructions retire. Then neither the payload is parsed nor the program
//! followed again.

use crate::blocks::{BlockId, Span};
use crate::event::{Path, PathId};
use crate::outcomes::Outcomes;
use crate::{Event, Run, Sink, StreamPos};

/// Spans that all paths may have together, for every path that may be remembered.
const SPANS_PER_PATH: usize = 32;

/// Longest path worth remembering, in spans.
const MAX_SPANS: usize = 1 << 10;

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
}

impl Key {
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
    pub(crate) block: BlockId,
    pub(crate) address: u64,
    pub(crate) outcomes: Outcomes,
}

#[derive(Copy, Clone, Debug)]
struct Known {
    first: u32,
    spans: u32,
    insns: u64,
    landing: Landing,
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
    /// Nothing is known.
    Nothing,
    /// It has occurred once: worth remembering, in this slot.
    Once(Slot),
    /// Number of its path.
    Path(u32),
}

/// Where a path is to be remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    index: usize,
    epoch: u32,
}

/// The paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    /// By hash of the key; a new key takes the place of an old one.
    slots: Vec<(Key, State)>,
    known: Vec<Known>,
    spans: Vec<Span>,
    /// So that recording does not allocate.
    scratch: Vec<Span>,
    cap: usize,
    epoch: u32,
    /// From one epoch to the next.
    step: u32,
}

impl Memo {
    /// Remembers `cap` paths. Of a tracer's `of` memos, this is number `number`: their epochs differ.
    pub(crate) fn new(cap: usize, number: usize, of: usize) -> Self {
        let cap = if cap == 0 { 0 } else { cap.min(1 << 24).next_power_of_two() };
        Self { cap, epoch: number as u32, step: of as u32, ..Self::default() }
    }

    /// Looks for a key, and notes that it occurred.
    #[inline]
    pub(crate) fn find(&mut self, key: &Key) -> Found {
        let index = (key.hash() as usize) & self.cap.wrapping_sub(1);
        let Some((known, state)) = self.slots.get_mut(index) else {
            // Not before there is something to remember.
            self.slots.resize(self.cap, <(Key, State)>::default());
            return Found::Nothing;
        };
        match *state {
            State::Path(path) if known == key => Found::Path(path),
            State::Once if known == key => Found::Once(Slot { index, epoch: self.epoch }),
            _ => {
                (*known, *state) = (*key, State::Once);
                Found::Nothing
            }
        }
    }

    /// A path and where it ends.
    #[inline]
    pub(crate) fn path<'a>(
        &'a self,
        index: u32,
        offsets: &'a [u16],
    ) -> Option<(Path<'a>, Landing)> {
        let known = self.known.get(index as usize)?;
        let first = known.first as usize;
        let spans = self.spans.get(first..first.wrapping_add(known.spans as usize))?;
        let id = PathId { epoch: self.epoch, index };
        Some((Path { id, insns: known.insns, spans, offsets }, known.landing))
    }

    /// Remembers the path of a key that occurred for the second time.
    pub(crate) fn remember(&mut self, slot: Slot, spans: &[Span], landing: Landing) {
        let full = self.known.len() >= self.cap
            || self.spans.len() > self.cap.saturating_mul(SPANS_PER_PATH);
        if full {
            self.forget();
        }
        // The blocks it is made of may be forgotten by now.
        if slot.epoch != self.epoch {
            return;
        }
        let Some((_, state)) = self.slots.get_mut(slot.index) else { return };
        *state = State::Path(self.known.len() as u32);
        self.known.push(Known {
            first: self.spans.len() as u32,
            spans: spans.len() as u32,
            insns: spans.iter().fold(0, |sum, span| sum.wrapping_add(span.insns.into())),
            landing,
        });
        self.spans.extend_from_slice(spans);
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
        self.epoch = self.epoch.wrapping_add(self.step);
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
            self.spans.push(run.span());
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
