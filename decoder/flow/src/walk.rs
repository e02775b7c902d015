//! Follows the program from one reported point to the next, block by block.
//!
//! Spec: E-Trace 2.0, chapter 11 "Decoder".

use crate::blocks::{Blocks, Exit};
use crate::event::{Fault, StreamPos};
use crate::outcomes::Outcomes;
use crate::predictor::Predictor;
use crate::programs::Code;
use crate::progress::{Lap, Progress};
use crate::run::{BlockId, NONE, Span};
use crate::sink::Sink;
use crate::tables::Returns;
use hartrace_isa::Link;

/// The point where a walk ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// An address reported in format 0, 1 or 2.
    Address { address: u64, reached: Reached, irdepth: Option<u32> },
    /// The last branch of a payload without address.
    LastBranch,
    /// An address in format 3.0.
    Sync { address: u64, privilege: u8 },
}

/// How a reported address is reached.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// As the target of a discontinuity.
    AsTarget,
    /// At the first visit, in sequence.
    Passing,
    /// The payload does not specify it: the first visit counts unless the next payload contradicts.
    Unsaid,
}

/// How a walk ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// At the target of a discontinuity.
    Target,
    /// At the address, in sequence.
    Passing,
    /// At the address, in sequence, but a later visit may be the reported one.
    Undecided,
}

/// Number of steps after which a stride is interrupted, to look for loops without a branch.
const STRIDE: u64 = 256;

/// The modes of the encoder that a walk depends on.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct WalkModes {
    pub(crate) implicit_return: bool,
    pub(crate) branch_prediction: bool,
    /// Sequentially inferable jumps are not reported.
    pub(crate) sequentially_inferred_jump: bool,
}

/// The position of a hart in its program, and the state that determines where it continues.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// The instruction that retired last.
    pub(crate) pc: u64,
    /// A block that contains `pc`.
    pub(crate) block: BlockId,
    pub(crate) privilege: u8,
    pub(crate) modes: WalkModes,
    pub(crate) outcomes: Outcomes,
    pub(crate) returns: Returns,
    pub(crate) predictor: Predictor,
    /// Blocks that may still be followed for this payload, and the limit that this follows from.
    pub(crate) budget: u64,
    limit: u64,
    progress: Progress,
}

impl Walk {
    pub(crate) fn new(predictor: Predictor, returns: Returns) -> Self {
        Self {
            pc: 0,
            block: 0,
            privilege: 0,
            modes: WalkModes::default(),
            outcomes: Outcomes::default(),
            progress: Progress::new(returns.clone()),
            returns,
            predictor,
            budget: 0,
            limit: 0,
        }
    }

    /// Follows at most `blocks` blocks from here on, because of `limit`.
    #[inline]
    pub(crate) fn grant(&mut self, blocks: u64, limit: u64) {
        (self.budget, self.limit) = (blocks, limit);
    }

    /// A walk of another hart that has not started.
    pub(crate) fn sibling(&self) -> Self {
        Self::new(self.predictor.empty(), self.returns.empty())
    }

    /// Reports the instruction at `pc`.
    #[inline]
    pub(crate) fn emit_pc<S: Sink>(&self, blocks: &Blocks, at: StreamPos, sink: &mut S) {
        let run = blocks.only(self.block, self.pc).and_then(|span| blocks.run(span));
        debug_assert!(run.is_some(), "{:#x} is in its block", self.pc);
        if let Some(run) = run {
            sink.run(at, run);
        }
    }

    /// Makes the outcome of a counted branch at `pc` a known one, since more may be reported after
    /// it.
    #[inline]
    pub(crate) fn latch(&mut self) {
        let Self { pc, predictor, outcomes, .. } = self;
        outcomes.latch(|| predictor.consult(*pc));
    }

