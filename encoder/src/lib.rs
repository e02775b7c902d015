//! Encodes what a RISC-V hart retires as E-Trace payloads, fast.
//!
//! ```
//! use hartrace_encoder::{Encoder, EncoderConfig};
//! use hartrace_etrace::ingress::{IType, Retired};
//!
//! // A loop of two compressed instructions that runs twice, and a return.
//! let block = |iaddr, iretire, itype| {
//!     Retired { iretire, itype, ilastsize: 0, ..Retired::plain(iaddr) }
//! };
//! let blocks = [
//!     block(0x1000, 2, IType::Taken),
//!     block(0x1000, 2, IType::NotTaken),
//!     block(0x1004, 1, IType::Return),
//! ];
//!
//! let mut encoder = Encoder::new(EncoderConfig::default())?;
//! let mut stream = Vec::new();
//! for block in &blocks {
//!     encoder.retire(block, &mut |encoded| stream.extend_from_slice(encoded.bytes));
//! }
//! let mut last = String::new();
//! encoder.finish(&mut |encoded| {
//!     stream.extend_from_slice(encoded.bytes);
//!     last = format!("{} because of: {}", encoded.payload, encoded.reason);
//! });
//! // Support, start at 0x1000, two outcomes and the return at 0x1004, support.
//! assert_eq!(stream, [0x1f, 0x73, 0x00, 0x04, 0x09, 0x09, 0x4f]);
//! assert!(last.ends_with("because of: tracing stopped (7.5.1)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The input is the ingress port of the specification: a [`Retired`] is a block of contiguous
//! instructions, of which only the last may be special. A block costs the same whatever its length,
//! and nothing is allocated for a payload: [`Encoded`] borrows its bytes, so copy what is to be kept.
//!
//! All modes, filters, triggers, resynchronisation, losses, and the peculiarities of the reference
//! models ([`EncoderConfig::compat`]) are supported. Every payload equals that of the golden
//! encoder, which is written to be read; start there to understand why a payload is sent.
//!
//! # Guarantees
//!
//! Nothing here panics, whatever the blocks contain. Memory is that of the tables of the parameters,
//! and of [`EncoderConfig::return_marks`] calls. `docs/design/software-encoder.md` explains how it
//! is built; labels such as `D1` and `E1` in comments refer to `docs/deviations.md`, and other
//! numbers to sections of E-Trace 2.0.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

mod chart;
mod filter;
mod history;
mod older;
mod quiet;
mod send;
mod state;
mod step;
mod tables;

pub use hartrace_etrace::encoder::{
    Combine, Comparator, Condition, ConfigError, EncoderConfig, Filter, Function, Input, Reason,
    Resync,
};

use filter::Qualifier;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Compat, Ioptions, Mode, Params, Payload, QualStatus};
use quiet::Unchanged;
use state::{ResyncState, State};
use step::{Jump, Left, Previous, Step};

/// One payload, with the reason for it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Encoded<'a> {
    /// Row that it describes: 0 for the first one given to [`Encoder::retire`].
    pub row: u64,
    /// The payload.
    pub payload: Payload,
    /// Its bytes, compressed.
    pub bytes: &'a [u8],
    /// The reason for sending it.
    pub reason: Reason,
}

/// Encodes blocks of retired instructions as payloads.
///
/// A payload describes an instruction in view of those before and after it, so it appears one call
/// after the block it belongs to.
#[derive(Debug)]
pub struct Encoder {
    state: State,
    itype_width: ITypeWidth,
    qualifier: Qualifier,
    previous: Option<Previous>,
    /// The step that has not been described yet, since its successor is not known.
    pending: Option<Step>,
    /// Nothing but the next block can make the pending step special.
    calm: bool,
    rows: u64,
    started: bool,
}

impl Encoder {
    /// Creates an encoder that has seen nothing yet.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or a mode is on for which the parameters have no hardware.
    pub fn new(config: EncoderConfig) -> Result<Self, ConfigError> {
        let mut config = config;
        config.params.layout(config.unit)?;
        check(&config.params, config.itype_width, config.options)?;
        check_history(config.options, config.compat, config.sync_on_unretired)?;
        // For a unit that cannot report the mode, the parameters fix it (section 6, reference
        // layout).
        if !config.unit.ioptions().contains(&Mode::SequentiallyInferredJump) {
            config.options.sequentially_inferred_jump = config.params.sijump_p;
        }
        Ok(Self {
            state: State::new(&config)?,
            itype_width: config.itype_width,
            qualifier: Qualifier::new(&config.filter),
            previous: None,
            pending: None,
            calm: false,
            rows: 0,
            started: false,
        })
    }

