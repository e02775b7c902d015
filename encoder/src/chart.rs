//! The flow chart of the 2025 revision (E1), with the additions that make every stream decodable.
//!
//! Most steps of a program are *calm*: nothing about them is special but the jump or branch that
//! ends them. [`describe_calm`] is what remains of [`describe`] for these.

use crate::Encoded;
use crate::send::Report;
use crate::state::{ResyncState, State};
use crate::step::{Jump, Left, Previous, Step};
use hartrace_etrace::encoder::Reason;
use hartrace_etrace::ingress::IType;

/// Describes `current`. `next` is `None` if it is not traced. Returns `None` if tracing restarts
/// after it.
#[inline(never)]
pub(crate) fn describe<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
    out: &mut S,
) -> Option<Previous> {
    state.resync.step(current.cycles, current.half_words);
    if state.resync_state == ResyncState::Counting && state.resync.is_due() {
        state.resync_state = ResyncState::Flush;
    }
    let taken = current.taken();
    let mispredicted = taken.is_some_and(|taken| state.branch(current.address, taken));
    let bad_return = is_mispredicted_return(state, previous, current, next);
    Described { previous, current, next, taken, mispredicted, bad_return }.closely(state, out)
}

/// Describes `current`, which is calm: the step before it left with `left`, it retired, and is
/// followed by a step at `next` that did, both with the same privilege and context; it has no notify
/// trigger; nothing is being lost; and no resynchronisation will be due.
#[inline(always)]
pub(crate) fn describe_calm<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    left: Left,
    current: &Jump,
    next: u64,
    out: &mut S,
) -> Left {
    let Jump { row, address, itype, .. } = *current;
    let branch = itype.is_branch();
    if !branch {
        if left.updiscon {
            target(state, left, (row, address), (None, false), false, out);
        }
        let inferred = current.sijump && state.options.sequentially_inferred_jump;
        return leave(state, current, inferred, Some(next), out);
    }
    let taken = itype == IType::Taken;
    let mispredicted = state.branch(address, taken);
    if left.updiscon {
        target(state, left, (row, address), (Some(taken), mispredicted), false, out);
    } else if state.branches >= 31 {
        pending(state, (row, address), (Some(taken), mispredicted), out);
    }
    state.branched(address, taken);
    Left::default()
}

/// Reports the target of a discontinuity that a step left with `left`. `branch` is the outcome, if the
/// target is a branch, and whether it was mispredicted.
#[inline(always)]
pub(crate) fn target<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    left: Left,
    (row, address): (u64, u64),
    (taken, mispredicted): (Option<bool>, bool),
    updiscon: bool,
    out: &mut S,
) {
    let irdepth = left.mismatch;
    let reason = match irdepth {
        Some(_) => {
            state.report_marks(address, taken, mispredicted, out);
            Reason::ReturnMismatch
        }
        None => Reason::Updiscon,
    };
    let report = Report { target: true, updiscon, irdepth, mispredicted, notify: false };
    state.address(row, address, report, reason, out);
}

/// Reports branches without an address, if there are too many to keep.
#[inline]
fn pending<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    (row, address): (u64, u64),
    branch: (Option<bool>, bool),
    out: &mut S,
) {
    if state.count_is_full() {
        // A decoder takes an address without flags for the target of a discontinuity unless format 3
        // follows, hence the notify flag.
        state.stop_at(row, address, branch, true, Reason::CountFull, out);
    } else if state.must_report_branches(branch.1) {
        state.map_only(row, out);
    }
}

/// Executes calls and returns, and decides whether the step is an uninferable discontinuity. `next` is
/// where it leads, if that is traced.
#[inline(always)]
fn leave<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    current: &Jump,
    inferred: bool,
    next: Option<u64>,
    out: &mut S,
) -> Left {
    let itype = current.itype;
    let uninferable = is_uninferable(itype);
    if !uninferable && !itype.is_call() {
        return Left::default();
    }
    let mut left = Left { updiscon: uninferable && !inferred, mismatch: None };
    if !state.options.implicit_return || !state.returns.exists() {
        return left;
    }
    if itype.is_call() {
        // D1: after a popped return, the depth of the stack distinguishes visits of one address until a
        // call raises it again.
        state.mark(current.row, current.address, out);
        state.returns.call(current.link);
    } else if itype == IType::Return {
        let depth = state.returns.depth();
        let predicted = next.is_some_and(|next| state.returns.predicts(next));
        if state.returns.pop() {
            if inferred || predicted {
                state.irets += 1;
                left.updiscon = false;
            } else {
                left = Left { updiscon: true, mismatch: Some(depth) };
            }
        }
    }
    left
}

