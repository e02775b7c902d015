//! Follows the program from one reported point to the next.
//!
//! Spec: E-Trace 2.0, chapter 11 "Example decoder algorithm".

use super::{Decoder, Event, EventSink, Fault, Position};
use crate::isa::{Flow, Insn, Link};
use crate::tables::Returns;
use hartrace_etrace::Mode;

/// What ends a walk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// An address reported in format 0, 1 or 2.
    Address {
        address: u64,
        /// It is reported because of a notify trigger, so it is not the target of a discontinuity.
        notify: bool,
        /// It is certainly the target of a discontinuity.
        target: bool,
        irdepth: Option<u32>,
    },
    /// The last branch of a payload without address.
    LastBranch,
    /// An address in format 3.0.
    Sync { address: u64, privilege: u8 },
}

impl Goal {
    fn address(self) -> Option<u64> {
        match self {
            Self::Address { address, .. } | Self::Sync { address, .. } => Some(address),
            Self::LastBranch => None,
        }
    }

    fn irdepth(self) -> Option<u32> {
        match self {
            Self::Address { irdepth, .. } => irdepth,
            Self::LastBranch | Self::Sync { .. } => None,
        }
    }
}

/// How a walk ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// At the target of a discontinuity.
    Target,
    /// By running into it, without a discontinuity.
    Passing,
    /// By running into an address that may still turn out to be that of a later visit.
    Undecided,
}

