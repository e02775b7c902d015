//! Payloads to runs of instructions.

mod paths;
mod recover;
mod report;
mod sync;

use crate::blocks::{BlockId, Blocks};
use crate::memo::{Found, Memo};
use crate::outcomes::Outcomes;
use crate::tables::{Predictor, Returns, TargetCache};
use crate::walk::Progress;
use crate::{Compat, Config, Event, Fault, Image, Images, Sink, StreamPos};
use hartrace_bits::BitReader;
use hartrace_etrace::{
    AddressReport, BranchCount, Ioptions, Layout, Mode, ParamsError, Payload, QualStatus, Start,
    Support,
};

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
pub(crate) struct Code {
    /// Which one of all it is.
    number: usize,
    image: Image,
    pub(crate) blocks: Blocks,
    memo: Memo,
}

/// Programs of other contexts and times of which something is kept: what is known of a program takes up to
/// twice its size, and there may be as many versions of it as there are synchronisations.
const PARKED: usize = 64;

impl Code {
    fn new(number: usize, image: Image, mask: u64, config: &Config) -> Self {
        let blocks = Blocks::new(image.clone(), mask, config.block_cap);
        Self { number, image, blocks, memo: Memo::new(config.path_cap) }
    }

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
    pub(crate) code: Code,
    /// Code of other contexts and times, that which was left last at the end.
    parked: Vec<Code>,
    images: Images<'a>,
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
    /// What is left of a payload that stands for many branches.
    later: Option<(StreamPos, BranchCount)>,
    pub(crate) progress: Progress,
    /// Blocks that may still be followed for this payload.
    pub(crate) budget: u64,
    /// A payload that may be the closing one of the reference models (C2).
    closing: Option<(StreamPos, Payload)>,
}

impl<'a> Tracer<'a> {
    /// A tracer at the start of a stream.
    pub fn new(config: Config, images: impl Into<Images<'a>>) -> Result<Self, ParamsError> {
        let layout = config.params.layout(config.unit)?;
        let images = images.into();
        let mask = images.mask(&config);
        let params = &config.params;
        let mut tracer = Self {
            layout,
            code: Code::new(0, images.default_image(), mask, &config),
            parked: Vec::new(),
            images,
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
            later: None,
            budget: 0,
            progress: Progress::new(Returns::new(params, config.compat == Compat::CModel)),
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
        self.sijump = if self.config.unit.ioptions().contains(&Mode::SequentiallyInferredJump) {
            options.sequentially_inferred_jump
        } else {
            self.config.params.sijump_p
        };
    }

    /// Takes the next payload.
    pub fn feed<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        self.begin(at, payload, sink);
        self.complete(sink);
    }

    /// Takes the next payload, but of one that stands for very many branches only the first.
    /// [`Tracer::proceed`] goes on with it.
    pub(crate) fn begin<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        self.complete(sink);
        if !self.settle(at, payload, sink) {
            self.run(at, payload, sink);
        }
        self.steady = self.is_steady();
    }

    /// Goes on with a payload that stands for very many branches. Returns whether there was more.
    #[inline]
    pub(crate) fn proceed<S: Sink>(&mut self, sink: &mut S) -> bool {
        match self.later.take() {
            Some((at, later)) => {
                self.run(at, &Payload::BranchCount(later), sink);
                self.steady = self.is_steady();
                true
            }
            None => false,
        }
    }

    /// Whether [`Tracer::proceed`] has something to do.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.later.is_some()
    }

    #[inline]
    fn complete<S: Sink>(&mut self, sink: &mut S) {
        while self.proceed(sink) {}
    }

    /// Takes the next payload as it was sent. Faster than [`Tracer::feed`] where the program repeats
    /// itself: what was followed before is not even parsed.
    // Inlined, with what it calls where a path is known: that is all that happens to most payloads.
    #[inline(always)]
    pub fn feed_bits<S: Sink>(&mut self, at: StreamPos, bits: BitReader<'_>, sink: &mut S) {
        self.begin_bits(at, bits, sink);
        self.complete(sink);
    }

    /// As [`Tracer::begin`], for a payload as it was sent.
    #[inline(always)]
    pub(crate) fn begin_bits<S: Sink>(
        &mut self,
        at: StreamPos,
        mut bits: BitReader<'_>,
        sink: &mut S,
    ) {
        let found = self.key(&bits).map_or(Found::Nothing, |key| self.code.memo.find(&key));
        match found {
            Found::Path(path) if self.replay(at, path, sink) => {}
            Found::Record(slot) => self.record(at, slot, bits, sink),
            _ => self.parse(at, &mut bits, sink),
        }
    }

    /// Follows the program up to a synchronisation without arriving there: what comes before it, for
    /// a stream that another tracer goes on with from `start`.
    pub(crate) fn approach<S: Sink>(&mut self, at: StreamPos, start: &Start, sink: &mut S) {
        self.complete(sink);
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
        (self.held, self.closing, self.later) = (None, None, None);
        self.forget();
        self.predictor.reset();
        self.reset_tables();
        if self.code.number != 0 {
            self.change(0, self.images.default_image());
        }
    }

    /// Delivers what waited for the next payload. Returns whether that has to wait itself.
    fn settle<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) -> bool {
        self.budget = self.config.max_blocks;
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
        self.complete(sink);
        if let Some(at) = self.held.take() {
            self.emit_pc(at, sink);
        }
        if let Some((at, payload)) = self.closing.take() {
            self.budget = self.config.max_blocks;
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

    fn run<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        let result = match payload {
            Payload::Support(p) => {
                self.support(at, p, sink);
                Ok(())
            }
            Payload::Context(p) => {
                self.enter(at, p.context, p.time);
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
}
