//! Tables: return stack, marks and predictor.

use super::context::Context;
use super::lanes::Next;
use super::pending::Pending;
use super::plan::Plan;
use crate::returns::{self, MarksOut, StackOut};
use crate::tables;
use hartrace_rtl::{Expr, Reg};

/// Return stack, marks and predictor, if the configuration has them.
pub(super) struct Tables {
    /// The branch that is looked up has the predicted outcome.
    pub(super) right: Option<Expr>,
    predictor: Option<Predictor>,
    pub(super) returns: Option<Returns>,
    /// The content from before a synchronisation is cleared as soon as the synchronisation is
    /// decided.
    pub(super) forget: Expr,
}

/// Inputs of the predictor.
struct Predictor {
    index: Expr,
    update: Expr,
    taken: Expr,
}

/// Signals for implicit returns.
pub(super) struct Returns {
    pub(super) depth: Expr,
    /// Whether there is a call; valid if the pending step was compared.
    pub(super) some: Expr,
    pub(super) predicts: Expr,
    /// With addresses: whether the return is predicted, or there is no call; valid if the pending
    /// step was compared.
    pub(super) expected: Option<Expr>,
    pub(super) marks: MarksOut,
    /// A return has been popped since the last branch or packet.
    pub(super) popped: Reg,
    /// The prediction of the stack applies to the pending step and the next one: they were compared
    /// in a cycle in which both were present and the stack did not change.
    pub(super) compared: Reg,
    call: Expr,
    ret: Expr,
    link: Option<[Expr; 2]>,
    mark_clear: Expr,
    mark_push: Expr,
    mark_only: Expr,
    second: Expr,
}

/// Events of a cycle.
pub(super) struct Events<'a> {
    /// A hard step is done.
    pub(super) commits: &'a Expr,
    /// The pending step is quiet or easy, and taken.
    pub(super) simple: &'a Expr,
    /// A packet takes the branch map with it.
    pub(super) flush: &'a Expr,
    /// A branch is done.
    pub(super) branch_done: Expr,
    /// A mark of the return stack is being reported, and it is the second.
    pub(super) marks: &'a Expr,
    pub(super) second_mark: &'a Expr,
    /// A later step is reported in the same cycle, or is a branch.
    pub(super) more: Expr,
}

impl Tables {
    pub(super) fn new(cx: &Context<'_>, pending: &Pending) -> Self {
        let (config, m) = (cx.config, cx.m);
        let forget = m.wire("forget", 1);
        let mut right = None;
        let predictor = config.predicts().then(|| Predictor {
            index: m.wire("looked_up", config.etrace.bpred_size_p.into()),
            update: m.wire("train", 1),
            taken: m.wire("outcome", 1),
        });
        if let Some(predictor) = &predictor {
            let predictor_says = m.inst(
                "i_branch_predictor",
                &tables::predictor(config),
                &[
                    ("index_i", &predictor.index),
                    ("update_i", &predictor.update),
                    ("taken_i", &predictor.taken),
                    ("clear_i", &forget),
                ],
            );
            right = Some(predictor_says.only().eq(&predictor.taken));
        }
        let returns = config.returns().then(|| Returns::new(cx, pending, &forget));
        if !config.predicts() && !config.returns() {
            m.unused(&forget);
        }
        Self { right, predictor, returns, forget }
    }

