use crate::Isa;

/// A packet of the program flow trace stream.
///
/// Packets have cycle counts if and only if [`Config::cycle_accurate`](crate::Config) is set (a
/// periodic I-Sync never has one).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// Alignment synchronisation.
    Async {
        /// Zeros in addition to the five that are required, up to ten.
        extra: u8,
    },
    /// Instruction synchronisation.
    ISync(ISync),
    /// A trigger.
    Trigger,
    /// Virtual machine identifier.
    Vmid(u8),
    /// Time.
    Timestamp(Timestamp),
    /// Nothing.
    Ignore,
    /// Context identifier.
    ContextId(u32),
    /// Instructions up to and including the one at this address were executed.
    Waypoint {
        /// The address.
        address: Address,
        /// ThumbEE, from the information byte, which only follows a fifth address byte.
        alt_isa: Option<bool>,
    },
    /// Return from an exception.
    ExceptionReturn,
    /// Where the program continues.
    Branch {
        /// The address.
        address: Address,
        /// Present if the branch is an exception or the security state changes.
        exception: Option<Exception>,
        /// Cycles.
        cycles: Option<u32>,
    },
    /// Outcomes of waypoints.
    Atoms(Atoms),
    /// The outcome of one waypoint, with cycles.
    Atom {
        /// E.
        taken: bool,
        /// Cycles.
        cycles: u32,
    },
}

/// The low bits of an address, as sent. Their position depends on the instruction set; see
/// [`Target`](crate::Target).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The data bits of its bytes, the first byte lowest: six, then seven each; six in the last of two
    /// to four bytes, three to five in the fifth.
    pub raw: u32,
    /// Number of bytes, 1 to 5.
    pub bytes: u8,
    /// The instruction set, if there is a fifth byte, which contains it.
    pub isa: Option<Isa>,
}

/// The content of the bytes after the address of a branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exception {
    /// Exception number, nine bits; 0 is none.
    pub number: u16,
    /// Non-secure.
    pub ns: bool,
    /// ThumbEE instead of Thumb.
    pub alt_isa: bool,
    /// Hyp mode, if there is a second byte, which contains it.
    pub hyp: Option<bool>,
}

/// The reason for an instruction synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The synchronisation period has elapsed.
    Periodic,
    /// Tracing was switched on.
    TraceOn,
    /// After an overflow.
    Overflow,
    /// The core has left debug state.
    DebugExit,
}

/// Instruction synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ISync {
    /// The address; bit 0 is clear.
    pub address: u32,
    /// Its instruction set: ARM, Thumb or ThumbEE.
    pub isa: Isa,
    /// The reason for it.
    pub reason: Reason,
    /// Non-secure.
    pub ns: bool,
    /// Hyp mode.
    pub hyp: bool,
    /// Cycles; never with [`Reason::Periodic`].
    pub cycles: Option<u32>,
    /// Context identifier, if any bytes of it are traced.
    pub context_id: Option<u32>,
}

/// A timestamp: the low bits that changed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// The low bits as sent, not converted from Gray code.
    pub value: u64,
    /// Number of low bits.
    pub bits: u8,
    /// The clock has changed.
    pub clock_changed: bool,
    /// Cycles.
    pub cycles: Option<u32>,
}

/// One to five outcomes of waypoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atoms {
    len: u8,
    bits: u8,
}

impl Atoms {
    pub(crate) const ONE: Self = Self { len: 1, bits: 1 };

    /// Creates `len` outcomes, 1 to 5; a set bit is E, and the lowest bit is the oldest.
    pub const fn new(len: u8, bits: u8) -> Option<Self> {
        match len {
            1..=5 => Some(Self { len, bits: bits & (0xff_u8 >> 8u8.wrapping_sub(len)) }),
            _ => None,
        }
    }

    /// Number of outcomes.
    #[inline]
    pub const fn len(&self) -> u8 {
        self.len
    }

    /// Always `false`; there is at least one outcome.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The outcomes: a set bit is E, and the lowest bit is the oldest.
    #[inline]
    pub const fn bits(&self) -> u8 {
        self.bits
    }
}

/// The kind of a packet. [`Kind::name`] is the name that OpenCSD uses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Alignment synchronisation.
    Async,
    /// Instruction synchronisation.
    ISync,
    /// Trigger.
    Trigger,
    /// Virtual machine identifier.
    Vmid,
    /// Timestamp.
    Timestamp,
    /// Nothing.
    Ignore,
    /// Context identifier.
    ContextId,
    /// Waypoint update.
    Waypoint,
    /// Return from an exception.
    ExceptionReturn,
    /// Branch address.
    Branch,
    /// Atoms.
    Atom,
}

impl Kind {
    /// The name that OpenCSD uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Async => "ASYNC",
            Self::ISync => "ISYNC",
            Self::Trigger => "TRIGGER",
            Self::Vmid => "VMID",
            Self::Timestamp => "TIMESTAMP",
            Self::Ignore => "IGNORE",
            Self::ContextId => "CTXTID",
            Self::Waypoint => "WP_UPDATE",
            Self::ExceptionReturn => "ERET",
            Self::Branch => "BRANCH_ADDRESS",
            Self::Atom => "ATOM",
        }
    }
}

impl Packet {
    /// The kind of the packet.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Async { .. } => Kind::Async,
            Self::ISync(_) => Kind::ISync,
            Self::Trigger => Kind::Trigger,
            Self::Vmid(_) => Kind::Vmid,
            Self::Timestamp(_) => Kind::Timestamp,
            Self::Ignore => Kind::Ignore,
            Self::ContextId(_) => Kind::ContextId,
            Self::Waypoint { .. } => Kind::Waypoint,
            Self::ExceptionReturn => Kind::ExceptionReturn,
            Self::Branch { .. } => Kind::Branch,
            Self::Atoms(_) | Self::Atom { .. } => Kind::Atom,
        }
    }
}
