use crate::{Format, History, Ioptions};

/// Every instruction-trace payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// Format 0, subformat 0.
    BranchCount(BranchCount),
    /// Format 0, subformat 1.
    JumpTarget(JumpTarget),
    /// Format 1.
    Branch(Branch),
    /// Format 2.
    Address(AddressReport),
    /// Format 3, subformat 0.
    Start(Start),
    /// Format 3, subformat 1.
    Trap(Trap),
    /// Format 3, subformat 2.
    Context(Context),
    /// Format 3, subformat 3.
    Support(Support),
    /// Format 0, subformat 2: history prediction.
    History(History),
}

impl Payload {
    /// Which format this is.
    pub const fn format(&self) -> Format {
        match self {
            Self::BranchCount(_) => Format::BranchCount,
            Self::JumpTarget(_) => Format::JumpTarget,
            Self::Branch(_) => Format::Branch,
            Self::Address(_) => Format::Address,
            Self::Start(_) => Format::Start,
            Self::Trap(_) => Format::Trap,
            Self::Context(_) => Format::Context,
            Self::Support(_) => Format::Support,
            Self::History(_) => Format::History,
        }
    }

    /// A synchronisation packet: format 3, subformat 0 or 1.
    pub const fn is_sync(&self) -> bool {
        matches!(self, Self::Start(_) | Self::Trap(_))
    }
}

/// An address with its status flags.
///
/// The flags hold their actual values; on the wire each is sent as a difference from the bit before
/// it. In the rv_tracer dialect `notify` is the top bit of the absolute address instead.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AddressReport {
    /// The field as transmitted: a difference or an absolute address, without the
    /// `iaddress_lsb_p` low bits, in `iaddress_width_p - iaddress_lsb_p` bits. In the rv_tracer
    /// dialect a difference is sign-extended to 64 bits.
    pub address: u64,
    /// Reported because of a notify trigger.
    pub notify: bool,
    /// The instruction follows an uninferable discontinuity and a format 3 packet comes next.
    pub updiscon: bool,
    /// Return stack depth or call count, where irreport is flagged.
    pub irdepth: Option<u32>,
}

impl AddressReport {
    /// An address without any flag.
    pub const fn new(address: u64) -> Self {
        Self { address, notify: false, updiscon: false, irdepth: None }
    }
}

/// Up to 31 branch outcomes, oldest first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BranchMap {
    branches: u8,
    map: u32,
}

impl BranchMap {
    /// No branches.
    pub const EMPTY: Self = Self { branches: 0, map: 0 };
    /// The most branches a map holds.
    pub const MAX: u8 = 31;

    /// Creates a map from the low `branches` bits of `map`; `None` for more than 31.
    pub const fn new(branches: u8, map: u32) -> Option<Self> {
        if branches > Self::MAX {
            return None;
        }
        let mask = match u32::MAX.checked_shl(branches as u32) {
            Some(above) => !above,
            None => u32::MAX,
        };
        Some(Self { branches, map: map & mask })
    }

    /// Number of branches.
    pub const fn branches(&self) -> u8 {
        self.branches
    }

    /// The outcomes, oldest in bit 0; 0 = taken, 1 = not taken.
    pub const fn raw(&self) -> u32 {
        self.map
    }

    /// Whether there is no branch.
    pub const fn is_empty(&self) -> bool {
        self.branches == 0
    }

    /// Whether branch `index` (0 = oldest) was taken.
    pub const fn taken(&self, index: u8) -> Option<bool> {
        if index >= self.branches {
            return None;
        }
        Some(self.map.wrapping_shr(index as u32) & 1 == 0)
    }
}

/// Format 0, subformat 0: 31 or more correctly predicted branches.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct BranchCount {
    /// Correct predictions, minus 31.
    pub branch_count: u32,
    /// What follows them.
    pub branch_fmt: BranchFmt,
}

