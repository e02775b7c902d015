/// Removes the trailers of a DSTREAM capture: the last eight bytes of each 512-byte block belong to
/// the probe.
///
/// Positions in the remaining bytes do not count the trailers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Dstream {
    /// Bytes of the block so far.
    within: usize,
}

/// Bytes of a block, and of the trace in it.
const BLOCK: usize = 512;
const TRACE: usize = 504;

impl Dstream {
    /// Starts at the beginning of a capture.
    pub const fn new() -> Self {
        Self { within: 0 }
    }

    /// Processes the next bytes and passes the trace bytes on, in pieces.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            let trace = TRACE.saturating_sub(self.within);
            let block = BLOCK.saturating_sub(self.within);
            let taken = bytes.len().min(if trace > 0 { trace } else { block });
            let (piece, rest) = bytes.split_at_checked(taken).unwrap_or((bytes, &[]));
            if trace > 0 {
                out(piece);
            }
            self.within = self.within.saturating_add(taken);
            if self.within >= BLOCK {
                self.within = 0;
            }
            bytes = rest;
        }
    }
}
