use crate::{Address, Atoms, Form, Is, Kind};

/// A packet of the instruction trace stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// The alignment synchronisation: eleven 00, then 80.
    Async,
    /// Tracing stopped with elements unresolved.
    Discard,
    /// Trace was lost.
    Overflow,
    /// The setup of the stream; address registers and time are reset.
    TraceInfo(TraceInfo),
    /// Time.
    Timestamp(Timestamp),
    /// Tracing resumes after a gap.
    TraceOn,
    /// Function return of Armv8-M.
    FunctionReturn,
    /// An exception; an address packet follows.
    Exception(Exception),
    /// Return from an exception.
    ExceptionReturn,
    /// The core was reset; ETE. The byte is not interpreted.
    Reset(Exception, u8),
    /// A transaction failed; ETE. The byte is not interpreted.
    TransactionFail(Exception, u8),
    /// A transaction starts; ETE.
    TransactionStart,
    /// A transaction is committed; ETE.
    TransactionCommit,
    /// Instrumentation by software; ETE.
    Ite {
        /// Exception level it comes from.
        el: u8,
        /// What the software wrote.
        value: u64,
    },
    /// Cycles, and elements that become architectural.
    CycleCount(CycleCount),
    /// Numbered data synchronisation marker, 0 to 7.
    NumberedMarker(u8),
    /// Unnumbered data synchronisation marker, 0 to 4.
    UnnumberedMarker(u8),
    /// The oldest elements become architectural.
    Commit(u32),
    /// The newest elements are removed.
    Cancel(Cancel),
    /// Atoms, as in [`Cancel::F2`], then a misprediction.
    Mispredict(Option<Atoms>),
    /// Conditional instruction with its key.
    ConditionalF1(u32),
    /// Conditional instructions by the two bits of the header, 0 to 2.
    ConditionalF2(u8),
    /// Conditional instructions.
    ConditionalF3 {
        /// Bit Z.
        z: bool,
        /// Field NUM, 0 to 63.
        num: u8,
    },
    /// Conditional instructions without a result are closed.
    ConditionalFlush,
    /// One or two results.
    ResultF1(ConditionalResult, Option<ConditionalResult>),
    /// A result for the key that is one or two higher.
    ResultF2 {
        /// The key moves by two.
        two: bool,
        /// The result, 0 to 2.
        token: u8,
    },
    /// Twelve bits of result tokens.
    ResultF3(u16),
    /// A result token, 0 to 2.
    ResultF4(u8),
    /// Nothing.
    Ignore,
    /// Events, one bit each; at least one.
    Event(u8),
    /// Marks the element that the next timestamp refers to.
    TimestampMarker,
    /// Context; `None` means the previous one.
    Context(Option<Context>),
    /// The address of the next instruction.
    Address(Address),
    /// The address of the next instruction, in one of the two long forms, with context.
    AddressContext(Address, Context),
    /// The address of an instruction that was executed as an atom E; ETE.
    Source(Address),
    /// Q element.
    Q(Q),
    /// Outcomes of P0 instructions.
    Atoms(Atoms),
}

/// Sections of a TraceInfo packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TraceInfo {
    /// Bit 0: cycles are counted; 3:1: conditional tracing; 4, 5: loads, stores are P0.
    pub info: Option<u32>,
    /// P0 key.
    pub key: Option<u32>,
    /// Elements that wait for their commit.
    pub speculation: Option<u32>,
    /// Cycle count threshold.
    pub threshold: Option<u32>,
    /// Commit window; ETE.
    pub window: Option<u32>,
}

/// A timestamp: the low bits that changed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// The low bits.
    pub value: u64,
    /// Number of low bits: a multiple of seven up to 56, or 64.
    pub bits: u8,
    /// Cycles since the last cycle count.
    pub cycles: Option<u32>,
}

/// The meaning of the address after an exception packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Return {
    /// Field E is 00: reserved; in ETE there is no address.
    None,
    /// 01: the preferred return address.
    Address,
    /// 10: the preferred return address, which is also the target of the previous branch.
    Target,
    /// 11: reserved.
    Reserved,
}

impl Return {
    /// Decodes the two bits of field E.
    #[inline]
    pub(crate) const fn of(e: u64) -> Self {
        match e & 3 {
            0 => Self::None,
            1 => Self::Address,
            2 => Self::Target,
            _ => Self::Reserved,
        }
    }
}

/// An exception.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exception {
    /// Its number, ten bits.
    pub number: u16,
    /// The meaning of the address after it.
    pub returns: Return,
    /// M profile: a fault is pending.
    pub fault_pending: bool,
}

/// The raw fields of a cycle count packet. The commits and cycles depend on the configuration and
/// the threshold: see [`CycleCount::commits`] and [`CycleCount::cycles`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum CycleCount {
    /// Format 1.
    F1 {
        /// Elements to commit; present only with COMMOPT 0.
        commit: Option<u32>,
        /// Cycles above the threshold; `None` if not known.
        count: Option<u32>,
    },
    /// Format 2.
    F2 {
        /// Bit F: the commit counts from MAXSPEC down.
        far: bool,
        /// Commit field, four bits.
        commit: u8,
        /// Cycles above the threshold, four bits.
        count: u8,
    },
    /// Format 3.
    F3 {
        /// Commit field, two bits.
        commit: u8,
        /// Cycles above the threshold, two bits.
        count: u8,
    },
}

impl CycleCount {
    /// Elements to commit.
    pub fn commits(&self, config: &crate::Config) -> u32 {
        if config.commopt {
            return 0;
        }
        match *self {
            Self::F1 { commit, .. } => commit.unwrap_or(0),
            Self::F2 { far: false, commit, .. } | Self::F3 { commit, .. } => {
                u32::from(commit).saturating_add(1)
            }
            Self::F2 { far: true, commit, .. } => {
                config.max_speculation.saturating_add(commit.into()).saturating_sub(15)
            }
        }
    }

