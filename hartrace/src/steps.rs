//! What was executed, one after the other.

mod arriving;
mod calls;

pub use calls::{Call, CallSteps, Function};

use crate::capture::Capture;
use crate::error::{Error, Gap};
use arriving::{Arriving, Passed};
use hartrace_decoder::{Event, Leaves, StreamPos};
use hartrace_report::Report;
use hartrace_report::decode::{Item, Part, Retired};
use std::io::{self, Write};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

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

/// Steps of an execution: see [`Capture::steps`].
#[derive(Debug)]
pub struct Steps(Arriving<Part, Step>);

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

impl Steps {
    pub(crate) fn new(capture: &Capture) -> Self {
        let decode = |capture: &Capture, parts: &SyncSender<_>| {
            let passing = Passing { parts: parts.clone() };
            arriving::decode(capture, passing, false)
        };
        Self(Arriving::new(capture, decode, steps))
    }

    /// Waits until `next` returns at once, but no longer than `most`. Returns whether it does.
    pub fn wait(&mut self, most: Duration) -> bool {
        self.0.wait(Some(most))
    }
}

impl Iterator for Steps {
    type Item = Result<Step, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

fn steps(source: Option<u16>, part: Part) -> Vec<Result<Step, Error>> {
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
