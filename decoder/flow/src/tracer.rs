//! Converts payloads into runs of instructions and events.

mod history;
mod paths;
mod recover;
mod report;
mod share;
mod state;
mod sync;

pub(crate) use state::Announced;

use crate::config::Config;
use crate::endings::Session;
use crate::event::{Fault, StreamPos};
use crate::images::Images;
use crate::memo::Found;
use crate::predictor::Predictor;
use crate::programs::Programs;
use crate::sink::{Rarely, Sink};
use crate::tables::{Returns, TargetCache};
use crate::walk::{Walk, WalkModes};
use hartrace_bits::BitReader;
use hartrace_etrace::{
    AddressReport, Compat, Ioptions, Layout, Mode, ParamsError, Payload, QualStatus, Start, Support,
};
use history::HistoryCursor;
use share::Left;
use state::{Held, Latest, MayBeClosing, Recall, Reference, State, Undecided, Unfinished};

/// Follows one hart's payloads through its program.
///
/// A payload that cannot be followed is reported as one [`Event::Gap`](crate::Event::Gap); decoding continues at the next
/// synchronisation. Nothing is allocated per payload once the code has been decoded.
#[derive(Clone, Debug)]
pub struct Tracer<'a> {
    config: Config,
    layout: Layout,
    /// The modes in force.
    options: Ioptions,
    /// The modes that the meaning of a path depends on.
    path_modes: u8,
    /// Mask of the valid address bits.
    mask: u64,
    /// What is known of the code. Tracers of one stream share it: while another one has it, this is
    /// empty.
    programs: Box<Programs<'a>>,
    left: Option<Left>,
    walk: Walk,
    cache: TargetCache,
    state: State,
    latest: Latest,
    session: Session,
    announced: Announced,
    reference: Reference,
    recall: Recall,
    held: Held,
    undecided: Option<Undecided>,
    unfinished: Option<Unfinished>,
    may_be_closing: Option<MayBeClosing>,
    /// Blocks that may be followed for the rest of the payload.
    reserve: u64,
    /// History prediction.
    history: Box<HistoryCursor>,
}

impl<'a> Tracer<'a> {
    /// Creates a tracer for the start of a stream.
    pub fn new(config: Config, images: impl Into<Images<'a>>) -> Result<Self, ParamsError> {
        let layout = config.params.layout(config.unit)?;
        let images = images.into();
        let mask = images.mask(&config);
        let params = &config.params;
        let returns = Returns::new(params, config.compat == Compat::CModel);
        let mut tracer = Self {
            layout,
            options: Ioptions::default(),
            path_modes: 0,
            mask,
            programs: Box::new(Programs::new(images, mask, &config)),
            left: None,
            walk: Walk::new(Predictor::new(params), returns),
            cache: TargetCache::new(params),
            state: State::Off,
            latest: Latest::Retired,
            session: Session::New,
            announced: Announced::Off,
            reference: Reference::Lost,
            recall: Recall::Impossible,
            held: Held::Nothing,
            undecided: None,
            unfinished: None,
            may_be_closing: None,
            reserve: 0,
            history: Box::new(HistoryCursor::new(params.hpred_size_p)),
            config,
        };
        tracer.set_options(Ioptions::default());
        Ok(tracer)
    }

    /// The modes in force, which determine how the next payload is parsed.
    pub fn options(&self) -> Ioptions {
        self.options
    }

    /// Sets the modes, as a support packet would.
    pub fn set_options(&mut self, options: Ioptions) {
        self.options = options;
        self.path_modes = [
            options.implicit_return,
            options.branch_prediction,
            options.jump_target_cache,
            options.full_address,
            options.sequentially_inferred_jump,
        ]
        .iter()
        .fold(0, |modes, mode| modes << 1 | u8::from(*mode));
        // In a unit that cannot report the mode, it is fixed (D11).
        let fixed = !self.config.unit.ioptions().contains(&Mode::SequentiallyInferredJump);
        let sequentially_inferred_jump =
            if fixed { self.config.params.sijump_p } else { options.sequentially_inferred_jump };
        let Ioptions { implicit_return, branch_prediction, .. } = options;
        self.walk.modes =
            WalkModes { implicit_return, branch_prediction, sequentially_inferred_jump };
    }

