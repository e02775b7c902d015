//! Which functions were entered and left.

use super::{AHEAD, Passed, decode_aside};
use crate::capture::Capture;
use crate::error::Error;
use hartrace_decoder::calls::{CallStack, Frame, Transfers, Visit};
use hartrace_report::calls::{CallForm, Callee, Calls, Names};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};

/// Changes of the call stack that are passed on at once.
const CHUNK: usize = 1 << 12;

/// About how many changes of the call stack are reported one by one where a trace only counts the turns of a loop.
const ONE_BY_ONE: u64 = 1 << 20;

/// What happened to a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A function was entered.
    Enter {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// Its name, or its address.
        function: Arc<str>,
        /// Instructions of the source before that.
        at: u64,
    },
    /// A function was left: the one that was entered last and has not been left.
    Leave {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// Its name, or its address.
        function: Arc<str>,
        /// Instructions of the source before that.
        at: u64,
    },
    /// Everything up to [`Call::EndRepeat`] happened so many times. It is reported once, since a few bytes of trace may tell of
    /// billions of turns of a loop; up to about a million are reported one by one.
    Repeat {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// How often.
        times: u64,
    },
    /// What happened several times ends.
    EndRepeat {
        /// The source, where the capture names sources.
        source: Option<u16>,
    },
    /// Part of the trace is missing here: all functions have been left, whether they returned or not, and those that are
    /// active after it are entered when the trace shows it. [`Error::Gap`] says at the end what is missing.
    Gap {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// Instructions of the source before that.
        at: u64,
    },
}

#[derive(Copy, Clone)]
enum Change {
    Enter(Callee, u64),
    Leave(Callee, u64),
    Repeat(u64),
    EndRepeat,
    Gap(u64),
}

/// Calls in order: see [`Capture::calls`].
pub struct CallSteps<'c> {
    parts: Receiver<Passed<Vec<Change>>>,
    source: Option<u16>,
    ready: std::vec::IntoIter<Change>,
    missing: std::vec::IntoIter<Error>,
    ended: bool,
    names: Names<'c>,
    known: HashMap<Callee, Arc<str>>,
}

impl<'c> CallSteps<'c> {
    pub(crate) fn new(capture: &'c Capture) -> Self {
        let (sender, parts) = sync_channel(AHEAD);
        let trace = Arc::clone(capture.trace());
        let (names, functions) = Names::with_inlined(capture.programs(), capture.xlen());
        let report =
            Calls::of_functions(Passing { parts: sender.clone() }, functions, capture.xlen());
        decode_aside(trace, report, sender, true);
        let (ready, missing) = (Vec::new().into_iter(), Vec::new().into_iter());
        Self { parts, source: None, ready, missing, ended: false, names, known: HashMap::new() }
    }

    fn name(&mut self, callee: Callee) -> Arc<str> {
        let name = || self.names.name(callee).into();
        Arc::clone(self.known.entry(callee).or_insert_with(name))
    }
}

impl Iterator for CallSteps<'_> {
    type Item = Result<Call, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let source = self.source;
            if let Some(change) = self.ready.next() {
                return Some(Ok(match change {
                    Change::Enter(callee, at) => {
                        Call::Enter { source, function: self.name(callee), at }
                    }
                    Change::Leave(callee, at) => {
                        Call::Leave { source, function: self.name(callee), at }
                    }
                    Change::Repeat(times) => Call::Repeat { source, times },
                    Change::EndRepeat => Call::EndRepeat { source },
                    Change::Gap(at) => Call::Gap { source, at },
                }));
            }
            if let Some(error) = self.missing.next() {
                return Some(Err(error));
            }
            if self.ended {
                return None;
            }
            match self.parts.recv() {
                Ok(Passed::Part(source, changes)) => {
                    (self.source, self.ready) = (source, changes.into_iter());
                }
                Ok(Passed::End(missing)) => {
                    (self.missing, self.ended) = (missing.into_iter(), true);
                }
                Err(RecvError) => {
                    self.ended = true;
                    return Some(Err(Error::Stopped));
                }
            }
        }
    }
}

impl fmt::Debug for CallSteps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSteps").finish_non_exhaustive()
    }
}

/// Passes changes of call stacks on.
#[derive(Clone)]
struct Passing {
    parts: SyncSender<Passed<Vec<Change>>>,
}

/// Passes the changes of one call stack on.
struct Stack {
    parts: SyncSender<Passed<Vec<Change>>>,
    source: Option<u16>,
    changes: Vec<Change>,
    /// Nobody waits for more.
    done: bool,
}

impl Stack {
    fn push(&mut self, change: Change) {
        if self.done {
            return;
        }
        self.changes.push(change);
        if self.changes.len() >= CHUNK {
            self.pass();
        }
    }

    fn pass(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            self.done |= self.parts.send(Passed::Part(self.source, changes)).is_err();
        }
    }
}

impl Visit for Stack {
    const ONE_BY_ONE: u64 = ONE_BY_ONE;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.push(Change::Enter(frame.into(), at));
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.push(Change::Leave(frame.into(), at));
    }

    fn begin_turns(&mut self, _: u64, times: u64, _: u64) {
        self.push(Change::Repeat(times));
    }

    fn end_turns(&mut self, _: u64) {
        self.push(Change::EndRepeat);
    }

    fn gap(&mut self, at: u64) {
        self.push(Change::Gap(at));
    }
}

impl CallForm for Passing {
    type Calls = Stack;

    fn calls(&self, source: Option<u16>, _: &Names<'_>) -> Stack {
        Stack { parts: self.parts.clone(), source, changes: Vec::new(), done: false }
    }

    fn replay(stack: &mut CallStack<Stack>, part: &Transfers) {
        stack.replay(part);
    }

    fn write(
        &mut self,
        _: Option<u16>,
        calls: &mut Stack,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        calls.pass();
        if calls.done { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Stack, u64)>,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        all.into_iter().for_each(|(_, mut stack, _)| stack.pass());
        Ok(())
    }
}
