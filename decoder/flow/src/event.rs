use crate::blocks::{Blocks, NONE, Span};
use crate::memo::{Known, Memo};
use hartrace_encap::FrameError;
use hartrace_etrace::{ParseError, QualStatus};
use std::ops::Range;
use thiserror::Error;

/// Where in the stream something came from, in the caller's terms.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamPos {
    /// Number of the payload.
    pub packet: u64,
    /// Offset of its frame in bytes.
    pub byte: u64,
}

/// What happened, apart from instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A trap was taken.
    Trap {
        /// Its cause.
        cause: u64,
        /// It is an interrupt.
        interrupt: bool,
        /// The trap value, for exceptions.
        tval: Option<u64>,
        /// The instruction that did not retire, where it can be known.
        epc: Option<u64>,
    },
    /// Privilege, context and time from a payload that carries them.
    Context {
        /// Privilege level.
        privilege: u8,
        /// Context.
        context: u64,
        /// Hart time.
        time: u64,
    },
    /// Tracing starts, or goes on after [`Event::Off`] or [`Event::Gap`]: instructions follow.
    On,
    /// Tracing ended, or was interrupted by a loss.
    Off(QualStatus),
    /// A stretch that could not be followed; the trace goes on with the next synchronisation.
    Gap(Fault),
}

/// Why a payload could not be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The payload cannot be parsed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// The frame around the payload is damaged.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The stream does not start with a synchronisation.
    #[error("no synchronisation before this payload")]
    NotSynchronised,
    /// There is no code at an address that was reached.
    #[error("no code at {0:#018x}")]
    NoCode(u64),
    /// A branch was reached whose outcome has not been reported.
    #[error("no outcome for the branch at {0:#018x}")]
    NoOutcome(u64),
    /// A jump was reached whose target has not been reported.
    #[error("no target for the jump at {0:#018x}")]
    UnexpectedJump(u64),
    /// The reported address was reached with branches left over.
    #[error("{0} reported branches were not reached")]
    BranchesLeft(u64),
    /// The program loops without ever reaching what was reported.
    #[error("the program loops at {0:#018x} without reaching the reported address")]
    NoProgress(u64),
    /// The walk is longer than the configured limit.
    #[error("gave up at {0:#018x} after the configured number of blocks")]
    TooLong(u64),
    /// A jump target cache entry was used that has not been filled.
    #[error("jump target cache entry {0} is empty")]
    EmptyCacheEntry(u32),
    /// Predicted branches are counted, but the encoder has no branch predictor.
    #[error("predicted branches without a branch predictor")]
    NoPredictor,
    /// Implicit exception mode, but the trap vector of this privilege was not given.
    #[error("no trap vector was given for privilege {0}")]
    NoVector(u8),
    /// A decoder of another protocol says why.
    #[error("{0}")]
    Other(&'static str),
}

/// How the program goes on behind a run of instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaves {
    /// With the next instruction.
    No,
    /// The last instruction is a conditional branch.
    Branch,
    /// The last instruction is a jump whose target is in the code.
    Jump,
    /// The last instruction is a jump whose target is not in the code, or a trap return.
    Indirect,
}

/// Instructions that retired one after the other, at consecutive addresses.
#[derive(Copy, Clone, Debug)]
pub struct Run<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) leaves: Leaves,
    /// Where its instructions are, from this address on.
    pub(crate) base: u64,
    pub(crate) offsets: &'a [u16],
    pub(crate) span: Span,
}

impl<'a> Run<'a> {
    /// Instructions at these offsets from an address, for decoders of other protocols; `None` if there are
    /// none.
    pub fn new(base: u64, offsets: &'a [u16], end: u64, leaves: Leaves) -> Option<Self> {
        let start = base.wrapping_add(u64::from(*offsets.first()?));
        let span = Span { block: NONE, from: 0, insns: offsets.len() as u16 };
        Some(Self { start, end, leaves, base, offsets, span })
    }

    /// Address of the first instruction.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Address of the last instruction.
    #[inline]
    pub fn last(&self) -> u64 {
        self.base.wrapping_add(self.offsets.last().copied().unwrap_or(0).into())
    }

