//! Follows the program from one reported point to the next, block by block.
//!
//! Spec: E-Trace 2.0, chapter 11 "Decoder".

use crate::blocks::{Blocks, Exit};
use crate::run::{BlockId, NONE, Span};
use crate::tables::Returns;
use crate::tracer::Tracer;
use crate::{Fault, Sink, StreamPos};
use hartrace_isa::Link;

/// What ends a walk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// An address reported in format 0, 1 or 2.
    Address {
        address: u64,
        notify: bool,
        /// It is the target of a discontinuity for certain.
        target: bool,
        irdepth: Option<u32>,
    },
    /// The last branch of a payload without address.
    LastBranch,
    /// An address in format 3.0.
    Sync { address: u64, privilege: u8 },
}

/// Steps before a stride is interrupted, to look for loops without a branch.
const STRIDE: u64 = 256;

/// How a walk ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// At the target of a discontinuity.
    Target,
    /// By running into it.
    Passing,
    /// By running into an address that may still turn out to be a later visit.
    Undecided,
}

impl Tracer<'_> {
    /// Walks from `self.pc` to `goal`, reporting every instruction but the last.
    pub(crate) fn follow<S: Sink>(
        &mut self,
        at: StreamPos,
        goal: Goal,
        sink: &mut S,
    ) -> Result<Arrival, Fault> {
        let (address, irdepth) = match goal {
            Goal::Address { address, irdepth, .. } => (Some(address), irdepth),
            Goal::Sync { address, .. } => (Some(address), None),
            Goal::LastBranch => (None, None),
        };
        let limit = match address {
            Some(address) => u64::from(self.code.blocks.is_branch(address)?),
            None => 1,
        };
        if irdepth.is_some() {
            self.returns.note_depth();
        }
        if self.code.blocks.is_full() {
            self.block = self.renew(self.block)?;
        }
        let mut id = self.block;
        let mut rest = self.code.blocks.after(id, self.pc).ok_or(Fault::NoCode(self.pc))?;
        self.progress.branch();
        loop {
            let block = self.code.blocks.get(id).ok_or(Fault::NoCode(self.pc))?;
            let (last, end, exit) = (block.last, block.end, block.exit);
            let (on_taken, on_fall) = (block.taken, block.fall);
            if self.outcomes.count() == limit
                && let Some(arrival) = self.arrive(at, goal, id, rest, sink)
            {
                return Ok(arrival);
            }
            emit(&self.code.blocks, at, rest, sink);
            self.pc = last;
            self.block = id;
            if self.budget == 0 {
                return Err(Fault::TooLong(last));
            }
            self.budget = self.budget.wrapping_sub(1);

            let next = match exit {
                Exit::Branch { taken: target } => {
                    let prediction = &self.predictor;
                    let taken = self.outcomes.take(|| prediction.predict(last));
                    let taken = taken.ok_or(Fault::NoOutcome(last))?;
                    if self.options.branch_prediction {
                        self.predictor.update(last, taken);
                    }
                    self.progress.branch();
                    match if taken { on_taken } else { on_fall } {
                        NONE if taken => self.code.blocks.link_taken(id, target)?,
                        NONE => self.code.blocks.link_fall(id, end)?,
                        next => next,
                    }
                }
                Exit::Jump { target, call } => {
                    if call && self.options.implicit_return {
                        self.returns.push(end);
                    }
                    self.progress.check(target, &self.returns, last)?;
                    match on_taken {
                        NONE => self.code.blocks.link_taken(id, target)?,
                        next => next,
                    }
                }
                Exit::Next => {
                    self.progress.check(end, &self.returns, last)?;
                    match on_fall {
                        NONE => self.code.blocks.link_fall(id, end)?,
                        next => next,
                    }
                }
                Exit::Indirect { link, sequential } => {
                    let sequential = sequential.filter(|_| self.sijump);
                    let inferred = self.infer(link, sequential, irdepth, limit);
                    if link == Some(Link::Call) && self.options.implicit_return {
                        self.returns.push(end);
                    }
                    match inferred {
                        Some(target) => {
                            self.progress.check(target, &self.returns, last)?;
                            self.code.blocks.at(target)?
                        }
                        None => {
                            let target = address.ok_or(Fault::UnexpectedJump(last))?;
                            return self.hit(target, limit);
                        }
                    }
                }
            };
            id = next;
            if self.code.blocks.is_full() {
                id = self.renew(id)?;
            }
            if !self.options.branch_prediction {
                let count = self.outcomes.count();
                id = self.stride(at, id, limit, sink);
                if self.outcomes.count() != count {
                    self.progress.branch();
                }
            }
            rest = self.code.blocks.whole(id).ok_or(Fault::NoCode(end))?;
        }
    }

    /// Follows known outcomes through known blocks, from the start of block `id`: [`Tracer::follow`]
    /// without all that needs a second look. Returns the block where it stopped, not yet executed.
    #[inline]
    fn stride<S: Sink>(
        &mut self,
        at: StreamPos,
        mut id: BlockId,
        limit: u64,
        sink: &mut S,
    ) -> BlockId {
        let (known, count) = self.outcomes.known();
        let available = u64::from(count).saturating_sub(limit) as u32;
        let (mut bits, mut used) = (known, 0u32);
        let mut steps = self.budget.min(STRIDE);
        self.budget = self.budget.wrapping_sub(steps);
        while used < available
            && steps > 0
            && let Some(block) = self.code.blocks.get(id)
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
            let branch = u32::from(matches!(block.exit, Exit::Branch { .. }));
            bits = bits.wrapping_shr(branch);
            used = used.wrapping_add(branch);
            steps = steps.wrapping_sub(1);
            let span = Span { block: id, from: 0, insns: block.insns };
            emit(&self.code.blocks, at, span, sink);
            self.pc = block.last;
            self.block = id;
            id = next;
            if let Exit::Jump { call: true, .. } = block.exit
                && self.options.implicit_return
            {
                let end = block.end;
                self.returns.push(end);
            }
        }
        self.budget = self.budget.wrapping_add(steps);
        self.outcomes.skip_known(used);
        id
    }

    /// Starts with no blocks but `id`, whose new number it returns.
    #[cold]
    fn renew(&mut self, id: BlockId) -> Result<BlockId, Fault> {
        let start = self.code.blocks.get(id).map_or(self.pc, |block| block.start);
        self.code.forget();
        self.code.blocks.at(start)
    }

    /// A reported jump.
    fn hit(&mut self, target: u64, limit: u64) -> Result<Arrival, Fault> {
        let count = self.outcomes.count();
        // A branch at the target has its outcome reported with it, and nothing else is left.
        if count > limit {
            return Err(Fault::BranchesLeft(count.wrapping_sub(limit)));
        }
        if count < limit {
            return Err(Fault::NoOutcome(target));
        }
        self.pc = target;
        self.block = self.code.blocks.at(target)?;
        Ok(Arrival::Target)
    }

    /// The target of a jump that the trace does not report.
    #[inline]
    fn infer(
        &mut self,
        link: Option<Link>,
        sequential: Option<u64>,
        irdepth: Option<u32>,
        limit: u64,
    ) -> Option<u64> {
        if link != Some(Link::Return) || !self.options.implicit_return {
            return sequential;
        }
        let depth = self.returns.depth();
        let predicted = self.returns.pop();
        if sequential.is_some() {
            return sequential;
        }
        // 7.6.3: the return at the reported depth is the one that was mispredicted, once all
        // branches before it have been seen.
        let failed = irdepth == Some(depth) && self.outcomes.count() == limit;
        predicted.filter(|_| !failed)
    }

    /// Whether the walk ends in `rest` of block `id`, not having jumped: then reports what comes
    /// before.
    fn arrive<S: Sink>(
        &mut self,
        at: StreamPos,
        goal: Goal,
        id: BlockId,
        rest: Span,
        sink: &mut S,
    ) -> Option<Arrival> {
        let block = self.code.blocks.get(id)?;
        let (address, arrival) = match goal {
            Goal::LastBranch => match block.exit {
                Exit::Branch { .. } => (block.last, Arrival::Passing),
                _ => return None,
            },
            Goal::Address { irdepth: Some(depth), .. } if depth != self.returns.depth() => {
                return None;
            }
            Goal::Address { target: true, .. } => return None,
            Goal::Address { address, notify: true, .. } => (address, Arrival::Passing),
            Goal::Address { address, .. } => (address, Arrival::Undecided),
            // E17: a privilege change needs a trap return, and that is a jump.
            Goal::Sync { privilege, .. } if privilege != self.privilege => return None,
            Goal::Sync { address, .. } => (address, Arrival::Passing),
        };
        // Cheap, and nearly always enough. The last address and not the end, which may wrap.
        if !(block.start..=block.last).contains(&address) {
            return None;
        }
        let before = self.code.blocks.until(rest, address)?;
        emit(&self.code.blocks, at, before, sink);
        self.pc = address;
        // A jump may need the instruction before it, which is in this block; a branch does not.
        self.block = match goal {
            Goal::LastBranch => self.code.blocks.at(address).ok()?,
            _ => id,
        };
        Some(arrival)
    }
}

