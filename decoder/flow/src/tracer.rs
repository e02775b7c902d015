//! Payloads to runs of instructions.

use crate::blocks::{BlockId, Blocks, Exit, NONE};
use crate::memo::{Found, Key, Landing, Memo, Recorder, Slot};
use crate::outcomes::Outcomes;
use crate::tables::{Predictor, Returns, TargetCache};
use crate::walk::{Arrival, Goal};
use crate::{Compat, Config, Event, Fault, Image, Images, Resync, Sink, StreamPos};
use hartrace_bits::BitReader;
use hartrace_etrace::{
    AddressReport, Branch, BranchFmt, BranchMap, Ioptions, Layout, Mode, ParamsError, Payload,
    QualStatus, Start, Support, Trap, Unit,
};
use hartrace_isa::{Kind, Link};

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

/// A program, and what has been found out about it.
#[derive(Clone, Debug)]
pub(crate) struct Code<'a> {
    /// The context it belongs to; `None` for all that have no program of their own.
    context: Option<u64>,
    image: &'a Image,
    pub(crate) blocks: Blocks<'a>,
    memo: Memo,
}

impl Code<'_> {
    /// Starts from the program alone.
    pub(crate) fn forget(&mut self) {
        self.blocks.clear();
        self.memo.forget();
    }
}