    /// Processes the next payload.
    pub fn feed<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        self.begin(at, payload, sink);
        self.complete(sink);
    }

    /// Processes the next payload; if it stands for very many branches, only the first of them.
    /// [`Tracer::proceed`] continues with the rest.
    pub(crate) fn begin<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        self.complete(sink);
        if !self.settle(at, payload, &mut Rarely(sink)) {
            self.run(at, payload, sink);
        }
        self.recall = self.can_recall();
    }

    /// Continues with a payload that stands for very many branches. Returns whether there was more.
    #[inline]
    pub(crate) fn proceed<S: Sink>(&mut self, sink: &mut S) -> bool {
        match self.unfinished.take() {
            Some(Unfinished { at, rest }) => {
                self.reserve = self.reserve.saturating_add(self.walk.budget);
                self.grant();
                self.run(at, &Payload::BranchCount(rest), sink);
                self.recall = self.can_recall();
                true
            }
            None => false,
        }
    }

    /// Whether [`Tracer::proceed`] has something to do.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.unfinished.is_some()
    }

    #[inline]
    fn complete<S: Sink>(&mut self, sink: &mut S) {
        while self.proceed(sink) {}
    }

    /// Processes the next payload as it was sent. This is faster than [`Tracer::feed`] if the program
    /// repeats itself: a payload that was followed before is not even parsed.
    // Inlined, with everything it calls for a known path: most payloads need nothing else.
    #[inline(always)]
    pub fn feed_bits<S: Sink>(&mut self, at: StreamPos, bits: BitReader<'_>, sink: &mut S) {
        self.begin_bits(at, bits, sink);
        self.complete(sink);
    }

    /// Like [`Tracer::begin`], for a payload as it was sent.
    #[inline(always)]
    pub(crate) fn begin_bits<S: Sink>(
        &mut self,
        at: StreamPos,
        mut bits: BitReader<'_>,
        sink: &mut S,
    ) {
        let found =
            self.key(&bits).map_or(Found::Nothing, |key| self.programs.code.memo.find(&key));
        match found {
            Found::Path(path) if self.replay(at, path, sink) => {}
            Found::Path(path) => match self.programs.code.memo.vary(path) {
                Some(slot) => self.record(at, slot, bits, sink),
                None => self.parse(at, &mut bits, sink),
            },
            Found::Record(slot) => self.record(at, slot, bits, sink),
            Found::Nothing => self.parse(at, &mut bits, sink),
        }
    }

    /// Follows the program up to a synchronisation, and reports only the instructions before it: another
    /// tracer continues the stream from `start`.
    pub(crate) fn approach<S: Sink>(&mut self, at: StreamPos, start: &Start, sink: &mut S) {
        self.complete(sink);
        let sink = &mut Rarely(sink);
        if !self.settle(at, &Payload::Start(*start), sink) {
            self.walk_to(at, start, sink);
            self.switch_on(at, sink);
        }
    }

    /// Starts a stream, or continues elsewhere in this one, and keeps the decoded code. `announced` is
    /// [`Announced::On`] at a synchronisation up to which another tracer followed the stream.
    pub(crate) fn restart(&mut self, options: Ioptions, announced: Announced) {
        self.set_options(options);
        self.announced = announced;
        self.state = State::Off;
        self.session = Session::New;
        self.recall = Recall::Impossible;
        self.reference = Reference::Lost;
        self.held = Held::Nothing;
        self.may_be_closing = None;
        self.left = None;
        self.forget();
        self.walk.predictor.reset();
        self.reset_tables();
        self.programs.restart(&self.config);
    }

    /// Reports what was waiting for this payload. Returns whether the payload itself has to wait.
    fn settle(&mut self, at: StreamPos, payload: &Payload, sink: &mut Rarely<'_>) -> bool {
        self.grant_all();
        // C2: the closing packet of the reference models repeats an address that is already known.
        if let Some(closing) = self.may_be_closing.take() {
            let ended = matches!(
                payload,
                Payload::Support(Support { qual_status: QualStatus::EndedRep, .. })
            );
            if !ended {
                self.run(closing.at, &closing.payload, sink);
            }
        }
        if self.config.compat != Compat::None
            && self.state == State::On
            && let Payload::Address(report) = payload
            && *report == AddressReport::new(report.address)
            && self.absolute(report.address) == self.walk.pc
        {
            self.finish_held(sink);
            self.may_be_closing = Some(MayBeClosing { at, payload: *payload });
            return true;
        }
        if let Some(held_at) = self.held.take() {
            if self.is_fetch_fault(payload) {
                self.held = Held::DidNotRetire;
            } else {
                self.emit_pc(held_at, sink);
            }
        }
        false
    }

    /// Reports a payload that cannot be read, or a damaged frame.
    pub fn damage<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        self.finish(sink);
        self.fault(at, fault, &mut Rarely(sink));
        self.recall = Recall::Impossible;
        self.reference = Reference::Lost;
    }

    /// Ends the stream: reports what was waiting for another payload.
    pub fn finish<S: Sink>(&mut self, sink: &mut S) {
        self.complete(sink);
        self.finish_held(&mut Rarely(sink));
    }

    fn finish_held(&mut self, sink: &mut Rarely<'_>) {
        if let Some(at) = self.held.take() {
            self.emit_pc(at, sink);
        }
        if let Some(MayBeClosing { at, payload }) = self.may_be_closing.take() {
            self.grant_all();
            self.run(at, &payload, sink);
        }
    }

    /// Limits the work for a payload.
    #[inline]
    fn grant_all(&mut self) {
        self.reserve = self.config.max_blocks;
        self.grant();
    }

    /// Limits the work for a payload, or for the next slice of one.
    #[inline]
    fn grant(&mut self) {
        let Config { max_blocks, max_detour, .. } = self.config;
        let (blocks, limit) = match self.reserve < max_detour {
            true => (self.reserve, max_blocks),
            false => (max_detour, max_detour),
        };
        self.reserve = self.reserve.saturating_sub(blocks);
        self.walk.grant(blocks, limit);
    }

    /// Reports the instruction at `pc`.
    #[inline]
    fn emit_pc<S: Sink>(&self, at: StreamPos, sink: &mut S) {
        self.walk.emit_pc(&self.programs.code.blocks, at, sink);
    }

    fn run<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        let reports = !matches!(
            payload,
            Payload::Support(_) | Payload::Context(_) | Payload::Trap(_) | Payload::Start(_)
        );
        if !reports || self.state != State::On || self.options.history_prediction {
            self.run_rarely(at, payload, &mut Rarely(sink));
        } else if let Err(fault) = self.report(at, payload, sink) {
            self.recover(at, payload, fault, &mut Rarely(sink));
        }
    }

    /// Processes all payloads but reports of a hart whose place is known.
    #[inline(never)]
    fn run_rarely(&mut self, at: StreamPos, payload: &Payload, sink: &mut Rarely<'_>) {
        let result = match payload {
            Payload::Support(p) => {
                self.support(at, p, sink);
                Ok(())
            }
            Payload::Context(p) => {
                self.enter(at, p.context, p.time);
                self.context(at, (p.privilege, p.context, p.time), sink);
                Ok(())
            }
            Payload::Trap(p) => self.trap(at, p, sink),
            Payload::Start(p) => self.start(at, p, sink),
            _ => match self.state {
                State::Lost => {
                    self.resync_fast(at, payload, sink);
                    Ok(())
                }
                State::Off => Err(Fault::NotSynchronised),
                State::On => self.history(at, payload, sink),
            },
        };
        if let Err(fault) = result {
            self.recover(at, payload, fault, sink);
        }
    }
}