    /// Walks from `pc` to `goal` and reports every instruction except the last.
    pub(crate) fn follow<S: Sink>(
        &mut self,
        code: &mut Code,
        at: StreamPos,
        goal: Goal,
        sink: &mut S,
    ) -> Result<Arrival, Fault> {
        let (address, irdepth) = match goal {
            Goal::Address { address, irdepth, .. } => (Some(address), irdepth),
            Goal::Sync { address, .. } => (Some(address), None),
            Goal::LastBranch => (None, None),
        };
        // Outcomes that remain at the goal: the outcome of a branch there is reported with it.
        let pending = match address {
            Some(address) => u64::from(code.blocks.is_branch(address)?),
            None => 1,
        };
        if irdepth.is_some() {
            self.returns.note_depth();
        }
        if code.blocks.is_full() {
            self.block = self.renew(code, self.block)?;
        }
        let mut id = self.block;
        let mut rest = code.blocks.after(id, self.pc).ok_or(Fault::NoCode(self.pc))?;
        self.progress.branch();
        loop {
            let block = code.blocks.get(id).ok_or(Fault::NoCode(self.pc))?;
            let (last, end, exit) = (block.last, block.end, block.exit);
            let (on_taken, on_fall) = (block.taken, block.fall);
            if self.outcomes.count() == pending
                && let Some(arrival) = self.arrive(&mut code.blocks, at, goal, id, rest, sink)?
            {
                return Ok(arrival);
            }
            emit(&code.blocks, at, rest, sink);
            self.pc = last;
            self.block = id;
            if self.budget == 0 {
                return Err(Fault::TooLong { address: last, blocks: self.limit });
            }
            self.budget = self.budget.wrapping_sub(1);

            let mut lap = None;
            let next = match exit {
                Exit::Branch { taken: target } => {
                    let counted = self.outcomes.is_counted();
                    let predictor = &mut self.predictor;
                    let taken = self.outcomes.take(|| predictor.consult(last));
                    let taken = taken.ok_or(Fault::NoOutcome(last))?;
                    if self.modes.branch_prediction {
                        self.predictor.update(last, taken);
                    }
                    if counted {
                        lap = self.check(if taken { target } else { end }, last)?;
                    } else {
                        self.progress.branch();
                    }
                    match if taken { on_taken } else { on_fall } {
                        NONE if taken => code.blocks.link_taken(id, target)?,
                        NONE => code.blocks.link_fall(id, end)?,
                        next => next,
                    }
                }
                Exit::Jump { target, call } => {
                    if call && self.modes.implicit_return {
                        self.returns.push(end);
                    }
                    lap = self.check(target, last)?;
                    match on_taken {
                        NONE => code.blocks.link_taken(id, target)?,
                        next => next,
                    }
                }
                Exit::Next => {
                    lap = self.check(end, last)?;
                    match on_fall {
                        NONE => code.blocks.link_fall(id, end)?,
                        next => next,
                    }
                }
                Exit::Indirect { link, sequential } => {
                    let sequential = sequential.filter(|_| self.modes.sequentially_inferred_jump);
                    let inferred = self.infer(link, sequential, irdepth, pending);
                    if link == Some(Link::Call) && self.modes.implicit_return {
                        self.returns.push(end);
                    }
                    match inferred {
                        Some(target) => {
                            lap = self.check(target, last)?;
                            code.blocks.at(target)?
                        }
                        None => {
                            let target = address.ok_or(Fault::UnexpectedJump(last))?;
                            return self.hit(&mut code.blocks, target, pending);
                        }
                    }
                }
            };
            id = next;
            if code.blocks.is_full() {
                id = self.renew(code, id)?;
            }
            if lap.is_none() && self.modes.branch_prediction && self.outcomes.is_counted() {
                (id, lap) = self.coast(&code.blocks, at, id, pending, sink)?;
            }
            if let Some(lap) = lap
                && S::REPEATS
                && sink.repeats()
            {
                id = self.repeat(code, at, id, lap, pending, sink)?;
            }
            let count = self.outcomes.count();
            id = self.stride(&code.blocks, at, id, pending, sink);
            if self.outcomes.count() != count {
                self.progress.branch();
            }
            rest = code.blocks.whole(id).ok_or(Fault::NoCode(end))?;
        }
    }

    /// Forgets where the walk has been: something was reported.
    #[inline]
    pub(crate) fn is_told(&mut self) {
        self.progress.branch();
    }

    /// Checks that a block that ends at `at` and leads to `next`, without a report, does not do so for ever.
    #[inline]
    pub(crate) fn pass_on(&mut self, next: u64, at: u64) -> Result<(), Fault> {
        self.progress.check(next, &self.returns, 0, at).map(|_| ())
    }

    /// Takes a block off the budget.
    #[inline]
    pub(crate) fn spend(&mut self, at: u64) -> Result<(), Fault> {
        let left = self.budget.checked_sub(1);
        self.budget = left.ok_or(Fault::TooLong { address: at, blocks: self.limit })?;
        Ok(())
    }

    #[inline]
    fn check(&mut self, next: u64, at: u64) -> Result<Option<Lap>, Fault> {
        let Self { progress, returns, outcomes, .. } = self;
        progress.check(next, returns, outcomes.count(), at)
    }

    /// Reports a lap, which starts with block `id`, for all times that it is taken before the outcomes end.
    /// Returns the block where it ended, which is the same, but may have another number.
    #[cold]
    fn repeat<S: Sink>(
        &mut self,
        code: &mut Code,
        at: StreamPos,
        id: BlockId,
        lap: Lap,
        pending: u64,
        sink: &mut S,
    ) -> Result<BlockId, Fault> {
        // At least one outcome remains before the goal, which is then reached as usual.
        let left = self.outcomes.count().saturating_sub(pending).saturating_sub(1);
        let times = left.checked_div(lap.branches).unwrap_or(0);
        if times == 0 {
            return Ok(id);
        }
        let end = self.report_turn(code, at, id, lap, pending, times, sink);
        sink.end_turn();
        self.outcomes.skip_counted(times.saturating_mul(lap.branches));
        end
    }