/// Reports instructions, if there are any.
#[inline]
fn emit<S: Sink>(blocks: &Blocks, at: StreamPos, span: Span, sink: &mut S) {
    if let Some(run) = blocks.run(span) {
        sink.run(at, run);
    }
}

/// Notices that a walk can never end.
///
/// As long as no branch is executed, the path is a function of the address and the return stack: if
/// both repeat, they repeat for ever. Brent's algorithm finds that without remembering the path.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Where a block leads to; the return stack there is `stack`.
    mark: Option<u64>,
    stack: Returns,
    distance: u64,
    power: u64,
}

impl Progress {
    /// `stack` is any return stack of the hart.
    pub(crate) fn new(stack: Returns) -> Self {
        Self { mark: None, stack, distance: 0, power: 0 }
    }

    #[inline]
    fn branch(&mut self) {
        self.distance = 0;
        self.power = 0;
        self.mark = None;
    }

    #[inline]
    fn check(&mut self, next: u64, returns: &Returns, at: u64) -> Result<(), Fault> {
        self.distance = self.distance.wrapping_add(1);
        if self.mark == Some(next) && self.stack.same(returns) {
            return Err(Fault::NoProgress(at));
        }
        // Few walks get this far: most meet a branch within some blocks.
        if self.distance > self.power.max(32) {
            self.mark = Some(next);
            self.stack.clone_from(returns);
            self.power = self.power.max(32).saturating_mul(2);
            self.distance = 0;
        }
        Ok(())
    }
}
