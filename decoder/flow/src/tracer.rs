//! Payloads to runs of instructions.

use crate::blocks::{BlockId, Blocks, Exit};
use crate::outcomes::Outcomes;
use crate::tables::{Predictor, Returns, TargetCache};
use crate::walk::{Arrival, Goal};
use crate::{Event, Fault, Image, Run, Sink, StreamPos};
use hartrace_bits::mask;
use hartrace_etrace::{
    AddressReport, BranchFmt, BranchMap, Ioptions, Mode, Params, ParamsError, Payload, QualStatus,
    Start, Support, Trap, Unit,
};
use hartrace_isa::{Kind, Link};

/// Whose habits to expect, where reference streams differ from the specification; see
/// `docs/deviations.md`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// The specification.
    #[default]
    None,
    /// The Python reference model (C1 to C3).
    PythonModel,
    /// The C reference codec of 2021 (C1, C2, C4, C5).
    CModel,
}

/// How to read a stream.
#[derive(Clone, Debug)]
pub struct Config {
    /// The encoder's parameters.
    pub params: Params,
    /// Whose support packets and address coding to expect.
    pub unit: Unit,
    /// Contents of the `xtvec` register per privilege a trap goes to, for implicit exceptions. The
    /// low two bits are its mode: 1 = vectored.
    pub tvec: Vec<(u8, u64)>,
    /// Whose habits to expect.
    pub compat: Compat,
    /// Blocks to follow for one payload at most.
    pub max_blocks: u64,
    /// Decoded blocks to keep; all are forgotten when there are more.
    pub block_cap: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            tvec: Vec::new(),
            compat: Compat::None,
            max_blocks: 1 << 33,
            block_cap: 1 << 22,
        }
    }
}

impl Config {
    /// The bits of an address that count: as wide as the encoder's, and no wider than the hart's.
    fn mask(&self, image: &Image) -> u64 {
        mask(u32::from(self.params.iaddress_width_p).min(image.isa().xlen.bits()))
    }

    /// Whether there is code at the address in a field of format 3.
    pub(crate) fn code_at(&self, image: &Image, field: u64) -> bool {
        let address = field.wrapping_shl(self.params.iaddress_lsb_p.into());
        image.insn(address & self.mask(image)).is_some()
    }
}

/// What the tracer knows about where it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// Tracing has not started, or has ended.
    Off,
    /// At `pc`.
    On,
    /// In a gap.
    Lost,
}

/// An address that was reported without saying which visit it is: `pc` is the first one.
#[derive(Copy, Clone, Debug)]
struct Undecided {
    address: u64,
    irdepth: Option<u32>,
}

/// Follows one hart's payloads through its program.
///
/// A payload that cannot be followed is one [`Event::Gap`]; decoding goes on with the next
/// synchronisation. Nothing is allocated per payload once the code has been seen.
#[derive(Clone, Debug)]
pub struct Tracer<'a> {
    pub(crate) config: Config,
    pub(crate) blocks: Blocks<'a>,
    image: &'a Image,
    pub(crate) options: Ioptions,
    /// Sequentially inferable jumps are not reported.
    pub(crate) sijump: bool,
    mask: u64,
    state: State,
    /// The instruction that retired last, and a block it is in.
    pub(crate) pc: u64,
    pub(crate) block: BlockId,
    /// Last reported address.
    address: u64,
    pub(crate) outcomes: Outcomes,
    undecided: Option<Undecided>,
    /// The last payload was a trap before whose handler nothing retired.
    after_trap: bool,
    pub(crate) privilege: u8,
    pub(crate) predictor: Predictor,
    cache: TargetCache,
    pub(crate) returns: Returns,
    /// An instruction that a synchronisation named but that may not have retired (D2).
    held: Option<StreamPos>,
    withdrawn: bool,
    /// A payload that may be the closing one of the reference models (C2).
    closing: Option<(StreamPos, Payload)>,
}

