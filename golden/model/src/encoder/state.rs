//! State that the encoder keeps between steps, apart from the pipeline.

use super::history::Packet;
use super::step::Step;
use super::{Encoded, EncoderConfig, PayloadSink, Reason, Resync};
use crate::Compat;
use crate::pack::{IrdepthFiller, pack};
use crate::tables::{Cache, Predictor, Returns};
use hartrace_etrace::{BranchMap, Context, DataSupport, Payload, QualStatus, Start, Support, Trap};

/// Progress towards a resynchronisation (chapter 9, resync state machine).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResyncState {
    Counting,
    /// Due: report what is pending.
    Flush,
    /// Synchronise.
    Sync,
}

/// A place past which a decoder must be led before it can distinguish later visits of an address.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) step: Step,
    pub(crate) depth: u32,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: EncoderConfig,
    /// Branches not yet reported; the map holds the first 31.
    pub(crate) branches: u64,
    pub(crate) map: u32,
    /// How many of them had the predicted outcome (`pbc`).
    pub(crate) correct: u64,
    pub(crate) predictor: Predictor,
    pub(crate) cache: Cache,
    pub(crate) returns: Returns,
    /// Returns popped since the last branch, payload or mark.
    pub(crate) irets: u64,
    /// Calls since the last branch or payload that follow a popped return (D1).
    pub(crate) marks: Vec<Mark>,
    last_address: u64,
    resync_count: u64,
    pub(crate) resync_state: ResyncState,
    /// The last payload reported the target of a discontinuity without the updiscon flag, so a
    /// decoder does not yet know which visit it is.
    pub(crate) open_updiscon: bool,
    /// The last payload would also have been sent if tracing had continued.
    pub(crate) last_was_due: bool,
    pub(crate) context_pending: bool,
    pub(crate) losing: bool,
    pub(crate) announce_loss: bool,
    /// Some levels may not be traced.
    pub(crate) guarded: bool,
    /// History prediction.
    pub(crate) history: Packet,
}

impl State {
    pub(crate) fn new(config: EncoderConfig) -> Self {
        Self {
            branches: 0,
            map: 0,
            correct: 0,
            predictor: Predictor::new(&config.params),
            cache: Cache::new(&config.params),
            returns: Returns::new(&config.params, config.compat == Compat::CModel),
            irets: 0,
            marks: Vec::new(),
            last_address: 0,
            resync_count: 0,
            resync_state: ResyncState::Counting,
            open_updiscon: false,
            last_was_due: false,
            context_pending: false,
            losing: false,
            announce_loss: false,
            guarded: false,
            history: Packet::new(config.params.hpred_size_p),
            config,
        }
    }

    /// Forgets everything that has not been reported.
    pub(crate) fn clear(&mut self) {
        self.reported();
        self.context_pending = false;
        self.resync_state = ResyncState::Counting;
    }

    /// Forgets earlier returns: a branch or a payload shows a decoder where it is.
    pub(crate) fn forget_returns(&mut self) {
        self.irets = 0;
        self.marks.clear();
    }

    /// Records a branch. Returns whether it was mispredicted.
    pub(crate) fn branch(&mut self, address: u64, taken: bool) -> bool {
        if self.branches < 31 {
            self.map |= u32::from(!taken) << self.branches;
        }
        self.branches += 1;
        let predicted = self.predictor.predict(address) == taken;
        if self.config.options.branch_prediction && predicted {
            self.correct += 1;
        }
        !predicted
    }

    /// Takes back the last recorded branch.
    pub(crate) fn unbranch(&mut self, mispredicted: bool) {
        self.branches -= 1;
        if self.branches < 31 {
            self.map &= !(1 << self.branches);
        }
        if self.config.options.branch_prediction && !mispredicted {
            self.correct -= 1;
        }
    }

    pub(crate) fn branch_map(&self) -> BranchMap {
        BranchMap::new(self.branches.min(31) as u8, self.map).unwrap_or_default()
    }

    pub(crate) fn resync_max(&self) -> Option<u64> {
        match self.config.resync {
            Resync::Off => None,
            Resync::Packets(n) | Resync::Cycles(n) | Resync::HalfWords(n) => Some(n),
        }
    }

    pub(crate) fn resync_count(&self) -> u64 {
        self.resync_count
    }

    /// Counts cycles or half-words.
    pub(crate) fn count_step(&mut self, step: &Step) {
        self.resync_count += match self.config.resync {
            Resync::Off | Resync::Packets(_) => 0,
            Resync::Cycles(_) => u64::from(step.cycles),
            Resync::HalfWords(_) => u64::from(step.half_words),
        };
    }

    /// Computes the address field of formats 0, 1 and 2 (3.2.1, 3.2.2), and updates the reference
    /// address.
    pub(crate) fn address_field(&mut self, address: u64) -> u64 {
        let base = if self.config.options.full_address { 0 } else { self.last_address };
        self.last_address = address;
        self.shifted(address.wrapping_sub(base))
    }

    /// Converts a byte address to a field.
    fn shifted(&self, address: u64) -> u64 {
        let params = &self.config.params;
        let width = params.iaddress_width_p;
        let address = if width < 64 { address & ((1 << width) - 1) } else { address };
        address >> params.iaddress_lsb_p
    }

