//! Identifies the difference that explains why the peer's tracer leaves the executed path.
//!
//! Each predicate looks for its situation at the place of the difference: the last correct
//! instruction, or the payload that was being followed.

use crate::convert;
use crate::difference::{P, Test};
use crate::golden::Traced;
use crate::tracer::{Divergence, Instead};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{AddressReport, Payload, QualStatus};
use hartrace_golden::encoder::{Encoded, Reason};
use hartrace_tests::case::Case;

/// A difference with its context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Scene<'a> {
    /// The case.
    pub(crate) case: &'a Case,
    /// Its payloads.
    pub(crate) payloads: &'a [Encoded],
    /// What was executed, with rows.
    pub(crate) want: &'a [(usize, Traced)],
    /// Where the peer leaves the path.
    pub(crate) at: &'a Divergence,
}

impl Scene<'_> {
    /// The difference that explains it, if any does.
    pub(crate) fn explain(&self) -> Option<P> {
        let tests: [Test<Self>; 10] = [
            (P::AbsoluteJump, Self::absolute_jump),
            (P::BranchToItself, Self::branch_to_itself),
            (P::EpcWithoutCode, Self::epc_without_code),
            (P::TrapFirst, Self::trap_first),
            (P::PendingBranch, Self::pending_branch),
            (P::AddressWidth, Self::address_width),
            (P::OddTarget, Self::odd_target),
            (P::LookBack, Self::look_back),
            (P::InferredTarget, Self::inferred_target),
            (P::SyncPrivilege, Self::sync_privilege),
        ];
        let explained = tests.iter().find(|(_, test)| test(self)).map(|(p, _)| *p);
        explained
            .or_else(|| self.forgotten_doubt().then_some(P::ContextForgets))
            .or_else(|| self.explain_returns())
    }

    pub(crate) fn row(&self, index: usize) -> &Retired {
        &self.case.walk.rows[index]
    }

    fn word(&self, row: usize) -> u32 {
        self.case.walk.program.fetch(self.row(row).iaddr).map_or(0, |word| word.bits)
    }

    fn payload(&self, index: usize) -> Option<&Payload> {
        self.payloads.get(index).map(|encoded| &encoded.payload)
    }

    /// The payload that the peer was following.
    pub(crate) fn current(&self) -> Option<&Encoded> {
        self.payloads.get(self.at.payload)
    }

    /// The row that a payload describes.
    pub(crate) fn row_of(&self, payload: usize) -> usize {
        self.payloads.get(payload).map_or(self.case.walk.rows.len(), |e| e.row as usize)
    }

    /// The address report in a payload.
    pub(crate) fn report(&self, payload: usize) -> Option<&AddressReport> {
        match self.payload(payload)? {
            Payload::Address(report) => Some(report),
            Payload::Branch(branch) => branch.address.as_ref(),
            _ => None,
        }
    }

    /// The last instruction before item `end`.
    fn retired_before(&self, end: usize) -> Option<usize> {
        let list = self.want[..end].iter().rev();
        list.filter(|(_, what)| matches!(what, Traced::Retired(_))).map(|(row, _)| *row).next()
    }

    /// The last correct instruction.
    pub(crate) fn last_right(&self) -> Option<usize> {
        self.retired_before(self.at.right)
    }

    /// The traced instruction before the one that the current payload reports.
    fn before_reported(&self) -> Option<usize> {
        let reported = self.row_of(self.at.payload);
        self.retired_before(self.want.partition_point(|(row, _)| *row < reported))
    }

    /// Whether the peer reached the instruction that the current payload reports.
    pub(crate) fn arrived(&self) -> bool {
        self.last_right().is_some_and(|row| row >= self.row_of(self.at.payload))
    }

    /// Whether a payload is the first of a traced part.
    pub(crate) fn starts(&self, payload: usize) -> bool {
        match payload.checked_sub(1).and_then(|before| self.payload(before)) {
            None => true,
            Some(Payload::Support(s)) => s.qual_status != QualStatus::NoChange || payload == 1,
            _ => false,
        }
    }

    fn cut(&self, address: u64) -> u64 {
        let width = self.case.encoder.params.iaddress_width_p;
        if width < 64 { address & ((1 << width) - 1) } else { address }
    }

    /// The last instruction was `jalr rd, imm(x0)`, and the peer continued at pc + imm.
    fn absolute_jump(&self) -> bool {
        let Some(row) = self.last_right() else { return false };
        let word = self.word(row);
        let wrong = self.row(row).iaddr.wrapping_add_signed((word as i32 >> 20).into());
        let wrong = self.cut(wrong);
        word & 0x000f_f07f == 0x67
            && match &self.at.instead {
                Instead::Item(item) => *item == Traced::Retired(wrong),
                Instead::Error(text) => text.ends_with(&format!(" {wrong:#x}")),
                Instead::Visit => false,
            }
    }

    /// The last instruction was a taken branch to itself, or its second execution.
    fn branch_to_itself(&self) -> bool {
        let itself = |k: usize| match self.want.get(k..k + 2) {
            Some([(row, a), (_, b)]) => self.row(*row).itype == IType::Taken && a == b,
            _ => false,
        };
        let right = self.at.right;
        right.checked_sub(1).is_some_and(itself) || right.checked_sub(2).is_some_and(itself)
    }

    /// The current payload is a trap whose EPC has no code.
    fn epc_without_code(&self) -> bool {
        let Some((row, Traced::Trap(..))) = self.want.get(self.at.right) else { return false };
        let epc = self.row(*row).iaddr;
        let Instead::Error(text) = &self.at.instead else { return false };
        self.case.walk.program.fetch(epc).is_none() && text.ends_with(&format!(" {epc:#x}"))
    }

    /// The current payload is a trap and the first of a traced part.
    fn trap_first(&self) -> bool {
        let trap = matches!(self.payload(self.at.payload), Some(Payload::Trap(_)));
        trap && self.starts(self.at.payload)
    }

    /// Since tracing started, an interrupt was reported directly after a branch.
    fn pending_branch(&self) -> bool {
        let end = (self.at.payload + 1).min(self.payloads.len());
        for payload in (0..end).rev() {
            match self.payload(payload) {
                Some(Payload::Trap(trap)) if trap.interrupt => {
                    let row = self.row_of(payload) - usize::from(trap.thaddr);
                    let end = self.want.partition_point(|(other, _)| *other < row);
                    if self.retired_before(end).is_some_and(|r| self.row(r).itype.is_branch()) {
                        return true;
                    }
                }
                Some(Payload::Start(_)) if self.starts(payload) => return false,
                _ => {}
            }
        }
        false
    }

    /// The current payload's address, computed without `iaddress_width_p`, exceeds it, and the peer
    /// passed it.
    fn address_width(&self) -> bool {
        let p = &self.case.encoder.params;
        let full = self.case.encoder.options.full_address;
        let mut address = 0u64;
        for payload in 0..=self.at.payload {
            match self.payload(payload) {
                Some(Payload::Start(start)) => address = start.address << p.iaddress_lsb_p,
                Some(Payload::Trap(trap)) => {
                    address = trap.address.unwrap_or(0) << p.iaddress_lsb_p;
                }
                _ => {
                    if let Some(report) = self.report(payload) {
                        let base = if full { 0 } else { address };
                        address = base.wrapping_add_signed(convert::field(p, report.address));
                    }
                }
            }
        }
        self.report(self.at.payload).is_some() && self.cut(address) != address && self.arrived()
    }

    /// The last instruction was a sequentially inferred `jalr` with an odd offset.
    fn odd_target(&self) -> bool {
        self.last_right()
            .is_some_and(|row| self.sequential(row) && self.word(row) & 0x0010_007f == 0x0010_0067)
    }

    /// The row is a jump that is inferred from the previous instruction.
    pub(crate) fn sequential(&self, row: usize) -> bool {
        self.case.encoder.options.sequentially_inferred_jump && self.row(row).sijump
    }

    /// The current payload reports the target of such a jump at a synchronisation point, and the
    /// peer passed it.
    fn look_back(&self) -> bool {
        let Some(jump) = self.before_reported() else { return false };
        let synced = |e: &Encoded| e.row as usize == jump && matches!(e.payload, Payload::Start(_));
        self.report(self.at.payload).is_some()
            && self.sequential(jump)
            && self.payloads[..self.at.payload].iter().any(synced)
            && self.arrived()
    }

    /// The current payload reports where an inferred jump leads, without the notify flag, and the
    /// peer passed it.
    fn inferred_target(&self) -> bool {
        let Some(jump) = self.before_reported() else { return false };
        let target = |e: &Encoded| matches!(e.reason, Reason::Updiscon | Reason::ReturnMismatch);
        let returns = self.case.encoder.options.implicit_return;
        let implicit = returns && self.row(jump).itype == IType::Return;
        self.report(self.at.payload).is_some_and(|report| !report.notify)
            && (self.sequential(jump) || implicit && !self.current().is_some_and(target))
            && self.arrived()
    }

    /// The current payload synchronises at an address that was passed before at another privilege.
    fn sync_privilege(&self) -> bool {
        let Some(Payload::Start(start)) = self.payload(self.at.payload) else { return false };
        let to = self.row_of(self.at.payload);
        let from = self.row_of(self.at.payload.saturating_sub(1));
        self.row(from).privilege.0 != start.privilege
            && (from + 1..to).any(|row| self.row(row).iaddr == self.row(to).iaddr)
    }

    /// The last address report, if the peer was at an earlier visit of that address.
    pub(crate) fn in_doubt(&self) -> Option<usize> {
        let payload = (0..self.at.payload).rev().find(|payload| self.report(*payload).is_some())?;
        let visit = self.retired_before(self.at.before)?;
        let reported = self.row_of(payload);
        let earlier = visit < reported && self.row(visit).iaddr == self.row(reported).iaddr;
        earlier.then_some(payload)
    }

    /// Between an address in doubt and the current payload there was a context packet.
    fn forgotten_doubt(&self) -> bool {
        let Some(doubt) = self.in_doubt() else { return false };
        let between = self.payloads[doubt..self.at.payload].iter();
        between.clone().any(|e| matches!(e.payload, Payload::Context(_)))
    }
}
