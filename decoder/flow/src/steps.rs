//! Decoding on demand.

use crate::event::{Event, Fault, StreamPos};
use crate::run::{Leaves, Run};
use crate::sink::Sink;
use crate::tracer::Tracer;
use hartrace_bits::BitReader;
use std::collections::VecDeque;
use std::iter::FusedIterator;

/// The extent of a [`Run`]: where it starts and ends, without the addresses in between.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Address of the first instruction.
    pub start: u64,
    /// Address after the last instruction.
    pub end: u64,
    /// Number of instructions.
    pub insns: u32,
    /// How the program continues after the last instruction.
    pub leaves: Leaves,
}

/// One item of a decoded trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The instruction at this address retired.
    Instruction(u64),
    /// The instructions of a run retired.
    Run(Extent),
    /// Anything else.
    Event(Event),
}

/// An iterator over the reports of a [`Tracer`], for callers that prefer an iterator to a callback. It
/// returns the same content as a [`Sink`] receives, but it is slower.
///
/// Its input is an iterator over payloads as they were sent, or the reason why one cannot be read. It holds
/// the decoded content of one payload, or a part of it if that is very long.
///
/// ```
/// use hartrace_decoder::{Config, Image, Step, Steps, StreamPos, Tracer};
/// use hartrace_encap::{Framing, Item};
/// use hartrace_isa::{Isa, Xlen};
///
/// let mut image = Image::new(Isa::new(Xlen::Rv64));
/// image.add(0x8000_0000, &[0x01, 0x00, 0x01, 0x00, 0x82, 0x80]); // c.nop, c.nop, ret
/// // A synchronisation at 0x80000000, then the last instruction that retired: 4 bytes further.
/// let capture = [0x45, 0x73, 0x00, 0x00, 0x00, 0xe0, 0x41, 0x0a];
/// let payloads = Framing::Reference.frames(&capture).enumerate().map(|(packet, item)| match item {
///     Ok((byte, Item::Frame(frame))) => (StreamPos { packet: packet as u64, byte }, Ok(frame.payload())),
///     other => panic!("{other:?}"),
/// });
/// let tracer = Tracer::new(Config::default(), &image)?;
/// let addresses: Vec<u64> = Steps::instructions(tracer, payloads)
///     .filter_map(|(_, step)| match step {
///         Step::Instruction(address) => Some(address),
///         _ => None,
///     })
///     .collect();
/// assert_eq!(addresses, [0x8000_0000, 0x8000_0002, 0x8000_0004]);
/// # Ok::<(), hartrace_etrace::ParamsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Steps<'a, I> {
    tracer: Tracer<'a>,
    payloads: I,
    queue: Queue,
    ended: bool,
}

/// Items that were reported but not yet returned.
#[derive(Clone, Debug)]
struct Queue {
    steps: VecDeque<(StreamPos, Step)>,
    grain: Grain,
}

/// The unit in which instructions are reported.
#[derive(Copy, Clone, Debug)]
enum Grain {
    Instruction,
    Run,
}

impl<'a, I> Steps<'a, I> {
    /// Reports every instruction separately.
    pub fn instructions(tracer: Tracer<'a>, payloads: I) -> Self {
        Self::new(tracer, payloads, Grain::Instruction)
    }

    /// Reports instructions as runs.
    pub fn runs(tracer: Tracer<'a>, payloads: I) -> Self {
        Self::new(tracer, payloads, Grain::Run)
    }

    fn new(tracer: Tracer<'a>, payloads: I, grain: Grain) -> Self {
        Self { tracer, payloads, queue: Queue { steps: VecDeque::new(), grain }, ended: false }
    }
}

impl<'p, I> Iterator for Steps<'_, I>
where
    I: Iterator<Item = (StreamPos, Result<BitReader<'p>, Fault>)>,
{
    type Item = (StreamPos, Step);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Self { tracer, payloads, queue, ended } = self;
            if let Some(step) = queue.steps.pop_front() {
                return Some(step);
            }
            if *ended {
                return None;
            }
            if tracer.proceed(queue) {
                continue;
            }
            match payloads.next() {
                Some((at, Ok(bits))) => tracer.begin_bits(at, bits, queue),
                Some((at, Err(fault))) => tracer.damage(at, fault, queue),
                None => {
                    tracer.finish(queue);
                    *ended = true;
                }
            }
        }
    }
}

impl<'p, I> FusedIterator for Steps<'_, I> where
    I: Iterator<Item = (StreamPos, Result<BitReader<'p>, Fault>)>
{
}

impl Sink for Queue {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        match self.grain {
            Grain::Instruction => {
                run.addresses(|pc| self.steps.push_back((at, Step::Instruction(pc))));
            }
            Grain::Run => {
                let (start, end) = (run.start(), run.end());
                let extent = Extent { start, end, insns: run.insns(), leaves: run.leaves() };
                self.steps.push_back((at, Step::Run(extent)));
            }
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.steps.push_back((at, Step::Event(event)));
    }
}
