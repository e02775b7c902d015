//! The call stack of a trace.

use super::functions::NONE;
use super::repeat::Turns;
use super::transfers::{Change, Place};
use super::waiting::{Contexts, Waiting};
use super::{Frame, Functions, MAX_DEPTH, MAX_INTERRUPTED, Transfers, Visit, Why};
use crate::run::Transfer;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Longest instruction, in bytes: a program continues at most this far after the start of the instruction that trapped.
const MAX_INSN: u64 = 4;

/// Follows calls, returns and traps.
#[derive(Debug)]
pub struct CallStack<V> {
    visit: V,
    functions: Arc<Functions>,
    pub(super) stack: Stack,
    /// What decides where the next run is: the end of the last one.
    last: Option<Ending>,
    /// The addresses of the function that was executed last, for a quick check that it goes on.
    pub(super) here: Range<u64>,
    context: u64,
    /// It runs at user level.
    is_user: bool,
    contexts: Contexts,
    /// Interrupted stacks, with the address where they continue; the oldest first.
    interrupted: VecDeque<(u64, Waiting)>,
    /// How often a stack was interrupted.
    pub(super) interruptions: u64,
    /// The fewest calls without a frame since this was last set.
    pub(super) fewest_deeper: u64,
    /// Instructions so far.
    insns: u64,
}

/// Frames, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    /// The innermost function that is inlined in each of them and active, or [`NONE`].
    inlined: Vec<u32>,
    /// Calls that are too deep to have a frame.
    pub(super) deeper: u64,
}

/// How the last run ended.
#[derive(Copy, Clone, Debug)]
pub(super) enum Ending {
    Transfer(Transfer, u64),
    Trap { cause: u64, interrupt: bool, epc: Option<u64> },
}

/// Whether a program that was interrupted at an instruction goes on with it, or with the next one.
fn is_after(to: u64, epc: u64) -> bool {
    to.wrapping_sub(epc) <= MAX_INSN
}

impl<V: Visit> CallStack<V> {
    /// Starts with nothing known of what is active.
    pub fn new(functions: Arc<Functions>, visit: V) -> Self {
        Self {
            visit,
            functions,
            stack: Stack::default(),
            last: None,
            here: 0..0,
            context: 0,
            is_user: false,
            contexts: Contexts::default(),
            interrupted: VecDeque::new(),
            interruptions: 0,
            fewest_deeper: 0,
            insns: 0,
        }
    }

    /// The active functions, the oldest first, without those that are inlined.
    pub fn frames(&self) -> &[Frame] {
        &self.stack.frames
    }

    /// Who learns which functions are entered and left.
    pub fn visit(&mut self) -> &mut V {
        &mut self.visit
    }

    /// Instructions so far.
    pub fn instructions(&self) -> u64 {
        self.insns
    }

    /// Takes the next part of the trace.
    pub fn replay(&mut self, part: &Transfers) {
        let before = self.insns;
        for (index, (at, change)) in part.changes.iter().enumerate() {
            self.insns = before.wrapping_add(*at);
            match change {
                Change::Again { .. } => self.again(part, index),
                change => self.change(change),
            }
        }
        self.insns = before.wrapping_add(part.insns);
    }

    /// Takes the change at an index that repeats others.
    #[cold]
    fn again(&mut self, part: &Transfers, index: usize) {
        if let Some((at, Change::Again { changes, insns, times })) = part.changes.get(index) {
            let turn = index.saturating_sub(*changes)..index;
            let changes = part.changes.get(turn).unwrap_or_default();
            let start = at.wrapping_sub(*insns);
            self.repeat(Turns { changes, start, insns: *insns, times: *times });
        }
    }

    /// Takes a change after so many instructions of the trace.
    pub(super) fn change_at(&mut self, at: u64, change: &Change) {
        self.insns = at;
        self.change(change);
    }

    /// The number of active functions, with those that have no frame.
    pub(super) fn depth(&self) -> u64 {
        (self.stack.frames.len() as u64).saturating_add(self.stack.deeper)
    }

