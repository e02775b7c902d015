//! The flow chart of the published 2024 text, as the reference models implement it (C1).
//!
//! Only for comparison with their streams; `docs/deviations.md` lists what it cannot do.

use crate::Encoded;
use crate::send::Report;
use crate::state::State;
use crate::step::{Left, Previous, Step};
use hartrace_etrace::encoder::Reason;
use hartrace_etrace::ingress::{CType, IType};
use hartrace_etrace::{Compat, QualStatus};

/// Describes `current`. All steps are traced; the last one is its own successor.
pub(crate) fn describe<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: &Step,
    out: &mut S,
) -> Previous {
    let taken = current.taken();
    let mispredicted = taken.is_some_and(|taken| state.branch(current.address, taken));
    let reported = choose(state, previous, current, next, mispredicted, out);
    if let Some(taken) = taken {
        state.branched(current.address, taken);
    }
    Previous {
        context: current.context,
        privilege: current.privilege,
        trap: current.trap(),
        retired: current.retired,
        reported,
        left: Left { updiscon: leave(state, current), mismatch: None },
    }
}

/// The reference models report the last instruction once more, whatever was sent for it, and then
/// the end of tracing (C2).
pub(crate) fn close<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    previous: Option<&Previous>,
    last: &Step,
    out: &mut S,
) {
    describe(state, previous, last, last, out);
    state.address(last.row, last.address, Report::default(), Reason::Closing, out);
    state.support(last.row, false, QualStatus::EndedRep, Reason::Stopped, out);
}

/// Whether a trap has been reported with thaddr = 0 ahead of its handler.
fn choose<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: &Step,
    mispredicted: bool,
    out: &mut S,
) -> bool {
    let exception_only = |step: &Step| step.is_trap() && !step.retired;
    let Some(before) = previous else {
        state.sync(current, Reason::First, out);
        return false;
    };
    if let Some(trap) = before.trap {
        if exception_only(current) {
            state.trap(current, trap, false, Reason::TrapInHandler, out);
            return next.is_trap();
        }
        if before.reported {
            state.sync(current, Reason::HandlerAfterReport, out);
        } else {
            state.trap(current, trap, true, Reason::Handler, out);
        }
        return false;
    }
    if changed(current, before.privilege.0, before.context, before.left.updiscon) {
        state.sync(current, Reason::Privilege, out);
        return false;
    }
    if state.resync.count > state.resync.max {
        state.sync(current, Reason::Resync, out);
        return false;
    }

    let due = state.resync.count == state.resync.max;
    let format_3_is_next = next.is_trap() || next.privilege != current.privilege || due;
    let target = before.left.updiscon;
    let updiscon = target && format_3_is_next;
    let report = Report { target, updiscon, mispredicted, ..Report::default() };
    if target {
        if let Some(trap) = current.trap().filter(|_| !current.retired) {
            state.trap(current, trap, false, Reason::TrapAtTarget, out);
            return true;
        }
        state.address(current.row, current.address, report, Reason::Updiscon, out);
        return false;
    }
    let jumps = is_updiscon(state, current);
    let reason = if due && state.branches > 0 {
        Reason::BeforeResync
    } else if current.is_trap() && current.retired || exception_only(next) {
        Reason::BeforeTrap
    } else if state.branches > 0 && changed(next, current.privilege.0, current.context, jumps) {
        Reason::BeforeChange
    } else {
        if state.must_report_branches(mispredicted) {
            state.map_only(current.row, out);
        }
        if current.changes_context_imprecisely(before.context) {
            state.context_packet(current, Reason::ImpreciseContext, out);
        }
        return false;
    };
    state.address(current.row, current.address, report, reason, out);
    false
}

fn changed(now: &Step, privilege: u8, context: u64, jumped: bool) -> bool {
    now.privilege.0 != privilege
        || now.context != context && (now.ctype == CType::Precise || jumped)
}

/// The inputs of the reference models already classify sequentially inferable jumps as inferable.
fn is_updiscon(state: &State, step: &Step) -> bool {
    match step.itype {
        IType::TrapReturn
        | IType::UninferableJump
        | IType::UninferableCall
        | IType::UninferableTailCall
        | IType::CoRoutineSwap
        | IType::OtherUninferableJump => true,
        IType::Return => !counts_returns(state) || state.returns.depth() == 0,
        _ => false,
    }
}

/// Whether returns are counted: only the C model implements implicit return, with a call counter
/// (C5).
fn counts_returns(state: &State) -> bool {
    state.options.implicit_return && state.compat == Compat::CModel
}

fn leave(state: &mut State, step: &Step) -> bool {
    let updiscon = is_updiscon(state, step);
    if counts_returns(state) {
        if step.itype.is_call() {
            state.returns.call(step.link);
        } else if step.itype == IType::Return {
            state.returns.pop();
        }
    }
    updiscon
}
