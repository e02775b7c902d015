//! What happens in a cycle.

use super::place::{Held, Place};
use crate::walker::etmv4::intake::{COUNT_BITS, Stored};
use crate::walker::output::Cause;
use crate::walker::present::{Present, Stack};
use crate::walker::report::Said;
use crate::walker::search::Found;
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Block, Expr, Module, lit, zero};

/// What a cycle depends on, and what it drives besides the registers.
pub(super) struct Cycle<'a> {
    pub(super) record: &'a Stored,
    pub(super) valid: &'a Expr,
    pub(super) after_loss: &'a Expr,
    pub(super) found: &'a Found,
    pub(super) present: &'a Present,
    pub(super) place: &'a Place,
    pub(super) held: &'a Held,
    pub(super) stack: Option<&'a Stack>,
    pub(super) said: &'a Said,
    pub(super) take: &'a Expr,
    pub(super) read: &'a Expr,
    pub(super) index: &'a Expr,
}

/// What is known in a cycle, besides the registers.
pub(super) struct Known {
    /// Position of the next instruction.
    pub(super) first: Expr,
    /// There is no code.
    pub(super) nowhere: Expr,
    /// The last instruction of the block is an element of the trace.
    pub(super) element: Expr,
    /// It is a branch that is always taken.
    pub(super) always: Expr,
    /// It is one, and its target is not in the code.
    leaves: Expr,
    taken: Expr,
    /// Its target is to come.
    waits: Expr,
    /// The next block in memory.
    pub(super) after: Expr,
    returns: Option<KnownReturns>,
    /// Instructions are missing up to the next address.
    pub(super) strays: Expr,
    /// And further, up to the next synchronisation.
    pub(super) loses: Expr,
}

/// What is known of the return stack.
struct KnownReturns {
    /// The target of the last branch is on the stack, unless an address follows.
    pending: Expr,
    empty: Expr,
    top: Expr,
    /// So is that of the present block: no address can come before the next outcome.
    at_once: Expr,
}

