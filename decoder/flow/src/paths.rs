//! The store of remembered paths.

use crate::blocks::Blocks;
use crate::predictor::EntryUse;
use crate::run::{BlockId, Leaves, NONE, Run, Span};
use crate::tables::{CacheUse, StackUse};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum average number of spans per stored path.
const SPANS_PER_PATH: usize = 32;

/// The instructions that retired between two reports, on a path that the decoder has followed before.
///
/// A sink that computes sums needs to examine a path only once: [`Path::id`] identifies it.
#[derive(Copy, Clone, Debug)]
pub struct Path<'a> {
    id: PathId,
    stored: &'a StoredPath,
    paths: &'a Paths,
    blocks: &'a Blocks,
}

/// Identifier of a path, valid as long as the tracer that issued it remembers the path.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId {
    /// The period in which the tracer remembers the path. Never reused, not even by another tracer.
    pub epoch: u64,
    /// Number of the path, from 0 up.
    pub index: u32,
}

impl<'a> Path<'a> {
    /// The identifier, the same for every occurrence of the path.
    #[inline]
    pub fn id(&self) -> PathId {
        self.id
    }

    /// The instruction that retired right before the path, which is always the same, and how the program
    /// continued from there to the start of the path.
    #[inline]
    pub fn entry(&self) -> (u64, Leaves) {
        self.stored.entry
    }

    /// Number of instructions.
    #[inline]
    pub fn insns(&self) -> u64 {
        self.stored.insns
    }

    /// Calls `visit` with the address of every instruction. This is faster than visiting every run if
    /// [`Sink::ADDRESSES`](crate::Sink::ADDRESSES) announces it.
    #[inline]
    pub fn addresses(&self, mut visit: impl FnMut(u64)) {
        let offsets = self.paths.offsets(self.stored);
        for offset in offsets {
            visit(self.stored.base.wrapping_add_signed((*offset).into()));
        }
        if offsets.is_empty() {
            for run in self.runs() {
                run.addresses(&mut visit);
            }
        }
    }

    /// Its runs, in order; at least one.
    #[inline]
    pub fn runs(&self) -> impl Iterator<Item = Run<'a>> + 'a {
        let blocks = self.blocks;
        self.paths.spans(self.stored).iter().filter_map(move |span| blocks.run(*span))
    }
}

/// The state of a walk at the end of a path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Landing {
    pub(crate) pc: u64,
    /// The address reported last.
    pub(crate) address: u64,
    pub(crate) block: BlockId,
    /// Whether the branch at `pc` is taken, if it is one.
    pub(crate) pending: Option<bool>,
}

/// A path that has just been followed.
#[derive(Copy, Clone, Debug)]
pub(crate) struct NewPath<'a> {
    /// The instruction that retired before it, and how the program continued.
    pub(crate) entry: (u64, Leaves),
    pub(crate) spans: &'a [Span],
    pub(crate) landing: Landing,
    pub(crate) stack: &'a StackUse,
    pub(crate) cache: CacheUse,
    /// Its entries of the predictor.
    pub(crate) entries: &'a [EntryUse],
}

/// What a path requires of the tables, and what it changes in them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TableUse<'a> {
    pub(crate) stack: Option<&'a StackUse>,
    pub(crate) cache: CacheUse,
    /// Its entries of the predictor, and whether their states before it matter.
    pub(crate) entries: &'a [EntryUse],
    pub(crate) particular: bool,
    /// The address where it ends.
    pub(crate) target: u64,
}

/// A path that is remembered.
#[derive(Clone, Debug)]
struct StoredPath {
    /// The instruction that retired before it, and how the program continued.
    entry: (u64, Leaves),
    spans: Range<u32>,
    /// Address of the first instruction.
    base: u64,
    /// Distances of all instructions from `base`; empty unless listed, or if one of them is too far away.
    offsets: Range<u32>,
    /// [`Paths::list`] was called for it.
    listed: bool,
    insns: u64,
    landing: Landing,
    /// It uses tables.
    uses_tables: bool,
    cache: CacheUse,
    /// Its entries of the predictor, and whether their states before it matter.
    entries: Range<u32>,
    particular: bool,
    /// Index of its use of the return stack; [`NONE`] if it does not use it.
    stack: u32,
    /// Another path with the same key that requires other contents of the tables; [`NONE`] if there is none.
    variant: u32,
    /// Number of variants after it, if it is the first.
    variants: u8,
}

/// Returns an epoch that no other store has or had, since a sink may be used with several tracers.
fn next_epoch() -> u64 {
    static EPOCHS: AtomicU64 = AtomicU64::new(1);
    EPOCHS.fetch_add(1, Ordering::Relaxed)
}

/// The paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    stored: Vec<StoredPath>,
    spans: Vec<Span>,
    /// Positions of instructions, for sinks that visit them all.
    offsets: Vec<i32>,
    stacks: Vec<StackUse>,
    /// Uses of the predictor.
    entries: Vec<EntryUse>,
    cap: usize,
    epoch: u64,
}

impl Paths {
    /// Creates a store of up to `cap` paths.
    pub(crate) fn new(cap: usize) -> Self {
        Self { cap, epoch: next_epoch(), ..Self::default() }
    }

