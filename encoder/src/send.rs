//! How payloads are made and sent.

use crate::Encoded;
use crate::state::{State, mask};
use crate::step::{Step, Trap};
use hartrace_etrace::encoder::Reason;
use hartrace_etrace::ingress::IType;
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Compat, Context, DataSupport,
    EmitError, Ioptions, JumpTarget, Mode, Packed, Payload, QualStatus, Start, Support,
    Trap as TrapPayload, Unit,
};

/// Flags of a reported address.
#[derive(Copy, Clone, Debug, Default)]
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
    /// Reports an address that is not the target of a discontinuity. `branch` is the outcome, if the
    /// instruction is a branch, and whether it was mispredicted.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop_at<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        address: u64,
        branch: (Option<bool>, bool),
        notify: bool,
        reason: Reason,
        out: &mut S,
    ) {
        let (taken, mispredicted) = branch;
        self.report_marks(address, taken, mispredicted, out);
        // 7.6.3, and D1: the depth is reported whenever a return has been popped since the last
        // branch.
        let irdepth = (self.irets > 0).then(|| self.returns.depth());
        let report = Report { notify, irdepth, mispredicted, ..Report::default() };
        self.address(row, address, report, reason, out);
    }

    /// Reports an address and everything pending, in format 0, 1 or 2.
    #[inline(never)]
    pub(crate) fn address<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        at: u64,
        report: Report,
        reason: Reason,
        out: &mut S,
    ) {
        let map = self.branch_map();
        // 3.2.7: targets enter the cache; in the C model every reported address does (C4).
        let enters = report.target || self.compat == Compat::CModel;
        let found =
            if self.options.jump_target_cache && enters { self.cache.enter(at) } else { None };
        // 7.8: 0.1 has neither notify nor updiscon (E11), and no room for more than 31 branches.
        let indexable = report.target && !report.updiscon && !report.notify && !self.counting();
        let base = if self.options.full_address { 0 } else { self.last_address };
        self.last_address = at;
        let (notify, updiscon) = match self.unit {
            Unit::RvTracer => (at >> 63 == 1, report.target),
            Unit::Reference | Unit::Hartrace => (report.notify, report.updiscon),
        };
        let irdepth = report.irdepth;
        let address = AddressReport {
            address: self.shifted(at.wrapping_sub(base)),
            notify,
            updiscon,
            irdepth,
        };
        let index = found.filter(|_| indexable);
        let indexed = index.is_some_and(|index| {
            self.send_index(row, JumpTarget { index, map, irdepth }, address, reason, out)
        });
        if index.is_none() {
            self.send_address(row, map, address, report.mispredicted, reason, out);
        }
        self.reported();
        self.open_updiscon = report.target && !report.updiscon && !indexed;
        self.last_was_due = report.target;
    }

    #[inline]
    fn send_address<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        map: BranchMap,
        address: AddressReport,
        mispredicted: bool,
        reason: Reason,
        out: &mut S,
    ) {
        if self.counting() {
            let branch_fmt = if mispredicted {
                BranchFmt::MispredictedAddress(address)
            } else {
                BranchFmt::Address(address)
            };
            let count = BranchCount { branch_count: self.branch_count(), branch_fmt };
            self.send(row, Payload::BranchCount(count), reason, out);
        } else if map.is_empty() {
            self.send(row, Payload::Address(address), reason, out);
        } else {
            let branch = Branch { map, address: Some(address) };
            self.send(row, Payload::Branch(branch), reason, out);
        }
    }

    /// Sends the index of a target, or the target itself if that is shorter (D10). The C model always
    /// sends the index. Returns whether it was sent.
    #[inline]
    fn send_index<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        target: JumpTarget,
        address: AddressReport,
        reason: Reason,
        out: &mut S,
    ) -> bool {
        let map = target.map;
        let plain = match map.is_empty() {
            true => Payload::Address(address),
            false => Payload::Branch(Branch { map, address: Some(address) }),
        };
        let indexed = Payload::JumpTarget(target);
        let pack = |payload| self.packer.pack(payload, self.options);
        let (long, short) = (pack(&plain), pack(&indexed));
        let length = |packed: &Result<Packed, EmitError>| {
            packed.as_ref().map_or(0, |packed| packed.bytes().len())
        };
        let by_index = self.compat != Compat::None || length(&short) <= length(&long);
        let (payload, packed) = if by_index { (indexed, short) } else { (plain, long) };
        self.send_packed(row, payload, packed, reason, out);
        by_index
    }

    /// Reports a full map, or a run of correct predictions that has ended, without an address.
    #[inline(never)]
    pub(crate) fn map_only<S: FnMut(Encoded<'_>)>(&mut self, row: u64, out: &mut S) {
        if self.counting() {
            let branch_count = self.branch_count();
            let count = BranchCount { branch_count, branch_fmt: BranchFmt::NoAddress };
            self.send(row, Payload::BranchCount(count), Reason::Mispredicted, out);
        } else {
            let branch = Branch { map: self.branch_map(), address: None };
            self.send(row, Payload::Branch(branch), Reason::MapFull, out);
        }
        self.reported();
    }

    /// Converts a byte address to a field.
    #[inline]
    pub(crate) fn shifted(&self, address: u64) -> u64 {
        (address & self.address_mask) >> self.params.iaddress_lsb_p
    }

    fn machine_state(&self, step: &Step) -> Context {
        Context {
            privilege: (u64::from(step.privilege.0) & mask(self.params.privilege_width_p.into()))
                as u8,
            time: step.time & mask(self.params.time_bits()),
            context: step.context & mask(self.params.context_bits()),
        }
    }

    /// Format 3, subformat 0.
    #[inline(never)]
    pub(crate) fn sync<S: FnMut(Encoded<'_>)>(&mut self, step: &Step, reason: Reason, out: &mut S) {
        let Context { privilege, time, context } = self.machine_state(step);
        let branch = step.itype != IType::Taken;
        let address = self.shifted(step.address);
        self.last_address = step.address;
        let payload = Payload::Start(Start { branch, privilege, time, context, address });
        self.send(step.row, payload, reason, out);
        self.synchronised();
    }

    /// Format 3, subformat 1: `trap` at `step`.
    #[inline(never)]
    pub(crate) fn trap<S: FnMut(Encoded<'_>)>(
        &mut self,
        step: &Step,
        trap: Trap,
        thaddr: bool,
        reason: Reason,
        out: &mut S,
    ) {
        let Context { privilege, time, context } = self.machine_state(step);
        let implicit = self.options.implicit_exception && thaddr;
        let has_tval = !trap.interrupt || self.unit == Unit::RvTracer;
        let payload = Payload::Trap(TrapPayload {
            branch: step.itype != IType::Taken,
            privilege,
            time,
            context,
            ecause: trap.cause & mask(self.params.ecause_width_p.into()),
            interrupt: trap.interrupt,
            thaddr,
            address: (!implicit).then(|| self.shifted(step.address)),
            tval: has_tval.then_some(trap.tval & self.address_mask),
        });
        self.last_address = step.address;
        self.send(step.row, payload, reason, out);
        // History prediction keeps its tables, so nobody can start here.
        match self.options.history_prediction {
            true => self.context_pending = false,
            false => self.synchronised(),
        }
    }

    /// Format 3, subformat 2.
    #[inline(never)]
    pub(crate) fn context_packet<S: FnMut(Encoded<'_>)>(
        &mut self,
        step: &Step,
        reason: Reason,
        out: &mut S,
    ) {
        self.context_pending = false;
        let payload = Payload::Context(self.machine_state(step));
        self.send(step.row, payload, reason, out);
    }

    /// Format 3, subformat 3.
    #[inline(never)]
    pub(crate) fn support<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        ienable: bool,
        qual_status: QualStatus,
        reason: Reason,
        out: &mut S,
    ) {
        let payload = Payload::Support(Support {
            ienable,
            encoder_mode: 0,
            qual_status,
            ioptions: self.reported_options(),
            data: DataSupport::default(),
        });
        self.send(row, payload, reason, out);
    }

    /// The modes that a support packet of this unit can name.
    fn reported_options(&self) -> Ioptions {
        let mut reported = Ioptions::default();
        for mode in self.packer.layout().ioptions() {
            let on = match mode {
                Mode::DeltaAddress => !self.options.full_address,
                _ => self.options.get(mode),
            };
            reported.set(mode, on);
        }
        reported
    }

    /// Whether the payload before this support packet would have been sent anyway (7.5.1).
    pub(crate) fn end_status(&self) -> QualStatus {
        if self.last_was_due { QualStatus::EndedNtr } else { QualStatus::EndedRep }
    }

    /// Ends the trace after a row, while tracing stays enabled, and forgets what has not been reported.
    #[inline(never)]
    pub(crate) fn end_trace<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        reason: Reason,
        out: &mut S,
    ) {
        let status = self.end_status();
        self.support(row, true, status, reason, out);
        self.clear();
    }

    /// Sends a payload, unless it is lost.
    #[inline(always)]
    pub(crate) fn send<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        payload: Payload,
        reason: Reason,
        out: &mut S,
    ) {
        if !self.losing {
            let packed = self.packer.pack(&payload, self.options);
            self.send_packed(row, payload, packed, reason, out);
        }
    }

    /// The same, for a payload with its bytes.
    #[inline(always)]
    fn send_packed<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        payload: Payload,
        packed: Result<Packed, EmitError>,
        reason: Reason,
        out: &mut S,
    ) {
        if self.losing {
            return;
        }
        if self.announce_loss {
            self.announce(row, out);
        }
        self.resync.packet();
        match packed {
            Ok(packed) => out(Encoded { row, payload, bytes: packed.bytes(), reason }),
            // Every value has been cut to the width of its field. If one had not, a decoder would
            // have to know that a payload is missing.
            Err(_) => self.announce_loss = true,
        }
    }

    /// Reports a loss.
    #[cold]
    fn announce<S: FnMut(Encoded<'_>)>(&mut self, row: u64, out: &mut S) {
        self.announce_loss = false;
        self.support(row, true, QualStatus::TraceLost, Reason::Lost, out);
    }
}