    /// The address to report: that of a mark or the pending one.
    pub(super) fn mark_address(&self, marks: &Expr, pending: &Expr) -> Expr {
        match &self.returns {
            Some(returns) => marks.mux(&returns.marks.address, pending),
            None => pending.clone(),
        }
    }

    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        plan: &Plan,
        (pending, next): (&Pending, &Next),
        events: &Events<'_>,
    ) {
        let m = cx.m;
        let Events { commits, simple, flush, .. } = *events;
        m.assign(&self.forget, &plan.fresh.q & &plan.synced);
        let Some(returns) = &self.returns else { return };
        // A simple return goes to the predicted address, if there is a call.
        let follows = simple & &cx.modes.returns & &pending.traced;
        let follows = m.shared("follows_returns", follows);
        let [call, ret] = [pending.call(), pending.ret()].map(|is| &follows & is);
        m.assign(&returns.call, (commits & &plan.calls) | call);
        m.assign(&returns.ret, (commits & &plan.returns) | &ret);
        let pops = m.let_("pops_simply", ret & &returns.some & !&events.more);
        if let Some([link, target]) = &returns.link {
            m.assign(link, &pending.behind);
            m.assign(target, &next.target);
        }
        // Marks stay until the last of them has been reported.
        let reported = flush & !events.marks;
        let over = commits & (&plan.clears | &plan.marks_overflow);
        let clear = reported | &events.branch_done | over;
        let clear = m.let_("forget_returns", clear);
        m.assign(&returns.mark_clear, &clear);
        m.assign(&returns.mark_push, commits & &plan.marks_call);
        m.assign(&returns.mark_only, &plan.clears | &plan.marks_overflow);
        m.assign(&returns.second, events.second_mark);
        m.comb(|b| {
            b.when(&clear, |b| b.set(&returns.popped.d, false));
            b.when(commits & &plan.marks_call, |b| b.set(&returns.popped.d, false));
            b.when((commits & &plan.pops) | &pops, |b| b.set(&returns.popped.d, true));
        });
    }

    /// Looks up a branch of the group ahead, or else that of the pending step.
    pub(super) fn look(
        &self,
        cx: &Context<'_>,
        [ahead, index, taken]: [Expr; 3],
        commits: &Expr,
        pending: &Pending,
    ) {
        let Some(predictor) = &self.predictor else { return };
        let own = tables::predictor_index(cx.config, &pending.address.q);
        // It is known late whether the group ahead is looked up, but early that the pending step is
        // not.
        let first = cx.m.let_("own_first", pending.branch() & !pending.looked());
        cx.m.assign(&predictor.index, first.mux(own, index));
        cx.m.assign(&predictor.taken, first.mux(&pending.taken.q, taken));
        let late = commits & &pending.traced & first;
        cx.m.assign(&predictor.update, ahead | late);
    }
}

impl Returns {
    fn new(cx: &Context<'_>, pending: &Pending, clear: &Expr) -> Self {
        let (config, m) = (cx.config, cx.m);
        let call = m.wire("calls", 1);
        let ret = m.wire("returns", 1);
        let link = (config.etrace.return_stack_size_p > 0)
            .then(|| [m.wire("link", config.address()), m.wire("return_target", config.address())]);
        let mut ports = vec![("clear_i", clear), ("call_i", &call), ("ret_i", &ret)];
        if let Some([link, target]) = &link {
            ports.extend([("link_i", link), ("target_i", target)]);
        }
        let stack = StackOut::of(&m.inst("i_return_stack", &returns::stack(config), &ports));
        let (mark_clear, mark_push) = (m.wire("mark_clear", 1), m.wire("mark_push", 1));
        let (mark_only, second) = (m.wire("mark_only", 1), m.wire("mark_second", 1));
        let StackOut { depth, some, predicts, expected } = stack;
        let marks = MarksOut::of(&m.inst(
            "i_return_marks",
            &returns::marks(config),
            &[
                ("clear_i", &mark_clear),
                ("push_i", &mark_push),
                ("only_i", &mark_only),
                ("address_i", &pending.address.q),
                ("depth_i", &depth),
                ("second_i", &second),
            ],
        ));
        let popped = m.reg("popped", false);
        let compared = m.reg("compared", false);
        Self {
            depth,
            some,
            predicts,
            expected,
            marks,
            popped,
            compared,
            call,
            ret,
            link,
            mark_clear,
            mark_push,
            mark_only,
            second,
        }
    }
}