    /// The present epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn len(&self) -> usize {
        self.stored.len()
    }

    /// Whether there is no room for another path.
    pub(crate) fn is_full(&self) -> bool {
        let room = self.cap.saturating_mul(SPANS_PER_PATH);
        self.stored.len() >= self.cap || self.spans.len().max(self.offsets.len() >> 3) > room
    }

    /// A path and the state at its end.
    #[inline(always)]
    pub(crate) fn get<'a>(&'a self, index: u32, blocks: &'a Blocks) -> Option<(Path<'a>, Landing)> {
        let stored = self.stored.get(index as usize)?;
        let id = PathId { epoch: self.epoch, index };
        Some((Path { id, stored, paths: self, blocks }, stored.landing))
    }

    #[inline]
    fn spans(&self, stored: &StoredPath) -> &[Span] {
        let Range { start, end } = stored.spans;
        self.spans.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The positions of the instructions of a path; empty if they were not prepared.
    #[inline]
    fn offsets(&self, stored: &StoredPath) -> &[i32] {
        let Range { start, end } = stored.offsets;
        self.offsets.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The use of the tables by a path, if any.
    #[inline(always)]
    pub(crate) fn tables(&self, index: u32) -> Option<TableUse<'_>> {
        let stored = self.stored.get(index as usize).filter(|stored| stored.uses_tables)?;
        let Range { start, end } = stored.entries;
        Some(TableUse {
            stack: self.stacks.get(stored.stack as usize),
            cache: stored.cache,
            entries: self.entries.get(start as usize..end as usize).unwrap_or_default(),
            particular: stored.particular,
            target: stored.landing.address,
        })
    }

    /// The next path with the same key that requires other contents of the tables.
    #[inline]
    pub(crate) fn variant(&self, index: u32) -> Option<u32> {
        self.stored.get(index as usize).map(|stored| stored.variant).filter(|next| *next != NONE)
    }

    /// Number of variants of a path that is found by its key.
    pub(crate) fn variants(&self, index: u32) -> Option<u8> {
        self.stored.get(index as usize).map(|stored| stored.variants)
    }

    /// Makes `new` a variant of `first`, the one to be tried next.
    pub(crate) fn add_variant(&mut self, first: u32, new: u32) {
        let Some(stored) = self.stored.get_mut(first as usize) else { return };
        stored.variants = stored.variants.saturating_add(1);
        let next = std::mem::replace(&mut stored.variant, new);
        if let Some(stored) = self.stored.get_mut(new as usize) {
            stored.variant = next;
        }
    }

    /// Stores a path. Returns its number.
    pub(crate) fn push(&mut self, path: NewPath<'_>, blocks: &Blocks) -> u32 {
        let NewPath { entry, spans, landing, stack: used, cache, entries } = path;
        let index = self.stored.len() as u32;
        let first = self.spans.len() as u32;
        self.spans.extend_from_slice(spans);
        let base = spans.first().and_then(|span| blocks.run(*span)).map_or(0, |run| run.start());
        let first_entry = self.entries.len() as u32;
        self.entries.extend_from_slice(entries);
        let stack = if used.is_some() { self.stacks.len() as u32 } else { NONE };
        if used.is_some() {
            self.stacks.push(used.clone());
        }
        self.stored.push(StoredPath {
            uses_tables: used.is_some() || cache.is_some() || !entries.is_empty(),
            cache,
            entries: first_entry..self.entries.len() as u32,
            particular: entries.iter().any(|entry| entry.is_particular()),
            stack,
            variant: NONE,
            variants: 0,
            entry,
            spans: first..self.spans.len() as u32,
            base,
            offsets: 0..0,
            listed: false,
            insns: spans.iter().fold(0, |sum, span| sum.wrapping_add(span.insns.into())),
            landing,
        });
        index
    }

    /// Lists the positions of all instructions of a path, for sinks that request them, when it is taken again: most
    /// paths of some traces never are.
    #[inline(always)]
    pub(crate) fn list(&mut self, index: u32, blocks: &Blocks) {
        if self.stored.get(index as usize).is_some_and(|stored| !stored.listed) {
            self.list_now(index, blocks);
        }
    }

    #[inline(never)]
    fn list_now(&mut self, index: u32, blocks: &Blocks) {
        let full = self.is_full();
        let Self { stored, spans, offsets, .. } = self;
        let Some(stored) = stored.get_mut(index as usize) else { return };
        stored.listed = true;
        let Range { start, end } = stored.spans;
        let spans = spans.get(start as usize..end as usize).unwrap_or_default();
        let first = offsets.len();
        let mut fits = !full;
        for run in spans.iter().filter(|_| !full).filter_map(|span| blocks.run(*span)) {
            run.addresses(|pc| match i32::try_from(pc.wrapping_sub(stored.base) as i64) {
                Ok(offset) => offsets.push(offset),
                Err(_) => fits = false,
            });
        }
        if !fits {
            offsets.truncate(first);
        }
        stored.offsets = first as u32..offsets.len() as u32;
    }

    /// Discards all paths and their identifiers.
    pub(crate) fn clear(&mut self) {
        self.stored.clear();
        self.spans.clear();
        self.offsets.clear();
        self.stacks.clear();
        self.entries.clear();
        self.epoch = next_epoch();
    }
}
