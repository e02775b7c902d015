//! What was executed, one after the other.
//!
//! The decoder hands its results over, and an iterator fetches them: a thread of its own decodes ahead, as far as a channel has
//! room. It ends when the iterator is dropped.

mod calls;

pub use calls::{Call, CallSteps};

use crate::capture::{Capture, Trace};
use crate::error::{Error, Gap};
use hartrace_decoder::{Event, Leaves, StreamPos};
use hartrace_report::decode::{Item, Part, Retired, SMALL};
use hartrace_report::gaps::{Gaps, Missing, Note};
use hartrace_report::{Printer, Report};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};
use std::thread;

/// Parts that may wait for the iterator.
const AHEAD: usize = 4;

/// Instructions that retired one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The source, where the capture names sources.
    pub source: Option<u16>,
    /// The packet that tells of it.
    pub at: StreamPos,
    /// The addresses of its instructions; at least one.
    pub addresses: Vec<u64>,
    /// The address after the last instruction.
    pub end: u64,
    /// How the program continues.
    pub leaves: Leaves,
}

/// An instruction that retired.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// The source, where the capture names sources.
    pub source: Option<u16>,
    /// The packet that tells of it.
    pub at: StreamPos,
    /// Its address.
    pub address: u64,
}

/// Something that happened between instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Happened {
    /// The source, where the capture names sources.
    pub source: Option<u16>,
    /// The packet that tells of it.
    pub at: StreamPos,
    /// What happened; no gap.
    pub event: Event,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Instructions.
    Block(Block),
    /// Anything else.
    Event(Happened),
}

/// What the decoding thread passes on.
enum Passed<T> {
    Part(Option<u16>, T),
    /// The end, with what is missing there.
    End(Vec<Error>),
}

/// Steps of an execution: see [`Capture::steps`].
#[derive(Debug)]
pub struct Steps {
    parts: Receiver<Passed<Part>>,
    ready: std::vec::IntoIter<Result<Step, Error>>,
    ended: bool,
}

/// Passes parts on.
struct Passing {
    parts: SyncSender<Passed<Part>>,
}

impl Report for Passing {
    type Part = Part;

    fn maker(&self) -> Box<dyn Fn() -> Part + Send + Sync> {
        Box::new(Part::default)
    }

    fn join(&mut self, source: Option<u16>, part: Part, _: &mut dyn Write) -> io::Result<()> {
        let passed = self.parts.send(Passed::Part(source, part));
        passed.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Decodes on a thread of its own, and passes on what is missing at the end.
fn decode_aside<R: Report + Send + 'static, T: Send + 'static>(
    trace: Arc<Trace>,
    report: R,
    parts: SyncSender<Passed<T>>,
    with_gaps: bool,
) {
    thread::spawn(move || {
        let (sender, notes) = std::sync::mpsc::channel();
        let gaps = Gaps::new(trace.name(), move |note: &Note| {
            let error = match note {
                Note::Gap(missing, _) => {
                    // Others have them in the parts, which may be many.
                    if !with_gaps {
                        return;
                    }
                    let Missing { source, at, cause, .. } = *missing;
                    Error::Gap(Gap { source, at, cause })
                }
                note => Error::Incomplete(note.to_string()),
            };
            let _ = sender.send(error);
        });
        let mut printer = Printer::new(report, io::sink(), gaps);
        let outcome = trace.print(&mut printer, SMALL);
        let nothing = !printer.gaps.has_started() && printer.gaps.count() == 0;
        drop(printer);
        let mut missing: Vec<Error> = notes.try_iter().collect();
        if outcome.is_ok() && nothing && missing.is_empty() {
            missing.push(Error::Incomplete(trace.nothing()));
        }
        missing.extend(trace.losses().into_iter().map(Error::Incomplete));
        missing.extend(outcome.err());
        // Nobody may be there any more.
        let _ = parts.send(Passed::End(missing));
    });
}

impl Steps {
    pub(crate) fn new(capture: &Capture) -> Self {
        let (sender, parts) = sync_channel(AHEAD);
        let report = Passing { parts: sender.clone() };
        decode_aside(Arc::clone(capture.trace()), report, sender, false);
        Self { parts, ready: Vec::new().into_iter(), ended: false }
    }
}

impl Iterator for Steps {
    type Item = Result<Step, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(next) = self.ready.next() {
                return Some(next);
            }
            if self.ended {
                return None;
            }
            let found = match self.parts.recv() {
                Ok(Passed::Part(source, part)) => steps(source, &part),
                Ok(Passed::End(missing)) => {
                    self.ended = true;
                    missing.into_iter().map(Err).collect()
                }
                Err(RecvError) => {
                    self.ended = true;
                    vec![Err(Error::Stopped)]
                }
            };
            self.ready = found.into_iter();
        }
    }
}

fn steps(source: Option<u16>, part: &Part) -> Vec<Result<Step, Error>> {
    let step = |(at, item): (StreamPos, Item<'_>)| match item {
        Item::Retired(Retired { addresses, end, leaves }) => {
            let addresses = addresses.to_vec();
            Ok(Step::Block(Block { source, at, addresses, end, leaves }))
        }
        Item::Event(Event::Gap(cause)) | Item::Aside(Event::Gap(cause)) => {
            Err(Error::Gap(Gap { source, at, cause }))
        }
        Item::Event(event) | Item::Aside(event) => Ok(Step::Event(Happened { source, at, event })),
    };
    part.iter().map(step).collect()
}

/// Runs of instructions: see [`Capture::blocks`].
#[derive(Debug)]
pub struct Blocks(Steps);

impl Blocks {
    pub(crate) fn new(steps: Steps) -> Self {
        Self(steps)
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(|step| match step {
            Ok(Step::Block(block)) => Some(Ok(block)),
            Ok(Step::Event(_)) => None,
            Err(error) => Some(Err(error)),
        })
    }
}

/// What happened between instructions: see [`Capture::events`].
#[derive(Debug)]
pub struct Events(Steps);

impl Events {
    pub(crate) fn new(steps: Steps) -> Self {
        Self(steps)
    }
}

impl Iterator for Events {
    type Item = Result<Happened, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(|step| match step {
            Ok(Step::Event(happened)) => Some(Ok(happened)),
            Ok(Step::Block(_)) => None,
            Err(error) => Some(Err(error)),
        })
    }
}

/// Instructions: see [`Capture::instructions`].
#[derive(Debug)]
pub struct Instructions {
    blocks: Blocks,
    /// What is left of a block.
    place: (Option<u16>, StreamPos),
    rest: std::vec::IntoIter<u64>,
}

impl Instructions {
    pub(crate) fn new(steps: Steps) -> Self {
        let (place, rest) = ((None, StreamPos::default()), Vec::new().into_iter());
        Self { blocks: Blocks::new(steps), place, rest }
    }
}

impl Iterator for Instructions {
    type Item = Result<Instruction, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(address) = self.rest.next() {
                let (source, at) = self.place;
                return Some(Ok(Instruction { source, at, address }));
            }
            match self.blocks.next()? {
                Ok(block) => {
                    self.place = (block.source, block.at);
                    self.rest = block.addresses.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