    /// Cycles, if they are known.
    pub fn cycles(&self, threshold: u32) -> Option<u32> {
        let count = match *self {
            Self::F1 { count, .. } => count?,
            Self::F2 { count, .. } | Self::F3 { count, .. } => count.into(),
        };
        Some(count.wrapping_add(threshold))
    }
}

/// The newest elements are removed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cancel {
    /// Format 1.
    F1 {
        /// How many.
        count: u32,
        /// A misprediction follows.
        mispredict: bool,
    },
    /// Format 2: atoms (none, E, E E or N), then one element is removed, then a misprediction.
    F2(Option<Atoms>),
    /// Format 3: an atom E or none, then elements are removed, then a misprediction.
    F3 {
        /// There is an atom E.
        atom: bool,
        /// How many, 2 to 5.
        count: u8,
    },
}

/// A result of a conditional instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConditionalResult {
    /// Key of the instruction.
    pub key: u32,
    /// The result, four bits.
    pub result: u8,
    /// Bit CI of the header.
    pub ci: bool,
}

/// Context.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Context {
    /// Exception level.
    pub el: u8,
    /// AArch64.
    pub sf: bool,
    /// Non-secure.
    pub ns: bool,
    /// With `ns`: realm; without: root.
    pub nse: bool,
    /// Virtual context identifier.
    pub vmid: Option<u32>,
    /// Context identifier.
    pub context_id: Option<u32>,
}

/// A Q element: instructions were executed, and it is not known which.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Q {
    /// How many.
    pub count: Option<u32>,
    /// Where the program continues, only with a count; otherwise an address packet follows.
    pub address: Option<Address>,
}

impl Packet {
    /// The kind of the packet.
    pub fn kind(&self) -> Kind {
        let by_is = |address: &Address, zero, one| match address.is {
            Is::Is0 => zero,
            Is::Is1 => one,
        };
        match self {
            Self::Async => Kind::Async,
            Self::Discard => Kind::Discard,
            Self::Overflow => Kind::Overflow,
            Self::TraceInfo(_) => Kind::TraceInfo,
            Self::Timestamp(_) => Kind::Timestamp,
            Self::TraceOn => Kind::TraceOn,
            Self::FunctionReturn => Kind::FunctionReturn,
            Self::Exception(_) => Kind::Exception,
            Self::ExceptionReturn => Kind::ExceptionReturn,
            Self::Reset(..) => Kind::Reset,
            Self::TransactionFail(..) => Kind::TransactionFail,
            Self::TransactionStart => Kind::TransactionStart,
            Self::TransactionCommit => Kind::TransactionCommit,
            Self::Ite { .. } => Kind::Ite,
            Self::CycleCount(CycleCount::F1 { .. }) => Kind::CycleCountF1,
            Self::CycleCount(CycleCount::F2 { .. }) => Kind::CycleCountF2,
            Self::CycleCount(CycleCount::F3 { .. }) => Kind::CycleCountF3,
            Self::NumberedMarker(_) => Kind::NumberedMarker,
            Self::UnnumberedMarker(_) => Kind::UnnumberedMarker,
            Self::Commit(_) => Kind::Commit,
            Self::Cancel(Cancel::F1 { mispredict: false, .. }) => Kind::CancelF1,
            Self::Cancel(Cancel::F1 { mispredict: true, .. }) => Kind::CancelF1Mispredict,
            Self::Cancel(Cancel::F2(_)) => Kind::CancelF2,
            Self::Cancel(Cancel::F3 { .. }) => Kind::CancelF3,
            Self::Mispredict(_) => Kind::Mispredict,
            Self::ConditionalF1(_) => Kind::ConditionalF1,
            Self::ConditionalF2(_) => Kind::ConditionalF2,
            Self::ConditionalF3 { .. } => Kind::ConditionalF3,
            Self::ConditionalFlush => Kind::ConditionalFlush,
            Self::ResultF1(..) => Kind::ResultF1,
            Self::ResultF2 { .. } => Kind::ResultF2,
            Self::ResultF3(_) => Kind::ResultF3,
            Self::ResultF4(_) => Kind::ResultF4,
            Self::Ignore => Kind::Ignore,
            Self::Event(_) => Kind::Event,
            Self::TimestampMarker => Kind::TimestampMarker,
            Self::Context(_) => Kind::Context,
            Self::Address(a) => match a.form {
                Form::Match(_) => Kind::AddressMatch,
                Form::Short { .. } => by_is(a, Kind::AddressShortIs0, Kind::AddressShortIs1),
                Form::Long32 => by_is(a, Kind::Address32Is0, Kind::Address32Is1),
                Form::Long64 => by_is(a, Kind::Address64Is0, Kind::Address64Is1),
            },
            Self::AddressContext(a, _) => match a.form {
                Form::Long64 => by_is(a, Kind::AddressContext64Is0, Kind::AddressContext64Is1),
                _ => by_is(a, Kind::AddressContext32Is0, Kind::AddressContext32Is1),
            },
            Self::Source(a) => match a.form {
                Form::Match(_) => Kind::SourceMatch,
                Form::Short { .. } => by_is(a, Kind::SourceShortIs0, Kind::SourceShortIs1),
                Form::Long32 => by_is(a, Kind::Source32Is0, Kind::Source32Is1),
                Form::Long64 => by_is(a, Kind::Source64Is0, Kind::Source64Is1),
            },
            Self::Q(_) => Kind::Q,
            Self::Atoms(atoms) => atoms.kind(),
        }
    }
}