    fn time(&self, step: &Step) -> u64 {
        truncate(step.time, self.config.params.time_bits())
    }

    fn context(&self, step: &Step) -> u64 {
        truncate(step.context, self.config.params.context_bits())
    }

    fn privilege(&self, step: &Step) -> u8 {
        truncate(step.privilege.0.into(), self.config.params.privilege_width_p.into()) as u8
    }

    /// Format 3, subformat 0.
    pub(crate) fn sync(&mut self, step: &Step, reason: Reason, out: PayloadSink<'_>) {
        let payload = Payload::Start(Start {
            branch: step.itype != hartrace_etrace::ingress::IType::Taken,
            privilege: self.privilege(step),
            time: self.time(step),
            context: self.context(step),
            address: self.shifted(step.address),
        });
        self.last_address = step.address;
        self.send(step.row, payload, reason, out);
        self.synchronised();
    }

    /// Format 3, subformat 1: `trap` at `step`.
    pub(crate) fn trap(
        &mut self,
        step: &Step,
        trap: &Step,
        thaddr: bool,
        reason: Reason,
        out: PayloadSink<'_>,
    ) {
        let params = self.config.params;
        let interrupt = trap.itype == hartrace_etrace::ingress::IType::Interrupt;
        let implicit = self.config.options.implicit_exception && thaddr;
        let has_tval = !interrupt || self.config.unit == hartrace_etrace::Unit::RvTracer;
        let payload = Payload::Trap(Trap {
            branch: step.itype != hartrace_etrace::ingress::IType::Taken,
            privilege: self.privilege(step),
            time: self.time(step),
            context: self.context(step),
            ecause: truncate(trap.cause, params.ecause_width_p.into()),
            interrupt,
            thaddr,
            address: (!implicit).then(|| self.shifted(step.address)),
            tval: has_tval.then(|| truncate(trap.tval, params.iaddress_width_p.into())),
        });
        self.last_address = step.address;
        self.send(step.row, payload, reason, out);
        // History prediction keeps its tables, so nobody can start here.
        if self.config.options.history_prediction {
            self.context_pending = false;
        } else {
            self.synchronised();
        }
    }

    /// Format 3, subformat 2.
    pub(crate) fn context_packet(&mut self, step: &Step, reason: Reason, out: PayloadSink<'_>) {
        let payload = Payload::Context(Context {
            privilege: self.privilege(step),
            time: self.time(step),
            context: self.context(step),
        });
        self.context_pending = false;
        self.send(step.row, payload, reason, out);
    }

    /// Format 3, subformat 3.
    pub(crate) fn support(
        &mut self,
        row: u64,
        ienable: bool,
        qual_status: QualStatus,
        reason: Reason,
        out: PayloadSink<'_>,
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
    fn reported_options(&self) -> hartrace_etrace::Ioptions {
        let mut reported = hartrace_etrace::Ioptions::default();
        for mode in self.config.unit.ioptions() {
            let delta = *mode == hartrace_etrace::Mode::DeltaAddress;
            let on = match delta {
                true => !self.config.options.full_address,
                false => self.config.options.get(*mode),
            };
            reported.set(*mode, on);
        }
        if self.config.params.hpred_size_p > 0 {
            reported.history_prediction = self.config.options.history_prediction;
        }
        reported
    }

    /// Whether the payload before this support packet would have been sent anyway (7.5.1).
    pub(crate) fn end_status(&self) -> QualStatus {
        if self.last_was_due { QualStatus::EndedNtr } else { QualStatus::EndedRep }
    }

    /// Packs and delivers a payload.
    pub(crate) fn send(
        &mut self,
        row: u64,
        payload: Payload,
        reason: Reason,
        out: PayloadSink<'_>,
    ) {
        if self.losing {
            return;
        }
        if self.announce_loss {
            self.announce_loss = false;
            self.support(row, true, QualStatus::TraceLost, Reason::Lost, out);
        }
        let bytes = self.bytes(&payload);
        if matches!(self.config.resync, Resync::Packets(_)) {
            self.resync_count += 1;
        }
        out(Encoded { row, payload, bytes, reason });
    }

    /// The payload as transmitted.
    pub(crate) fn bytes(&self, payload: &Payload) -> Vec<u8> {
        let config = &self.config;
        let filler = match config.compat {
            Compat::PythonModel => IrdepthFiller::Ones,
            Compat::None | Compat::CModel => IrdepthFiller::Updiscon,
        };
        pack(payload, &config.params, config.unit, config.options, filler)
    }

    /// Updates the state after formats 0, 1 and 2.
    pub(crate) fn reported(&mut self) {
        self.branches = 0;
        self.map = 0;
        self.correct = 0;
        self.forget_returns();
        self.open_updiscon = false;
        self.last_was_due = false;
    }

    /// Resets what formats 3.0 and 3.1 reset (chapter 9; 3.2.5 to 3.2.7).
    fn synchronised(&mut self) {
        self.reported();
        self.context_pending = false;
        self.resync_count = 0;
        self.resync_state = ResyncState::Counting;
        self.returns.reset();
        self.cache.reset();
        if self.config.compat != Compat::CModel {
            self.predictor.reset();
        }
    }
}

fn truncate(value: u64, width: u32) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}
