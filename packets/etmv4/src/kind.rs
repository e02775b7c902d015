/// What a packet is, by its header. [`Kind::name`] is the name OpenCSD gives it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Alignment synchronisation.
    Async,
    /// Tracing stopped with elements unresolved.
    Discard,
    /// Trace was lost.
    Overflow,
    /// How the stream is set up.
    TraceInfo,
    /// Time, with or without cycles.
    Timestamp,
    /// Tracing goes on after a gap.
    TraceOn,
    /// Function return of Armv8-M.
    FunctionReturn,
    /// An exception.
    Exception,
    /// Return from an exception.
    ExceptionReturn,
    /// Instrumentation by software, ETE.
    Ite,
    /// A transaction starts, ETE.
    TransactionStart,
    /// A transaction is committed, ETE.
    TransactionCommit,
    /// Cycle count, format 1.
    CycleCountF1,
    /// Cycle count, format 2.
    CycleCountF2,
    /// Cycle count, format 3.
    CycleCountF3,
    /// Numbered data synchronisation marker.
    NumberedMarker,
    /// Unnumbered data synchronisation marker.
    UnnumberedMarker,
    /// Elements become architectural.
    Commit,
    /// Elements are removed.
    CancelF1,
    /// Elements are removed, then a misprediction.
    CancelF1Mispredict,
    /// The last branch went the other way.
    Mispredict,
    /// One element is removed, then a misprediction.
    CancelF2,
    /// Two to five elements are removed, then a misprediction.
    CancelF3,
    /// Conditional instruction, format 1.
    ConditionalF1,
    /// Conditional instruction, format 2.
    ConditionalF2,
    /// Conditional instruction, format 3.
    ConditionalF3,
    /// Conditional instructions without a result are closed.
    ConditionalFlush,
    /// Conditional result, format 1.
    ResultF1,
    /// Conditional result, format 2.
    ResultF2,
    /// Conditional result, format 3.
    ResultF3,
    /// Conditional result, format 4.
    ResultF4,
    /// Nothing.
    Ignore,
    /// Events.
    Event,
    /// What the next timestamp is about.
    TimestampMarker,
    /// Context.
    Context,
    /// 32-bit address, IS0, with context.
    AddressContext32Is0,
    /// 32-bit address, IS1, with context.
    AddressContext32Is1,
    /// 64-bit address, IS0, with context.
    AddressContext64Is0,
    /// 64-bit address, IS1, with context.
    AddressContext64Is1,
    /// An address register again.
    AddressMatch,
    /// Low bits of an address, IS0.
    AddressShortIs0,
    /// Low bits of an address, IS1.
    AddressShortIs1,
    /// 32-bit address, IS0.
    Address32Is0,
    /// 32-bit address, IS1.
    Address32Is1,
    /// 64-bit address, IS0.
    Address64Is0,
    /// 64-bit address, IS1.
    Address64Is1,
    /// Q element.
    Q,
    /// Source address: an address register again, ETE.
    SourceMatch,
    /// Low bits of a source address, IS0, ETE.
    SourceShortIs0,
    /// Low bits of a source address, IS1, ETE.
    SourceShortIs1,
    /// 32-bit source address, IS0, ETE. OpenCSD spells it this way.
    Source32Is0,
    /// 32-bit source address, IS1, ETE.
    Source32Is1,
    /// 64-bit source address, IS0, ETE.
    Source64Is0,
    /// 64-bit source address, IS1, ETE.
    Source64Is1,
    /// Atoms, format 1.
    AtomF1,
    /// Atoms, format 2.
    AtomF2,
    /// Atoms, format 3.
    AtomF3,
    /// Atoms, format 4.
    AtomF4,
    /// Atoms, format 5.
    AtomF5,
    /// Atoms, format 6.
    AtomF6,
    /// The core was reset, ETE.
    Reset,
    /// A transaction failed, ETE.
    TransactionFail,
    /// What starts with 00; the second byte says which.
    Extension,
}

