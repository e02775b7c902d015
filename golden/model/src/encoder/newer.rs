//! The flow chart of the 2025 revision (E1), with the additions that make every stream decodable.

use super::report::Report;
use super::state::{Mark, ResyncState, State};
use super::step::{Previous, Step};
use super::{PayloadSink, Reason};
use hartrace_etrace::ingress::IType;

/// Describes `current`. `next` is `None` if it is not traced. Returns `None` if tracing restarts
/// after it.
pub(crate) fn describe(
    state: &mut State,
    previous: Option<Previous>,
    current: Step,
    next: Option<&Step>,
    out: PayloadSink<'_>,
) -> Option<Previous> {
    state.count_step(&current);
    if state.resync_state == ResyncState::Counting
        && state.resync_max().is_some_and(|max| state.resync_count() >= max)
    {
        state.resync_state = ResyncState::Flush;
    }
    let taken = match current.itype {
        IType::Taken => Some(true),
        IType::NotTaken => Some(false),
        _ => None,
    };
    let mispredicted = taken.is_some_and(|taken| state.branch(current.address, taken));
    if let Some(before) = &previous
        && current.changes_context_imprecisely(&before.step)
    {
        state.context_pending = true;
    }

    // D6: format 3.0 cannot say that the return before it was mispredicted, so tracing stops and
    // restarts between such a return and a change of privilege or context that it leads into.
    let bad_return = is_mispredicted_return(state, previous.as_ref(), &current, next);
    // D14: nor can a decoder walk to the target of an asynchronous discontinuity.
    let torn = next.is_some_and(|n| n.retired && n.is_torn_from(&current));
    let restart =
        torn || (bad_return && next.is_some_and(|n| n.retired && n.changes_from(&current)));
    let shown = next.filter(|_| !restart);
    let mut chart =
        Chart { state, previous, current, next: shown, taken, mispredicted, bad_return };
    let outcome = chart.choose(out);

    let Chart { state, previous, current, .. } = chart;
    if state.context_pending {
        state.context_packet(&current, Reason::ImpreciseContext, out);
    }
    if state.resync_state == ResyncState::Flush {
        state.resync_state = ResyncState::Sync;
    }
    // A branch that is itself the synchronisation point trains the predictor after the reset (D4).
    if let Some(taken) = taken {
        state.predictor.update(current.address, taken);
        state.forget_returns();
    }
    let (updiscon, mismatch) = leave(state, previous.as_ref(), &current, next, outcome.synced, out);
    if torn || (restart && mismatch.is_some()) {
        let status = state.end_status();
        state.support(current.row, true, status, Reason::Restart, out);
        state.clear();
        return None;
    }
    Some(Previous { reported: outcome.trap_reported, updiscon, mismatch, step: current })
}

/// Whether the current instruction is a return that implicit return mode predicts wrongly.
fn is_mispredicted_return(
    state: &State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
) -> bool {
    state.config.options.implicit_return
        && current.itype == IType::Return
        && !is_sequential(state, previous, current)
        && state.returns.depth() > 0
        && next.is_some_and(|next| !state.returns.predicts(next.address))
}

/// 3.2.4: whether the jump is sequentially inferable and the constant it uses has also been traced.
fn is_sequential(state: &State, previous: Option<&Previous>, current: &Step) -> bool {
    let traced = previous.is_some_and(|p| p.step.retired);
    state.config.options.sequentially_inferred_jump && current.sijump && traced
}

/// What was sent for the current step.
#[derive(Copy, Clone, Default)]
struct Outcome {
    synced: bool,
    trap_reported: bool,
}

struct Chart<'a> {
    state: &'a mut State,
    previous: Option<Previous>,
    current: Step,
    next: Option<&'a Step>,
    /// Outcome, if the current instruction is a branch.
    taken: Option<bool>,
    mispredicted: bool,
    /// The current instruction is a return that is predicted wrongly.
    bad_return: bool,
}

const SYNCED: Outcome = Outcome { synced: true, trap_reported: false };
const TRAP_REPORTED: Outcome = Outcome { synced: true, trap_reported: true };

