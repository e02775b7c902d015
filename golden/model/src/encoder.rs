//! The golden encoder.

mod filter;
mod history;
mod newer;
mod older;
mod report;
mod state;
mod step;

pub use hartrace_etrace::encoder::{
    Combine, Comparator, Condition, ConfigError, EncoderConfig, Filter, Function, Input, Reason,
    Resync,
};

use crate::Compat;
use filter::Qualifier;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Ioptions, Mode, Payload, QualStatus};
use state::State;
use std::collections::VecDeque;
use step::{Previous, Step};

/// One payload, with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Row that it describes: 0 for the first one given to [`Encoder::retire`].
    pub row: u64,
    /// The payload.
    pub payload: Payload,
    /// Its bytes, compressed.
    pub bytes: Vec<u8>,
    /// The reason for sending it.
    pub reason: Reason,
}

/// Receives payloads.
pub type PayloadSink<'a> = &'a mut dyn FnMut(Encoded);

/// Encodes retired instructions as payloads.
///
/// A payload describes the *current* instruction in view of the *previous* and the *next* one, so
/// it appears one call after the instruction it belongs to.
#[derive(Debug)]
pub struct Encoder {
    state: State,
    qualifier: Qualifier,
    previous: Option<Previous>,
    /// Steps not yet described; the front is current once there are two.
    pending: VecDeque<Step>,
    rows: u64,
    started: bool,
}

impl Encoder {
    /// Creates an encoder that has seen nothing yet.
    pub fn new(config: EncoderConfig) -> Result<Self, ConfigError> {
        let mut config = config;
        check(&config)?;
        // For a unit that cannot report the mode, the parameters fix it (section 6, reference
        // layout).
        if !config.unit.ioptions().contains(&Mode::SequentiallyInferredJump) {
            config.options.sequentially_inferred_jump = config.params.sijump_p;
        }
        let qualifier = Qualifier::new(config.filter.clone());
        Ok(Self {
            state: State::new(config),
            qualifier,
            previous: None,
            pending: VecDeque::new(),
            rows: 0,
            started: false,
        })
    }

