pub use hartrace_decoder::ArmFault as Fault;
use hartrace_decoder::StreamPos;
use hartrace_isa::arm::{Isa, Kind, Return, Space, Spaces};

/// Instructions that were executed in sequence, at consecutive addresses.
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
    /// Effect of the last one on the flow of control.
    pub kind: Kind,
    /// Size of the last one in bytes.
    pub size: u8,
    /// The last one is a branch with link.
    pub link: bool,
    /// Whether the last one is a return.
    pub returns: Return,
    /// The last one is conditional.
    pub conditional: bool,
    /// The last one was taken, or passed its condition.
    pub taken: bool,
    /// Cycles, if the packet contains them (PTM).
    pub cycles: Option<u32>,
}

/// Why the trace cannot be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lost {
    /// The stream starts here.
    Start,
    /// Trace was lost in the trace unit.
    Overflow,
    /// The trace unit discarded elements that it had not resolved.
    Discard,
    /// A packet cannot be read, or contradicts earlier packets.
    Packet,
    /// The stream ends here.
    End,
}

/// Why tracing starts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// Tracing was switched on, or a filter passes instructions again.
    Normal,
    /// Trace was lost before this point.
    Overflow,
    /// The core has left debug state.
    DebugExit,
}

/// The context of the core.
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
    /// Exception level, if the protocol contains it.
    pub el: Option<u8>,
    /// Context identifier.
    pub context_id: Option<u32>,
    /// Virtual context identifier.
    pub vmid: Option<u32>,
}

impl Context {
    /// The address spaces in which memory is looked up.
    pub fn spaces(&self) -> Spaces {
        match self.el {
            Some(el) => Spaces::of(Space::of(el, self.ns, self.nse)),
            None => Spaces::security(self.ns),
        }
    }
}

/// The state of a transaction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Transaction {
    /// Tracing started within a transaction.
    Within,
    /// It started.
    Start,
    /// It was committed.
    Commit,
    /// It failed.
    Fail,
}

/// An event in the trace other than executed instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The trace cannot be followed, up to the next synchronisation.
    NoSync(Lost),
    /// Tracing starts.
    TraceOn(Start, Option<u32>),
    /// The context of the core has changed.
    Context(Context),
    /// An address was reached without code. Decoding waits for the next address.
    NotAccessible {
        /// The address.
        address: u64,
        /// The address spaces that were searched.
        spaces: Spaces,
    },
    /// An exception was taken.
    Exception {
        /// Its number.
        number: u16,
        /// The preferred return address, if it is known.
        returns: Option<u64>,
        /// The return address is the target of the previous branch.
        target: bool,
        /// M profile: the exception directly followed another one, without a return address.
        tail_chained: bool,
        /// Cycles, if the packet contains them (PTM).
        cycles: Option<u32>,
    },
    /// Return from an exception.
    ExceptionReturn,
    /// Instructions of which at most the number is known.
    NoPath {
        /// Where they started.
        start: u64,
        /// Where the program continues.
        next: u64,
        /// Number of instructions; 0 if it is not known.
        count: u32,
    },
    /// Time.
    Timestamp {
        /// The time.
        value: u64,
        /// Cycles.
        cycles: Option<u32>,
    },
    /// Cycles since the previous count; `None` if they are not known.
    Cycles(Option<u32>),
    /// Events of the trace unit, one bit each.
    Events(u8),
    /// A trigger.
    Trigger,
    /// Marks the element that the next timestamp refers to.
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
    /// A fault. The events that follow report what was lost.
    Fault(Fault),
    /// The stream ends; contains the reason if the last part of it could not be followed.
    End(Lost),
}

/// Receives the decoded trace.
pub trait ElementSink {
    /// Whether the decoder calls [`ElementSink::instructions`].
    const INSTRUCTIONS: bool = false;

    /// Whether the decoder calls [`ElementSink::opcodes`], if it calls [`ElementSink::instructions`].
    const OPCODES: bool = false;

    /// Whether to go on after an [`Event::Fault`] with [`Fault::WrongImage`], as OpenCSD does, and not to wait
    /// for the next synchronisation (O19).
    const GOES_ON: bool = false;

    /// Receives instructions that were executed; `at` is the packet that reports them: its number in the
    /// stream of its source, and its position in the trace buffer.
    fn range(&mut self, at: StreamPos, range: &Range);

    /// Receives the positions of the instructions of the next range, as offsets from `base`, in
    /// order. Called before [`ElementSink::range`], more than once for a long range.
    #[inline]
    fn instructions(&mut self, at: StreamPos, base: u64, offsets: &[u16]) {
        let _ = (at, base, offsets);
    }

    /// Receives the opcodes of the instructions of the next call of [`ElementSink::instructions`]. For T32 the
    /// first half-word is in the upper half.
    #[inline]
    fn opcodes(&mut self, isa: Isa, opcodes: &[u32]) {
        let _ = (isa, opcodes);
    }

    /// Receives an event.
    fn event(&mut self, at: StreamPos, event: Event);

    /// Whether nothing more is of interest: the decoder ends at once, without an [`Event::End`].
    #[inline]
    fn is_done(&self) -> bool {
        false
    }
}
