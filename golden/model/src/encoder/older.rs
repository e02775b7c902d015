//! The flow chart of the published 2024 text, as the reference models implement it.
//!
//! Only for comparison with their streams; `docs/deviations.md` lists what it cannot do.

use super::report::Report;
use super::state::State;
use super::step::{Previous, Step};
use super::{PayloadSink, Reason};
use crate::Compat;
use hartrace_etrace::QualStatus;
use hartrace_etrace::ingress::{CType, IType};

/// Describes `current`. All steps are traced, and `next` is `None` only for a single first row.
pub(crate) fn describe(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
    out: PayloadSink<'_>,
) -> Previous {
    let next = next.unwrap_or(current);
    let taken = match current.itype {
        IType::Taken => Some(true),
        IType::NotTaken => Some(false),
        _ => None,
    };
    let mispredicted = taken.is_some_and(|taken| state.branch(current.address, taken));
    let reported = choose(state, previous, current, next, mispredicted, out);
    if let Some(taken) = taken {
        state.predictor.update(current.address, taken);
    }
    Previous { step: current.clone(), reported, updiscon: leave(state, current), mismatch: None }
}

/// The reference models report the last instruction once more, whatever was sent for it, and then
/// the end of tracing (C2).
pub(crate) fn close(
    state: &mut State,
    previous: Option<&Previous>,
    last: &Step,
    out: PayloadSink<'_>,
) {
    let previous = describe(state, previous, last, None, out);
    let report = Report {
        target: false,
        updiscon: false,
        notify: false,
        irdepth: None,
        mispredicted: false,
    };
    state.address(&previous.step, report, Reason::Closing, out);
    state.support(last.row, false, QualStatus::EndedRep, Reason::Stopped, out);
}

/// Whether a trap has been reported with thaddr = 0 ahead of its handler.
fn choose(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: &Step,
    mispredicted: bool,
    out: PayloadSink<'_>,
) -> bool {
    let exception_only = |step: &Step| step.is_trap() && !step.retired;
    let resync_max = state.resync_max().unwrap_or(u64::MAX);
    let Some(before) = previous else {
        state.sync(current, Reason::First, out);
        return false;
    };

    if before.step.is_trap() {
        if exception_only(current) {
            state.trap(current, &before.step, false, Reason::TrapInHandler, out);
            return next.is_trap();
        }
        if before.reported {
            state.sync(current, Reason::HandlerAfterReport, out);
        } else {
            state.trap(current, &before.step, true, Reason::Handler, out);
        }
        return false;
    }

    let changed = |now: &Step, then: &Step, jumped: bool| {
        now.privilege != then.privilege
            || (now.context != then.context && (now.ctype == CType::Precise || jumped))
    };
    if changed(current, &before.step, before.updiscon) {
        state.sync(current, Reason::Privilege, out);
        return false;
    }
    if state.resync_count() > resync_max {
        state.sync(current, Reason::Resync, out);
        return false;
    }

    let due = state.resync_count() == resync_max;
    let format_3_is_next = next.is_trap() || next.privilege != current.privilege || due;
    let report = Report {
        target: before.updiscon,
        updiscon: before.updiscon && format_3_is_next,
        notify: false,
        irdepth: None,
        mispredicted,
    };
    if before.updiscon {
        if exception_only(current) {
            state.trap(current, current, false, Reason::TrapAtTarget, out);
            return true;
        }
        state.address(current, report, Reason::Updiscon, out);
        return false;
    }
    let reason = if due && state.branches > 0 {
        Some(Reason::BeforeResync)
    } else if (current.is_trap() && current.retired) || exception_only(next) {
        Some(Reason::BeforeTrap)
    } else if state.branches > 0 && changed(next, current, is_updiscon(state, current)) {
        Some(Reason::BeforeChange)
    } else {
        None
    };
    if let Some(reason) = reason {
        state.address(current, report, reason, out);
        return false;
    }
    if state.must_report_branches(mispredicted) {
        state.map_only(current, out);
    }
    if current.changes_context_imprecisely(&before.step) {
        state.context_packet(current, Reason::ImpreciseContext, out);
    }
    false
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

/// Whether returns are counted: only the C model implements implicit return, with a call counter.
fn counts_returns(state: &State) -> bool {
    state.config.options.implicit_return && state.config.compat == Compat::CModel
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
