//! Formats 0, 1 and 2: branches and addresses.

use super::{Tracer, Undecided};
use crate::walk::{Arrival, Goal};
use crate::{Compat, Fault, Sink, StreamPos};
use hartrace_etrace::{AddressReport, BranchCount, BranchFmt, BranchMap, Payload, Unit};

/// Predicted branches that are followed at once: what they lead through may be passed on before the
/// next.
const SLICE: u32 = 1 << 12;

impl Tracer<'_> {
    /// The address that was reported last is not where `pc` is, but where the next jump leads.
    pub(super) fn decide<S: Sink>(
        &mut self,
        at: StreamPos,
        undecided: Undecided,
        sink: &mut S,
    ) -> Result<(), Fault> {
        self.undecided = None;
        let Undecided { address, irdepth } = undecided;
        let goal = Goal::Address { address, notify: false, target: true, irdepth };
        self.follow(at, goal, sink)?;
        self.store(address);
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Formats 0, 1 and 2.
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
                let entry = self.cache.get(p.index);
                let address = entry.ok_or(Fault::EmptyCacheEntry(p.index))?;
                // D10: an index always means the target of a discontinuity.
                Goal::Address { address, notify: false, target: true, irdepth: p.irdepth }
            }
            Payload::BranchCount(_) if self.config.params.bpred_size_p == 0 => {
                return Err(Fault::NoPredictor);
            }
            Payload::BranchCount(p) => {
                if let Some(later) = p.branch_count.checked_sub(SLICE) {
                    // An address without code is a fault before the first of them.
                    if let BranchFmt::Address(report) | BranchFmt::MispredictedAddress(report) =
                        &p.branch_fmt
                    {
                        self.code.blocks.insn(self.absolute(report.address))?;
                    }
                    self.later = Some((at, BranchCount { branch_count: later, ..*p }));
                    self.outcomes.push_predicted(SLICE.into(), false);
                    return self.arrive_at(at, Goal::LastBranch, sink);
                }
                let counted = u64::from(p.branch_count).saturating_add(31);
                match &p.branch_fmt {
                    BranchFmt::NoAddress => {
                        self.outcomes.push_predicted(counted, true);
                        Goal::LastBranch
                    }
                    BranchFmt::Address(report) => {
                        self.outcomes.push_predicted(counted, false);
                        self.addressed(report)
                    }
                    BranchFmt::MispredictedAddress(report) => {
                        self.outcomes.push_predicted(counted, true);
                        self.addressed(report)
                    }
                }
            }
            // The others are not reports.
            _ => return Ok(()),
        };
        self.arrive_at(at, goal, sink)
    }

    /// Follows the program to where a report leads.
    pub(super) fn arrive_at<S: Sink>(
        &mut self,
        at: StreamPos,
        goal: Goal,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let arrival = self.follow(at, goal, sink)?;
        let (pc, predictor) = (self.pc, &self.predictor);
        self.outcomes.latch(|| predictor.predict(pc));
        if let Goal::Address { address, irdepth, .. } = goal {
            self.address = address;
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

    /// Notes the target of a reported jump.
    pub(super) fn store(&mut self, address: u64) {
        if self.options.jump_target_cache {
            self.cache.store(address);
        }
    }

    #[inline]
    pub(super) fn append(&mut self, map: &BranchMap) {
        self.outcomes.push_map(map.branches(), map.raw());
    }

    #[inline]
    pub(super) fn addressed(&self, report: &AddressReport) -> Goal {
        Goal::Address {
            address: self.absolute(report.address),
            notify: report.notify && self.config.unit != Unit::RvTracer,
            target: report.updiscon,
            irdepth: report.irdepth,
        }
    }

    /// A field of formats 0, 1 and 2 as an address.
    #[inline]
    pub(super) fn absolute(&self, field: u64) -> u64 {
        let base = if self.options.full_address { 0 } else { self.address };
        base.wrapping_add(self.unshift(field)) & self.mask
    }

    #[inline]
    pub(super) fn unshift(&self, field: u64) -> u64 {
        field.wrapping_shl(self.config.params.iaddress_lsb_p.into()) & self.mask
    }
}