impl Chart<'_> {
    /// Chapter 9, figure "Instruction delta trace algorithm", from top to bottom.
    fn choose(&mut self, out: PayloadSink<'_>) -> Outcome {
        let Some(previous) = self.previous.take() else { return self.first(out) };
        let outcome = self.not_first(&previous, out);
        self.previous = Some(previous);
        outcome
    }

    fn first(&mut self, out: PayloadSink<'_>) -> Outcome {
        if self.current.is_trap() && !self.state.config.sync_on_unretired {
            self.report_current_trap(Reason::TrapAtStart, out)
        } else {
            self.state.sync(&self.current, Reason::First, out);
            SYNCED
        }
    }

    /// Reports the trap that is the current step, unless that may not be told yet and never will be.
    fn report_current_trap(&mut self, reason: Reason, out: PayloadSink<'_>) -> Outcome {
        if self.state.guarded && self.current.cut {
            return Outcome::default();
        }
        self.state.trap(&self.current, &self.current, false, reason, out);
        TRAP_REPORTED
    }

    fn not_first(&mut self, previous: &Previous, out: PayloadSink<'_>) -> Outcome {
        let trapped = self.current.is_trap();
        if previous.step.is_trap() {
            return match (trapped, previous.reported) {
                (true, true) => self.report_current_trap(Reason::TrapInHandler, out),
                (true, false) => {
                    let trap = &previous.step;
                    self.state.trap(&self.current, trap, false, Reason::TrapInHandler, out);
                    let own = match self.next {
                        None => self.report_current_trap(Reason::TrapAtEnd, out),
                        Some(_) => Outcome::default(),
                    };
                    Outcome { synced: true, ..own }
                }
                (false, true) => {
                    self.state.sync(&self.current, Reason::HandlerAfterReport, out);
                    SYNCED
                }
                (false, false) => {
                    let trap = &previous.step;
                    self.state.trap(&self.current, trap, true, Reason::Handler, out);
                    SYNCED
                }
            };
        }

        // E2: an instruction that does not retire is not a valid synchronisation point.
        if !trapped || self.state.config.sync_on_unretired {
            let change = self.current.privilege != previous.step.privilege;
            let reason = if change {
                Some(Reason::Privilege)
            } else if self.current.changes_from(&previous.step) {
                Some(Reason::Context)
            } else if self.state.resync_state == ResyncState::Sync && previous.mismatch.is_none() {
                // A mispredicted return must first be reported as such (D6).
                Some(Reason::Resync)
            } else {
                None
            };
            if let Some(reason) = reason {
                self.state.sync(&self.current, reason, out);
                return SYNCED;
            }
        }

        if trapped {
            // The instruction before the trap has been reported as such. A trap without a successor
            // would be lost, though.
            return if previous.updiscon {
                self.report_current_trap(Reason::TrapAtTarget, out)
            } else if self.next.is_none() {
                self.report_current_trap(Reason::TrapAtEnd, out)
            } else {
                Outcome::default()
            };
        }
        self.retired(previous, out);
        Outcome::default()
    }

    /// The rest of the chart, for an instruction that retired without a synchronisation.
    fn retired(&mut self, previous: &Previous, out: PayloadSink<'_>) {
        if previous.updiscon {
            let reason = match previous.mismatch {
                Some(_) => {
                    self.report_marks(out);
                    Reason::ReturnMismatch
                }
                None => Reason::Updiscon,
            };
            let report = Report {
                target: true,
                updiscon: self.format_3_is_next(),
                notify: false,
                irdepth: previous.mismatch,
                mispredicted: self.mispredicted,
            };
            return self.state.address(&self.current, report, reason, out);
        }
        let reason = if self.state.resync_state == ResyncState::Flush
            && !self.bad_return // reported first, with all that is pending (D6)
            && (self.must_flush() || self.jumps_at_same_level())
        {
            Reason::BeforeResync
        } else if self.next.is_some_and(Step::is_trap) {
            Reason::BeforeTrap
        } else if self.change_is_next() && (self.must_flush() || self.jumps_at_same_level()) {
            Reason::BeforeChange
        } else if self.next.is_none() {
            Reason::Last
        } else if self.current.notify {
            Reason::Notify
        } else if self.state.count_is_full() {
            Reason::CountFull
        } else {
            if self.state.must_report_branches(self.mispredicted) {
                self.state.map_only(&self.current, out);
            }
            return;
        };
        // A decoder takes an address without flags for the target of a discontinuity unless format
        // 3 follows. All other addresses therefore carry the notify flag.
        let notify = self.current.notify || reason == Reason::CountFull;
        self.report_marks(out);
        let report = Report {
            target: false,
            updiscon: false,
            notify,
            irdepth: self.depth_if_ambiguous(),
            mispredicted: self.mispredicted,
        };
        self.state.address(&self.current, report, reason, out);
    }

    /// Whether the next step changes privilege or context, precisely.
    fn change_is_next(&self) -> bool {
        self.next.is_some_and(|next| next.changes_from(&self.current))
    }

    /// Whether the next step is reported in format 3 (7.6.2).
    fn format_3_is_next(&self) -> bool {
        self.next.is_some_and(Step::is_trap)
            || self.change_is_next()
            || self.state.resync_state != ResyncState::Counting
    }

    /// Whether a synchronisation at the next step would lose something.
    ///
    /// The text mentions pending branches. Implicit returns are lost too, since format 3 has no
    /// irdepth to distinguish the visits of a recursive function (D1); and so is a reported target
    /// that a decoder may still take for an earlier visit of the same address (D5).
    fn must_flush(&self) -> bool {
        let returned = self.state.irets > 0 || !self.state.marks.is_empty();
        self.state.branches > 0 || returned || self.state.open_updiscon
    }

    /// A decoder that walks to a synchronisation point stops at its first visit, unless the
    /// privilege differs. If a jump leads there, the decoder must start from that jump (D5).
    fn jumps_at_same_level(&self) -> bool {
        let level = self.current.privilege;
        is_uninferable(self.current.itype) && self.next.is_some_and(|next| next.privilege == level)
    }

    fn report_marks(&mut self, out: PayloadSink<'_>) {
        let address = self.current.address;
        self.state.report_marks(address, self.taken, self.mispredicted, out);
    }

    /// 7.6.3, and D1: the depth is reported whenever a return has been popped since the last
    /// branch.
    fn depth_if_ambiguous(&self) -> Option<u32> {
        (self.state.irets > 0).then(|| self.state.returns.depth())
    }
}

