//! The state of a tracer between two payloads.

use crate::event::StreamPos;
use hartrace_etrace::{BranchCount, Payload};

/// Whether the position of the hart is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Tracing has not started, or has ended.
    Off,
    /// The hart is at the `pc` of the walk.
    On,
    /// The trace is in a gap.
    Lost,
}

/// The last known action of the hart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Latest {
    /// An instruction retired.
    Retired,
    /// The hart took a trap, and no instruction of the handler has retired.
    Trapped,
}

/// The last announcement to the sink.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    /// Instructions follow: [`Event::On`](crate::Event::On).
    On,
    /// Nothing follows, up to the next [`Event::On`](crate::Event::On).
    Off,
}

/// The address from which the addresses of formats 0, 1 and 2 are differences.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// The address that was reported last.
    Known(u64),
    /// No address has been reported, or a payload that may have reported one was lost.
    Lost,
}

/// An instruction at a synchronisation, while it is not known whether it retired (D2).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// There is none.
    Nothing,
    /// The next payload decides. If it retired, it is reported with this position.
    MayNotHaveRetired(StreamPos),
    /// The present payload shows that it did not retire.
    DidNotRetire,
}

impl Held {
    /// Ends the wait. Returns the position of the waiting instruction, if there is one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<StreamPos> {
        match std::mem::replace(self, Self::Nothing) {
            Self::MayNotHaveRetired(at) => Some(at),
            Self::Nothing | Self::DidNotRetire => None,
        }
    }
}

/// Whether a payload of format 1 or 2 always has the same meaning at the same place, so that a
/// remembered path can be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Recall {
    /// The key of the payload holds everything that its meaning depends on.
    Possible,
    /// The meaning depends on more than the key.
    Impossible,
}

/// A reported address whose visit is not determined: `pc` is the first visit.
#[derive(Copy, Clone, Debug)]
pub(super) struct Undecided {
    pub(super) address: u64,
    pub(super) irdepth: Option<u32>,
}

/// The rest of a payload that stands for many branches.
#[derive(Copy, Clone, Debug)]
pub(super) struct Unfinished {
    pub(super) at: StreamPos,
    pub(super) rest: BranchCount,
}

/// A payload that may be the closing one of the reference models (C2): the next one decides.
#[derive(Clone, Debug)]
pub(super) struct MayBeClosing {
    pub(super) at: StreamPos,
    pub(super) payload: Payload,
}
