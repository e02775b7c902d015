//! What a tracer knows between two payloads.

use crate::event::StreamPos;
use hartrace_etrace::{BranchCount, Payload};

/// Whether the place of the hart is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Tracing has not started, or has ended.
    Off,
    /// The hart is at the `pc` of the walk.
    On,
    /// In a gap.
    Lost,
}

/// What the hart did last, as far as the trace tells.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Latest {
    /// An instruction retired.
    Retired,
    /// It took a trap, and nothing of the handler has retired.
    Trapped,
}

/// What the sink was told last.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    /// Instructions follow: [`Event::On`](crate::Event::On).
    On,
    /// Nothing follows, up to the next [`Event::On`](crate::Event::On).
    Off,
}

/// The address that those of formats 0, 1 and 2 are differences from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// The address that was reported last.
    Known(u64),
    /// None was reported yet, or a payload was lost that may have reported one.
    Lost,
}

/// An instruction that a synchronisation named, while it is open whether it retired (D2).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// There is none.
    Nothing,
    /// The next payload decides. If it retired, it is reported with this position.
    MayNotHaveRetired(StreamPos),
    /// The present payload says that it did not retire.
    DidNotRetire,
}

impl Held {
    /// Ends the wait. Returns the position of the instruction that waited, if there is one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<StreamPos> {
        match std::mem::replace(self, Self::Nothing) {
            Self::MayNotHaveRetired(at) => Some(at),
            Self::Nothing | Self::DidNotRetire => None,
        }
    }
}

/// Whether a payload of format 1 or 2 means the same whenever it arrives at the same place: then a path
/// that is remembered can be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Recall {
    /// The key of the payload holds all that its meaning depends on.
    Possible,
    /// More matters than the key holds.
    Impossible,
}

/// An address that was reported without saying which visit it is: `pc` is the first one.
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
