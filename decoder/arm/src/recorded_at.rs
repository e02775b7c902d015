//! What a recording says of trace in it.

use hartrace_decoder::RecordingLoss;

/// When and where a stretch of trace was recorded, for what the trace itself does not say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RecordedAt {
    /// When it ended, as the log of the recording counts time.
    pub time: u64,
    /// The thread that ran, for trace without context identifiers.
    pub context: Option<u32>,
    /// Whether processes are identified by their virtual context.
    pub vmid: bool,
    /// Why trace was lost at its end.
    pub lost: Option<RecordingLoss>,
}