/// Follows one hart's payloads through its program.
///
/// A payload that cannot be followed is one [`Event::Gap`]; decoding goes on with the next
/// synchronisation. Nothing is allocated per payload once the code has been seen.
#[derive(Clone, Debug)]
pub struct Tracer<'a> {
    pub(crate) config: Config,
    layout: Layout,
    /// The code of the present context.
    pub(crate) code: Code<'a>,
    /// Code of other contexts; that of `None` is for all that are not listed.
    parked: Vec<Code<'a>>,
    pub(crate) options: Ioptions,
    /// Sequentially inferable jumps are not reported.
    pub(crate) sijump: bool,
    mask: u64,
    state: State,
    /// [`Event::On`] has been reported.
    on: bool,
    /// Nothing but the place in the program matters for what payloads of formats 1 and 2 mean.
    steady: bool,
    /// The instruction that retired last, and a block it is in.
    pub(crate) pc: u64,
    pub(crate) block: BlockId,
    /// Last reported address.
    address: u64,
    /// No payload since then was lost that may have had one.
    based: bool,
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
    pub fn new(config: Config, images: impl Into<Images<'a>>) -> Result<Self, ParamsError> {
        let layout = config.params.layout(config.unit)?;
        let images = images.into();
        let mask = images.mask(&config);
        let code = |(context, image): (Option<u64>, &'a Image)| Code {
            context,
            image,
            blocks: Blocks::new(image, mask, config.block_cap),
            memo: Memo::new(config.path_cap),
        };
        let parked: Vec<_> = images.iter().skip(1).map(code).collect();
        let params = &config.params;
        let mut tracer = Self {
            layout,
            code: code((None, images.default_image())),
            parked,
            options: Ioptions::default(),
            sijump: false,
            mask,
            state: State::Off,
            on: false,
            steady: false,
            pc: 0,
            block: 0,
            address: 0,
            based: false,
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
        if options != self.options {
            // The same bits mean something else now.
            self.code.memo.forget();
            self.parked.iter_mut().for_each(|code| code.memo.forget());
        }
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
        self.steady = self.is_steady();
    }

    /// Takes the next payload as it was sent. Faster than [`Tracer::feed`] where the program repeats
    /// itself: what was followed before is not even parsed.
    // Inlined, with what it calls where a path is known: that is all that happens to most payloads.
    #[inline(always)]
    pub fn feed_bits<S: Sink>(&mut self, at: StreamPos, mut bits: BitReader<'_>, sink: &mut S) {
        let found = self.key(&bits).map_or(Found::Nothing, |key| self.code.memo.find(&key));
        match found {
            Found::Path(path) if self.replay(at, path, sink) => {}
            Found::Record(slot) => self.record(at, slot, bits, sink),
            _ => self.parse(at, &mut bits, sink),
        }
    }

    /// What decides about the meaning of a payload, if that is little enough.
    #[inline(always)]
    fn key(&self, bits: &BitReader<'_>) -> Option<Key> {
        if !self.steady {
            return None;
        }
        let (window, len) = (bits.window()?, bits.remaining() as u8);
        let bits = [window.get(0, 64), window.get(64, 64)];
        // Formats 1 and 2.
        if !matches!(window.get(0, 2), 1 | 2) {
            return None;
        }
        let pending = match self.outcomes.peek() {
            None => 0,
            Some(taken) => 1u8.wrapping_add(taken.into()),
        };
        Some(Key { bits, len, address: self.address, block: self.block, pending })
    }

    /// Whether [`Key`] holds all that a payload of format 1 or 2 depends on.
    fn is_steady(&self) -> bool {
        let options = &self.options;
        self.state == State::On
            && !(options.implicit_return || options.branch_prediction || options.jump_target_cache)
            && self.config.compat == Compat::None
            && self.held.is_none()
            && self.undecided.is_none()
            && !self.after_trap
            && self.code.blocks.get(self.block).is_some_and(|block| block.start == self.pc)
    }

    #[inline(never)]
    fn parse<S: Sink>(&mut self, at: StreamPos, bits: &mut BitReader<'_>, sink: &mut S) {
        match Payload::parse(&self.layout, self.options, bits) {
            Ok(payload) => self.feed(at, &payload, sink),
            Err(error) => self.damage(at, error.into(), sink),
        }
    }

    /// Goes a path that was gone before, if it is still known.
    #[inline(always)]
    fn replay<S: Sink>(&mut self, at: StreamPos, path: u32, sink: &mut S) -> bool {
        let Some((path, landing)) = self.code.memo.path(path, &self.code.blocks) else {
            return false;
        };
        sink.path(at, path);
        self.pc = landing.pc;
        self.block = landing.block;
        self.address = landing.address;
        self.outcomes.clear();
        if let Some(taken) = landing.pending {
            self.outcomes.push(taken);
        }
        true
    }

    /// Goes a path, and remembers it.
    #[inline(never)]
    fn record<S: Sink>(
        &mut self,
        at: StreamPos,
        slot: Slot,
        mut bits: BitReader<'_>,
        sink: &mut S,
    ) {
        let mut recorder = Recorder { sink, spans: self.code.memo.scratch(), plain: true };
        self.parse(at, &mut bits, &mut recorder);
        let Recorder { spans, plain, .. } = recorder;
        if plain && self.steady {
            let Self { pc, block, address, .. } = *self;
            let landing = Landing { pc, address, block, pending: self.outcomes.peek() };
            self.code.memo.remember(slot, &spans, landing, &self.code.blocks, S::ADDRESSES);
        }
        self.code.memo.keep_scratch(spans);
    }

    /// Follows the program up to a synchronisation without arriving there: what comes before it, for
    /// a stream that another tracer goes on with from `start`.
    pub(crate) fn approach<S: Sink>(&mut self, at: StreamPos, start: &Start, sink: &mut S) {
        if !self.settle(at, &Payload::Start(*start), sink) {
            self.walk_to(at, start, sink);
            self.switch_on(at, sink);
        }
    }

    /// Starts a stream, or goes on elsewhere in this one, with what is known about the program.
    /// `continued` means at a synchronisation up to which another tracer has followed it.
    pub(crate) fn restart(&mut self, options: Ioptions, continued: bool) {
        self.set_options(options);
        self.on = continued;
        self.state = State::Off;
        (self.steady, self.based, self.withdrawn) = (false, false, false);
        (self.held, self.closing) = (None, None);
        self.forget();
        self.predictor.reset();
        self.reset_tables();
        if let Some(index) = self.parked.iter().position(|code| code.context.is_none())
            && let Some(code) = self.parked.get_mut(index)
        {
            std::mem::swap(&mut self.code, code);
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
        self.steady = false;
        self.based = false;
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
        let blocks = &self.code.blocks;
        let run = blocks.only(self.block, self.pc).and_then(|span| blocks.run(span));
        debug_assert!(run.is_some(), "{:#x} is in its block", self.pc);
        if let Some(run) = run {
            sink.run(at, run);
        }
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
                self.enter(p.context);
                let (privilege, context, time) = (p.privilege, p.context, p.time);
                sink.event(at, Event::Context { privilege, context, time });
                Ok(())
            }
            Payload::Trap(p) => self.trap(at, p, sink),
            Payload::Start(p) => self.start(at, p, sink),
            _ if self.state == State::Lost => {
                self.resync_fast(at, payload, sink);
                Ok(())
            }
            _ if self.state == State::Off => Err(Fault::NotSynchronised),
            _ => self.report(at, payload, sink),
        };
        if let Err(fault) = result {
            self.fault(at, fault, sink);
            // Its own address may be good.
            self.resync_fast(at, payload, sink);
        }
    }

    fn fault<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        // Payloads of a stretch that is lost already are not another gap.
        if self.state != State::Lost {
            self.gap(at, fault, sink);
        }
        self.state = State::Lost;
        self.forget();
    }

    /// Goes on after a gap at an address that is no synchronisation; see [`Resync::Address`].
    fn resync_fast<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        if self.config.resync != Resync::Address {
            return;
        }
        let (report, outcome) = match payload {
            Payload::Address(report) => (report, None),
            Payload::Branch(Branch { map, address: Some(report) }) => {
                (report, map.taken(map.branches().wrapping_sub(1)))
            }
            Payload::Branch(_) | Payload::Start(_) | Payload::Trap(_) => return,
            // Their addresses need tables that are lost.
            _ => {
                self.based = false;
                return;
            }
        };
        if !self.based && !self.options.full_address {
            return;
        }
        self.address = self.absolute(report.address);
        self.based = true;
        let Some(insn) = self.code.image.insn(self.address) else { return };
        // A branch is reported with its outcome, as the last of the map.
        let outcome = outcome.filter(|_| insn.is_branch());
        let modes = self.options.branch_prediction || self.options.jump_target_cache;
        if modes || self.options.implicit_return || insn.is_branch() != outcome.is_some() {
            return;
        }
        let Ok(block) = self.code.blocks.at(self.address) else { return };
        (self.pc, self.block, self.state) = (self.address, block, State::On);
        self.forget();
        if let Some(taken) = outcome {
            self.outcomes.push(taken);
        }
        self.switch_on(at, sink);
        self.emit_pc(at, sink);
    }

    fn gap<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        self.on = false;
        sink.event(at, Event::Gap(fault));
    }

    fn switch_on<S: Sink>(&mut self, at: StreamPos, sink: &mut S) {
        if !self.on {
            self.on = true;
            sink.event(at, Event::On);
        }
    }

    /// Changes to the code of a context.
    fn enter(&mut self, context: u64) {
        if self.parked.is_empty() || self.config.params.nocontext_p {
            return;
        }
        let listed = |code: &Code<'_>| code.context == Some(context);
        if listed(&self.code) {
            return;
        }
        // Where no code is parked for it, and none is needed, this is the right one already.
        let index = self.parked.iter().position(listed);
        let index = index.or_else(|| self.parked.iter().position(|code| code.context.is_none()));
        if let Some(code) = index.and_then(|index| self.parked.get_mut(index)) {
            std::mem::swap(&mut self.code, code);
            // Only matters if the hart goes on at the same place, which is in both, then.
            self.block = self.code.blocks.at(self.pc).unwrap_or(NONE);
        }
    }

    /// The code of a context.
    fn image_of(&self, context: u64) -> &'a Image {
        let all = || std::iter::once(&self.code).chain(&self.parked);
        let listed =
            all().find(|code| code.context == Some(context) && !self.config.params.nocontext_p);
        listed.or_else(|| all().find(|code| code.context.is_none())).unwrap_or(&self.code).image
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
            (self.on, self.based) = (false, false);
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
            if let Some(address) = address {
                (self.address, self.based) = (address, true);
            }
            self.after_trap = true;
            self.reset_tables();
            return Ok(());
        }
        let address = match address {
            Some(address) => address,
            None => self.vector(p)?,
        };
        self.enter(p.context);
        if self.code.blocks.insn(address)?.is_branch() {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
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
        let insn = self.code.image.insn(self.pc)?;
        let xlen = self.code.image.isa().xlen;
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
        match self.code.blocks.get(self.block)? {
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
        let insn = self.image_of(p.context).insn(address).ok_or(Fault::NoCode(address))?;
        self.walk_to(at, p, sink);
        self.enter(p.context);
        self.outcomes.clear();
        if insn.is_branch() {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
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
        if self.code.blocks.insn(address).is_ok_and(|insn| insn.is_branch()) {
            self.outcomes.push(!p.branch);
        }
        let goal = Goal::Sync { address, privilege: p.privilege };
        if let Err(fault) = self.follow(at, goal, sink) {
            // The synchronisation itself is good: only what leads to it is not.
            self.gap(at, fault, sink);
        }
    }

    fn synchronise(&mut self, address: u64, privilege: u8) -> Result<(), Fault> {
        if self.code.blocks.is_full() {
            self.code.forget();
        }
        self.state = State::On;
        self.pc = address;
        self.block = self.code.blocks.at(address)?;
        self.address = address;
        self.based = true;
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
        self.store(address);
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
    fn store(&mut self, address: u64) {
        if self.options.jump_target_cache {
            self.cache.store(address);
        }
    }

    /// Whether branches and jumps leave no trace but in where the hart is.
    #[inline]
    pub(crate) fn independent(&self) -> bool {
        !self.options.implicit_return && !self.options.branch_prediction
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
