use hartrace_etrace::{ParseError, QualStatus};
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
    #[error("the frame is damaged")]
    Frame,
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
    /// Implicit exception mode, but the trap vector of this privilege was not given.
    #[error("no trap vector was given for privilege {0}")]
    NoVector(u8),
}

/// A run of instructions that retired one after the other.
#[derive(Copy, Clone, Debug)]
pub struct Run<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) insns: u32,
    pub(crate) sizes: &'a [u64],
    pub(crate) first: usize,
}

impl Run<'_> {
    /// Address of the first instruction.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Address after the last instruction.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Number of instructions.
    #[inline]
    pub fn insns(&self) -> u32 {
        self.insns
    }

    /// Calls `visit` with the address of every instruction.
    #[inline]
    pub fn addresses(&self, mut visit: impl FnMut(u64)) {
        let mut at = self.start;
        let mut left = self.insns;
        let mut index = self.first >> 6;
        let mut skip = self.first as u32 & 63;
        while left > 0 {
            let word = self.sizes.get(index).map_or(0, |word| word.wrapping_shr(skip));
            let take = left.min(64u32.wrapping_sub(skip));
            let mut bits = word;
            for _ in 0..take {
                visit(at);
                at = at.wrapping_add(2).wrapping_add((bits & 1).wrapping_mul(2));
                bits >>= 1;
            }
            left = left.wrapping_sub(take);
            index = index.wrapping_add(1);
            skip = 0;
        }
    }
}

/// Receives what is decoded. Take what you need: what a sink does not look at costs next to nothing.
pub trait Sink {
    /// Instructions that retired.
    fn run(&mut self, at: StreamPos, run: Run<'_>);

    /// Anything else.
    fn event(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}

/// Counts instructions and gaps.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Instructions retired.
    pub instructions: u64,
    /// Runs they came in.
    pub runs: u64,
    /// Gaps.
    pub gaps: u64,
}

impl Sink for Count {
    #[inline]
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.instructions = self.instructions.wrapping_add(run.insns().into());
        self.runs = self.runs.wrapping_add(1);
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if matches!(event, Event::Gap(_)) {
            self.gaps = self.gaps.wrapping_add(1);
        }
    }
}