    /// The trace has so many instructions.
    pub(super) fn end_at(&mut self, insns: u64) {
        self.insns = insns;
    }

    /// Nearly all changes are of the first two kinds.
    #[inline]
    fn change(&mut self, change: &Change) {
        match *change {
            Change::Leaves(transfer, end) => self.last = Some(Ending::Transfer(transfer, end)),
            Change::Arrives(to) => self.arrive(to),
            ref change => self.other_change(change),
        }
    }

    #[cold]
    fn other_change(&mut self, change: &Change) {
        match *change {
            Change::Trap { cause, interrupt, epc } => {
                // A trace does not always tell where a function returned to before the trap; its caller is likely.
                let returns = match self.last {
                    Some(Ending::Transfer(Transfer::Return, _)) => self.returns(),
                    _ => None,
                };
                let epc = epc.or(returns);
                if let Some(epc) = epc
                    && !self.stack.frames.is_empty()
                {
                    // Where the interrupted program was about to go on.
                    self.arrive(Place::new(epc, &self.functions));
                }
                self.last = Some(Ending::Trap { cause, interrupt, epc });
            }
            Change::Context(context, user) => {
                self.is_user = user;
                if context != self.context {
                    self.switch(context);
                }
            }
            Change::Time(time) => self.visit.time(time, self.insns),
            Change::On => self.visit.on(self.insns),
            Change::Trigger => self.visit.trigger(self.insns),
            Change::Off => self.off(),
            Change::Gap => self.gap(),
            Change::Returned(to) => {
                self.last = None;
                if self.stack.deeper == 0 {
                    self.returned(to);
                }
            }
            Change::Enter { place, returns, why } => {
                self.last = None;
                self.push(place, Some(returns), why);
            }
            Change::Deeper(count) => {
                self.stack.deeper = self.stack.deeper.saturating_add(count);
            }
            // Those that `change` knows; and who has the changes of a turn repeats them.
            Change::Leaves(..) | Change::Arrives(_) | Change::Again { .. } => {}
        }
    }

    /// Where the present function returns to, if it was called.
    fn returns(&self) -> Option<u64> {
        let top = self.stack.frames.last().filter(|top| !matches!(top.why, Why::Trap { .. }));
        top.and_then(|top| top.returns)
    }

    /// Whether a program that goes on at `to` was interrupted there, by the innermost trap that has a handler.
    fn ends_handler(&self, to: u64) -> bool {
        let trap = |frame: &&Frame| matches!(frame.why, Why::Trap { .. });
        let handler = self.stack.frames.iter().rev().find(trap);
        handler.and_then(|frame| frame.returns).is_some_and(|from| is_after(to, from))
    }

    /// Leaves all functions.
    pub fn finish(mut self) -> V {
        self.leave_to(0);
        self.leave_waiting();
        self.visit
    }

    fn push(&mut self, to: Place, returns: Option<u64>, why: Why) {
        if self.stack.frames.len() >= MAX_DEPTH {
            self.stack.deeper = self.stack.deeper.saturating_add(1);
            return;
        }
        self.here = to.range();
        let function = if self.here.is_empty() { to.pc } else { self.here.start };
        let frame = Frame { function, returns, why };
        match why {
            // It goes on in the middle: a caller that was active before, or code that is only a part of a function.
            Why::Unknown | Why::TailCall if to.pc != function || self.here.is_empty() => {
                self.visit.resume(&frame, self.insns, None);
            }
            _ => self.visit.enter(&frame, self.insns),
        }
        self.stack.frames.push(frame);
        self.stack.inlined.push(NONE);
    }

    /// Leaves frames until `count` are left.
    fn leave_to(&mut self, count: usize) {
        (self.stack.deeper, self.fewest_deeper) = (0, 0);
        while self.stack.frames.len() > count
            && let Some(frame) = self.stack.frames.pop()
        {
            let inlined = self.stack.inlined.pop().unwrap_or(NONE);
            self.leave_inlined(inlined, NONE);
            self.visit.leave(&frame, self.insns);
        }
    }

