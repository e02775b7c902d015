use crate::Transaction;
use hartrace_etmv4::{Context, Is};

/// An element that a packet becomes, in program order.
#[derive(Copy, Clone, Debug)]
pub(super) enum Element {
    /// P0: outcomes, the lowest bit first; a set bit is E.
    Atoms {
        bits: u32,
        len: u8,
    },
    /// P0.
    Exception {
        number: u16,
        target: bool,
        with_address: bool,
    },
    /// P0: instructions up to and including the one at this address.
    Source(u64),
    /// P0.
    Q {
        count: u32,
        address: Option<(u64, Is)>,
    },
    /// P0 if flagged as such.
    ExceptionReturn {
        p0: bool,
    },
    /// P0.
    FunctionReturn,
    /// P0: an element from before the synchronisation.
    Unseen,
    /// P0 if flagged as such.
    Transaction(Transaction, bool),
    Address(u64, Is),
    Context(Context, Is),
    /// A context, then an address.
    Arrival(Context, u64, Is),
    TraceOn,
    TraceInfo,
    Events(u8),
    Timestamp {
        value: u64,
        cycles: Option<u32>,
    },
    Cycles(Option<u32>),
    TimestampMarker,
    Instrumentation {
        el: u8,
        value: u64,
    },
}

impl Element {
    /// Number of P0 elements that it counts as.
    pub(super) fn p0(&self) -> u32 {
        match self {
            Self::Atoms { len, .. } => (*len).into(),
            Self::Exception { .. }
            | Self::Source(..)
            | Self::Q { .. }
            | Self::ExceptionReturn { p0: true }
            | Self::FunctionReturn
            | Self::Unseen
            | Self::Transaction(_, true) => 1,
            _ => 0,
        }
    }

    /// Whether it remains when elements around it are cancelled: it belongs to the trace, not to
    /// the program.
    pub(super) fn stays(&self) -> bool {
        matches!(
            self,
            Self::Events(_)
                | Self::Timestamp { .. }
                | Self::Cycles(_)
                | Self::TimestampMarker
                | Self::Instrumentation { .. }
        )
    }
}
