//! The golden decoder.

mod event;
mod follow;
mod history;
mod outcomes;

pub use event::{DecoderConfig, Event, EventSink, Fault, Position};

use crate::isa::{Flow, Insn, Link};
use crate::tables::{Cache, Predictor, Returns};
use crate::unpack::unpack;
use crate::{Compat, Image};
use follow::{Arrival, Goal};
use hartrace_etrace::ingress::Privilege;
use hartrace_etrace::{
    AddressReport, BranchFmt, BranchMap, Ioptions, ParamsError, Payload, QualStatus, Start,
    Support, Trap, Unit,
};
use history::Reader;
use outcomes::Outcomes;

/// What the decoder knows about its place in the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mode {
    /// Tracing has not started, or has ended.
    Off,
    /// At `pc`.
    On,
    /// In a gap.
    Lost,
}

/// A reported address whose visit is not yet known: `pc` is the first visit.
#[derive(Copy, Clone, Debug)]
struct Undecided {
    address: u64,
    irdepth: Option<u32>,
}

/// Reconstructs the retired instructions from payloads.
///
/// Work is bounded by the reported branches and the size of the image; see
/// [`DecoderConfig::max_steps`] for branches that are only counted. A payload that cannot be
/// followed gives one [`Event::Gap`], and decoding continues at the next synchronisation.
#[derive(Debug)]
pub struct Decoder<'a> {
    config: DecoderConfig,
    image: &'a Image,
    options: Ioptions,
    mode: Mode,
    pc: u64,
    /// The instruction before `pc`, unless a synchronisation came in between.
    last: Option<(u64, Insn)>,
    /// Last reported address.
    address: u64,
    outcomes: Outcomes,
    undecided: Option<Undecided>,
    /// The last payload was a trap, and nothing retired before its handler.
    after_trap: bool,
    privilege: u8,
    predictor: Predictor,
    cache: Cache,
    returns: Returns,
    /// An instruction that a synchronisation named but that may not have retired (E2).
    unconfirmed: Option<(Position, u64)>,
    /// The instruction at `pc` turned out not to have retired.
    not_retired: bool,
    /// A payload that may be the closing one of the reference models (C2).
    maybe_closing: Option<(Position, Payload)>,
    /// History prediction.
    reader: Reader,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder at the start of a stream.
    pub fn new(config: DecoderConfig, image: &'a Image) -> Result<Self, ParamsError> {
        config.params.layout(config.unit)?;
        let params = &config.params;
        Ok(Self {
            image,
            options: Ioptions::default(),
            mode: Mode::Off,
            pc: 0,
            last: None,
            address: 0,
            outcomes: Outcomes::default(),
            undecided: None,
            after_trap: false,
            privilege: 0,
            predictor: Predictor::new(params),
            cache: Cache::new(params),
            returns: Returns::new(params, config.compat == Compat::CModel),
            unconfirmed: None,
            not_retired: false,
            maybe_closing: None,
            reader: Reader::new(params.hpred_size_p),
            config,
        })
    }

    /// Decodes the next payload, whose bits are given least significant bit first.
    pub fn feed(&mut self, at: Position, bits: &[bool], out: EventSink<'_>) {
        match unpack(bits, &self.config.params, self.config.unit, self.options) {
            Ok(payload) => self.payload(at, payload, out),
            Err(malformed) => {
                self.flush(out);
                self.fault(at, malformed.into(), out);
            }
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self, out: EventSink<'_>) {
        self.flush(out);
    }

    /// Delivers the events that were held back.
    fn flush(&mut self, out: EventSink<'_>) {
        if let Some((at, address)) = self.unconfirmed.take() {
            out(at, Event::Retired(address));
        }
        if let Some((at, payload)) = self.maybe_closing.take() {
            self.run(at, &payload, out);
        }
    }

    fn payload(&mut self, at: Position, payload: Payload, out: EventSink<'_>) {
        // C2: the closing packet of the reference models repeats an address that is already known.
        if let Some((closing_at, closing)) = self.maybe_closing.take() {
            let ended = matches!(
                payload,
                Payload::Support(Support { qual_status: QualStatus::EndedRep, .. })
            );
            if !ended {
                self.run(closing_at, &closing, out);
            }
        }
        if self.config.compat != Compat::None
            && self.mode == Mode::On
            && let Payload::Address(report) = &payload
            && *report == AddressReport::new(report.address)
            && self.absolute(report.address) == self.pc
        {
            self.flush(out);
            self.maybe_closing = Some((at, payload));
            return;
        }
        self.not_retired = false;
        if let Some((unconfirmed_at, address)) = self.unconfirmed.take() {
            self.not_retired = self.is_fetch_fault_at(&payload, address);
            if !self.not_retired {
                out(unconfirmed_at, Event::Retired(address));
            }
        }
        self.run(at, &payload, out);
    }

    /// E2: an instruction fetch fault at the address of the last synchronisation, where the
    /// instruction there does not lead. That instruction did not retire.
    fn is_fetch_fault_at(&self, payload: &Payload, address: u64) -> bool {
        match payload {
            Payload::Trap(p) => {
                let fault = matches!(p.ecause, 0 | 1 | 12 | 20) && p.tval == Some(address);
                fault && p.thaddr && self.epc(p, None) != Some(address)
            }
            _ => false,
        }
    }

    fn run(&mut self, at: Position, payload: &Payload, out: EventSink<'_>) {
        let result = match payload {
            Payload::Support(p) => self.support(at, p, out),
            Payload::Context(p) => {
                self.context(at, p.privilege, p.context, p.time, out);
                Ok(())
            }
            Payload::Trap(p) => self.trap(at, p, out),
            Payload::Start(p) => self.start(at, p, out),
            _ if self.mode == Mode::Lost => Ok(()),
            _ if self.mode == Mode::Off => Err(Fault::NotSynchronised),
            _ if self.options.history_prediction => self.history(at, payload, out),
            _ => self.report(at, payload, out),
        };
        if let Err(fault) = result {
            self.fault(at, fault, out);
        }
    }

    fn fault(&mut self, at: Position, fault: Fault, out: EventSink<'_>) {
        // Payloads in a stretch that is already lost do not make another gap.
        if self.mode != Mode::Lost {
            out(at, Event::Gap(fault));
        }
        self.mode = Mode::Lost;
        self.forget();
    }

    fn forget(&mut self) {
        self.outcomes.clear();
        self.undecided = None;
        self.after_trap = false;
        self.last = None;
    }

    /// Truncates an address to the width of the encoder, and to that of the hart.
    fn wrap(&self, address: u64) -> u64 {
        let width = u32::from(self.config.params.iaddress_width_p);
        let width = width.min(self.image.isa().xlen.bits());
        if width < 64 { address & ((1 << width) - 1) } else { address }
    }

    /// Converts a field of formats 0, 1 and 2 to an address.
    fn absolute(&self, field: u64) -> u64 {
        let base = if self.options.full_address { 0 } else { self.address };
        self.wrap(base.wrapping_add(field << self.config.params.iaddress_lsb_p))
    }

    fn context(
        &mut self,
        at: Position,
        privilege: u8,
        context: u64,
        time: u64,
        out: EventSink<'_>,
    ) {
        out(at, Event::Context { privilege: Privilege(privilege), context, time });
    }

    /// Handles format 3, subformat 3.
    fn support(&mut self, at: Position, p: &Support, out: EventSink<'_>) -> Result<(), Fault> {
        let result = match (p.qual_status, self.undecided) {
            (QualStatus::EndedNtr, Some(undecided)) if self.mode == Mode::On => {
                self.decide(at, undecided, out)
            }
            _ => Ok(()),
        };
        let ended = matches!(p.qual_status, QualStatus::EndedRep | QualStatus::EndedNtr);
        if ended && self.follows_history() && !self.between_packets() {
            self.fault(at, Fault::Records(self.pc), out);
        }
        if p.ioptions.history_prediction != self.options.history_prediction && self.mode == Mode::On
        {
            // Only a synchronisation can follow.
            self.forget();
            self.mode = Mode::Off;
        }
        self.options = p.ioptions;
        self.undecided = None;
        if p.qual_status != QualStatus::NoChange || !p.ienable {
            if let Err(fault) = result {
                self.fault(at, fault, out);
            }
            self.forget();
            self.mode = Mode::Off;
            out(at, Event::Off(p.qual_status));
        }
        Ok(())
    }

    /// Handles format 3, subformat 1.
    fn trap(&mut self, at: Position, p: &Trap, out: EventSink<'_>) -> Result<(), Fault> {
        let address = p.address.map(|field| self.wrap(field << self.config.params.iaddress_lsb_p));
        if self.options.history_prediction {
            return self.trap_with_history(at, p, address, out);
        }
        let epc = self.epc(p, address);
        out(at, Event::Trap { cause: p.ecause, interrupt: p.interrupt, tval: p.tval, epc });
        // E16: a branch that was reported before the trap belongs to what the trap interrupted.
        self.outcomes.clear();
        self.undecided = None;
        if !p.thaddr {
            self.address = address.unwrap_or(self.address);
            self.after_trap = true;
            self.reset_tables();
            return Ok(());
        }
        let address = match address {
            Some(address) => address,
            None => self.vector(p)?,
        };
        if self.is_branch(address, p.branch)? {
            self.outcomes.known(!p.branch);
        }
        self.synchronise(at, address, p.privilege, p.context, p.time, out);
        out(at, Event::Retired(address));
        Ok(())
    }

    /// The same if it keeps the tables: it does not synchronise a decoder that is lost.
    fn trap_with_history(
        &mut self,
        at: Position,
        p: &Trap,
        address: Option<u64>,
        out: EventSink<'_>,
    ) -> Result<(), Fault> {
        let follows = self.follows_history() && !self.after_trap;
        let epc = match (follows && self.between_packets(), address) {
            (true, _) => Some(self.history_epc(p.interrupt)),
            (false, Some(address)) if !p.thaddr && self.mode == Mode::Off => Some(address),
            (false, _) => None,
        };
        out(at, Event::Trap { cause: p.ecause, interrupt: p.interrupt, tval: p.tval, epc });
        if p.thaddr {
            self.context(at, p.privilege, p.context, p.time, out);
        }
        if self.mode != Mode::On {
            return Ok(());
        }
        if !self.between_packets() {
            return Err(Fault::Records(self.pc));
        }
        self.history_trap(address.ok_or(Fault::NoVector(p.privilege))?);
        self.after_trap = !p.thaddr;
        Ok(())
    }

    /// Whether there is a branch at the address of a synchronisation. D20: if not, `not_taken`, its
    /// `branch` field, is set, except by rv_tracer.
    fn is_branch(&self, address: u64, not_taken: bool) -> Result<bool, Fault> {
        let branch = self.insn(address)?.is_branch();
        if !branch && !not_taken && self.config.unit != Unit::RvTracer {
            return Err(Fault::NotABranch(address));
        }
        Ok(branch)
    }

    /// 3.2.3: the handler's address follows from the cause.
    fn vector(&self, p: &Trap) -> Result<u64, Fault> {
        let privilege = Privilege(p.privilege);
        let entry = self.config.tvec.iter().find(|(level, _)| *level == privilege);
        let (_, tvec) = entry.ok_or(Fault::NoVector(p.privilege))?;
        let vectored = tvec & 3 == 1 && p.interrupt;
        Ok(self.wrap((tvec & !3).wrapping_add(if vectored { p.ecause.wrapping_mul(4) } else { 0 })))
    }

    /// The instruction that did not retire, if it can be known.
    fn epc(&self, p: &Trap, address: Option<u64>) -> Option<u64> {
        if !p.thaddr && self.mode == Mode::Off && !self.after_trap {
            return address;
        }
        if self.mode != Mode::On || self.after_trap {
            return None;
        }
        if self.not_retired {
            return Some(self.pc);
        }
        let insn = self.image.insn(self.pc)?;
        let next = self.wrap(self.pc.wrapping_add(insn.size.into()));
        let relative = |offset: i64| self.wrap(self.pc.wrapping_add_signed(offset));
        match insn.flow {
            Flow::Next => Some(next),
            // Encoders that count ecall and ebreak as retired (E8) report them as the last
            // instruction.
            Flow::Trap if !p.interrupt => Some(self.pc),
            Flow::Trap => Some(next),
            Flow::Jump(offset) => Some(relative(offset)),
            Flow::Absolute(address) => Some(self.wrap(address as u64 & !1)),
            Flow::Branch(offset) => {
                let taken = self.outcomes.peek(self.predictor.predict(self.pc))?;
                Some(if taken { relative(offset) } else { next })
            }
            Flow::Indirect { .. } | Flow::Memory | Flow::TrapReturn => {
                let target = address.filter(|_| !p.thaddr);
                let implicit = self.options.implicit_return && insn.link == Link::Return;
                let predicted = self.returns.top().filter(|_| implicit);
                self.sequential_target(&insn).or(match (target, predicted) {
                    // A failed prediction, or a trap in the handler of this one (D19).
                    (Some(target), Some(predicted)) if target != predicted => None,
                    (target, predicted) => predicted.or(target),
                })
            }
        }
    }

    /// Handles format 3, subformat 0.
    fn start(&mut self, at: Position, p: &Start, out: EventSink<'_>) -> Result<(), Fault> {
        let address = self.wrap(p.address << self.config.params.iaddress_lsb_p);
        let branch = self.is_branch(address, p.branch)?;
        if self.options.history_prediction {
            // The synchronisation itself is valid; only the way to it may not be.
            let arrived = self.between_packets() && self.pc == address;
            if self.follows_history() && !self.after_trap && !arrived {
                out(at, Event::Gap(Fault::Records(self.pc)));
            }
            self.history_start();
            self.forget();
            self.synchronise(at, address, p.privilege, p.context, p.time, out);
            return Ok(());
        }
        let follow = self.mode == Mode::On && !self.after_trap;
        if !follow {
            self.outcomes.clear();
        }
        self.undecided = None;
        if branch {
            self.outcomes.known(!p.branch);
        }
        if follow {
            let goal = Goal::Sync { address, privilege: p.privilege };
            if let Err(fault) = self.follow(at, goal, out) {
                // The synchronisation itself is valid; only the way to it is not.
                out(at, Event::Gap(fault));
                self.outcomes.clear();
                if branch {
                    self.outcomes.known(!p.branch);
                }
            }
        }
        self.synchronise(at, address, p.privilege, p.context, p.time, out);
        self.unconfirmed = Some((at, address));
        Ok(())
    }

    fn synchronise(
        &mut self,
        at: Position,
        address: u64,
        privilege: u8,
        context: u64,
        time: u64,
        out: EventSink<'_>,
    ) {
        self.mode = Mode::On;
        self.pc = address;
        self.address = address;
        self.last = None;
        self.after_trap = false;
        self.privilege = privilege;
        self.reset_tables();
        self.context(at, privilege, context, time, out);
    }

    /// Notes the target of a reported jump.
    fn store(&mut self, address: u64) {
        if self.options.jump_target_cache {
            self.cache.store(address);
        }
    }

    fn reset_tables(&mut self) {
        self.returns.reset();
        self.cache.reset();
        if self.config.compat != Compat::CModel {
            self.predictor.reset();
        }
    }

    /// Decides that the last reported address is not `pc` but the target of the next jump.
    fn decide(
        &mut self,
        at: Position,
        undecided: Undecided,
        out: EventSink<'_>,
    ) -> Result<(), Fault> {
        self.undecided = None;
        let Undecided { address, irdepth } = undecided;
        let goal = Goal::Address { address, notify: false, target: true, irdepth };
        self.follow(at, goal, out)?;
        self.store(address);
        out(at, Event::Retired(self.pc));
        Ok(())
    }

    /// Handles formats 0, 1 and 2.
    fn report(&mut self, at: Position, payload: &Payload, out: EventSink<'_>) -> Result<(), Fault> {
        if let Some(undecided) = self.undecided {
            self.decide(at, undecided, out)?;
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
                // E11: an index always means the target of a discontinuity.
                Goal::Address { address, notify: false, target: true, irdepth: p.irdepth }
            }
            Payload::BranchCount(_) if self.config.params.bpred_size_p == 0 => {
                return Err(Fault::NoPredictor);
            }
            Payload::BranchCount(p) => {
                self.outcomes.predicted(u64::from(p.branch_count) + 31);
                match &p.branch_fmt {
                    BranchFmt::NoAddress => {
                        self.outcomes.mispredicted();
                        Goal::LastBranch
                    }
                    BranchFmt::Address(report) => self.addressed(report),
                    BranchFmt::MispredictedAddress(report) => {
                        self.outcomes.mispredicted();
                        self.addressed(report)
                    }
                }
            }
            // The other formats are not reports.
            _ => return Ok(()),
        };
        let arrival = self.follow(at, goal, out)?;
        if let Goal::Address { address, irdepth, .. } = goal {
            self.address = address;
            let store = arrival == Arrival::Target || self.config.compat == Compat::CModel;
            if store {
                self.store(address);
            }
            if arrival == Arrival::Undecided {
                self.undecided = Some(Undecided { address, irdepth });
            }
        }
        out(at, Event::Retired(self.pc));
        Ok(())
    }

    fn append(&mut self, map: &BranchMap) {
        for index in 0..map.branches() {
            self.outcomes.known(map.taken(index).unwrap_or(false));
        }
    }

    fn addressed(&self, report: &AddressReport) -> Goal {
        let rv_tracer = self.config.unit == Unit::RvTracer;
        Goal::Address {
            address: self.absolute(report.address),
            notify: report.notify && !rv_tracer,
            target: report.updiscon,
            irdepth: report.irdepth,
        }
    }
}
