//! Calls of a part of a trace whose past is not known.
//!
//! A call that returns within the part is complete: it is a [`Span`], whatever was active before. What is left is a
//! [`Residue`]: returns from functions that were called earlier, calls that have not returned, traps, contexts and gaps.
//! Residues of parts that follow each other are appended, in any grouping; once all are there, [`Residue::replay`]
//! follows them with a [`CallStack`] and finds the remaining spans.

use super::functions::NONE;
use super::stack::CallStack;
use super::transfers::{Change, Place};
use super::unrolled::Unrolled;
use super::{Frame, Functions, MAX_DEPTH, Note, Visit, Why};
use crate::run::Transfer;
use std::ops::Range;
use std::sync::Arc;

/// Changes of a piece that are taken at once.
const STRETCH: usize = 1 << 12;

/// A function that was active from one instruction to another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Instructions before it was entered.
    pub enter: u64,
    /// Instructions before it was left.
    pub leave: u64,
    /// Functions below it, since the last entry of the residue.
    pub depth: u32,
    /// Where the function starts, as in [`Frame::function`].
    pub function: u64,
    /// Why it was active.
    pub why: Why,
    /// Entries of the residue before it.
    pub segment: u64,
}

/// What spans are relative to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// Number of active functions.
    pub depth: u64,
    /// The context.
    pub context: u64,
}

impl Base {
    /// The number of functions below a span of this relative depth; `None` if it is beyond [`MAX_DEPTH`], where calls
    /// are only counted.
    pub fn depth_of(&self, depth: u32) -> Option<u32> {
        let depth = u32::try_from(self.depth.saturating_add(depth.into())).ok()?;
        Some(depth).filter(|depth| (*depth as usize) < MAX_DEPTH)
    }
}

/// Finds complete calls in a part of a trace.
#[derive(Debug, Default)]
pub struct Reducer {
    residue: Residue,
    /// The last run ended like this; what follows is not known yet.
    pending: Option<(u64, Transfer, u64)>,
    /// Functions that were called in this part and have not returned, since the last entry of the residue.
    open: Vec<Open>,
    /// Calls beyond [`MAX_DEPTH`].
    deeper: u64,
    below: Below,
    context: Option<(u64, bool)>,
}

/// A function that was called.
#[derive(Clone, Debug)]
struct Open {
    place: Place,
    function: u64,
    returns: u64,
    why: Why,
    enter: u64,
    here: Range<u64>,
}

/// What is known of the function that is active below those that were called in this part.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Below {
    /// There may be none.
    #[default]
    Unknown,
    /// There is one.
    Some,
    /// Its addresses.
    Here((u64, u64)),
}

impl Reducer {
    /// Takes a stretch of the next piece of the part, from where the last one ended. Calls that are complete go to
    /// `span`. Returns whether more of the piece is left: a few bytes of trace may stand for billions of calls.
    pub fn take(&mut self, piece: &mut Unrolled<'_>, span: &mut impl FnMut(Span)) -> bool {
        let before = self.residue.insns;
        for (at, change) in std::iter::from_fn(|| piece.step()).take(STRETCH) {
            self.change(before.wrapping_add(at), change, span);
        }
        let more = !piece.is_at_end();
        if !more {
            self.residue.insns = before.wrapping_add(piece.instructions());
        }
        more
    }

    /// What is left at the end of the part.
    pub fn finish(mut self) -> Residue {
        self.put_away();
        self.residue
    }

    /// Entries of the residue so far.
    pub fn left(&self) -> usize {
        self.residue.changes.len()
    }

    fn change(&mut self, at: u64, change: Change, span: &mut impl FnMut(Span)) {
        match change {
            Change::Leaves(transfer, end) => self.pending = Some((at, transfer, end)),
            Change::Arrives(to) => self.arrive(at, to, span),
            Change::Context(context, user) if self.context == Some((context, user)) => {}
            Change::Time(_) | Change::On | Change::Trigger | Change::Again { .. } => {}
            Change::Context(..)
            | Change::Trap { .. }
            | Change::Off
            | Change::Gap
            | Change::Returned(_)
            | Change::Enter { .. }
            | Change::Deeper(_) => {
                if let Change::Context(context, user) = change {
                    self.context = Some((context, user));
                }
                self.leave_to_residue(at, change);
            }
        }
    }

    /// Moves what is open to the residue.
    fn put_away(&mut self) {
        for open in std::mem::take(&mut self.open) {
            let Open { place, returns, why, enter, .. } = open;
            self.residue.changes.push((enter, Change::Enter { place, returns, why }));
        }
        let now = self.residue.insns;
        if self.deeper > 0 {
            let deeper = std::mem::take(&mut self.deeper);
            self.residue.changes.push((now, Change::Deeper(deeper)));
        }
        if let Some((at, transfer, end)) = self.pending.take() {
            self.residue.changes.push((at, Change::Leaves(transfer, end)));
        }
        self.below = Below::Unknown;
    }