impl Decoder<'_> {
    /// Walks from `self.pc` to `goal` and reports every instruction but the last.
    pub(crate) fn follow(
        &mut self,
        at: Position,
        goal: Goal,
        out: EventSink<'_>,
    ) -> Result<Arrival, Fault> {
        let limit = match goal.address() {
            Some(address) => u64::from(self.insn(address)?.is_branch()),
            None => 1,
        };
        let mut progress = Progress::new(self);
        let mut steps = 0;
        loop {
            steps += 1;
            if steps > self.config.max_steps {
                return Err(Fault::TooLong(self.pc));
            }
            let hit = self.step(goal, limit)?;
            if hit {
                // The outcome of a branch at the target is reported with it; nothing else may be
                // left.
                return match self.outcomes.count() {
                    count if count > limit => Err(Fault::BranchesLeft(count - limit)),
                    count if count < limit => Err(Fault::NoOutcome(self.pc)),
                    _ => Ok(Arrival::Target),
                };
            }
            if let Some(arrival) = self.arrived(goal, limit)? {
                return Ok(arrival);
            }
            // Nothing can have retired where there is no code.
            self.insn(self.pc)?;
            out(at, Event::Retired(self.pc));
            progress.check(self)?;
        }
    }

    /// Whether the walk ends here, without a jump to this place.
    fn arrived(&self, goal: Goal, limit: u64) -> Result<Option<Arrival>, Fault> {
        if self.outcomes.count() != limit {
            return Ok(None);
        }
        Ok(match goal {
            Goal::LastBranch => self.insn(self.pc)?.is_branch().then_some(Arrival::Passing),
            Goal::Address { irdepth: Some(depth), .. } if depth != self.returns.depth() => None,
            Goal::Address { target: true, .. } => None,
            // E17: a privilege change needs a trap return.
            Goal::Sync { privilege, .. } if privilege != self.privilege => {
                let returned = self.last.is_some_and(|(_, i)| i.flow == Flow::TrapReturn);
                (returned && goal.address() == Some(self.pc)).then_some(Arrival::Passing)
            }
            _ if goal.address() != Some(self.pc) => {
                self.inside(goal)?;
                None
            }
            Goal::Address { notify: true, .. } => Some(Arrival::Passing),
            Goal::Address { .. } => Some(Arrival::Undecided),
            Goal::Sync { .. } => Some(Arrival::Passing),
        })
    }

    /// D20: the reported address is not in the middle of the instruction that the walk passes.
    fn inside(&self, goal: Goal) -> Result<(), Fault> {
        let Some(address) = goal.address() else { return Ok(()) };
        let size = self.image.insn(self.pc).map_or(0, |insn| u64::from(insn.size));
        let distance = self.wrap(address.wrapping_sub(self.pc));
        if distance > 0 && distance < size {
            return Err(Fault::InsideInstruction(address));
        }
        Ok(())
    }

    /// Executes the instruction at `self.pc`. Returns whether it jumped to the goal.
    fn step(&mut self, goal: Goal, limit: u64) -> Result<bool, Fault> {
        let pc = self.pc;
        let insn = self.insn(pc)?;
        let next = self.wrap(pc.wrapping_add(insn.size.into()));
        let relative = |offset: i64| pc.wrapping_add_signed(offset);
        let mut hit = false;
        let target = match insn.flow {
            Flow::Next | Flow::Trap => next,
            Flow::Jump(offset) => relative(offset),
            Flow::Absolute(address) => address as u64 & !1, // E7
            Flow::Branch(offset) => {
                let prediction = self.predictor.predict(pc);
                let taken = self.outcomes.take(prediction).ok_or(Fault::NoOutcome(pc))?;
                if self.options.branch_prediction {
                    self.predictor.update(pc, taken);
                }
                if taken { relative(offset) } else { next }
            }
            Flow::Indirect { .. } | Flow::Memory | Flow::TrapReturn => {
                match self.infer(&insn, goal, limit) {
                    Some(target) => target,
                    None => {
                        hit = true;
                        goal.address().ok_or(Fault::UnexpectedJump(pc))?
                    }
                }
            }
        };
        if insn.link == Link::Call && self.options.implicit_return {
            self.returns.call(next);
        }
        self.last = Some((pc, insn));
        self.pc = self.wrap(target);
        Ok(hit)
    }

    /// The target of a jump that the trace does not report.
    fn infer(&mut self, insn: &Insn, goal: Goal, limit: u64) -> Option<u64> {
        let sequential = self.sequential_target(insn);
        if insn.link != Link::Return || !self.options.implicit_return {
            return sequential;
        }
        let depth = self.returns.depth();
        let predicted = self.returns.pop();
        if sequential.is_some() {
            return sequential;
        }
        // 7.6.3: the return at the reported depth is the mispredicted one, once all branches before
        // it have been seen.
        let failed = goal.irdepth() == Some(depth) && self.outcomes.count() == limit;
        predicted.filter(|_| !failed)
    }

    /// 4.1.1: the jump uses a register that the instruction before it loaded with a constant.
    pub(crate) fn sequential_target(&self, insn: &Insn) -> Option<u64> {
        let sijump = if self.config.unit.ioptions().contains(&Mode::SequentiallyInferredJump) {
            self.options.sequentially_inferred_jump
        } else {
            self.config.params.sijump_p
        };
        let (address, before) = self.last?;
        let constant = before.constant?;
        match insn.flow {
            Flow::Indirect { rs1, offset } if sijump && rs1 == constant.rd => {
                let base = if constant.pc_relative { address } else { 0 };
                let sum = base.wrapping_add_signed(constant.value).wrapping_add_signed(offset);
                Some(self.wrap(sum & !1))
            }
            _ => None,
        }
    }

    pub(crate) fn insn(&self, address: u64) -> Result<Insn, Fault> {
        self.image.insn(address).ok_or(Fault::NoCode(address))
    }
}

/// Detects a walk that can never end.
///
/// As long as no branch is executed, the path is a function of the address and the return stack: if
/// both repeat, the path repeats for ever. Brent's algorithm detects that without storing the path.
struct Progress {
    mark: (u64, Returns, u64),
    distance: u64,
    power: u64,
}

impl Progress {
    fn new(decoder: &Decoder<'_>) -> Self {
        Self { mark: Self::state(decoder), distance: 0, power: 1 }
    }

    fn state(decoder: &Decoder<'_>) -> (u64, Returns, u64) {
        (decoder.pc, decoder.returns.clone(), decoder.outcomes.count())
    }

    fn check(&mut self, decoder: &Decoder<'_>) -> Result<(), Fault> {
        let (pc, returns, count) = &self.mark;
        if *pc == decoder.pc && *count == decoder.outcomes.count() && *returns == decoder.returns {
            return Err(Fault::NoProgress(decoder.pc));
        }
        self.distance += 1;
        if self.distance == self.power {
            self.mark = Self::state(decoder);
            self.distance = 0;
            self.power *= 2;
        }
        Ok(())
    }
}
