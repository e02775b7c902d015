use crate::time::Time;
use hartrace_encap::FrameError;
use hartrace_etrace::{ParseError, QualStatus};
use thiserror::Error;

/// A position in the stream, as the caller counts it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamPos {
    /// Number of the payload.
    pub packet: u64,
    /// Offset of its frame in bytes.
    pub byte: u64,
}

/// An event in the trace other than retired instructions.
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
        /// The instruction that did not retire, if it can be determined.
        epc: Option<u64>,
    },
    /// Privilege, context and time from a payload that carries them.
    Context {
        /// Privilege level.
        privilege: u8,
        /// Context.
        context: u64,
        /// Hart time, or 0 if payloads have none.
        time: u64,
    },
    /// A clock was read: the instructions reported before this event retired before that. For the `time` of a
    /// synchronisation, the next instruction retired then. A [`Clock`](crate::Clock) makes complete times of these.
    Time(Time),
    /// Tracing starts, or resumes after [`Event::Off`] or [`Event::Gap`]: instructions follow.
    On,
    /// Tracing ended, or was interrupted by a loss.
    Off(QualStatus),
    /// The encoder was enabled again after a trace of it had ended: another trace starts.
    Restart,
    /// A trigger or an event of the trace unit of an Arm core, near the last instruction. E-Trace has no packet that only a trigger
    /// sends.
    Trigger,
    /// Instructions were executed here that are not reported: they are outside of the part that was asked for.
    LeftOut {
        /// How many.
        insns: u64,
        /// The same functions are active as before: they have waited.
        resumes: bool,
    },
    /// A part of the trace that could not be followed, up to the next synchronisation.
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
    /// An address was reached where the image has no code.
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
    /// An outcome was reported for an instruction that is not a branch: this is not the program that was
    /// traced.
    #[error("an outcome for {0:#018x}, which is not a branch")]
    NotABranch(u64),
    /// An address was reported that is inside an instruction that was passed: this is not the program that
    /// was traced.
    #[error("{0:#018x} is inside an instruction")]
    InsideInstruction(u64),
    /// The program loops without ever reaching the reported address.
    #[error("the program loops at {0:#018x} without reaching the reported address")]
    NoProgress(u64),
    /// The walk is longer than the configured limit: see [`Config::max_blocks`](crate::Config::max_blocks)
    /// and [`Config::max_detour`](crate::Config::max_detour).
    #[error(
        "gave up at {address:#018x}: the walk has reached the configured limit of blocks, {blocks}"
    )]
    TooLong {
        /// The last instruction of the walk.
        address: u64,
        /// The limit.
        blocks: u64,
    },
    /// A jump target cache entry was used that has not been filled.
    #[error("jump target cache entry {0} is empty")]
    EmptyCacheEntry(u32),
    /// Predicted branches are counted, but the encoder has no branch predictor.
    #[error("predicted branches without a branch predictor")]
    NoPredictor,
    /// Implicit exception mode, but the trap vector of this privilege was not given.
    #[error("no trap vector was given for privilege {0}")]
    NoVector(u8),
    /// The records of history prediction, or what stands between them, do not fit the program: this is
    /// not the program that was traced, or payloads are missing.
    #[error("the records of history prediction do not fit the program at {0:#018x}")]
    Records(u64),
    /// The stream names more sources than the configured limit.
    #[error("more than {0} sources: this one and any further ones are left out")]
    TooManySources(usize),
    /// Instructions were executed, but the trace does not say which.
    #[error("instructions were executed that the trace does not tell")]
    NoPath,
    /// The trace of an Arm core contradicts itself, or cannot be followed.
    #[error(transparent)]
    Arm(ArmFault),
    /// Trace was lost before it was recorded.
    #[error(transparent)]
    Recording(RecordingLoss),
}

/// Why a trace of ETMv4, ETE or PTM cannot be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ArmFault {
    /// A packet cannot be read.
    #[error("a packet cannot be read")]
    Malformed,
    /// A packet that the decoder does not support: conditional instructions and data.
    #[error("a packet of conditional or data trace, which is not followed")]
    Unsupported,
    /// More elements are committed or cancelled than there are.
    #[error("more elements are committed or cancelled than there are")]
    Elements,
    /// An exception or Q element is not followed by an address.
    #[error("no address follows an exception or Q element")]
    NoAddress,
    /// A return without a call.
    #[error("a return without a call")]
    ReturnStack,
    /// An instruction set that is not decoded: ThumbEE or Jazelle.
    #[error("ThumbEE or Jazelle, which are not decoded")]
    InstructionSet,
    /// Too many instructions without a branch.
    #[error("too many instructions without a branch; the memory image may be wrong")]
    TooLong,
    /// The trace buffer could not be read to its end.
    #[error("the trace buffer cannot be read to its end")]
    Unreadable,
    /// A branch that is always taken was not taken: the memory is not that of the traced program.
    #[error("a branch without condition was not taken; the memory image is wrong")]
    WrongImage,
    /// Trace was lost before it was recorded.
    #[error(transparent)]
    Recording(#[from] RecordingLoss),
}

/// How trace was lost before it was recorded.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum RecordingLoss {
    /// The buffer of the recording was full: trace was lost after this.
    #[error("the buffer of the recording was full, and trace was lost")]
    Truncated,
    /// Somewhere in this stretch.
    #[error("trace was lost within this stretch of the recording")]
    Partial,
}

impl From<ArmFault> for Fault {
    fn from(fault: ArmFault) -> Self {
        match fault {
            ArmFault::Recording(loss) => Self::Recording(loss),
            fault => Self::Arm(fault),
        }
    }
}