impl Cycle<'_> {
    /// Drives everything.
    pub(super) fn assign(&self, m: &Module) {
        let known = self.known(m);
        let Self { place, stack, .. } = self;
        m.comb(|b| {
            b.set(self.take, false);
            b.set(self.read, false);
            b.set(self.index, &known.after);
            if let Some(stack) = stack {
                b.set(&stack.push, false);
                b.set(&stack.pop, false);
                b.set(&stack.clear, false);
            }
            b.set(&known.strays, false);
            b.set(&known.loses, false);
            self.nothing(b, &known);
            b.when(place.left.q.any(), |b| {
                self.come_back(b, &known, |_| (), |b| self.walk(b, &known));
            })
            .elsif(self.valid & self.after_loss & !&place.noticed.q, |b| {
                b.set(&place.noticed.d, true);
                self.stray(b, &known, Cause::Lost);
                self.forget(b);
            })
            .elsif(self.valid, |b| self.ready(b, &known));
            b.when(self.take, |b| b.set(&place.noticed.d, false));
            b.when(&known.strays, |b| {
                b.set(&place.need.d, true);
                b.set(&place.left.d, zero(COUNT_BITS));
                if let Some(returns) = &place.returns {
                    b.set(&returns.pending.d, false);
                }
            });
            b.when(&known.loses, |b| {
                b.set(&place.following.d, false);
                b.set(&place.aligned.d, false);
                b.set(&place.context.d, false);
            });
        });
        if let Some(stack) = stack {
            m.assign(&stack.after_call, &known.after);
        }
    }

    fn known(&self, m: &Module) -> Known {
        let Self { present, place, .. } = self;
        let is = |which| present.is(which);
        let first = m.let_("first", place.fresh.q.mux(&present.start, &place.pc.q));
        let after = m.let_("after", &place.here.q + lit(place.here.q.width(), 1));
        let nowhere = m.let_("nowhere", is(Ends::NoCode) | &place.missing.q);
        let conditional = &present.word.sequential;
        let element = m.let_("is_element", present.ends.any() | conditional);
        let jump = is(Ends::Jump) | is(Ends::Call);
        // Some trace units report a branch to the next instruction as not taken (O19).
        let to_next = &jump & present.word.target.eq(&after);
        let always = (jump | &present.indirect) & !conditional & !to_next;
        let always = m.let_("is_always_taken", always);
        let taken = m.let_("taken", place.outcomes.q.bit(0) & present.ends.any());
        let leaves = m.let_("leaves", &present.indirect & &taken);
        let returns = self.stack.zip(place.returns.as_ref()).map(|(stack, returns)| {
            let empty = m.let_("no_return", !stack.depth.any());
            // A call pushes before its target may be popped.
            let at_once = &leaves & !place.left.q.is(1) & !&empty & !is(Ends::IndirectCall);
            let at_once = m.let_("comes_back", at_once);
            KnownReturns {
                pending: returns.pending.q.clone(),
                empty,
                top: stack.top.clone(),
                at_once,
            }
        });
        let waits = match &returns {
            Some(returns) => m.let_("waits", &leaves & !&returns.at_once),
            None => leaves.clone(),
        };
        let (strays, loses) = (m.wire("strays", 1), m.wire("loses", 1));
        Known {
            first,
            nowhere,
            element,
            always,
            leaves,
            taken,
            waits,
            after,
            returns,
            strays,
            loses,
        }
    }

    /// Says nothing. What could be said is the block that is held.
    fn nothing(&self, b: &mut Block, known: &Known) {
        let Self { said, held, .. } = self;
        said.nothing(b);
        b.set(&said.first, &held.first.q);
        b.set(&said.last, &held.last.q);
        b.set(&said.ends, &held.ends.q);
        b.set(&said.taken, &held.taken.q);
        b.set(&said.faulted, &held.faulted.q);
        b.set(&said.sent, true);
        b.set(&said.next, &known.first);
    }

    /// Reports the block that is held; nothing follows it.
    pub(super) fn release(&self, b: &mut Block) {
        b.set(&self.said.valid, &self.held.there.q);
        b.set(&self.held.there.d, false);
    }

    /// The same, but the next instruction follows.
    pub(super) fn release_before(&self, b: &mut Block) {
        self.release(b);
        b.set(&self.said.follows, &self.held.there.q);
    }

    /// Reports that instructions are missing. A gap in a gap is not another one.
    pub(super) fn gap(&self, b: &mut Block, cause: Cause) {
        self.release(b);
        b.set(&self.said.gap, !&self.place.told.q);
        b.set(&self.said.cause, lit(Cause::BITS, cause as u128));
        b.set(&self.place.told.d, true);
    }

    /// Instructions are missing up to the next address.
    pub(super) fn stray(&self, b: &mut Block, known: &Known, cause: Cause) {
        self.gap(b, cause);
        b.set(&known.strays, true);
    }

    /// Instructions are missing up to the next synchronisation.
    pub(super) fn lose(&self, b: &mut Block, known: &Known, cause: Cause) {
        self.stray(b, known, cause);
        b.set(&known.loses, true);
    }

    /// Goes to a block.
    pub(super) fn move_to(&self, b: &mut Block, block: &Expr) {
        b.set(self.read, true);
        b.set(self.index, block);
    }

    /// Executes the rest of the present block, and goes to another one.
    pub(super) fn step(&self, b: &mut Block, known: &Known, taken: &Expr, to: &Expr) {
        self.release_before(b);
        self.held.keep(b, &known.first, self.present, taken);
        self.place.enter(b, to);
        self.move_to(b, to);
    }

    /// If the target of the last branch is on the return stack, which is now certain since no address came, goes there;
    /// then `back`. Otherwise, `on`.
    pub(super) fn come_back(
        &self,
        b: &mut Block,
        known: &Known,
        back: impl FnOnce(&mut Block),
        on: impl FnOnce(&mut Block),
    ) {
        let (Some(stack), Some(returns), Some(is)) =
            (self.stack, &self.place.returns, &known.returns)
        else {
            return on(b);
        };
        b.when(&is.pending & &is.empty, |b| self.lose(b, known, Cause::NoReturn))
            .elsif(&is.pending, |b| {
                self.place.enter(b, &is.top);
                self.move_to(b, &is.top);
                b.set(&stack.pop, true);
                b.set(&returns.pending.d, false);
                back(b);
            })
            .otherwise(on);
    }

    /// The position is the address in the record.
    pub(super) fn arrive(&self, b: &mut Block) {
        self.place.arrive(b, self.found);
        self.move_to(b, &self.found.block);
        if let Some(returns) = &self.place.returns {
            b.set(&returns.pending.d, false);
            b.set(&returns.blocked.d, false);
        }
    }

    /// Forgets all calls.
    pub(super) fn forget(&self, b: &mut Block) {
        if let (Some(stack), Some(returns)) = (self.stack, &self.place.returns) {
            b.set(&stack.clear, true);
            b.set(&returns.pending.d, false);
        }
    }

    /// Follows one outcome, or a block without one.
    fn walk(&self, b: &mut Block, known: &Known) {
        let Self { present, place, .. } = self;
        b.when(&place.need.q, |b| self.stray(b, known, Cause::UnexpectedJump))
            .elsif(&known.nowhere, |b| self.stray(b, known, Cause::NoCode))
            .elsif(&place.inside.q, |b| self.stray(b, known, Cause::InsideInstruction))
            .elsif(!&known.element, |b| self.step(b, known, &lit(1, 0), &known.after))
            .elsif(&known.always & !&known.taken, |b| self.lose(b, known, Cause::NotTaken))
            .otherwise(|b| {
                let direct = &known.taken & !&known.leaves;
                let to = direct.mux(&present.word.target, &known.after);
                let to = match &known.returns {
                    Some(returns) => returns.at_once.mux(&returns.top, to),
                    None => to,
                };
                self.step(b, known, &known.taken, &to);
                b.set(&place.left.d, &place.left.q - lit(COUNT_BITS, 1));
                b.set(&place.outcomes.d, &place.outcomes.q >> lit(1, 1));
                b.set(&place.need.d, &known.waits);
                if let (Some(stack), Some(returns), Some(known_returns)) =
                    (self.stack, &place.returns, &known.returns)
                {
                    let calls = present.is(Ends::Call) | present.is(Ends::IndirectCall);
                    b.set(&stack.push, calls & &known.taken & !&returns.blocked.q);
                    b.set(&stack.pop, &known_returns.at_once);
                    b.set(&returns.pending.d, &known.waits);
                }
            });
    }
}
