//! Places in a capture where a part may start.

use crate::event::StreamPos;
use crate::tracer::Announced;
use hartrace_etrace::{Ioptions, Start};

/// The place where a part starts.
#[derive(Copy, Clone, Debug)]
pub(super) struct Place {
    /// Offset in the capture.
    pub(super) byte: u64,
    /// Packets before it.
    pub(super) packet: u64,
    /// The modes in force.
    pub(super) options: Ioptions,
    /// The last announcement to the sinks: at a synchronisation, another tracer has followed the
    /// stream up to it.
    pub(super) announced: Announced,
}

/// The synchronisation that the next part starts with.
#[derive(Copy, Clone, Debug)]
pub(super) struct NextSync {
    pub(super) at: StreamPos,
    pub(super) source: Option<u16>,
    pub(super) start: Start,
}