/// What follows the counted branches.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum BranchFmt {
    /// 0: no address; the next branch was mispredicted.
    NoAddress,
    /// 2: an address; if it is a branch, it is the last counted one.
    Address(AddressReport),
    /// 3: the address of a branch that was mispredicted and is not counted.
    MispredictedAddress(AddressReport),
}

/// Format 0, subformat 1: the target of an uninferable jump is in the cache.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct JumpTarget {
    /// Cache entry.
    pub index: u32,
    /// Branches before the jump.
    pub map: BranchMap,
    /// Return stack depth or call count, where irreport is flagged.
    pub irdepth: Option<u32>,
}

/// Format 1: branch outcomes, and the address they lead to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The outcomes: at least one; exactly 31 if there is no address.
    pub map: BranchMap,
    /// The address, unless the packet was sent because the map is full.
    pub address: Option<AddressReport>,
}

/// Format 3, subformat 0: start of trace, resynchronisation, privilege or context change.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// `false` if the address is that of a branch that was taken.
    pub branch: bool,
    /// Privilege level.
    pub privilege: u8,
    /// Hart time; 0 if there is no such field.
    pub time: u64,
    /// Context; 0 if there is no such field.
    pub context: u64,
    /// Absolute address, without the `iaddress_lsb_p` low bits.
    pub address: u64,
}

/// Format 3, subformat 1: a trap.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trap {
    /// `false` if the address is that of a branch that was taken.
    pub branch: bool,
    /// Privilege level.
    pub privilege: u8,
    /// Hart time; 0 if there is no such field.
    pub time: u64,
    /// Context; 0 if there is no such field.
    pub context: u64,
    /// Trap cause.
    pub ecause: u64,
    /// The trap is an interrupt.
    pub interrupt: bool,
    /// The address is the first instruction of the handler, which has retired.
    pub thaddr: bool,
    /// Absolute address, without the `iaddress_lsb_p` low bits; absent in implicit-exception mode
    /// if `thaddr` is set.
    pub address: Option<u64>,
    /// Trap value; absent for interrupts.
    pub tval: Option<u64>,
}

/// Format 3, subformat 2: a context change that needs no address.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Context {
    /// Privilege level.
    pub privilege: u8,
    /// Hart time; 0 if there is no such field.
    pub time: u64,
    /// Context; 0 if there is no such field.
    pub context: u64,
}

/// Why the trace continues, stops or was interrupted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum QualStatus {
    /// Nothing stopped.
    #[default]
    NoChange,
    /// Ended; the last packet was sent only because tracing ended.
    EndedRep,
    /// Packets were lost.
    TraceLost,
    /// Ended; the last packet would have been sent anyway.
    EndedNtr,
}

impl QualStatus {
    /// The meaning of the raw field; only its two low bits count.
    pub const fn from_raw(raw: u8) -> Self {
        match raw & 3 {
            0 => Self::NoChange,
            1 => Self::EndedRep,
            2 => Self::TraceLost,
            _ => Self::EndedNtr,
        }
    }

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoChange => "no_change",
            Self::EndedRep => "ended_rep",
            Self::TraceLost => "trace_lost",
            Self::EndedNtr => "ended_ntr",
        }
    }
}

/// Format 3, subformat 3: the encoder's configuration and state.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Support {
    /// Instruction trace is enabled.
    pub ienable: bool,
    /// 0 = branch trace.
    pub encoder_mode: u8,
    /// Why this packet was sent.
    pub qual_status: QualStatus,
    /// Modes in force from here on.
    pub ioptions: Ioptions,
    /// Data trace state; all zero where the unit has no such fields.
    pub data: DataSupport,
}

/// The data-trace part of a support packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DataSupport {
    /// Data trace is enabled.
    pub denable: bool,
    /// Data trace was lost.
    pub dloss: bool,
    /// Data trace modes, as transmitted.
    pub doptions: u8,
}