    /// Encodes the next block of retired instructions, and passes payloads to `out`.
    #[inline]
    pub fn retire<S: FnMut(Encoded<'_>)>(&mut self, block: &Retired, out: &mut S) {
        let qualified = self.qualifier.qualify(block);
        let row = self.rows;
        if let (true, Some(previous), Some(current)) = (self.calm, &self.previous, &self.pending)
            && qualified
            && is_calm_after(&self.state, current, block)
        {
            let next = Step::last_after_first(block, row);
            let single = next.address == block.iaddr;
            let cycles = current.cycles.saturating_add(if single { 0 } else { block.cycles });
            self.state.resync.calm_step(cycles.into(), current.half_words.into());
            let (left, jump) = (previous.left, current.jump());
            let at = (row, block.iaddr);
            let left = describe_calmly(&mut self.state, left, &jump, at, single, out);
            if let Some(previous) = &mut self.previous {
                previous.left = left;
            }
            self.pending = Some(next);
            self.rows = row.wrapping_add(1);
        } else {
            self.retire_any(block, row, qualified, out);
        }
    }

    /// Encodes the next blocks: the same as [`Encoder::retire`] with one after the other, and faster.
    pub fn retire_all<S: FnMut(Encoded<'_>)>(&mut self, blocks: &[Retired], out: &mut S) {
        let mut rest = blocks;
        while let Some((block, more)) = rest.split_first() {
            self.retire(block, out);
            // A row in which nothing retired is not the pending step.
            let newest = self.pending.as_ref().is_some_and(|step| step.row == self.rows - 1);
            rest = if self.calm && newest { self.retire_calm(block, more, out) } else { more };
        }
    }