impl<'a> Tracer<'a> {
    /// A tracer at the start of a stream.
    pub fn new(config: Config, image: &'a Image) -> Result<Self, ParamsError> {
        config.params.layout(config.unit)?;
        let params = &config.params;
        let mask = config.mask(image);
        let mut tracer = Self {
            blocks: Blocks::new(image, mask, config.block_cap),
            image,
            options: Ioptions::default(),
            sijump: false,
            mask,
            state: State::Off,
            pc: 0,
            block: 0,
            address: 0,
            outcomes: Outcomes::default(),
            undecided: None,
            after_trap: false,
            privilege: 0,
            predictor: Predictor::new(params),
            cache: TargetCache::new(params),
            returns: Returns::new(params, config.compat == Compat::CModel),
            held: None,
            withdrawn: false,
            closing: None,
            config,
        };
        tracer.set_options(Ioptions::default());
        Ok(tracer)
    }

    /// The modes in force: how the next payload is to be parsed.
    pub fn options(&self) -> Ioptions {
        self.options
    }

    /// Sets the modes, as a support packet would.
    pub fn set_options(&mut self, options: Ioptions) {
        self.options = options;
        // A unit that cannot report the mode has it fixed (D11).
        self.sijump = if self.config.unit.ioptions().contains(&Mode::SequentialJump) {
            options.sijump
        } else {
            self.config.params.sijump_p
        };
    }

