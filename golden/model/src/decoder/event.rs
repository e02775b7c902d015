use crate::{Compat, Malformed};
use hartrace_etrace::ingress::Privilege;
use hartrace_etrace::{Params, QualStatus, Unit};
use thiserror::Error;

/// How to read a stream.
#[derive(Clone, Debug)]
pub struct DecoderConfig {
    /// The encoder's parameters.
    pub params: Params,
    /// Unit whose support packets and address coding to expect.
    pub unit: Unit,
    /// Contents of the `xtvec` register for each privilege that handles traps, for implicit
    /// exceptions. The low two bits are its mode: 1 = vectored.
    pub tvec: Vec<(Privilege, u64)>,
    /// Implementation whose peculiarities to expect.
    pub compat: Compat,
    /// Maximum number of instructions to follow for one payload.
    pub max_steps: u64,
}

impl Default for DecoderConfig {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            tvec: Vec::new(),
            compat: Compat::None,
            max_steps: 1 << 32,
        }
    }
}

/// Place of a payload in the stream, in the caller's terms.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// Number of the payload.
    pub packet: u64,
    /// Offset of its frame in bytes.
    pub byte: u64,
}

/// Something that happened in the traced program, or to the trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An instruction retired.
    Retired(u64),
    /// A trap was taken.
    Trap {
        /// Its cause.
        cause: u64,
        /// It is an interrupt.
        interrupt: bool,
        /// The trap value, for exceptions.
        tval: Option<u64>,
        /// The instruction that did not retire, if it can be known.
        epc: Option<u64>,
    },
    /// Privilege, context and time from a packet that carries them.
    Context {
        /// Privilege level.
        privilege: Privilege,
        /// Context.
        context: u64,
        /// Hart time.
        time: u64,
    },
    /// Tracing ended, or was interrupted by a loss of packets.
    Off(QualStatus),
    /// A stretch that could not be followed; the trace continues at the next synchronisation.
    Gap(Fault),
}

/// Why a payload could not be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The payload cannot be parsed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The stream does not start with a synchronisation.
    #[error("no synchronisation before this payload")]
    NotSynchronised,
    /// There is no code at an address that the walk reached.
    #[error("no code at {0:#018x}")]
    NoCode(u64),
    /// The walk reached a branch whose outcome has not been reported.
    #[error("no outcome for the branch at {0:#018x}")]
    NoOutcome(u64),
    /// The walk reached a jump whose target has not been reported.
    #[error("no target for the jump at {0:#018x}")]
    UnexpectedJump(u64),
    /// The walk reached the reported address with branches left over.
    #[error("{0} reported branches were not reached")]
    BranchesLeft(u64),
    /// A synchronisation reports that an instruction was taken that is not a branch.
    #[error("an outcome for {0:#018x}, which is not a branch")]
    NotABranch(u64),
    /// The walk passed an instruction with the reported address in its middle.
    #[error("{0:#018x} is inside an instruction")]
    InsideInstruction(u64),
    /// The program loops and never reaches the reported address.
    #[error("the program loops at {0:#018x} without reaching the reported address")]
    NoProgress(u64),
    /// The walk is longer than the configured limit.
    #[error("gave up at {0:#018x} after the configured number of instructions")]
    TooLong(u64),
    /// A payload uses a jump target cache entry that has not been filled.
    #[error("jump target cache entry {0} is empty")]
    EmptyCacheEntry(u32),
    /// Predicted branches are counted, but the encoder has no branch predictor.
    #[error("predicted branches without a branch predictor")]
    NoPredictor,
    /// Implicit exception mode is on, but the trap vector of this privilege was not given.
    #[error("no trap vector was given for privilege {0}")]
    NoVector(u8),
    /// The records of history prediction, or what stands between them, do not fit the program.
    #[error("the records of history prediction do not fit the program at {0:#018x}")]
    Records(u64),
}

/// Receives events, each with the payload that caused it.
pub type EventSink<'a> = &'a mut dyn FnMut(Position, Event);
