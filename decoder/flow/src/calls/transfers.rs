//! The places of a trace where the call stack may change.

use super::functions::Piece;
use super::{Functions, Why};
use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::{Run, Transfer};
use crate::sink::Sink;
use crate::time::Time;
use std::mem::size_of_val;
use std::ops::Range;
use std::sync::Arc;

/// The privilege of programs that an operating system runs.
const USER: u8 = 0;

/// Bytes of changes after which a stream should pass them on.
const CHANGES_BYTES: usize = 1 << 20;

/// Something that may change the call stack.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// The last instruction calls or returns; the address after it.
    Leaves(Transfer, u64),
    /// The program continues here: after such an instruction, or in another function.
    Arrives(Place),
    Trap {
        cause: u64,
        interrupt: bool,
        epc: Option<u64>,
    },
    /// A context, and whether it runs at user level.
    Context(u64, bool),
    Time(Time),
    Off,
    On,
    Trigger,
    Gap,
    /// A function that was called later has returned here. Only in a [`Residue`](super::Residue), like the next two.
    Returned(Place),
    /// A function was called, and has not returned.
    Enter {
        place: Place,
        returns: u64,
        why: Why,
    },
    /// So many calls are beyond [`MAX_DEPTH`](super::MAX_DEPTH).
    Deeper(u64),
    /// The last `changes` changes, within the last `insns` instructions, happen `times` more. Not in a
    /// [`Residue`](super::Residue).
    Again {
        changes: usize,
        insns: u64,
        times: u64,
    },
}

/// An address, and the function there.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) pc: u64,
    /// Where the function starts and ends; equal if there is none.
    pub(super) function: (u64, u64),
    /// The innermost function that was inlined here, or [`NONE`](super::functions::NONE).
    pub(super) inlined: u32,
}

impl Place {
    pub(super) fn new(pc: u64, functions: &Functions) -> Self {
        Self::with_range(pc, functions).0
    }

    /// With the addresses around it of which the same is true.
    fn with_range(pc: u64, functions: &Functions) -> (Self, Range<u64>) {
        let Piece { range, function, inlined } = functions.piece(pc);
        (Self { pc, function, inlined }, range)
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.function.0..self.function.1
    }
}

/// Collects what [`CallStack::replay`](super::CallStack::replay) needs of a part of a trace. Parts can be decoded by
/// several threads.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    functions: Arc<Functions>,
    /// With the number of instructions before it.
    pub(super) changes: Vec<(u64, Change)>,
    /// The code that was executed last, of one function without what was inlined into it.
    here: Range<u64>,
    /// The last instruction did not call or return.
    stays: bool,
    pub(super) insns: u64,
    /// The turn of a loop that is being reported.
    turn: Option<Turn>,
    epoch: u64,
    /// What is known of each path of this epoch.
    paths: Vec<Option<Known>>,
    /// What changes on these paths, with the number of instructions from the start of the path.
    known_changes: Vec<(u64, Change)>,
}

/// A turn of a loop that is repeated.
#[derive(Copy, Clone, Debug)]
struct Turn {
    /// Changes and instructions before it.
    changes: usize,
    insns: u64,
    /// How often it is taken.
    times: u64,
}

/// What a path does.
#[derive(Clone, Debug)]
struct Known {
    start: Place,
    /// What changes after the start, as places in `known_changes`.
    changes: Range<usize>,
    /// The code at its end, and whether the last instruction stays there.
    here: Range<u64>,
    stays: bool,
}

impl Transfers {
    /// Starts with nothing, in a program with these functions.
    pub fn new(functions: Arc<Functions>) -> Self {
        Self { functions, ..Self::default() }
    }

    fn push(&mut self, change: Change) {
        self.changes.push((self.insns, change));
    }

    #[inline]
    fn arrive(&mut self, to: u64) {
        if !self.stays || !self.here.contains(&to) {
            let (place, here) = Place::with_range(to, &self.functions);
            self.here = here;
            self.push(Change::Arrives(place));
        }
    }

    #[inline]
    fn leave(&mut self, insns: u64, transfer: Transfer, end: u64) {
        self.insns = self.insns.wrapping_add(insns);
        self.stays = transfer == Transfer::None;
        if !self.stays {
            self.push(Change::Leaves(transfer, end));
        }
    }

