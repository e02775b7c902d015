//! Finds and stores paths that were followed before; see [`crate::memo`].

use super::Tracer;
use super::state::{Held, Latest, Recall, Reference, State};
use crate::event::StreamPos;
use crate::memo::{Key, Recorder, Slot};
use crate::paths::{Landing, NewPath, Paths, TableUse};
use crate::run::Leaves;
use crate::sink::{AnySink, Sink};
use crate::tables::TargetCache;
use crate::walk::Walk;
use hartrace_bits::BitReader;
use hartrace_etrace::{Compat, Payload};

impl Tracer<'_> {
    /// Everything that the meaning of a payload depends on, if it fits in a key.
    #[inline(always)]
    pub(super) fn key(&self, bits: &BitReader<'_>) -> Option<Key> {
        let (Recall::Possible, Reference::Known(address)) = (self.recall, self.reference) else {
            return None;
        };
        let (window, len) = (bits.window()?, bits.remaining() as u8);
        let bits = [window.get(0, 64), window.get(64, 64)];
        // Formats 0, 1 and 2.
        if window.get(0, 2) == 3 {
            return None;
        }
        let pending = match self.walk.outcomes.peek() {
            None => 0,
            Some(taken) => 1u8.wrapping_add(taken.into()),
        } | self.path_modes << 2;
        let caller = if self.options.implicit_return {
            self.walk.returns.top().map_or(0, |address| (address >> 1) as u16)
        } else {
            0
        };
        Some(Key { bits, len, address, block: self.walk.block, pending, caller })
    }

    /// Whether a [`Key`] holds everything that a payload of format 0, 1 or 2 depends on, except the tables.
    pub(super) fn can_recall(&self) -> Recall {
        let Self { walk, programs, .. } = self;
        let block = programs.code.blocks.get(walk.block);
        let possible = self.state == State::On
            && self.config.compat == Compat::None
            && !self.options.history_prediction
            && !matches!(self.held, Held::MayNotHaveRetired(_))
            && self.undecided.is_none()
            && self.unfinished.is_none()
            && self.latest == Latest::Retired
            && block.is_some_and(|block| block.start == walk.pc);
        if possible { Recall::Possible } else { Recall::Impossible }
    }

    #[inline(never)]
    pub(super) fn parse<S: Sink>(&mut self, at: StreamPos, bits: &mut BitReader<'_>, sink: &mut S) {
        match Payload::parse(&self.layout, self.options, bits) {
            Ok(payload) => self.begin(at, &payload, sink),
            Err(error) => self.damage(at, error.into(), sink),
        }
    }

    /// Repeats a path that was followed before, if the tables hold what it requires. Returns whether they do.
    #[inline(always)]
    pub(super) fn replay<S: Sink>(&mut self, at: StreamPos, path: u32, sink: &mut S) -> bool {
        let Self { programs, walk, cache, .. } = self;
        let paths = &programs.code.memo.paths;
        let path = match paths.tables(path) {
            None => path,
            Some(_) => match repeat_tables(paths, path, walk, cache) {
                Some(path) => path,
                None => return false,
            },
        };
        if S::ADDRESSES {
            programs.code.memo.paths.list(path, &programs.code.blocks);
        }
        let paths = &programs.code.memo.paths;
        let Some((path, landing)) = paths.get(path, &programs.code.blocks) else {
            return false;
        };
        sink.path(at, path);
        walk.pc = landing.pc;
        walk.block = landing.block;
        walk.outcomes.clear();
        if let Some(taken) = landing.pending {
            walk.outcomes.push(taken);
        }
        self.reference = Reference::Known(landing.address);
        true
    }

    /// Follows a path, and remembers it.
    pub(super) fn record<S: Sink>(
        &mut self,
        at: StreamPos,
        slot: Slot,
        bits: BitReader<'_>,
        sink: &mut S,
    ) {
        match S::REPEATS {
            true => self.record_repeated(at, slot, bits, sink),
            false => self.record_each(at, slot, bits, sink),
        }
    }

    #[inline(never)]
    fn record_repeated(
        &mut self,
        at: StreamPos,
        slot: Slot,
        bits: BitReader<'_>,
        sink: &mut dyn AnySink,
    ) {
        self.record_with::<true>(at, slot, bits, sink);
    }

    #[inline(never)]
    fn record_each(
        &mut self,
        at: StreamPos,
        slot: Slot,
        bits: BitReader<'_>,
        sink: &mut dyn AnySink,
    ) {
        self.record_with::<false>(at, slot, bits, sink);
    }

    fn record_with<const REPEATS: bool>(
        &mut self,
        at: StreamPos,
        slot: Slot,
        mut bits: BitReader<'_>,
        sink: &mut dyn AnySink,
    ) {
        let blocks = &self.programs.code.blocks;
        let pc = self.walk.pc;
        let run = blocks.only(self.walk.block, pc).and_then(|span| blocks.run(span));
        let entry = (pc, run.map_or(Leaves::No, |run| run.leaves()));
        let mut recorder = Recorder::<REPEATS>::new(sink, self.programs.code.memo.scratch());
        let before = self.walk.returns.depth();
        self.walk.returns.watch();
        self.walk.predictor.watch(self.options.branch_prediction);
        self.cache.watch();
        self.parse(at, &mut bits, &mut recorder);
        self.walk.returns.unwatch();
        self.walk.predictor.unwatch();
        let Recorder { scratch, plain, .. } = recorder;
        let Self { programs, walk, recall, reference, cache, .. } = self;
        let code = &mut programs.code;
        if plain
            && let (Recall::Possible, Reference::Known(address)) = (*recall, *reference)
            && walk.returns.is_repeatable(before)
        {
            let pending = walk.outcomes.peek();
            let landing = Landing { pc: walk.pc, address, block: walk.block, pending };
            let (stack, cache, entries) =
                (walk.returns.used(), cache.used(), walk.predictor.used());
            let path = NewPath { entry, spans: &scratch.spans, landing, stack, cache, entries };
            code.memo.remember(slot, path, &code.blocks);
        }
        code.memo.keep_scratch(scratch);
    }
}

/// Finds the path, or the variant of it, that requires what the tables hold, and changes the tables as it did.
#[inline]
fn repeat_tables(
    paths: &Paths,
    mut path: u32,
    walk: &mut Walk,
    cache: &mut TargetCache,
) -> Option<u32> {
    loop {
        // A variant always uses tables, since the path before it does.
        let used = paths.tables(path)?;
        let TableUse { stack, cache: cached, entries, particular, target } = used;
        let agrees =
            cache.agrees(cached, target) && (!particular || walk.predictor.agrees(entries));
        // The return stack is last, since it is changed at once.
        if agrees && stack.is_none_or(|stack| walk.returns.repeat(stack)) {
            walk.predictor.repeat(entries);
            cache.repeat(cached, target);
            return Some(path);
        }
        path = paths.variant(path)?;
    }
}