impl Kind {
    /// The name OpenCSD gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Async => "I_ASYNC",
            Self::Discard => "I_DISCARD",
            Self::Overflow => "I_OVERFLOW",
            Self::TraceInfo => "I_TRACE_INFO",
            Self::Timestamp => "I_TIMESTAMP",
            Self::TraceOn => "I_TRACE_ON",
            Self::FunctionReturn => "I_FUNC_RET",
            Self::Exception => "I_EXCEPT",
            Self::ExceptionReturn => "I_EXCEPT_RTN",
            Self::Ite => "I_ITE",
            Self::TransactionStart => "I_TRANS_ST",
            Self::TransactionCommit => "I_TRANS_COMMIT",
            Self::CycleCountF1 => "I_CCNT_F1",
            Self::CycleCountF2 => "I_CCNT_F2",
            Self::CycleCountF3 => "I_CCNT_F3",
            Self::NumberedMarker => "I_NUM_DS_MKR",
            Self::UnnumberedMarker => "I_UNNUM_DS_MKR",
            Self::Commit => "I_COMMIT",
            Self::CancelF1 => "I_CANCEL_F1",
            Self::CancelF1Mispredict => "I_CANCEL_F1_MISPRED",
            Self::Mispredict => "I_MISPREDICT",
            Self::CancelF2 => "I_CANCEL_F2",
            Self::CancelF3 => "I_CANCEL_F3",
            Self::ConditionalF1 => "I_COND_I_F1",
            Self::ConditionalF2 => "I_COND_I_F2",
            Self::ConditionalF3 => "I_COND_I_F3",
            Self::ConditionalFlush => "I_COND_FLUSH",
            Self::ResultF1 => "I_COND_RES_F1",
            Self::ResultF2 => "I_COND_RES_F2",
            Self::ResultF3 => "I_COND_RES_F3",
            Self::ResultF4 => "I_COND_RES_F4",
            Self::Ignore => "I_IGNORE",
            Self::Event => "I_EVENT",
            Self::TimestampMarker => "I_TS_MARKER",
            Self::Context => "I_CTXT",
            Self::AddressContext32Is0 => "I_ADDR_CTXT_L_32IS0",
            Self::AddressContext32Is1 => "I_ADDR_CTXT_L_32IS1",
            Self::AddressContext64Is0 => "I_ADDR_CTXT_L_64IS0",
            Self::AddressContext64Is1 => "I_ADDR_CTXT_L_64IS1",
            Self::AddressMatch => "I_ADDR_MATCH",
            Self::AddressShortIs0 => "I_ADDR_S_IS0",
            Self::AddressShortIs1 => "I_ADDR_S_IS1",
            Self::Address32Is0 => "I_ADDR_L_32IS0",
            Self::Address32Is1 => "I_ADDR_L_32IS1",
            Self::Address64Is0 => "I_ADDR_L_64IS0",
            Self::Address64Is1 => "I_ADDR_L_64IS1",
            Self::Q => "I_Q",
            Self::SourceMatch => "I_SRC_ADDR_MATCH",
            Self::SourceShortIs0 => "I_SRC_ADDR_S_IS0",
            Self::SourceShortIs1 => "I_SRC_ADDR_S_IS1",
            Self::Source32Is0 => "I_SCR_ADDR_L_32IS0",
            Self::Source32Is1 => "I_SRC_ADDR_L_32IS1",
            Self::Source64Is0 => "I_SRC_ADDR_L_64IS0",
            Self::Source64Is1 => "I_SRC_ADDR_L_64IS1",
            Self::AtomF1 => "I_ATOM_F1",
            Self::AtomF2 => "I_ATOM_F2",
            Self::AtomF3 => "I_ATOM_F3",
            Self::AtomF4 => "I_ATOM_F4",
            Self::AtomF5 => "I_ATOM_F5",
            Self::AtomF6 => "I_ATOM_F6",
            Self::Reset => "I_PE_RESET",
            Self::TransactionFail => "I_TRANS_FAIL",
            Self::Extension => "I_EXTENSION",
        }
    }
}