    /// The program continues at `to`.
    fn arrive(&mut self, to: Place) {
        self.arrive_in_function(to);
        self.arrive_in_inlined(to.inlined);
    }

    /// What is inlined where the program continues is active.
    fn arrive_in_inlined(&mut self, to: u32) {
        let Some(active) = self.stack.inlined.last_mut().filter(|active| **active != to) else {
            return;
        };
        if self.stack.deeper > 0 {
            return;
        }
        let from = std::mem::replace(active, to);
        let common = self.functions.common(from, to);
        self.leave_inlined(from, common);
        self.enter_inlined(to, common);
    }

    /// Enters inlined functions within `outer`, up to the innermost.
    fn enter_inlined(&mut self, innermost: u32, outer: u32) {
        let mut number = innermost;
        let chain = std::iter::from_fn(|| {
            let (frame, caller) = self.functions.frame(number).filter(|_| number != outer)?;
            number = caller;
            Some(frame)
        });
        let chain: Vec<Frame> = chain.collect();
        chain.iter().rev().for_each(|frame| self.visit.enter(frame, self.insns));
    }

    /// Leaves inlined functions, from the innermost up to those within `outer`.
    fn leave_inlined(&mut self, innermost: u32, outer: u32) {
        let mut number = innermost;
        while number != outer
            && let Some((frame, caller)) = self.functions.frame(number)
        {
            self.visit.leave(&frame, self.insns);
            number = caller;
        }
    }

    fn arrive_in_function(&mut self, to: Place) {
        match self.last.take() {
            Some(Ending::Transfer(Transfer::Call, end)) => self.push(to, Some(end), Why::Call),
            Some(Ending::Transfer(Transfer::Return, _)) => self.return_to(to),
            Some(Ending::Transfer(Transfer::Swap, end)) => {
                let count = self.stack.frames.len().saturating_sub(1);
                self.leave_to(count);
                self.push(to, Some(end), Why::Call);
            }
            Some(Ending::Transfer(Transfer::TrapReturn, _)) => self.trap_return_to(to),
            // An operating system whose code is not traced: called, or interrupting.
            Some(Ending::Trap { epc: Some(epc), interrupt, .. })
                if to.pc == epc || !interrupt && is_after(to.pc, epc) =>
            {
                self.stay(to);
            }
            // A handler that an operating system has called, and that asks it to go on where the program was interrupted.
            Some(Ending::Trap { interrupt: false, .. }) if self.ends_handler(to.pc) => {
                self.trap_return_to(to);
            }
            Some(Ending::Trap { cause, interrupt, epc }) => {
                // Of a trap right after another one, it is not known where it was.
                if self.is_user
                    && !interrupt
                    && let Some(count) = self.below_handler(to)
                {
                    self.leave_to(count);
                    return self.returned(to);
                }
                self.push(to, epc, Why::Trap { cause, interrupt });
            }
            Some(Ending::Transfer(Transfer::None, _)) | None => self.stay(to),
        }
    }

    /// No instruction has called or returned. What is executed may still be another function.
    fn stay(&mut self, to: Place) {
        if self.here.contains(&to.pc) || self.stack.deeper > 0 {
            return;
        }
        let function = to.range();
        match self.stack.frames.last().copied() {
            None => self.push(to, None, Why::Unknown),
            // Code without a name belongs to the function from which it was reached.
            Some(_) if function.is_empty() => {}
            Some(top) if top.function == function.start => self.here = function,
            Some(top) => {
                let count = self.stack.frames.len().saturating_sub(1);
                self.leave_to(count);
                let why = if top.why == Why::Call { Why::TailCall } else { top.why };
                self.push(to, top.returns, why);
            }
        }
    }

