//! Formats 0, 1 and 2: branches and addresses.

use super::Tracer;
use super::state::{Reference, Undecided, Unfinished};
use crate::event::{Fault, StreamPos};
use crate::sink::Sink;
use crate::walk::{Arrival, Goal, Reached};
use hartrace_etrace::{AddressReport, BranchCount, BranchFmt, BranchMap, Compat, Payload, Unit};

/// Number of predicted branches followed at once; sinks may be passed on before the next ones.
const SLICE: u32 = 1 << 12;

impl Tracer<'_> {
    /// Decides that the last reported address is not `pc`, but the target of the next jump.
    pub(super) fn decide<S: Sink>(
        &mut self,
        at: StreamPos,
        undecided: Undecided,
        sink: &mut S,
    ) -> Result<(), Fault> {
        self.undecided = None;
        let Undecided { address, irdepth } = undecided;
        let goal = Goal::Address { address, reached: Reached::AsTarget, irdepth };
        self.follow(at, goal, sink)?;
        self.store(address);
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Processes formats 0, 1 and 2.
    pub(super) fn report<S: Sink>(
        &mut self,
        at: StreamPos,
        payload: &Payload,
        sink: &mut S,
    ) -> Result<(), Fault> {
        if let Some(undecided) = self.undecided {
            self.decide(at, undecided, sink)?;
        }
        let goal = match payload {
            Payload::Address(report) => self.addressed(report),
            Payload::Branch(p) => {
                self.append(&p.map);
                p.address.as_ref().map_or(Goal::LastBranch, |report| self.addressed(report))
            }
            Payload::JumpTarget(p) => {
                self.append(&p.map);
                let entry = self.cache.consult(p.index);
                let address = entry.ok_or(Fault::EmptyCacheEntry(p.index))?;
                // D10: an index always means the target of a discontinuity.
                Goal::Address { address, reached: Reached::AsTarget, irdepth: p.irdepth }
            }
            Payload::BranchCount(_) if self.config.params.bpred_size_p == 0 => {
                return Err(Fault::NoPredictor);
            }
            Payload::BranchCount(p) => {
                if !(S::REPEATS && sink.repeats())
                    && let Some(rest) = p.branch_count.checked_sub(SLICE)
                {
                    // An address without code is a fault before the first branch.
                    if let BranchFmt::Address(report) | BranchFmt::MispredictedAddress(report) =
                        &p.branch_fmt
                    {
                        self.programs.code.blocks.insn(self.absolute(report.address))?;
                    }
                    let rest = BranchCount { branch_count: rest, ..*p };
                    self.unfinished = Some(Unfinished { at, rest });
                    self.walk.outcomes.push_predicted(SLICE.into(), false);
                    return self.arrive_at(at, Goal::LastBranch, sink);
                }
                let counted = u64::from(p.branch_count).saturating_add(31);
                match &p.branch_fmt {
                    BranchFmt::NoAddress => {
                        self.walk.outcomes.push_predicted(counted, true);
                        Goal::LastBranch
                    }
                    BranchFmt::Address(report) => {
                        self.walk.outcomes.push_predicted(counted, false);
                        self.addressed(report)
                    }
                    BranchFmt::MispredictedAddress(report) => {
                        self.walk.outcomes.push_predicted(counted, true);
                        self.addressed(report)
                    }
                }
            }
            // The other formats are not reports.
            _ => return Ok(()),
        };
        self.arrive_at(at, goal, sink)
    }

    /// Continues the walk to a goal.
    pub(super) fn follow<S: Sink>(
        &mut self,
        at: StreamPos,
        goal: Goal,
        sink: &mut S,
    ) -> Result<Arrival, Fault> {
        self.walk.follow(&mut self.programs.code, at, goal, sink)
    }

    /// Follows the program to the goal of a report, and reports the instruction there.
    pub(super) fn arrive_at<S: Sink>(
        &mut self,
        at: StreamPos,
        goal: Goal,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let arrival = self.follow(at, goal, sink)?;
        self.walk.latch();
        if let Goal::Address { address, irdepth, .. } = goal {
            self.reference = Reference::Known(address);
            if arrival == Arrival::Target || self.config.compat == Compat::CModel {
                self.store(address);
            }
            if arrival == Arrival::Undecided {
                self.undecided = Some(Undecided { address, irdepth });
            }
        }
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Stores the target of a reported jump.
    pub(super) fn store(&mut self, address: u64) {
        if self.options.jump_target_cache {
            self.cache.store(address);
        }
    }

    #[inline]
    pub(super) fn append(&mut self, map: &BranchMap) {
        self.walk.outcomes.push_map(map.branches(), map.raw());
    }

    #[inline]
    pub(super) fn addressed(&self, report: &AddressReport) -> Goal {
        let reached = if report.updiscon {
            Reached::AsTarget
        } else if report.notify && self.config.unit != Unit::RvTracer {
            Reached::Passing
        } else {
            Reached::Unsaid
        };
        let address = self.absolute(report.address);
        Goal::Address { address, reached, irdepth: report.irdepth }
    }

    /// Converts an address field of formats 0, 1 and 2 to an address.
    #[inline]
    pub(super) fn absolute(&self, field: u64) -> u64 {
        let base = match self.reference {
            Reference::Known(address) if !self.options.full_address => address,
            _ => 0,
        };
        base.wrapping_add(self.unshift(field)) & self.mask
    }

    #[inline]
    pub(super) fn unshift(&self, field: u64) -> u64 {
        field.wrapping_shl(self.config.params.iaddress_lsb_p.into()) & self.mask
    }
}