    /// Address after the last instruction.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Number of instructions, at least one.
    #[inline]
    pub fn insns(&self) -> u32 {
        self.offsets.len() as u32
    }

    /// How the last instruction goes on. Where the next run starts says where to.
    #[inline]
    pub fn leaves(&self) -> Leaves {
        self.leaves
    }

    /// Some of its instructions, by number; `None` if there are none of these numbers.
    pub fn cut(&self, range: Range<usize>) -> Option<Self> {
        let offsets = self.offsets.get(range.clone())?;
        let address = |offset: &u16| self.base.wrapping_add(u64::from(*offset));
        let start = address(offsets.first()?);
        let span = Span {
            from: self.span.from.wrapping_add(range.start as u16),
            insns: offsets.len() as u16,
            ..self.span
        };
        let (end, leaves) = match self.offsets.get(range.end) {
            Some(next) => (address(next), Leaves::No),
            None => (self.end, self.leaves),
        };
        Some(Self { start, end, leaves, offsets, span, ..*self })
    }

    /// Calls `visit` with the address of every instruction.
    #[inline]
    pub fn addresses(&self, mut visit: impl FnMut(u64)) {
        for offset in self.offsets {
            visit(self.base.wrapping_add(u64::from(*offset)));
        }
    }
}

/// What was retired between two reports, where the decoder has been through the same before.
///
/// Sinks that add up need to look at a path only once: [`Path::id`] stands for all of it.
#[derive(Copy, Clone, Debug)]
pub struct Path<'a> {
    pub(crate) id: PathId,
    pub(crate) known: &'a Known,
    pub(crate) memo: &'a Memo,
    pub(crate) blocks: &'a Blocks,
}

/// Name of a path, for as long as the tracer that gave it remembers the path.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId {
    /// Since when the tracer remembers. Not used again, nor by another tracer.
    pub epoch: u64,
    /// Number of the path, from 0 up.
    pub index: u32,
}

impl<'a> Path<'a> {
    /// The same for every occurrence of the path.
    #[inline]
    pub fn id(&self) -> PathId {
        self.id
    }

    /// The instruction that retired right before the path, which is always the same, and how it goes
    /// on: to the start of the path.
    #[inline]
    pub fn entry(&self) -> (u64, Leaves) {
        self.known.entry
    }

    /// Number of instructions.
    #[inline]
    pub fn insns(&self) -> u64 {
        self.known.insns
    }

    /// Calls `visit` with the address of every instruction. Faster than the same for every run, if
    /// [`Sink::ADDRESSES`] says beforehand that it will happen.
    #[inline]
    pub fn addresses(&self, mut visit: impl FnMut(u64)) {
        let offsets = self.memo.offsets(self.known);
        for offset in offsets {
            visit(self.known.base.wrapping_add_signed((*offset).into()));
        }
        if offsets.is_empty() {
            for run in self.runs() {
                run.addresses(&mut visit);
            }
        }
    }

    /// Its runs, in order; at least one.
    #[inline]
    pub fn runs(&self) -> impl Iterator<Item = Run<'a>> + 'a {
        let blocks = self.blocks;
        self.memo.spans(self.known).iter().filter_map(move |span| blocks.run(*span))
    }
}

/// Receives what is decoded. Take what you need: what a sink does not look at costs next to nothing.
pub trait Sink {
    /// Whether [`Path::addresses`] is going to be called: then it is prepared for.
    const ADDRESSES: bool = false;

    /// Whether a stream has to keep the order between sources: then it passes the sink of one on
    /// before it makes that of another. See [`crate::stream`].
    const ORDERED: bool = false;

    /// Instructions that retired.
    fn run(&mut self, at: StreamPos, run: Run<'_>);

    /// Instructions that retired, as they did before: the same as [`Sink::run`] for all its runs.
    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        for run in path.runs() {
            self.run(at, run);
        }
    }

    /// Whether it holds so much that a stream should pass it on; see [`crate::stream`].
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Anything else.
    fn event(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}