    fn return_to(&mut self, to: Place) {
        if self.stack.deeper > 0 {
            self.stack.deeper = self.stack.deeper.saturating_sub(1);
            self.fewest_deeper = self.fewest_deeper.min(self.stack.deeper);
            return;
        }
        if let Some(count) = self.goes_on(to) {
            self.leave_to(count);
            return self.returned(to);
        }
        let trap = |frame: &&Frame| matches!(frame.why, Why::Trap { .. });
        let interrupted = self.stack.frames.iter().rev().find(trap).and_then(|frame| frame.returns);
        if interrupted == Some(to.pc) {
            // Microcontrollers of Arm return from exceptions as from functions.
            return self.trap_return_to(to);
        }
        if self.is_user
            && let Some(count) = self.below_handler(to)
        {
            // A long jump out of a handler that an operating system has called.
            self.leave_to(count);
            return self.returned(to);
        }
        let [only] = self.stack.frames.as_slice() else {
            // Nobody called it like this: it is a jump within the function, or to another one.
            return self.stay(to);
        };
        if only.why == Why::Unknown && !self.here.contains(&to.pc) {
            self.leave_to(0);
            return self.push(to, None, Why::Unknown);
        }
        self.stay(to);
    }

    /// How many frames are left if a function goes on at `to` that the innermost trap with a handler has interrupted, or
    /// one of its callers.
    fn below_handler(&self, to: Place) -> Option<usize> {
        let frames = &self.stack.frames;
        let handler = frames.iter().rposition(|frame| matches!(frame.why, Why::Trap { .. }))?;
        let function = Some(to.range()).filter(|function| !function.is_empty())?;
        let below = frames.get(..handler)?;
        let active = below.iter().rposition(|frame| frame.function == function.start)?;
        active.checked_add(1)
    }

    /// How many frames are left if one of the callers goes on at `to`, or another active function. What a trap
    /// has interrupted does not go on before the trap returns.
    fn goes_on(&self, to: Place) -> Option<usize> {
        let frames = &self.stack.frames;
        let top = frames.last()?;
        if top.returns == Some(to.pc) && !matches!(top.why, Why::Trap { .. }) {
            return frames.len().checked_sub(1);
        }
        let handler = frames.iter().rposition(|frame| matches!(frame.why, Why::Trap { .. }));
        let floor = handler.map_or(0, |handler| handler.saturating_add(1));
        let above = frames.get(floor..)?;
        if let Some(called) = above.iter().rposition(|frame| frame.returns == Some(to.pc)) {
            return floor.checked_add(called);
        }
        let function = Some(to.range()).filter(|function| !function.is_empty())?;
        let floor = handler.unwrap_or(0);
        let outer = frames.get(floor..frames.len().saturating_sub(1))?;
        let active = outer.iter().rposition(|frame| frame.function == function.start)?;
        floor.checked_add(active)?.checked_add(1)
    }

    /// The function at the top goes on at `to`.
    fn returned(&mut self, to: Place) {
        match self.stack.frames.last().map(|frame| frame.function) {
            Some(function) => {
                self.here = to.range();
                // It may have been a tail call that nobody saw.
                if self.here.start != function && !self.here.is_empty() {
                    self.here = 0..0;
                    self.stay(to);
                }
            }
            None => self.push(to, None, Why::Unknown),
        }
    }

    fn trap_return_to(&mut self, to: Place) {
        let frames = &self.stack.frames;
        let handler = frames.iter().rposition(|frame| matches!(frame.why, Why::Trap { .. }));
        let Some(handler) = handler else {
            // The handler was active before the trace started, or this starts a program.
            self.leave_to(0);
            return self.push(to, None, Why::Unknown);
        };
        let expected = frames.get(handler).and_then(|frame| frame.returns);
        self.leave_to(handler);
        let continues = |from: u64| is_after(to.pc, from);
        let Some(from) = expected.filter(|from| !continues(*from)) else {
            return self.returned(to);
        };
        if let Some(count) = self.goes_on(to) {
            // The handler has returned from the function that it interrupted.
            self.leave_to(count);
            return self.returned(to);
        }
        // Another thread runs: this one is kept.
        self.interruptions = self.interruptions.wrapping_add(1);
        let waiting = self.put_away();
        if self.interrupted.len() >= MAX_INTERRUPTED
            && let Some((_, oldest)) = self.interrupted.pop_front()
        {
            self.leave_put_away(oldest);
        }
        let found = self.interrupted.iter().rposition(|(from, _)| continues(*from));
        let other = found.and_then(|found| self.interrupted.remove(found));
        self.interrupted.push_back((from, waiting));
        match other {
            Some((_, waiting)) => {
                self.take_up(waiting);
                self.returned(to);
            }
            None => self.push(to, None, Why::Unknown),
        }
    }

