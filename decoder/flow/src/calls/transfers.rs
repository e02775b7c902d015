//! The places of a trace where the call stack may change.

use super::Functions;
use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::{Run, Transfer};
use crate::sink::Sink;
use std::mem::size_of_val;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of changes after which a stream should pass them on.
const ROOM: usize = 1 << 20;

/// Something that may change the call stack.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// The last instruction calls or returns; the address after it.
    Leaves(Transfer, u64),
    /// The program continues here: after such an instruction, or in another function.
    Arrives(u64),
    Trap {
        cause: u64,
        interrupt: bool,
        epc: Option<u64>,
    },
    Context {
        context: u64,
        time: u64,
    },
    Off,
    Gap,
}

/// Collects what [`CallStack::replay`](super::CallStack::replay) needs of a part of a trace. Parts can be decoded by
/// several threads.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    functions: Arc<Functions>,
    /// With the number of instructions before it.
    pub(super) changes: Vec<(u64, Change)>,
    /// The function that was executed last.
    here: Range<u64>,
    /// The last instruction did not call or return.
    stays: bool,
    pub(super) insns: u64,
    epoch: u64,
    /// What is known of each path of this epoch.
    paths: Vec<Known>,
}

/// What is known of a path.
#[derive(Clone, Debug, Default)]
enum Known {
    #[default]
    Nothing,
    Plain(Plain),
    /// It calls or returns on its way, or enters another function.
    Other,
}

/// A path within one function; its last instruction may leave it.
#[derive(Clone, Debug)]
struct Plain {
    function: Range<u64>,
    start: u64,
    transfer: Transfer,
    end: u64,
}

impl Plain {
    fn of(path: Path<'_>, functions: &Functions) -> Option<Self> {
        let mut runs = path.runs();
        let first = runs.next()?;
        let function = functions.containing(first.start())?;
        let mut last = first;
        let inside = runs.all(|run| {
            let before = std::mem::replace(&mut last, run);
            before.transfer() == Transfer::None && function.contains(&run.start())
        });
        let (transfer, end) = (last.transfer(), last.end());
        inside.then_some(Self { function, start: first.start(), transfer, end })
    }
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
            self.here = self.functions.containing(to).unwrap_or(0..0);
            self.push(Change::Arrives(to));
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

    /// What is known of a path; it is examined when it occurs first.
    fn known(&mut self, path: Path<'_>) -> Option<&Plain> {
        let id = path.id();
        if id.epoch != self.epoch {
            self.epoch = id.epoch;
            self.paths.clear();
        }
        let index = id.index as usize;
        if self.paths.len() <= index {
            self.paths.resize(index.saturating_add(1), Known::Nothing);
        }
        let known = self.paths.get_mut(index)?;
        if matches!(known, Known::Nothing) {
            *known = Plain::of(path, &self.functions).map_or(Known::Other, Known::Plain);
        }
        if let Known::Plain(plain) = known { Some(plain) } else { None }
    }
}

impl Sink for Transfers {
    const ORDERED: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.arrive(run.start());
        self.leave(run.insns().into(), run.transfer(), run.end());
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        match self.known(path) {
            Some(plain) => {
                let (start, transfer, end) = (plain.start, plain.transfer, plain.end);
                let function = plain.function.clone();
                self.arrive(start);
                self.here = function;
                self.leave(path.insns(), transfer, end);
            }
            None => path.runs().for_each(|run| self.run(at, run)),
        }
    }

    fn is_full(&self) -> bool {
        size_of_val(self.changes.as_slice()) >= ROOM
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.push(match event {
            Event::Trap { cause, interrupt, epc, .. } => Change::Trap { cause, interrupt, epc },
            Event::Context { context, time, .. } => Change::Context { context, time },
            Event::Off(_) => Change::Off,
            Event::Gap(_) => Change::Gap,
            Event::On => return,
        });
        self.stays = false;
    }
}