    /// Something happens that depends on what was active before.
    fn leave_to_residue(&mut self, at: u64, change: Change) {
        self.put_away();
        self.residue.changes.push((at, change));
    }

    fn arrive(&mut self, at: u64, to: Place, span: &mut impl FnMut(Span)) {
        match self.pending {
            Some((_, Transfer::Call, end)) => {
                self.pending = None;
                self.call(at, to, end);
            }
            Some((_, Transfer::Return, _)) if self.deeper > 0 => {
                self.pending = None;
                self.deeper = self.deeper.saturating_sub(1);
            }
            Some((_, Transfer::Return, _))
                if self.open.last().is_some_and(|top| top.returns == to.pc) =>
            {
                self.pending = None;
                self.leave(at, span);
                self.returned(at, to, span);
            }
            Some(_) => {
                self.leave_to_residue(at, Change::Arrives(to));
                self.below = known(to);
            }
            None => self.stay(at, to, span),
        }
    }

    fn call(&mut self, at: u64, to: Place, returns: u64) {
        if self.open.len() >= MAX_DEPTH {
            self.deeper = self.deeper.saturating_add(1);
            return;
        }
        let open = Open::new(at, to, returns, Why::Call);
        self.open.push(open);
    }

    /// The function that was called last is left.
    fn leave(&mut self, at: u64, span: &mut impl FnMut(Span)) {
        if let Some(Open { function, why, enter, .. }) = self.open.pop() {
            let (depth, segment) = (self.open.len() as u32, self.left() as u64);
            span(Span { enter, leave: at, depth, function, why, segment });
        }
    }

    /// See `CallStack::returned`.
    fn returned(&mut self, at: u64, to: Place, span: &mut impl FnMut(Span)) {
        match self.open.last_mut() {
            Some(top) => {
                top.here = to.range();
                if top.here.start != top.function && !top.here.is_empty() {
                    top.here = 0..0;
                    self.stay(at, to, span);
                }
            }
            None if self.below == Below::Here(to.function) => {}
            None => {
                self.residue.changes.push((at, Change::Returned(to)));
                self.below = Below::Here(to.function);
            }
        }
    }

    /// See `CallStack::stay`.
    fn stay(&mut self, at: u64, to: Place, span: &mut impl FnMut(Span)) {
        if self.deeper > 0 {
            return;
        }
        let function = to.range();
        let Some(top) = self.open.last_mut() else {
            let nothing_changes = match self.below {
                Below::Unknown => false,
                Below::Some => function.is_empty(),
                Below::Here(here) => function.is_empty() || here == to.function,
            };
            if !nothing_changes {
                self.residue.changes.push((at, Change::Arrives(to)));
                self.below = known(to);
            }
            return;
        };
        if top.here.contains(&to.pc) || function.is_empty() {
            return;
        }
        if top.function == function.start {
            top.here = function;
            return;
        }
        // A tail call.
        let returns = top.returns;
        self.leave(at, span);
        let open = Open::new(at, to, returns, Why::TailCall);
        self.open.push(open);
    }
}

/// What is known after the program has arrived somewhere.
fn known(to: Place) -> Below {
    if to.range().is_empty() { Below::Some } else { Below::Here(to.function) }
}

impl Open {
    fn new(enter: u64, place: Place, returns: u64, why: Why) -> Self {
        let here = place.range();
        let function = if here.is_empty() { place.pc } else { here.start };
        Self { place, function, returns, why, enter, here }
    }
}

/// What the calls of a part leave to be decided by the parts before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residue {
    changes: Vec<(u64, Change)>,
    insns: u64,
}

impl Residue {
    /// Instructions of the part.
    pub fn instructions(&self) -> u64 {
        self.insns
    }

    /// Number of entries, which segments of spans count.
    pub fn len(&self) -> u64 {
        self.changes.len() as u64
    }

    /// Whether nothing is left to decide.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds what the next part has left.
    pub fn append(&mut self, next: Self) {
        let before = self.insns;
        let changes = next.changes.into_iter();
        self.changes.extend(changes.map(|(at, change)| (before.wrapping_add(at), change)));
        self.insns = before.wrapping_add(next.insns);
    }

    /// Follows everything, from the start of a trace to its end. Spans that no part has found go to `span`, with their
    /// depths from the bottom, and the context that they were in. Returns what the spans of each segment are relative to.
    pub fn replay(self, functions: Arc<Functions>, span: impl FnMut(Span, u64)) -> Vec<Base> {
        let spans = Spans { open: Vec::new(), context: 0, span };
        let mut stack = CallStack::new(functions, spans);
        let mut bases = Vec::with_capacity(self.changes.len().saturating_add(1));
        bases.push(Base::default());
        for (at, change) in self.changes {
            stack.change_at(at, &change);
            let context = stack.visit().context;
            bases.push(Base { depth: stack.depth(), context });
        }
        stack.end_at(self.insns);
        stack.finish();
        bases
    }