    /// Encodes blocks up to the first that is not calm, and returns the rest. The pending step is
    /// that of `current`. Steps are made from blocks where they are needed, and only the last is kept.
    #[inline(never)]
    fn retire_calm<'b, S: FnMut(Encoded<'_>)>(
        &mut self,
        mut current: &'b Retired,
        blocks: &'b [Retired],
        out: &mut S,
    ) -> &'b [Retired] {
        let (Some(previous), Some(step)) = (self.previous, self.pending) else { return blocks };
        let same = Unchanged { privilege: step.privilege, context: step.context };
        let state = &mut self.state;
        let unfiltered = self.qualifier.is_open() && !step.notify;
        let ignores_blocks = state.resync.ignores_blocks();
        let mut left = previous.left;
        let mut jump = step.jump();
        let mut spent = (u64::from(step.cycles), u64::from(step.half_words));
        let mut rest = blocks;
        while let Some(block) = rest.first() {
            let cycles = u64::from(block.cycles);
            if !same.is_kept_by(block) || !unfiltered || is_near(state, spent, cycles) {
                break;
            }
            if ignores_blocks && !left.updiscon {
                let entered = state.pass_quietly(current, rest, same);
                let (passed, more) = rest.split_at_checked(entered).unwrap_or((rest, &[]));
                if let Some(last) = passed.last() {
                    jump = Jump::last(last, jump.row.wrapping_add(entered as u64));
                    (current, rest, left) = (last, more, Left::default());
                    continue;
                }
            }
            let row = jump.row.wrapping_add(1);
            let next = Jump::last(block, row);
            let single = next.address == block.iaddr;
            state.resync.calm_step(spent.0.wrapping_add(if single { 0 } else { cycles }), spent.1);
            left = describe_calmly(state, left, &jump, (row, block.iaddr), single, out);
            spent = (if single { cycles } else { 0 }, block.iretire.into());
            jump = next;
            current = block;
            rest = rest.get(1..).unwrap_or_default();
        }
        self.previous = Some(Previous { left, ..previous });
        self.pending = Some(Step::last_after_first(current, jump.row));
        self.rows = jump.row.wrapping_add(1);
        rest
    }

    /// Encodes a block that may be anything.
    #[inline(never)]
    fn retire_any<S: FnMut(Encoded<'_>)>(
        &mut self,
        block: &Retired,
        row: u64,
        qualified: bool,
        out: &mut S,
    ) {
        self.start(out);
        self.rows = row.wrapping_add(1);
        let trap = block.itype.is_trap();
        // 9: a row that holds both a retirement and a trap makes two passes; in the older flow
        // chart it makes one.
        let split = trap && self.state.compat == Compat::None && block.iretire > 0;
        if block.iretire > 0 || trap {
            let mut last = Step::last(block, row, qualified);
            if split {
                last.itype = Default::default();
            }
            if last.address != block.iaddr {
                self.push(Step::first(block, row, qualified), out);
                last.cycles = 0;
            }
            self.push(last, out);
        }
        if split {
            self.push(Step::trap_after(block, row, qualified), out);
        }
        // 4.2: halted and reset make the encoder behave as if the next instruction were
        // unqualified.
        if block.halted || block.reset {
            self.push(Step::unqualified(block, self.rows), out);
        }
        self.calm = self.is_calm();
    }

    /// Whether the pending step differs from the previous one in nothing but its address and itype,
    /// and nothing else is going on.
    fn is_calm(&self) -> bool {
        let state = &self.state;
        let (Some(previous), Some(pending)) = (&self.previous, &self.pending) else {
            return false;
        };
        previous.trap.is_none()
            && previous.privilege == pending.privilege
            && previous.context == pending.context
            && pending.qualified
            && pending.retired
            && !pending.is_trap()
            && !pending.notify
            && state.compat == Compat::None
            && !state.options.history_prediction
            && state.resync_state == ResyncState::Counting
            && !state.losing
            && !state.announce_loss
    }

    /// Ends the trace: reports the last instruction, and that tracing is disabled.
    pub fn finish<S: FnMut(Encoded<'_>)>(&mut self, out: &mut S) {
        self.start(out);
        if self.state.compat == Compat::None {
            self.stop(false, out);
        } else if let Some(last) = self.pending.take() {
            older::close(&mut self.state, self.previous.as_ref(), &last, out);
        }
        self.calm = false;
        self.started = false;
    }

    /// Switches modes while tracing: the last instruction is reported under the old modes, a
    /// support packet announces the new ones, and tracing restarts.
    ///
    /// # Errors
    ///
    /// If the parameters have no hardware for a mode. Nothing has changed then.
    pub fn set_options<S: FnMut(Encoded<'_>)>(
        &mut self,
        options: Ioptions,
        out: &mut S,
    ) -> Result<(), ConfigError> {
        check(&self.state.params, self.itype_width, options)?;
        check_history(options, self.state.compat, self.state.sync_on_unretired)?;
        self.start(out);
        self.stop(true, out);
        self.state.set_options(options);
        self.state.support(self.rows, true, QualStatus::NoChange, Reason::Enabled, out);
        Ok(())
    }

    /// Drops all payloads from here on: the output has no room.
    pub fn lose(&mut self) {
        self.state.losing = true;
        self.calm = false;
    }

    /// Ends a loss: the output has room again. The next payload is a support packet that reports
    /// the loss, and then tracing restarts.
    pub fn recover(&mut self) {
        if self.state.losing {
            self.state.losing = false;
            self.state.announce_loss = true;
            self.state.clear();
            self.previous = None;
        }
    }

    /// Notes that rows are missing here because they did not fit into a buffer before the encoder.
    /// The trace up to here is complete; the next payload is a support packet that reports the
    /// loss, and then tracing restarts.
    pub fn miss<S: FnMut(Encoded<'_>)>(&mut self, out: &mut S) {
        self.start(out);
        if let Some(last) = self.pending {
            self.push(Step { qualified: false, cycles: 0, half_words: 0, ..last }, out);
        }
        self.state.announce_loss = true;
        self.calm = false;
        self.qualifier.miss();
    }

    fn start<S: FnMut(Encoded<'_>)>(&mut self, out: &mut S) {
        if !self.started {
            self.started = true;
            self.state.support(self.rows, true, QualStatus::NoChange, Reason::Enabled, out);
        }
    }

    /// Describes the pending step; nothing follows it.
    fn stop<S: FnMut(Encoded<'_>)>(&mut self, ienable: bool, out: &mut S) {
        let traced = self.pending.take().is_some_and(|current| {
            self.describe(&current, None, out);
            current.qualified
        });
        self.previous = None;
        self.calm = false;
        let status = if traced { self.state.end_status() } else { QualStatus::NoChange };
        // set_options announces the new modes itself, and an ended_* status is sent only once.
        if traced || !ienable {
            let row = self.rows.saturating_sub(1);
            self.state.support(row, ienable, status, Reason::Stopped, out);
        }
        self.state.clear();
    }

    /// Takes the next step, and describes the one before it.
    fn push<S: FnMut(Encoded<'_>)>(&mut self, next: Step, out: &mut S) {
        let Some(current) = self.pending.replace(next) else { return };
        if self.state.compat != Compat::None {
            let previous = self.previous.as_ref();
            self.previous = Some(older::describe(&mut self.state, previous, &current, &next, out));
            return;
        }
        self.describe(&current, Some(&next).filter(|next| next.qualified), out);
        if current.qualified && !next.qualified && !self.state.losing {
            let row = self.rows.saturating_sub(1);
            self.state.end_trace(row, Reason::Stopped, out);
        }
    }

    fn describe<S: FnMut(Encoded<'_>)>(
        &mut self,
        current: &Step,
        next: Option<&Step>,
        out: &mut S,
    ) {
        self.previous = if current.qualified {
            let (state, previous) = (&mut self.state, self.previous.as_ref());
            match state.options.history_prediction {
                true => history::describe(state, previous, current, next, out),
                false => chart::describe(state, previous, current, next, out),
            }
        } else {
            None
        };
    }
}