    /// Suspends all functions.
    fn put_away(&mut self) -> Waiting {
        let stack = std::mem::take(&mut self.stack);
        self.fewest_deeper = 0;
        let mut notes = Vec::with_capacity(stack.frames.len());
        for (frame, inlined) in stack.frames.iter().zip(&stack.inlined).rev() {
            for inlined in self.chain(*inlined) {
                notes.push(self.visit.suspend(&inlined, self.insns));
            }
            notes.push(self.visit.suspend(frame, self.insns));
        }
        Waiting { stack, notes, trap: None }
    }

    /// Inlined functions that are active, from the innermost.
    fn chain(&self, innermost: u32) -> Vec<Frame> {
        let mut number = innermost;
        let chain = std::iter::from_fn(|| {
            let (frame, caller) = self.functions.frame(number)?;
            number = caller;
            Some(frame)
        });
        chain.collect()
    }

    /// Resumes all functions of a stack, while none is active.
    fn take_up(&mut self, waiting: Waiting) {
        let Waiting { stack, mut notes, .. } = waiting;
        for (frame, inlined) in stack.frames.iter().zip(&stack.inlined) {
            self.visit.resume(frame, self.insns, notes.pop());
            for inlined in self.chain(*inlined).iter().rev() {
                self.visit.resume(inlined, self.insns, notes.pop());
            }
        }
        self.here = 0..0;
        self.stack = stack;
    }

    /// A stack that waited in this context does not go on.
    fn leave_put_away(&mut self, waiting: Waiting) {
        self.take_up(waiting);
        self.leave_to(0);
    }

    /// A stack that waited in another context does not go on. The visitor has to be told which one runs next.
    fn leave_context(&mut self, context: u64, waiting: Waiting) {
        self.visit.context(context, self.insns);
        self.leave_put_away(waiting);
    }

    /// No stack that waits goes on.
    fn leave_waiting(&mut self) {
        while let Some((_, waiting)) = self.interrupted.pop_front() {
            self.leave_put_away(waiting);
        }
        let mut others = false;
        while let Some((context, waiting)) = self.contexts.oldest() {
            self.leave_context(context, waiting);
            others = true;
        }
        if others {
            self.visit.context(self.context, self.insns);
        }
        self.here = 0..0;
    }

    fn switch(&mut self, context: u64) {
        // An operating system that is not traced was called, or has interrupted, and lets another thread run.
        let trap = self.last.take_if(|last| matches!(last, Ending::Trap { .. }));
        let waiting = Waiting { trap, ..self.put_away() };
        self.contexts.insert(self.context, waiting);
        let other = self.contexts.remove(context);
        while self.contexts.is_too_large()
            && let Some((oldest, waiting)) = self.contexts.oldest()
        {
            self.leave_context(oldest, waiting);
        }
        (self.context, self.here) = (context, 0..0);
        self.visit.context(context, self.insns);
        if let Some(waiting) = other {
            let trap = waiting.trap;
            self.take_up(waiting);
            self.last = trap.or(self.last.take());
        }
    }

    /// Tracing has ended: what happens until it starts again is not known.
    fn off(&mut self) {
        self.leave_to(0);
        self.last = None;
        self.here = 0..0;
    }

    fn gap(&mut self) {
        self.off();
        self.leave_waiting();
        self.visit.gap(self.insns);
    }
}