/// Whether the current instruction is a return that implicit return mode predicts wrongly.
fn is_mispredicted_return(
    state: &State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
) -> bool {
    state.options.implicit_return
        && current.itype == IType::Return
        && !is_sequential(state, previous, current)
        && state.returns.depth() > 0
        && next.is_some_and(|next| !state.returns.predicts(next.address))
}

/// 3.2.4: whether the jump is sequentially inferable and the constant it uses has also been traced.
fn is_sequential(state: &State, previous: Option<&Previous>, current: &Step) -> bool {
    current.sijump
        && state.options.sequentially_inferred_jump
        && previous.is_some_and(|previous| previous.retired)
}

/// What was sent for the current step.
#[derive(Copy, Clone, Default)]
struct Outcome {
    synced: bool,
    trap_reported: bool,
}

const SYNCED: Outcome = Outcome { synced: true, trap_reported: false };
const TRAP_REPORTED: Outcome = Outcome { synced: true, trap_reported: true };

/// The step that is being described, with its neighbours.
#[derive(Copy, Clone)]
struct Described<'a> {
    previous: Option<&'a Previous>,
    current: &'a Step,
    next: Option<&'a Step>,
    /// Outcome, if the current instruction is a branch.
    taken: Option<bool>,
    mispredicted: bool,
    /// The current instruction is a return that is predicted wrongly.
    bad_return: bool,
}

