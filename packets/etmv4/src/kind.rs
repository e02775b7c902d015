/// The kinds of packets with their names, in one list.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// The kind of a packet. [`Kind::name`] is the name that OpenCSD uses.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// The name that OpenCSD uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Alignment synchronisation.
    Async = "I_ASYNC",
    /// Tracing stopped with elements unresolved.
    Discard = "I_DISCARD",
    /// Trace was lost.
    Overflow = "I_OVERFLOW",
    /// The setup of the stream.
    TraceInfo = "I_TRACE_INFO",
    /// Time, with or without cycles.
    Timestamp = "I_TIMESTAMP",
    /// Tracing resumes after a gap.
    TraceOn = "I_TRACE_ON",
    /// Function return of Armv8-M.
    FunctionReturn = "I_FUNC_RET",
    /// An exception.
    Exception = "I_EXCEPT",
    /// Return from an exception.
    ExceptionReturn = "I_EXCEPT_RTN",
    /// Instrumentation by software, ETE.
    Ite = "I_ITE",
    /// A transaction starts, ETE.
    TransactionStart = "I_TRANS_ST",
    /// A transaction is committed, ETE.
    TransactionCommit = "I_TRANS_COMMIT",
    /// Cycle count, format 1.
    CycleCountF1 = "I_CCNT_F1",
    /// Cycle count, format 2.
    CycleCountF2 = "I_CCNT_F2",
    /// Cycle count, format 3.
    CycleCountF3 = "I_CCNT_F3",
    /// Numbered data synchronisation marker.
    NumberedMarker = "I_NUM_DS_MKR",
    /// Unnumbered data synchronisation marker.
    UnnumberedMarker = "I_UNNUM_DS_MKR",
    /// Elements become architectural.
    Commit = "I_COMMIT",
    /// Elements are removed.
    CancelF1 = "I_CANCEL_F1",
    /// Elements are removed, then a misprediction.
    CancelF1Mispredict = "I_CANCEL_F1_MISPRED",
    /// The last branch had the opposite outcome.
    Mispredict = "I_MISPREDICT",
    /// One element is removed, then a misprediction.
    CancelF2 = "I_CANCEL_F2",
    /// Two to five elements are removed, then a misprediction.
    CancelF3 = "I_CANCEL_F3",
    /// Conditional instruction, format 1.
    ConditionalF1 = "I_COND_I_F1",
    /// Conditional instruction, format 2.
    ConditionalF2 = "I_COND_I_F2",
    /// Conditional instruction, format 3.
    ConditionalF3 = "I_COND_I_F3",
    /// Conditional instructions without a result are closed.
    ConditionalFlush = "I_COND_FLUSH",
    /// Conditional result, format 1.
    ResultF1 = "I_COND_RES_F1",
    /// Conditional result, format 2.
    ResultF2 = "I_COND_RES_F2",
    /// Conditional result, format 3.
    ResultF3 = "I_COND_RES_F3",
    /// Conditional result, format 4.
    ResultF4 = "I_COND_RES_F4",
    /// Nothing.
    Ignore = "I_IGNORE",
    /// Events.
    Event = "I_EVENT",
    /// Marks the element that the next timestamp refers to.
    TimestampMarker = "I_TS_MARKER",
    /// Context.
    Context = "I_CTXT",
    /// 32-bit address, IS0, with context.
    AddressContext32Is0 = "I_ADDR_CTXT_L_32IS0",
    /// 32-bit address, IS1, with context.
    AddressContext32Is1 = "I_ADDR_CTXT_L_32IS1",
    /// 64-bit address, IS0, with context.
    AddressContext64Is0 = "I_ADDR_CTXT_L_64IS0",
    /// 64-bit address, IS1, with context.
    AddressContext64Is1 = "I_ADDR_CTXT_L_64IS1",
    /// The address in an address register.
    AddressMatch = "I_ADDR_MATCH",
    /// Low bits of an address, IS0.
    AddressShortIs0 = "I_ADDR_S_IS0",
    /// Low bits of an address, IS1.
    AddressShortIs1 = "I_ADDR_S_IS1",
    /// 32-bit address, IS0.
    Address32Is0 = "I_ADDR_L_32IS0",
    /// 32-bit address, IS1.
    Address32Is1 = "I_ADDR_L_32IS1",
    /// 64-bit address, IS0.
    Address64Is0 = "I_ADDR_L_64IS0",
    /// 64-bit address, IS1.
    Address64Is1 = "I_ADDR_L_64IS1",
    /// Q element.
    Q = "I_Q",
    /// Source address in an address register, ETE.
    SourceMatch = "I_SRC_ADDR_MATCH",
    /// Low bits of a source address, IS0, ETE.
    SourceShortIs0 = "I_SRC_ADDR_S_IS0",
    /// Low bits of a source address, IS1, ETE.
    SourceShortIs1 = "I_SRC_ADDR_S_IS1",
    /// 32-bit source address, IS0, ETE. OpenCSD spells it this way.
    Source32Is0 = "I_SCR_ADDR_L_32IS0",
    /// 32-bit source address, IS1, ETE.
    Source32Is1 = "I_SRC_ADDR_L_32IS1",
    /// 64-bit source address, IS0, ETE.
    Source64Is0 = "I_SRC_ADDR_L_64IS0",
    /// 64-bit source address, IS1, ETE.
    Source64Is1 = "I_SRC_ADDR_L_64IS1",
    /// Atoms, format 1.
    AtomF1 = "I_ATOM_F1",
    /// Atoms, format 2.
    AtomF2 = "I_ATOM_F2",
    /// Atoms, format 3.
    AtomF3 = "I_ATOM_F3",
    /// Atoms, format 4.
    AtomF4 = "I_ATOM_F4",
    /// Atoms, format 5.
    AtomF5 = "I_ATOM_F5",
    /// Atoms, format 6.
    AtomF6 = "I_ATOM_F6",
    /// The core was reset, ETE.
    Reset = "I_PE_RESET",
    /// A transaction failed, ETE.
    TransactionFail = "I_TRANS_FAIL",
    /// A packet that starts with 00; the second byte identifies it.
    Extension = "I_EXTENSION",
}