/// Executes calls and returns, and decides whether the step is an uninferable discontinuity.
fn leave(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
    synced: bool,
    out: PayloadSink<'_>,
) -> (bool, Option<u32>) {
    let options = state.config.options;
    // A decoder does not look back across a synchronisation (D11).
    let inferred = is_sequential(state, previous, current) && !synced;
    let stack = options.implicit_return && state.returns.exists();
    let uninferable = is_uninferable(current.itype) && !inferred;
    if stack && current.itype.is_call() {
        // D1: after a popped return, the depth of the stack distinguishes visits of one address
        // until a call raises it again.
        if state.irets > 0 {
            if state.marks.len() >= state.config.return_marks {
                state.report_marks(current.address, None, false, out);
            }
            let mark = Mark { step: current.clone(), depth: state.returns.depth() };
            state.marks.push(mark);
            state.irets = 0;
        }
        state.returns.call(current.link);
    }
    if !stack || current.itype != IType::Return {
        return (uninferable, None);
    }
    let depth = state.returns.depth();
    let predicted = next.is_some_and(|next| state.returns.predicts(next.address));
    if state.returns.pop().is_none() {
        return (uninferable, None);
    }
    if inferred || predicted {
        state.irets += 1;
        return (false, None);
    }
    (true, Some(depth))
}

/// E3: with trap returns, 3-bit jumps and returns.
fn is_uninferable(itype: IType) -> bool {
    matches!(
        itype,
        IType::TrapReturn
            | IType::UninferableJump
            | IType::UninferableCall
            | IType::UninferableTailCall
            | IType::CoRoutineSwap
            | IType::OtherUninferableJump
            | IType::Return
    )
}
