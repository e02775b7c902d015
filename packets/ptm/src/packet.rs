use crate::Isa;

/// A packet of the program flow trace stream.
///
/// Cycle counts are there if, and only if, [`Config::cycle_accurate`](crate::Config) is set (an I-Sync
/// that is periodic never has one).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// Alignment synchronisation.
    Async {
        /// Zeros above the five that are needed, up to ten.
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
    /// Instructions up to and with the one at this address were executed.
    Waypoint {
        /// The address.
        address: Address,
        /// Of the information byte, which follows a fifth address byte only: ThumbEE.
        alt_isa: Option<bool>,
    },
    /// Return from an exception.
    ExceptionReturn,
    /// Where the program goes on.
    Branch {
        /// The address.
        address: Address,
        /// It is an exception, or the security state changes.
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

/// An address as it is sent: the low bits. Where they go depends on the instruction set; see
/// [`Target`](crate::Target).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The data bits of its bytes, the first lowest: six, then seven each, six in the last one of two
    /// to four, and in the fifth three to five.
    pub raw: u32,
    /// How many bytes, 1 to 5.
    pub bytes: u8,
    /// The instruction set, which the fifth byte tells.
    pub isa: Option<Isa>,
}

/// What the bytes behind the address of a branch say.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exception {
    /// Its number, nine bits; 0 is none.
    pub number: u16,
    /// Non-secure.
    pub ns: bool,
    /// ThumbEE instead of Thumb.
    pub alt_isa: bool,
    /// Hyp mode, which the second byte tells.
    pub hyp: Option<bool>,
}

/// Why there is an instruction synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It was time.
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
    /// Why.
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
    /// The low bits, as they are sent: not converted from Gray code.
    pub value: u64,
    /// How many.
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

    /// `len` of them, 1 to 5; a bit that is set is E, the lowest is the oldest.
    pub const fn new(len: u8, bits: u8) -> Option<Self> {
        match len {
            1..=5 => Some(Self { len, bits: bits & (0xff_u8 >> 8u8.wrapping_sub(len)) }),
            _ => None,
        }
    }

    /// How many.
    #[inline]
    pub const fn len(&self) -> u8 {
        self.len
    }

    /// Never; there is at least one.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A bit that is set is E; the lowest is the oldest.
    #[inline]
    pub const fn bits(&self) -> u8 {
        self.bits
    }
}

/// What a packet is. [`Kind::name`] is the name OpenCSD gives it.
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
    /// The name OpenCSD gives it.
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
    /// What it is.
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