/// Whether nothing happens between a calm step and this block but a jump or a branch.
#[inline]
fn is_calm_after(state: &State, current: &Step, block: &Retired) -> bool {
    block.iretire > 0
        && !block.itype.is_trap()
        && block.privilege == current.privilege
        && block.context == current.context
        && !current.notify
        && !block.halted
        && !block.reset
        && !is_near(state, (current.cycles.into(), current.half_words.into()), block.cycles.into())
}

/// Whether a resynchronisation may be due before the next block ends. `spent` is cycles and half-words
/// of the pending step.
#[inline(always)]
fn is_near(state: &State, spent: (u64, u64), cycles: u64) -> bool {
    // A block sends two payloads at most, and those of calls to be remembered.
    let packets = state.mark_count().wrapping_add(3) as u64;
    state.resync.is_near(packets, spent.0.wrapping_add(cycles), spent.1)
}

/// Describes a calm step, and the first one of the next block, at row and address `next`, unless it is
/// also the last.
#[inline(always)]
fn describe_calmly<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    left: Left,
    current: &Jump,
    next: (u64, u64),
    single: bool,
    out: &mut S,
) -> Left {
    let left = chart::describe_calm(state, left, current, next.1, out);
    if single {
        return left;
    }
    // All that the first instruction of a block can be is the target of a jump.
    if left.updiscon {
        chart::target(state, left, next, (None, false), false, out);
    }
    Left::default()
}

fn check(params: &Params, itype_width: ITypeWidth, options: Ioptions) -> Result<(), ConfigError> {
    let returns = params.irdepth_bits() > 0;
    let wide = itype_width == ITypeWidth::Four;
    let needs = [
        (
            options.implicit_return && !returns,
            "implicit_return",
            "return_stack_size_p or call_counter_size_p",
        ),
        (options.implicit_return && !wide, "implicit_return", "4-bit itype codes"),
        (
            options.branch_prediction && params.bpred_size_p == 0,
            "branch_prediction",
            "bpred_size_p",
        ),
        (
            options.jump_target_cache && params.cache_size_p == 0,
            "jump_target_cache",
            "cache_size_p",
        ),
        (options.sequentially_inferred_jump && !params.sijump_p, "sijump", "sijump_p"),
        (
            options.history_prediction && params.hpred_size_p == 0,
            "history_prediction",
            "hpred_size_p",
        ),
        (options.history_prediction && !wide, "history_prediction", "4-bit itype codes"),
    ];
    first_missing(&needs)
}

/// History prediction is defined for nothing but full addresses beside it.
fn check_history(
    options: Ioptions,
    compat: Compat,
    sync_on_unretired: bool,
) -> Result<(), ConfigError> {
    let (on, mode) = (options.history_prediction, "history_prediction");
    first_missing(&[
        (on && compat != Compat::None, mode, "no compat"),
        (on && sync_on_unretired, mode, "no sync_on_unretired"),
        (options.against_history().is_some(), mode, "no mode but full_address"),
    ])
}

fn first_missing(needs: &[(bool, &'static str, &'static str)]) -> Result<(), ConfigError> {
    match needs.iter().find(|(missing, _, _)| *missing) {
        Some((_, mode, needs)) => Err(ConfigError::Mode { mode, needs }),
        None => Ok(()),
    }
}