    /// All of it as numbers, for [`Residue::from_words`].
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.insns];
        for (at, change) in &self.changes {
            let (tag, fields) = to_fields(*change);
            words.extend([tag, *at]);
            words.extend(fields);
        }
        words
    }

    /// The reverse of [`Residue::to_words`]; `None` if it is not the result of that.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (insns, mut rest) = words.split_first()?;
        let mut changes = Vec::new();
        while let Some(([tag, at], after)) = rest.split_first_chunk() {
            let (change, used) = from_fields(*tag, after)?;
            changes.push((*at, change));
            rest = after.get(used..)?;
        }
        rest.is_empty().then_some(Self { changes, insns: *insns })
    }
}

/// A kind of change as a number, and what else there is to say.
fn to_fields(change: Change) -> (u64, Vec<u64>) {
    let place = |place: Place| [place.pc, place.function.0, place.function.1];
    match change {
        Change::Leaves(transfer, end) => (0, vec![number_of(transfer), end]),
        Change::Arrives(to) => (1, place(to).into()),
        Change::Trap { cause, interrupt, epc } => {
            (2, vec![cause, interrupt.into(), epc.is_some().into(), epc.unwrap_or(0)])
        }
        Change::Context(context, user) => (3, vec![context, user.into()]),
        Change::Off => (4, Vec::new()),
        // Times are not kept, and turns are unrolled.
        Change::Gap | Change::Time(_) | Change::On | Change::Trigger | Change::Again { .. } => {
            (5, Vec::new())
        }
        Change::Returned(to) => (6, place(to).into()),
        Change::Enter { place: to, returns, why } => {
            let [pc, start, end] = place(to);
            (7, vec![pc, start, end, returns, u64::from(why == Why::TailCall)])
        }
        Change::Deeper(count) => (8, vec![count]),
    }
}

/// The reverse of [`to_fields`], with the number of fields that were used.
fn from_fields(tag: u64, fields: &[u64]) -> Option<(Change, usize)> {
    let place = |pc: u64, start: u64, end: u64| Place { pc, function: (start, end), inlined: NONE };
    Some(match (tag, fields) {
        (0, [transfer, end, ..]) => (Change::Leaves(transfer_of(*transfer)?, *end), 2),
        (1, [pc, start, end, ..]) => (Change::Arrives(place(*pc, *start, *end)), 3),
        (2, [cause, interrupt, has_epc, epc, ..]) => {
            let epc = (*has_epc != 0).then_some(*epc);
            (Change::Trap { cause: *cause, interrupt: *interrupt != 0, epc }, 4)
        }
        (3, [context, user, ..]) => (Change::Context(*context, *user != 0), 2),
        (4, _) => (Change::Off, 0),
        (5, _) => (Change::Gap, 0),
        (6, [pc, start, end, ..]) => (Change::Returned(place(*pc, *start, *end)), 3),
        (7, [pc, start, end, returns, tail, ..]) => {
            let (why, place) =
                (if *tail != 0 { Why::TailCall } else { Why::Call }, place(*pc, *start, *end));
            (Change::Enter { place, returns: *returns, why }, 5)
        }
        (8, [count, ..]) => (Change::Deeper(*count), 1),
        _ => return None,
    })
}

const TRANSFERS: [Transfer; 5] =
    [Transfer::None, Transfer::Call, Transfer::Return, Transfer::Swap, Transfer::TrapReturn];

fn number_of(transfer: Transfer) -> u64 {
    TRANSFERS.iter().zip(0..).find(|(other, _)| **other == transfer).map_or(0, |(_, number)| number)
}

fn transfer_of(number: u64) -> Option<Transfer> {
    TRANSFERS.get(usize::try_from(number).ok()?).copied()
}

/// Makes spans of what a call stack reports.
struct Spans<F> {
    open: Vec<(Frame, u64)>,
    context: u64,
    span: F,
}

impl<F: FnMut(Span, u64)> Visit for Spans<F> {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.open.push((*frame, at));
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        if let Some((Frame { function, why, .. }, enter)) = self.open.pop() {
            let depth = self.open.len() as u32;
            let span = Span { enter, leave: at, depth, function, why, segment: 0 };
            (self.span)(span, self.context);
        }
    }

    /// A function that waits is one span, with what other contexts execute in between.
    fn suspend(&mut self, _: &Frame, _: u64) -> Note {
        self.open.pop().map_or_else(Note::default, |(_, enter)| [enter, 0])
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        self.open.push((*frame, note.map_or(at, |[enter, _]| enter)));
    }

    fn context(&mut self, context: u64, _: u64) {
        self.context = context;
    }
}