    /// The encoder of a hart that may not be traced at every level. It shows a trap together with what comes after it,
    /// never at the end of a stretch: where that trap leads may be forbidden.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.state.guarded = true;
        self
    }

    /// Encodes the next block of retired instructions.
    pub fn retire(&mut self, block: &Retired, out: PayloadSink<'_>) {
        self.start(out);
        let qualified = self.qualifier.qualify(block);
        let split = self.state.config.compat == Compat::None;
        let steps = Step::of(block, self.rows, qualified, split);
        self.rows += 1;
        for step in steps {
            self.pending.push_back(step);
            self.advance(out);
        }
        // 4.2: halted and reset make the encoder behave as if the next instruction were
        // unqualified.
        if block.halted || block.reset {
            self.pending.push_back(Step::unqualified(block, self.rows));
            self.advance(out);
        }
    }

    /// Ends the trace: reports the last instruction, and that tracing is disabled.
    pub fn finish(&mut self, out: PayloadSink<'_>) {
        self.start(out);
        if self.state.config.compat == Compat::None {
            self.stop(false, out);
        } else if let Some(last) = self.pending.pop_front() {
            older::close(&mut self.state, self.previous.as_ref(), &last, out);
        }
        self.started = false;
    }

    /// Switches modes while tracing: the last instruction is reported under the old modes, a
    /// support packet announces the new ones, and tracing restarts.
    pub fn set_options(
        &mut self,
        options: Ioptions,
        out: PayloadSink<'_>,
    ) -> Result<(), ConfigError> {
        check(&EncoderConfig { options, ..self.state.config.clone() })?;
        self.start(out);
        self.stop(true, out);
        self.state.config.options = options;
        self.state.support(self.rows, true, QualStatus::NoChange, Reason::Enabled, out);
        Ok(())
    }

    /// Drops all payloads from here on: the output has no room.
    pub fn lose(&mut self) {
        self.state.losing = true;
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
    pub fn miss(&mut self, out: PayloadSink<'_>) {
        self.start(out);
        if let Some(last) = self.pending.back().cloned() {
            let missing = Step { qualified: false, gap: true, cycles: 0, half_words: 0, ..last };
            self.pending.push_back(missing);
            self.advance(out);
        }
        self.state.announce_loss = true;
        self.qualifier.miss();
    }

    /// Notes that the hart is at a level that may not be traced. The trace up to here is complete, and starts again with
    /// the next block. The blocks in between are not for this encoder.
    pub fn forbid(&mut self, out: PayloadSink<'_>) {
        self.start(out);
        if let Some(last) = self.pending.back().cloned() {
            let gap = Step { qualified: false, gap: true, cycles: 0, half_words: 0, ..last };
            self.pending.push_back(gap);
            self.advance(out);
        }
        // Returns from traps may be among what is not seen.
        self.qualifier.miss();
    }

    fn start(&mut self, out: PayloadSink<'_>) {
        if !self.started {
            self.started = true;
            self.state.support(self.rows, true, QualStatus::NoChange, Reason::Enabled, out);
        }
    }

    /// Describes all pending steps; nothing follows them.
    fn stop(&mut self, ienable: bool, out: PayloadSink<'_>) {
        let traced = match self.pending.pop_front() {
            Some(current) => {
                let qualified = current.qualified;
                self.describe(Step { cut: true, ..current }, None, out);
                qualified
            }
            None => false,
        };
        self.previous = None;
        let status = if traced { self.state.end_status() } else { QualStatus::NoChange };
        // set_options announces the new modes itself, and an ended_* status is sent only once.
        if traced || !ienable {
            self.state.support(self.rows.saturating_sub(1), ienable, status, Reason::Stopped, out);
        }
        self.state.clear();
    }

    /// Describes the current step once the next one is known.
    fn advance(&mut self, out: PayloadSink<'_>) {
        if self.pending.len() < 2 {
            return;
        }
        let Some(mut current) = self.pending.pop_front() else { return };
        let next = self.pending.front().cloned();
        current.cut = next.as_ref().is_none_or(|next| next.gap);
        if self.state.config.compat != Compat::None {
            self.previous = Some(older::describe(
                &mut self.state,
                self.previous.as_ref(),
                &current,
                next.as_ref(),
                out,
            ));
            return;
        }
        let stopping = current.qualified && next.as_ref().is_none_or(|n| !n.qualified);
        self.describe(current, next.filter(|n| n.qualified), out);
        if stopping && !self.state.losing {
            let row = self.rows.saturating_sub(1);
            let status = self.state.end_status();
            self.state.support(row, true, status, Reason::Stopped, out);
            self.state.clear();
        }
    }

    fn describe(&mut self, current: Step, next: Option<Step>, out: PayloadSink<'_>) {
        self.previous = if current.qualified {
            let describe = match self.state.config.options.history_prediction {
                true => history::describe,
                false => newer::describe,
            };
            describe(&mut self.state, self.previous.take(), current, next.as_ref(), out)
        } else {
            None
        };
    }
}

fn check(config: &EncoderConfig) -> Result<(), ConfigError> {
    config.params.layout(config.unit)?;
    let p = &config.params;
    let o = &config.options;
    let needs = |on: bool, has: bool, mode, needs| {
        if on && !has { Err(ConfigError::Mode { mode, needs }) } else { Ok(()) }
    };
    let returns = p.irdepth_bits() > 0;
    needs(
        o.implicit_return,
        returns,
        "implicit_return",
        "return_stack_size_p or call_counter_size_p",
    )?;
    let wide = config.itype_width == ITypeWidth::Four;
    needs(o.implicit_return, wide, "implicit_return", "4-bit itype codes")?;
    needs(o.branch_prediction, p.bpred_size_p > 0, "branch_prediction", "bpred_size_p")?;
    needs(o.jump_target_cache, p.cache_size_p > 0, "jump_target_cache", "cache_size_p")?;
    needs(o.sequentially_inferred_jump, p.sijump_p, "sijump", "sijump_p")?;
    let history = o.history_prediction;
    let mode = "history_prediction";
    needs(history, p.hpred_size_p > 0, mode, "hpred_size_p")?;
    needs(history, wide, mode, "4-bit itype codes")?;
    needs(history, config.compat == Compat::None, mode, "no compat")?;
    needs(history, !config.sync_on_unretired, mode, "no sync_on_unretired")?;
    needs(history, o.against_history().is_none(), mode, "no mode but full_address")
}