impl Described<'_> {
    fn closely<S: FnMut(Encoded<'_>)>(self, state: &mut State, out: &mut S) -> Option<Previous> {
        let Self { previous, current, next, taken, .. } = self;
        if previous.is_some_and(|before| current.changes_context_imprecisely(before.context)) {
            state.context_pending = true;
        }
        let changes = |next: &Step| next.changes_from(current.privilege, current.context);
        // D14: a decoder cannot walk to the target of an asynchronous discontinuity.
        let torn = next.is_some_and(|n| n.retired && n.is_torn_from(current.context));
        // D6: format 3.0 cannot say that the return before it was mispredicted, so tracing stops
        // and restarts between such a return and a change of privilege or context.
        let into_change = next.is_some_and(|next| next.retired && changes(next));
        let restart = torn || self.bad_return && into_change;
        let shown = Self { next: next.filter(|_| !restart), ..self };
        let outcome = shown.choose(state, out);

        if state.context_pending {
            state.context_packet(current, Reason::ImpreciseContext, out);
        }
        if state.resync_state == ResyncState::Flush {
            state.resync_state = ResyncState::Sync;
        }
        // A branch that is itself the synchronisation point trains the predictor after the reset
        // (D4).
        if let Some(taken) = taken {
            state.branched(current.address, taken);
        }
        // A decoder does not look back across a synchronisation (D11).
        let inferred = is_sequential(state, previous, current) && !outcome.synced;
        let left = leave(state, &current.jump(), inferred, next.map(|next| next.address), out);
        if torn || restart && left.mismatch.is_some() {
            state.end_trace(current.row, Reason::Restart, out);
            return None;
        }
        Some(current.described(outcome.trap_reported, left))
    }

    /// Chapter 9, figure "Instruction delta trace algorithm", from top to bottom.
    fn choose<S: FnMut(Encoded<'_>)>(&self, state: &mut State, out: &mut S) -> Outcome {
        let current = self.current;
        let Some(previous) = self.previous else {
            return match current.is_trap() && !state.sync_on_unretired {
                true => self.report_current_trap(state, Reason::TrapAtStart, out),
                false => synced(state, current, Reason::First, out),
            };
        };
        let trapped = current.is_trap();
        if let Some(trap) = previous.trap {
            return match (trapped, previous.reported) {
                (true, true) => self.report_current_trap(state, Reason::TrapInHandler, out),
                (true, false) => {
                    state.trap(current, trap, false, Reason::TrapInHandler, out);
                    match self.next {
                        None => self.report_current_trap(state, Reason::TrapAtEnd, out),
                        Some(_) => SYNCED,
                    }
                }
                (false, true) => synced(state, current, Reason::HandlerAfterReport, out),
                (false, false) => {
                    state.trap(current, trap, true, Reason::Handler, out);
                    SYNCED
                }
            };
        }

        // E2: an instruction that does not retire is not a valid synchronisation point.
        if (!trapped || state.sync_on_unretired)
            && let Some(reason) = self.reason_to_synchronise(state, previous)
        {
            return synced(state, current, reason, out);
        }
        if !trapped {
            self.retired(state, previous, out);
            return Outcome::default();
        }
        // The instruction before the trap has been reported as such. A trap without a successor
        // would be lost, though (D3).
        if previous.left.updiscon {
            self.report_current_trap(state, Reason::TrapAtTarget, out)
        } else if self.next.is_none() {
            self.report_current_trap(state, Reason::TrapAtEnd, out)
        } else {
            Outcome::default()
        }
    }

    fn reason_to_synchronise(&self, state: &State, previous: &Previous) -> Option<Reason> {
        if self.current.privilege != previous.privilege {
            Some(Reason::Privilege)
        } else if self.current.changes_from(previous.privilege, previous.context) {
            Some(Reason::Context)
        } else if state.resync_state == ResyncState::Sync && previous.left.mismatch.is_none() {
            // A mispredicted return must first be reported as such (D6).
            Some(Reason::Resync)
        } else {
            None
        }
    }

    fn report_current_trap<S: FnMut(Encoded<'_>)>(
        &self,
        state: &mut State,
        reason: Reason,
        out: &mut S,
    ) -> Outcome {
        if let Some(trap) = self.current.trap() {
            state.trap(self.current, trap, false, reason, out);
        }
        TRAP_REPORTED
    }

    /// The rest of the chart, for an instruction that retired without a synchronisation.
    fn retired<S: FnMut(Encoded<'_>)>(&self, state: &mut State, previous: &Previous, out: &mut S) {
        let Self { current, taken, mispredicted, .. } = *self;
        let (place, branch) = ((current.row, current.address), (taken, mispredicted));
        if previous.left.updiscon {
            let updiscon = self.format_3_is_next(state);
            return target(state, previous.left, place, branch, updiscon, out);
        }
        let flushes = state.must_flush() || self.jumps_at_same_level();
        let reason = if state.resync_state == ResyncState::Flush
            && !self.bad_return // reported first, with all that is pending (D6)
            && flushes
        {
            Reason::BeforeResync
        } else if self.next.is_some_and(Step::is_trap) {
            Reason::BeforeTrap
        } else if self.change_is_next() && flushes {
            Reason::BeforeChange
        } else if self.next.is_none() {
            Reason::Last
        } else if current.notify {
            Reason::Notify
        } else {
            return pending(state, place, branch, out);
        };
        state.stop_at(current.row, current.address, branch, current.notify, reason, out);
    }

    /// Whether the next step changes privilege or context, precisely.
    fn change_is_next(&self) -> bool {
        let Step { privilege, context, .. } = *self.current;
        self.next.is_some_and(|next| next.changes_from(privilege, context))
    }

    /// Whether the next step is reported in format 3 (7.6.2).
    fn format_3_is_next(&self, state: &State) -> bool {
        self.next.is_some_and(Step::is_trap)
            || self.change_is_next()
            || state.resync_state != ResyncState::Counting
    }

    /// A decoder that walks to a synchronisation point stops at its first visit, unless the
    /// privilege differs. If a jump leads there, the decoder must start from that jump (D5).
    fn jumps_at_same_level(&self) -> bool {
        let level = self.current.privilege;
        is_uninferable(self.current.itype) && self.next.is_some_and(|next| next.privilege == level)
    }
}

fn synced<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    step: &Step,
    reason: Reason,
    out: &mut S,
) -> Outcome {
    state.sync(step, reason, out);
    SYNCED
}

/// E3: with trap returns, 3-bit jumps and returns.
#[inline]
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
