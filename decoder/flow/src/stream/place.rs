//! Places in a capture where a part may start.

use crate::event::StreamPos;
use hartrace_etrace::{Ioptions, Start};

/// The place where a part starts.
#[derive(Copy, Clone, Debug)]
pub(super) struct Place {
    /// Offset in the capture.
    pub(super) byte: u64,
    /// Packets before it.
    pub(super) packet: u64,
    /// The modes in force for the source, and for any source at the start of the capture.
    pub(super) options: Ioptions,
    /// The source whose synchronisation is here, and which another tracer has followed up to it. Any other
    /// source starts later.
    pub(super) source: Option<Option<u16>>,
}

/// The synchronisation that the next part starts with.
#[derive(Copy, Clone, Debug)]
pub(super) struct NextSync {
    pub(super) at: StreamPos,
    pub(super) source: Option<u16>,
    pub(super) start: Start,
}