    /// Reports the runs of a lap, each as often as it is taken. Returns the block where it ended.
    #[expect(clippy::too_many_arguments, reason = "all of them are what the walk is about")]
    fn report_turn<S: Sink>(
        &mut self,
        code: &mut Code,
        at: StreamPos,
        mut id: BlockId,
        lap: Lap,
        pending: u64,
        times: u64,
        sink: &mut S,
    ) -> Result<BlockId, Fault> {
        for _ in 0..lap.blocks {
            let block = code.blocks.get(id).ok_or(Fault::NoCode(self.pc))?;
            let (last, end, exit) = (block.last, block.end, block.exit);
            let whole = Span { block: id, from: 0, insns: block.insns };
            if let Some(run) = code.blocks.run(whole) {
                sink.repeat(at, run, times);
            }
            let next = match exit {
                Exit::Branch { taken } if self.predictor.predict(last) => taken,
                Exit::Branch { .. } | Exit::Next => end,
                Exit::Jump { target, call } => {
                    if call && self.modes.implicit_return {
                        self.returns.push(end);
                    }
                    target
                }
                Exit::Indirect { link, sequential } => {
                    let sequential = sequential.filter(|_| self.modes.sequentially_inferred_jump);
                    let target = self.infer(link, sequential, None, pending);
                    if link == Some(Link::Call) && self.modes.implicit_return {
                        self.returns.push(end);
                    }
                    target.ok_or(Fault::UnexpectedJump(last))?
                }
            };
            id = code.blocks.at(next)?;
            if code.blocks.is_full() {
                id = self.renew(code, id)?;
            }
        }
        Ok(id)
    }

    /// Follows known outcomes through known blocks, from the start of block `id`: [`Walk::follow`]
    /// without the cases that need more care. Returns the block where it stopped, not yet executed.
    #[inline]
    fn stride<S: Sink>(
        &mut self,
        blocks: &Blocks,
        at: StreamPos,
        mut id: BlockId,
        pending: u64,
        sink: &mut S,
    ) -> BlockId {
        let (known, count) = self.outcomes.known();
        let available = u64::from(count).saturating_sub(pending) as u32;
        let (mut bits, mut used) = (known, 0u32);
        let mut steps = self.budget.min(STRIDE);
        self.budget = self.budget.wrapping_sub(steps);
        while used < available
            && steps > 0
            && let Some(block) = blocks.get(id)
        {
            let next = match block.exit {
                Exit::Branch { .. } if bits & 1 == 0 => block.taken,
                Exit::Branch { .. } | Exit::Next => block.fall,
                Exit::Jump { .. } => block.taken,
                Exit::Indirect { .. } => NONE,
            };
            if next == NONE {
                break;
            }
            if let Exit::Branch { .. } = block.exit {
                if self.modes.branch_prediction {
                    self.predictor.update(block.last, bits & 1 == 0);
                }
                bits >>= 1;
                used = used.wrapping_add(1);
            }
            steps = steps.wrapping_sub(1);
            let span = Span { block: id, from: 0, insns: block.insns };
            emit(blocks, at, span, sink);
            self.pc = block.last;
            self.block = id;
            id = next;
            if let Exit::Jump { call: true, .. } = block.exit
                && self.modes.implicit_return
            {
                let end = block.end;
                self.returns.push(end);
            }
        }
        self.budget = self.budget.wrapping_add(steps);
        self.outcomes.skip_known(used);
        id
    }

    /// Like [`Walk::stride`], for branches that are only counted. Also stops when the walk has come back to
    /// where it was, and returns the way there.
    #[inline]
    fn coast<S: Sink>(
        &mut self,
        blocks: &Blocks,
        at: StreamPos,
        mut id: BlockId,
        pending: u64,
        sink: &mut S,
    ) -> Result<(BlockId, Option<Lap>), Fault> {
        let mut left = self.outcomes.counted(pending);
        let mut lap = None;
        while left > 0
            && self.budget > 0
            && lap.is_none()
            && let Some(block) = blocks.get(id)
        {
            let last = block.last;
            let (next, address) = match block.exit {
                Exit::Branch { taken } if self.predictor.predict(last) => (block.taken, taken),
                Exit::Branch { .. } | Exit::Next => (block.fall, block.end),
                Exit::Jump { target, .. } => (block.taken, target),
                Exit::Indirect { .. } => (NONE, 0),
            };
            if next == NONE {
                break;
            }
            match block.exit {
                Exit::Branch { .. } => {
                    self.predictor.confirm(last);
                    self.outcomes.skip_counted(1);
                    left = left.wrapping_sub(1);
                }
                Exit::Jump { call: true, .. } if self.modes.implicit_return => {
                    self.returns.push(block.end);
                }
                _ => {}
            }
            self.budget = self.budget.wrapping_sub(1);
            emit(blocks, at, Span { block: id, from: 0, insns: block.insns }, sink);
            self.pc = last;
            self.block = id;
            id = next;
            lap = self.check(address, last)?;
        }
        Ok((id, lap))
    }

