use hartrace_isa::arm::{Isa, Kind, Return, Space, Spaces};

/// Instructions that were executed one after the other, at consecutive addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Address of the first instruction.
    pub start: u64,
    /// Address after the last instruction.
    pub end: u64,
    /// Number of instructions, at least one.
    pub count: u32,
    /// Their instruction set.
    pub isa: Isa,
    /// What the last one does to the flow of control.
    pub kind: Kind,
    /// Bytes of the last one.
    pub size: u8,
    /// The last one is a branch with link.
    pub link: bool,
    /// Whether the last one is a return.
    pub returns: Return,
    /// The last one is conditional.
    pub conditional: bool,
    /// The last one was taken, or passed its condition.
    pub taken: bool,
    /// Cycles, where the packet has them (PTM).
    pub cycles: Option<u32>,
}

/// Why there is no trace to follow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lost {
    /// The stream starts here.
    Start,
    /// Trace was lost in the trace unit.
    Overflow,
    /// The trace unit gave up elements that it had not resolved.
    Discard,
    /// A packet that cannot be read, or that does not fit in what came before.
    Packet,
    /// The stream ends here.
    End,
}

/// Why tracing starts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// It was switched on, or a filter lets through again.
    Normal,
    /// Trace was lost before.
    Overflow,
    /// The core has left debug state.
    DebugExit,
}

/// What the core is in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Instruction set.
    pub isa: Isa,
    /// AArch64.
    pub wide: bool,
    /// Non-secure; with `nse` realm, or root.
    pub ns: bool,
    /// See `ns`.
    pub nse: bool,
    /// Exception level, where the protocol has it.
    pub el: Option<u8>,
    /// Context identifier.
    pub context_id: Option<u32>,
    /// Virtual context identifier.
    pub vmid: Option<u32>,
}

impl Context {
    /// The address spaces that memory is looked up in.
    pub fn spaces(&self) -> Spaces {
        match self.el {
            Some(el) => Spaces::of(Space::of(el, self.ns, self.nse)),
            None => Spaces::security(self.ns),
        }
    }
}

/// What happened to a transaction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Transaction {
    /// Tracing began within one.
    Within,
    /// It started.
    Start,
    /// It was committed.
    Commit,
    /// It failed.
    Fail,
}

/// What does not fit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A packet cannot be read.
    Malformed,
    /// A packet that the decoder does not know how to follow: conditional instructions and data.
    Unsupported,
    /// More elements are committed or cancelled than there are.
    Elements,
    /// An exception or Q element is not followed by an address.
    NoAddress,
    /// A return was followed that has no call.
    ReturnStack,
    /// An instruction set that is not decoded: ThumbEE or Jazelle.
    InstructionSet,
    /// More instructions without a branch than make sense.
    TooLong,
}

/// What happened, apart from instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is no trace to follow, up to the next synchronisation.
    NoSync(Lost),
    /// Tracing starts.
    TraceOn(Start, Option<u32>),
    /// What the core is in.
    Context(Context),
    /// There is no code at an address that was reached. The next address is waited for.
    NotAccessible {
        /// The address.
        address: u64,
        /// Where it was looked for.
        spaces: Spaces,
    },
    /// An exception was taken.
    Exception {
        /// Its number.
        number: u16,
        /// The preferred return address, if it is known.
        returns: Option<u64>,
        /// The return address is the target of the branch before.
        target: bool,
        /// M profile: one exception followed the other, without a return address.
        tail_chained: bool,
        /// Cycles, where the packet has them (PTM).
        cycles: Option<u32>,
    },
    /// Return from an exception.
    ExceptionReturn,
    /// Instructions of which only the number is known, or not even that: 0.
    NoPath {
        /// Where they started.
        start: u64,
        /// Where the program goes on.
        next: u64,
        /// How many.
        count: u32,
    },
    /// Time.
    Timestamp {
        /// The time.
        value: u64,
        /// Cycles.
        cycles: Option<u32>,
    },
    /// Cycles since the count before; `None` if they are not known.
    Cycles(Option<u32>),
    /// Events of the trace unit, a bit each.
    Events(u8),
    /// A trigger.
    Trigger,
    /// What the next timestamp is about.
    TimestampMarker,
    /// A transaction.
    Transaction(Transaction),
    /// Instrumentation by software.
    Instrumentation {
        /// Exception level.
        el: u8,
        /// What the software wrote.
        value: u64,
    },
    /// Something does not fit. What is lost by it is told by what follows.
    Fault(Fault),
    /// The stream ends; why the last part of it could not be followed, if so.
    End(Lost),
}

/// Receives what is decoded.
pub trait ElementSink {
    /// Whether [`ElementSink::instructions`] is to be called.
    const INSTRUCTIONS: bool = false;

    /// Instructions that were executed; `at` is the position of the packet that tells.
    fn range(&mut self, at: u64, range: &Range);

    /// Where the instructions of the next range are: at these offsets from `base`, in order. Called
    /// before [`ElementSink::range`], more than once for a long range.
    #[inline]
    fn instructions(&mut self, at: u64, base: u64, offsets: &[u16]) {
        let _ = (at, base, offsets);
    }

    /// Anything else.
    fn event(&mut self, at: u64, event: Event);
}
