//! Which functions were entered and left.

use super::arriving::{Arriving, Passed, decode};
use crate::capture::Capture;
use crate::error::Error;
use hartrace_decoder::calls::{CallStack, Frame, Note, Transfers, Visit};
use hartrace_report::calls::{CallForm, Callee, Calls, Names};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Changes of the call stack that are passed on at once.
const CHUNK: usize = 1 << 12;

/// About how many changes of the call stack are reported one by one where a trace only counts the turns of a loop.
const ONE_BY_ONE: u64 = 1 << 20;

/// A function, or a copy of one that was inlined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Function {
    /// Its name, or its address. Two functions may have one name.
    pub name: String,
    /// Its first instruction; of an inlined function, that of this copy.
    pub address: u64,
    /// Whether it is a copy of a function that was inlined.
    pub inlined: bool,
}

/// What happened to a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A function was entered.
    Enter {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// The function.
        function: Arc<Function>,
        /// Instructions of the source before that.
        at: u64,
    },
    /// A function was left: the one that was entered last and has not been left.
    Leave {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// The function.
        function: Arc<Function>,
        /// Instructions of the source before that.
        at: u64,
    },
    /// A function waits: another thread runs. It is the one that was entered or resumed last, and its thread resumes it.
    Suspend {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// The function.
        function: Arc<Function>,
        /// Instructions of the source before that.
        at: u64,
    },
    /// A function goes on that has waited, or one is active that was not entered in this trace, or not at its first instruction: the callers
    /// of what a trace starts with, for instance. It counts as no call.
    Resume {
        /// The source, where the capture names sources.
        source: Option<u16>,
        /// The function.
        function: Arc<Function>,
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

#[derive(Debug)]
enum Change {
    Enter(Arc<Function>, u64),
    Leave(Arc<Function>, u64),
    Suspend(Arc<Function>, u64),
    Resume(Arc<Function>, u64),
    Repeat(u64),
    EndRepeat,
    Gap(u64),
}

/// Calls in order: see [`Capture::calls`].
#[derive(Debug)]
pub struct CallSteps(Arriving<Vec<Change>, Call>);

impl CallSteps {
    pub(crate) fn new(capture: &Capture) -> Self {
        Self(Arriving::new(capture, follow, calls))
    }

    /// Waits until `next` returns at once, but no longer than `most`. Returns whether it does.
    pub fn wait(&mut self, most: Duration) -> bool {
        self.0.wait(Some(most))
    }
}

impl Iterator for CallSteps {
    type Item = Result<Call, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// Follows call stacks, and passes on what happens to them.
fn follow(capture: &Capture, parts: &SyncSender<Passed<Vec<Change>>>) -> Vec<Error> {
    let (names, functions) = Names::with_inlined(capture.programs(), capture.xlen());
    let known = Arc::new(Mutex::new(Known { names, functions: HashMap::new() }));
    let passing = Passing { parts: parts.clone(), known };
    decode(capture, Calls::of_functions(passing, functions, capture.xlen()), true)
}

fn calls(source: Option<u16>, changes: Vec<Change>) -> Vec<Result<Call, Error>> {
    let call = |change| match change {
        Change::Enter(function, at) => Call::Enter { source, function, at },
        Change::Leave(function, at) => Call::Leave { source, function, at },
        Change::Suspend(function, at) => Call::Suspend { source, function, at },
        Change::Resume(function, at) => Call::Resume { source, function, at },
        Change::Repeat(times) => Call::Repeat { source, times },
        Change::EndRepeat => Call::EndRepeat { source },
        Change::Gap(at) => Call::Gap { source, at },
    };
    changes.into_iter().map(|change| Ok(call(change))).collect()
}

/// The functions that were entered so far, of all sources.
struct Known<'n> {
    names: Names<'n>,
    functions: HashMap<Callee, Arc<Function>>,
}

impl Known<'_> {
    fn function(&mut self, callee: Callee) -> Arc<Function> {
        let function = || {
            let (name, address) = (self.names.name(callee), self.names.entry(callee));
            Arc::new(Function { name, address, inlined: callee.is_inlined() })
        };
        Arc::clone(self.functions.entry(callee).or_insert_with(function))
    }
}

/// Passes changes of call stacks on.
struct Passing<'n> {
    parts: SyncSender<Passed<Vec<Change>>>,
    known: Arc<Mutex<Known<'n>>>,
}

/// Passes the changes of one call stack on.
struct Stack<'n> {
    parts: SyncSender<Passed<Vec<Change>>>,
    source: Option<u16>,
    changes: Vec<Change>,
    /// Nobody waits for more.
    done: bool,
    known: Arc<Mutex<Known<'n>>>,
    /// Those of them that were entered here.
    functions: HashMap<Callee, Arc<Function>>,
}

impl Stack<'_> {
    fn function(&mut self, frame: &Frame) -> Arc<Function> {
        let callee = Callee::from(frame);
        let find = || self.known.lock().unwrap_or_else(PoisonError::into_inner).function(callee);
        Arc::clone(self.functions.entry(callee).or_insert_with(find))
    }

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

impl Visit for Stack<'_> {
    const ONE_BY_ONE: u64 = ONE_BY_ONE;

    fn enter(&mut self, frame: &Frame, at: u64) {
        let function = self.function(frame);
        self.push(Change::Enter(function, at));
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        let function = self.function(frame);
        self.push(Change::Leave(function, at));
    }

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        let function = self.function(frame);
        self.push(Change::Suspend(function, at));
        Note::default()
    }

    fn resume(&mut self, frame: &Frame, at: u64, _: Option<Note>) {
        let function = self.function(frame);
        self.push(Change::Resume(function, at));
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

impl<'n> CallForm for Passing<'n> {
    type Calls = Stack<'n>;

    fn calls(&self, source: Option<u16>, _: &Names<'_>) -> Stack<'n> {
        Stack {
            parts: self.parts.clone(),
            source,
            changes: Vec::new(),
            done: false,
            known: Arc::clone(&self.known),
            functions: HashMap::new(),
        }
    }

    fn replay(stack: &mut CallStack<Stack<'n>>, part: &Transfers) {
        stack.replay(part);
    }

    fn write(
        &mut self,
        _: Option<u16>,
        calls: &mut Stack<'n>,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        calls.pass();
        if calls.done { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Stack<'n>, u64)>,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        all.into_iter().for_each(|(_, mut stack, _)| stack.pass());
        Ok(())
    }
}