    /// Discards all blocks except `id`; returns its new number.
    #[cold]
    fn renew(&self, code: &mut Code, id: BlockId) -> Result<BlockId, Fault> {
        let start = code.blocks.get(id).map_or(self.pc, |block| block.start);
        code.forget();
        code.blocks.at(start)
    }

    /// Arrives at the target of a reported jump.
    fn hit(&mut self, blocks: &mut Blocks, target: u64, pending: u64) -> Result<Arrival, Fault> {
        let count = self.outcomes.count();
        // The outcome of a branch at the target is reported with it; no other outcome remains.
        if count > pending {
            return Err(Fault::BranchesLeft(count.wrapping_sub(pending)));
        }
        if count < pending {
            return Err(Fault::NoOutcome(target));
        }
        self.pc = target;
        self.block = blocks.at(target)?;
        Ok(Arrival::Target)
    }

    /// The target of a jump that the trace does not report.
    #[inline]
    fn infer(
        &mut self,
        link: Option<Link>,
        sequential: Option<u64>,
        irdepth: Option<u32>,
        pending: u64,
    ) -> Option<u64> {
        if link != Some(Link::Return) || !self.modes.implicit_return {
            return sequential;
        }
        let depth = self.returns.depth();
        let predicted = self.returns.pop();
        if sequential.is_some() {
            return sequential;
        }
        // 7.6.3: the return at the reported depth is the one that was mispredicted, once all
        // branches before it have been seen.
        let failed = irdepth == Some(depth) && self.outcomes.count() == pending;
        predicted.filter(|_| !failed)
    }

    /// Checks whether the walk ends in `rest` of block `id` without a jump; if so, reports the
    /// instructions before that point.
    fn arrive<S: Sink>(
        &mut self,
        blocks: &mut Blocks,
        at: StreamPos,
        goal: Goal,
        id: BlockId,
        rest: Span,
        sink: &mut S,
    ) -> Result<Option<Arrival>, Fault> {
        let Some(block) = blocks.get(id) else { return Ok(None) };
        let (address, arrival) = match goal {
            Goal::LastBranch => match block.exit {
                Exit::Branch { .. } => (block.last, Arrival::Passing),
                _ => return Ok(None),
            },
            Goal::Address { irdepth: Some(depth), .. } if depth != self.returns.depth() => {
                return Ok(None);
            }
            Goal::Address { address, reached, .. } => match reached {
                Reached::AsTarget => return Ok(None),
                Reached::Passing => (address, Arrival::Passing),
                Reached::Unsaid => (address, Arrival::Undecided),
            },
            // E17: a privilege change requires a trap return, which is a jump.
            Goal::Sync { privilege, .. } if privilege != self.privilege => return Ok(None),
            Goal::Sync { address, .. } => (address, Arrival::Passing),
        };
        // A cheap check that is nearly always enough.
        if blocks.offset(block, address).is_none() {
            return Ok(None);
        }
        let Some(before) = blocks.until(rest, address) else {
            return self.pass(blocks, at, rest, address, sink);
        };
        emit(blocks, at, before, sink);
        self.pc = address;
        // A jump may need the instruction before it, which is in this block; a branch does not.
        self.block = match goal {
            Goal::LastBranch => blocks.at(address)?,
            _ => id,
        };
        Ok(Some(arrival))
    }

    /// Passes an address at which no instruction of `rest` starts. It is a fault if it is inside one of
    /// them (D20): that instruction is then not the one that retired.
    #[cold]
    fn pass<S: Sink>(
        &self,
        blocks: &Blocks,
        at: StreamPos,
        rest: Span,
        address: u64,
        sink: &mut S,
    ) -> Result<Option<Arrival>, Fault> {
        let Some(before) = blocks.around(rest, address) else { return Ok(None) };
        emit(blocks, at, before, sink);
        Err(Fault::InsideInstruction(address))
    }
}

/// Reports instructions, if there are any.
#[inline]
pub(crate) fn emit<S: Sink>(blocks: &Blocks, at: StreamPos, span: Span, sink: &mut S) {
    if let Some(run) = blocks.run(span) {
        sink.run(at, run);
    }
}
