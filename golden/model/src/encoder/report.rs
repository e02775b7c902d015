//! Formats 0, 1 and 2.

use super::state::{Mark, State};
use super::step::Step;
use super::{PayloadSink, Reason};
use crate::Compat;
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, JumpTarget, Payload, Unit,
};

/// Flags of a reported address.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Report {
    /// It is the target of an uninferable discontinuity.
    pub(crate) target: bool,
    /// The updiscon flag.
    pub(crate) updiscon: bool,
    /// The notify flag.
    pub(crate) notify: bool,
    /// The depth, if irreport is flagged.
    pub(crate) irdepth: Option<u32>,
    /// The instruction is a branch that was mispredicted.
    pub(crate) mispredicted: bool,
}

impl State {
    /// Whether the pending branches are reported as a count.
    ///
    /// 7.8: once there are more than 31 of them, and all but perhaps the last were predicted.
    fn counting(&self) -> bool {
        self.branches > 31
    }

    fn branch_count(&self) -> u32 {
        (self.correct - 31).min(u32::MAX.into()) as u32
    }

    /// Whether the counter has no room for one more correct prediction.
    pub(crate) fn count_is_full(&self) -> bool {
        self.counting() && self.correct - 31 >= u32::MAX.into()
    }

    /// Reports the address of `step` and everything pending, in format 0, 1 or 2.
    pub(crate) fn address(
        &mut self,
        step: &Step,
        report: Report,
        reason: Reason,
        out: PayloadSink<'_>,
    ) {
        let map = self.branch_map();
        let hit = if self.config.options.jump_target_cache && report.target {
            self.cache.find(step.address)
        } else {
            None
        };
        // 7.8: 0.1 has neither notify nor updiscon (E11), and no room for more than 31 branches.
        let index = hit.filter(|_| !report.updiscon && !report.notify && !self.counting());
        // 3.2.7: targets enter the cache; in the C model every reported address does (E10).
        if self.config.options.jump_target_cache
            && (report.target || self.config.compat == Compat::CModel)
        {
            self.cache.store(step.address);
        }
        let address = AddressReport {
            address: self.address_field(step.address),
            notify: match self.config.unit {
                Unit::RvTracer => step.address >> 63 == 1,
                Unit::Reference | Unit::Hartrace => report.notify,
            },
            updiscon: match self.config.unit {
                Unit::RvTracer => report.target,
                Unit::Reference | Unit::Hartrace => report.updiscon,
            },
            irdepth: report.irdepth,
        };
        let plain = if self.counting() {
            let branch_fmt = if report.mispredicted {
                BranchFmt::MispredictedAddress(address)
            } else {
                BranchFmt::Address(address)
            };
            Payload::BranchCount(BranchCount { branch_count: self.branch_count(), branch_fmt })
        } else if map.is_empty() {
            Payload::Address(address)
        } else {
            Payload::Branch(Branch { map, address: Some(address) })
        };
        let irdepth = report.irdepth;
        let indexed = index.map(|index| Payload::JumpTarget(JumpTarget { index, map, irdepth }));
        let indexed = indexed.filter(|indexed| !self.is_longer(indexed, &plain));
        let payload = indexed.unwrap_or(plain);
        self.send(step.row, payload, reason, out);
        self.reported();
        self.open_updiscon = report.target && !report.updiscon && indexed.is_none();
        self.last_was_due = report.target;
    }

    /// Whether the index of a target is longer than the target itself (D10). The C model always
    /// sends the index.
    fn is_longer(&self, indexed: &Payload, plain: &Payload) -> bool {
        let bytes = |payload| self.bytes(payload).len();
        self.config.compat == Compat::None && bytes(indexed) > bytes(plain)
    }

    /// Reports the marks, so that a decoder can follow the current stretch unambiguously (D1).
    /// `branch` is the outcome of the current instruction if it is a branch; it comes after the
    /// marks.
    pub(crate) fn report_marks(
        &mut self,
        address: u64,
        branch: Option<bool>,
        mispredicted: bool,
        out: PayloadSink<'_>,
    ) {
        let marks = std::mem::take(&mut self.marks);
        if marks.is_empty() {
            return;
        }
        let irets = self.irets;
        if branch.is_some() {
            self.unbranch(mispredicted);
        }
        for Mark { step, depth } in marks {
            // The notify flag says that this address is not the target of a discontinuity.
            let report = Report {
                target: false,
                updiscon: false,
                notify: true,
                irdepth: Some(depth),
                mispredicted: false,
            };
            self.address(&step, report, Reason::CallAfterReturn, out);
        }
        if let Some(taken) = branch {
            self.branch(address, taken);
        }
        self.irets = irets;
    }

    /// Reports a full map, or a run of correct predictions that has ended, without an address.
    pub(crate) fn map_only(&mut self, step: &Step, out: PayloadSink<'_>) {
        let (payload, reason) = if self.counting() {
            let branch_count = self.branch_count();
            let count = BranchCount { branch_count, branch_fmt: BranchFmt::NoAddress };
            (Payload::BranchCount(count), Reason::Mispredicted)
        } else {
            let map = self.branch_map();
            debug_assert_eq!(map.branches(), BranchMap::MAX);
            (Payload::Branch(Branch { map, address: None }), Reason::MapFull)
        };
        self.send(step.row, payload, reason, out);
        self.reported();
    }

    /// Whether 31 branches or a misprediction must be reported now (`rpt_br`).
    pub(crate) fn must_report_branches(&self, mispredicted: bool) -> bool {
        (self.branches == 31 && self.correct < 31) || (self.counting() && mispredicted)
    }
}
