//! Paths that were followed before: how they are found and kept; see [`crate::memo`].

use super::{State, Tracer};
use crate::memo::{Key, Recorder, Slot};
use crate::paths::{Landing, NewPath};
use crate::{Compat, Leaves, Sink, StreamPos};
use hartrace_bits::BitReader;
use hartrace_etrace::Payload;

impl Tracer<'_> {
    /// All that the meaning of a payload depends on, if that is little enough.
    #[inline(always)]
    pub(super) fn key(&self, bits: &BitReader<'_>) -> Option<Key> {
        if !self.steady {
            return None;
        }
        let (window, len) = (bits.window()?, bits.remaining() as u8);
        let bits = [window.get(0, 64), window.get(64, 64)];
        // Formats 1 and 2.
        if !matches!(window.get(0, 2), 1 | 2) {
            return None;
        }
        let pending = match self.outcomes.peek() {
            None => 0,
            Some(taken) => 1u8.wrapping_add(taken.into()),
        };
        let caller = if self.options.implicit_return {
            self.returns.top().map_or(0, |address| (address >> 1) as u16)
        } else {
            0
        };
        Some(Key { bits, len, address: self.address, block: self.block, pending, caller })
    }

    /// Whether [`Key`] holds all that a payload of format 1 or 2 depends on.
    pub(super) fn is_steady(&self) -> bool {
        let options = &self.options;
        self.state == State::On
            && !(options.branch_prediction || options.jump_target_cache)
            && self.config.compat == Compat::None
            && self.held.is_none()
            && self.undecided.is_none()
            && !self.after_trap
            && self.code.blocks.get(self.block).is_some_and(|block| block.start == self.pc)
    }

    #[inline(never)]
    pub(super) fn parse<S: Sink>(&mut self, at: StreamPos, bits: &mut BitReader<'_>, sink: &mut S) {
        match Payload::parse(&self.layout, self.options, bits) {
            Ok(payload) => self.begin(at, &payload, sink),
            Err(error) => self.damage(at, error.into(), sink),
        }
    }

    /// Repeats a path that was followed before, if it is still known. Returns whether it is.
    #[inline(always)]
    pub(super) fn replay<S: Sink>(&mut self, at: StreamPos, path: u32, sink: &mut S) -> bool {
        if let Some(used) = self.code.memo.paths.stack(path)
            && !self.returns.repeat(used)
        {
            return false;
        }
        let Some((path, landing)) = self.code.memo.paths.get(path, &self.code.blocks) else {
            return false;
        };
        sink.path(at, path);
        self.pc = landing.pc;
        self.block = landing.block;
        self.address = landing.address;
        self.outcomes.clear();
        if let Some(taken) = landing.pending {
            self.outcomes.push(taken);
        }
        true
    }

    /// Follows a path, and remembers it.
    #[inline(never)]
    pub(super) fn record<S: Sink>(
        &mut self,
        at: StreamPos,
        slot: Slot,
        mut bits: BitReader<'_>,
        sink: &mut S,
    ) {
        let blocks = &self.code.blocks;
        let run = blocks.only(self.block, self.pc).and_then(|span| blocks.run(span));
        let entry = (self.pc, run.map_or(Leaves::No, |run| run.leaves()));
        let mut recorder = Recorder { sink, spans: self.code.memo.scratch(), plain: true };
        let before = self.returns.depth();
        self.returns.watch();
        self.parse(at, &mut bits, &mut recorder);
        self.returns.unwatch();
        let Recorder { spans, plain, .. } = recorder;
        if plain && self.steady && self.returns.is_repeatable(before) {
            let Self { pc, block, address, .. } = *self;
            let landing = Landing { pc, address, block, pending: self.outcomes.peek() };
            let Self { code, returns, .. } = self;
            let path = NewPath { entry, spans: &spans, landing, stack: returns.used() };
            code.memo.remember(slot, path, &code.blocks, S::ADDRESSES);
        }
        self.code.memo.keep_scratch(spans);
    }
}