    /// Takes the next payload.
    pub fn feed<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        if !self.settle(at, payload, sink) {
            self.run(at, payload, sink);
        }
    }

    /// Follows the program up to a synchronisation without arriving there: what comes before it, for
    /// a stream that another tracer goes on with from `start`.
    pub(crate) fn approach<S: Sink>(&mut self, at: StreamPos, start: &Start, sink: &mut S) {
        if !self.settle(at, &Payload::Start(*start), sink) {
            self.walk_to(at, start, sink);
        }
    }

    /// Delivers what waited for the next payload. Returns whether that has to wait itself.
    fn settle<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) -> bool {
        // C2: the closing packet of the reference models repeats an address that is already known.
        if let Some((closing_at, closing)) = self.closing.take() {
            let ended = matches!(
                payload,
                Payload::Support(Support { qual_status: QualStatus::EndedRep, .. })
            );
            if !ended {
                self.run(closing_at, &closing, sink);
            }
        }
        if self.config.compat != Compat::None
            && self.state == State::On
            && let Payload::Address(report) = payload
            && *report == AddressReport::new(report.address)
            && self.absolute(report.address) == self.pc
        {
            self.finish(sink);
            self.closing = Some((at, *payload));
            return true;
        }
        self.withdrawn = false;
        if let Some(held_at) = self.held.take() {
            self.withdrawn = self.is_fetch_fault(payload);
            if !self.withdrawn {
                self.emit_pc(held_at, sink);
            }
        }
        false
    }

    /// A payload that cannot be read, or a damaged frame.
    pub fn damage<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        self.finish(sink);
        self.fault(at, fault, sink);
    }

    /// Ends the stream.
    pub fn finish<S: Sink>(&mut self, sink: &mut S) {
        if let Some(at) = self.held.take() {
            self.emit_pc(at, sink);
        }
        if let Some((at, payload)) = self.closing.take() {
            self.run(at, &payload, sink);
        }
    }

    /// Reports the instruction at `pc`.
    #[inline]
    fn emit_pc<S: Sink>(&self, at: StreamPos, sink: &mut S) {
        let end = self.blocks.end_of(self.block, self.pc);
        sink.run(at, Run { start: self.pc, end, insns: 1, sizes: &[], first: 0 });
    }

    /// D2: an instruction fetch fault at the address just synchronised to, which is not where the
    /// instruction there leads. It did not retire, then.
    fn is_fetch_fault(&self, payload: &Payload) -> bool {
        match payload {
            Payload::Trap(p) => {
                let fault = matches!(p.ecause, 0 | 1 | 12 | 20) && p.tval == Some(self.pc);
                fault && p.thaddr && self.epc(p, None) != Some(self.pc)
            }
            _ => false,
        }
    }

    fn run<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        let result = match payload {
            Payload::Support(p) => {
                self.support(at, p, sink);
                Ok(())
            }
            Payload::Context(p) => {
                let (privilege, context, time) = (p.privilege, p.context, p.time);
                sink.event(at, Event::Context { privilege, context, time });
                Ok(())
            }
            Payload::Trap(p) => self.trap(at, p, sink),
            Payload::Start(p) => self.start(at, p, sink),
            _ if self.state == State::Lost => Ok(()),
            _ if self.state == State::Off => Err(Fault::NotSynchronised),
            _ => self.report(at, payload, sink),
        };
        if let Err(fault) = result {
            self.fault(at, fault, sink);
        }
    }

    fn fault<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        // Payloads of a stretch that is lost already are not another gap.
        if self.state != State::Lost {
            sink.event(at, Event::Gap(fault));
        }
        self.state = State::Lost;
        self.forget();
    }

    fn forget(&mut self) {
        self.outcomes.clear();
        self.undecided = None;
        self.after_trap = false;
    }

    /// A field of formats 0, 1 and 2 as an address.
    #[inline]
    fn absolute(&self, field: u64) -> u64 {
        let base = if self.options.full_address { 0 } else { self.address };
        base.wrapping_add(self.unshift(field)) & self.mask
    }

    #[inline]
    fn unshift(&self, field: u64) -> u64 {
        field.wrapping_shl(self.config.params.iaddress_lsb_p.into()) & self.mask
    }

    /// Format 3, subformat 3.
    fn support<S: Sink>(&mut self, at: StreamPos, p: &Support, sink: &mut S) {
        let result = match (p.qual_status, self.undecided) {
            (QualStatus::EndedNtr, Some(undecided)) if self.state == State::On => {
                self.decide(at, undecided, sink)
            }
            _ => Ok(()),
        };
        self.set_options(p.ioptions);
        self.undecided = None;
        if p.qual_status != QualStatus::NoChange || !p.ienable {
            if let Err(fault) = result {
                self.fault(at, fault, sink);
            }
            self.forget();
            self.state = State::Off;
            sink.event(at, Event::Off(p.qual_status));
        }
    }

    /// Format 3, subformat 1.
    fn trap<S: Sink>(&mut self, at: StreamPos, p: &Trap, sink: &mut S) -> Result<(), Fault> {
        let address = p.address.map(|field| self.unshift(field));
        let epc = self.epc(p, address);
        let (cause, interrupt, tval) = (p.ecause, p.interrupt, p.tval);
        sink.event(at, Event::Trap { cause, interrupt, tval, epc });
        // D17: a branch that was reported before the trap belongs to what the trap interrupted.
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
        if self.blocks.insn(address)?.is_branch() {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        let (privilege, context, time) = (p.privilege, p.context, p.time);
        sink.event(at, Event::Context { privilege, context, time });
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Spec: E-Trace 2.0, 3.2.3: the handler's address follows from the cause.
    fn vector(&self, p: &Trap) -> Result<u64, Fault> {
        let entry = self.config.tvec.iter().find(|(level, _)| *level == p.privilege);
        let (_, tvec) = entry.ok_or(Fault::NoVector(p.privilege))?;
        let vectored = tvec & 3 == 1 && p.interrupt;
        let offset = if vectored { p.ecause.wrapping_mul(4) } else { 0 };
        Ok((tvec & !3).wrapping_add(offset) & self.mask)
    }

    /// The instruction that did not retire, where it can be known.
    fn epc(&self, p: &Trap, address: Option<u64>) -> Option<u64> {
        if !p.thaddr && self.state == State::Off && !self.after_trap {
            return address;
        }
        if self.state != State::On || self.after_trap {
            return None;
        }
        if self.withdrawn {
            return Some(self.pc);
        }
        let insn = self.image.insn(self.pc)?;
        let xlen = self.image.isa().xlen;
        let next = insn.next(xlen, self.pc) & self.mask;
        let target = insn.target(xlen, self.pc).map(|target| target & self.mask);
        match insn.kind {
            // Encoders that count ecall and ebreak as retired (D13) report them as the last
            // instruction.
            Kind::EnvironmentTrap if !p.interrupt => Some(self.pc),
            Kind::Branch { .. } => {
                if self.outcomes.peek()? {
                    target
                } else {
                    Some(next)
                }
            }
            _ if target.is_some() => target,
            _ if insn.is_uninferable() => {
                let target = address.filter(|_| !p.thaddr);
                let implicit = self.options.implicit_return && insn.link() == Some(Link::Return);
                let predicted = self.returns.top().filter(|_| implicit);
                self.sequential().or(match (target, predicted) {
                    // A failed prediction, or a trap in the handler of this one (D19).
                    (Some(target), Some(predicted)) if target != predicted => None,
                    (target, predicted) => predicted.or(target),
                })
            }
            _ => Some(next),
        }
    }

    /// Where the jump at `pc` leads, if it is sequentially inferable.
    fn sequential(&self) -> Option<u64> {
        match self.blocks.get(self.block)? {
            block if block.last == self.pc && self.sijump => match block.exit {
                Exit::Indirect { sequential, .. } => sequential,
                _ => None,
            },
            _ => None,
        }
    }

    /// Format 3, subformat 0.
    fn start<S: Sink>(&mut self, at: StreamPos, p: &Start, sink: &mut S) -> Result<(), Fault> {
        let address = self.unshift(p.address);
        let branch = self.blocks.insn(address)?.is_branch();
        self.walk_to(at, p, sink);
        self.outcomes.clear();
        if branch {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        let (privilege, context, time) = (p.privilege, p.context, p.time);
        sink.event(at, Event::Context { privilege, context, time });
        self.held = Some(at);
        Ok(())
    }

    /// Follows the program up to a synchronisation, if it is known where from.
    fn walk_to<S: Sink>(&mut self, at: StreamPos, p: &Start, sink: &mut S) {
        self.undecided = None;
        if self.state != State::On || self.after_trap {
            return;
        }
        let address = self.unshift(p.address);
        // A branch there has its outcome in the payload.
        if self.blocks.insn(address).is_ok_and(|insn| insn.is_branch()) {
            self.outcomes.push(!p.branch);
        }
        let goal = Goal::Sync { address, privilege: p.privilege };
        if let Err(fault) = self.follow(at, goal, sink) {
            // The synchronisation itself is good: only what leads to it is not.
            sink.event(at, Event::Gap(fault));
        }
    }

    fn synchronise(&mut self, address: u64, privilege: u8) -> Result<(), Fault> {
        self.blocks.trim();
        self.state = State::On;
        self.pc = address;
        self.block = self.blocks.at(address)?;
        self.address = address;
        self.after_trap = false;
        self.privilege = privilege;
        self.reset_tables();
        Ok(())
    }

    fn reset_tables(&mut self) {
        self.returns.reset();
        self.cache.reset();
        if self.config.compat != Compat::CModel {
            self.predictor.reset();
        }
    }

    /// The address that was reported last is not where `pc` is, but where the next jump leads.
    fn decide<S: Sink>(
        &mut self,
        at: StreamPos,
        undecided: Undecided,
        sink: &mut S,
    ) -> Result<(), Fault> {
        self.undecided = None;
        let Undecided { address, irdepth } = undecided;
        let goal = Goal::Address { address, notify: false, target: true, irdepth };
        self.follow(at, goal, sink)?;
        self.cache.store(address);
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Formats 0, 1 and 2.
    fn report<S: Sink>(
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
            Payload::BranchCount(p) => {
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
        let arrival = self.follow(at, goal, sink)?;
        let (pc, predictor) = (self.pc, &self.predictor);
        self.outcomes.latch(|| predictor.predict(pc));
        if let Goal::Address { address, irdepth, .. } = goal {
            self.address = address;
            if arrival == Arrival::Target || self.config.compat == Compat::CModel {
                self.cache.store(address);
            }
            if arrival == Arrival::Undecided {
                self.undecided = Some(Undecided { address, irdepth });
            }
        }
        self.emit_pc(at, sink);
        Ok(())
    }

    #[inline]
    fn append(&mut self, map: &BranchMap) {
        self.outcomes.push_map(map.branches(), map.raw());
    }

    #[inline]
    fn addressed(&self, report: &AddressReport) -> Goal {
        Goal::Address {
            address: self.absolute(report.address),
            notify: report.notify && self.config.unit != Unit::RvTracer,
            target: report.updiscon,
            irdepth: report.irdepth,
        }
    }
}