    /// Enters all code that a run goes through, and returns the number of instructions of the last.
    #[cold]
    fn pass_through(&mut self, run: &Run<'_>) -> u64 {
        let mut insns = 0u64;
        run.addresses(|pc| {
            if !self.here.contains(&pc) {
                self.leave(insns, Transfer::None, pc);
                self.arrive(pc);
                insns = 0;
            }
            insns = insns.wrapping_add(1);
        });
        insns
    }

    /// Examines a path that occurs for the first time.
    #[cold]
    fn learn(&mut self, path: Path<'_>) {
        let id = path.id();
        if id.epoch != self.epoch {
            self.epoch = id.epoch;
            self.paths.clear();
            self.known_changes.clear();
        }
        let mut runs = path.runs().peekable();
        let Some(first) = runs.peek() else { return };
        let (start, here) = Place::with_range(first.start(), &self.functions);
        let mut part = Self { here, stays: true, ..Self::new(Arc::clone(&self.functions)) };
        runs.for_each(|run| part.run(StreamPos::default(), run));
        let from = self.known_changes.len();
        self.known_changes.append(&mut part.changes);
        let changes = from..self.known_changes.len();
        let index = id.index as usize;
        if self.paths.len() <= index {
            self.paths.resize(index.saturating_add(1), None);
        }
        if let Some(known) = self.paths.get_mut(index) {
            *known = Some(Known { start, changes, here: part.here, stays: part.stays });
        }
    }

    /// Takes a path that has been examined; otherwise `false`.
    #[inline]
    fn take(&mut self, path: Path<'_>) -> bool {
        let id = path.id();
        let Some(Some(known)) =
            self.paths.get(id.index as usize).filter(|_| id.epoch == self.epoch)
        else {
            return false;
        };
        if !self.stays || !self.here.contains(&known.start.pc) {
            self.changes.push((self.insns, Change::Arrives(known.start)));
        }
        let before = self.insns;
        let changes = self.known_changes.get(known.changes.clone()).unwrap_or_default();
        let changes = changes.iter().map(|(at, change)| (before.wrapping_add(*at), *change));
        self.changes.extend(changes);
        self.insns = before.wrapping_add(path.insns());
        (self.here, self.stays) = (known.here.clone(), known.stays);
        true
    }
}

impl Sink for Transfers {
    const ORDERED: bool = true;
    const REPEATS: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.arrive(run.start());
        let inside = self.here.contains(&run.last());
        let insns = if inside { run.insns().into() } else { self.pass_through(&run) };
        self.leave(insns, run.transfer(), run.end());
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        if !self.take(path) {
            self.learn(path);
            self.take(path);
        }
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        let (changes, insns) = (self.changes.len(), self.insns);
        self.turn.get_or_insert(Turn { changes, insns, times });
        self.run(at, run);
    }

    fn end_turn(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let times = turn.times.saturating_sub(1);
        let changes = self.changes.len().saturating_sub(turn.changes);
        let insns = self.insns.wrapping_sub(turn.insns);
        if changes > 0 && times > 0 {
            self.push(Change::Again { changes, insns, times });
        }
        self.insns = self.insns.wrapping_add(insns.wrapping_mul(times));
    }

    fn is_full(&self) -> bool {
        size_of_val(self.changes.as_slice()) >= CHANGES_BYTES
    }

    fn bytes(&self) -> Option<usize> {
        let changes = self.changes.capacity().saturating_add(self.known_changes.capacity());
        let paths = self.paths.capacity().saturating_mul(size_of::<Option<Known>>());
        Some(changes.saturating_mul(size_of::<(u64, Change)>()).saturating_add(paths))
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.push(match event {
            Event::Trap { cause, interrupt, epc, .. } => Change::Trap { cause, interrupt, epc },
            Event::Context { context, privilege, .. } => {
                Change::Context(context, privilege == USER)
            }
            // What runs next was not called from here.
            Event::LeftOut { resumes: true, .. } => return,
            Event::Off(_) | Event::LeftOut { .. } => Change::Off,
            Event::Gap(_) => Change::Gap,
            Event::Time(time) => return self.push(Change::Time(time)),
            Event::On => return self.push(Change::On),
            Event::Trigger => return self.push(Change::Trigger),
            Event::Restart => return,
        });
        self.stays = false;
    }
}
