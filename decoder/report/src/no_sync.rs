//! Captures that contain no trace.

use std::fmt;

/// A capture without a synchronisation, from which nothing can be decoded.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct NoSync {
    /// Bytes of the capture.
    pub bytes: u64,
    /// Packets of the sources that were asked for.
    pub packets: u64,
}

impl NoSync {
    /// What to look at: the input itself, its frames, or its packets.
    pub fn hint(&self) -> &'static str {
        match self {
            Self { bytes: 0, .. } => "a capture that is not empty",
            Self { packets: 0, .. } => {
                "another --framing or --source, or a capture with more than null packets"
            }
            _ => "a longer capture, an encoder that synchronises more often, or other --params",
        }
    }
}

impl fmt::Display for NoSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, packets } = self;
        match (bytes, packets) {
            (0, _) => f.write_str("the capture is empty"),
            (_, 0) => write!(f, "no packet in {bytes} bytes"),
            (_, 1) => write!(f, "one packet in {bytes} bytes, which is not a synchronisation"),
            _ => write!(f, "{packets} packets in {bytes} bytes, none of them a synchronisation"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found() {
        let text = |bytes, packets| NoSync { bytes, packets }.to_string();
        assert_eq!(text(0, 0), "the capture is empty");
        assert_eq!(text(4096, 0), "no packet in 4096 bytes");
        assert_eq!(text(9, 3), "3 packets in 9 bytes, none of them a synchronisation");
        assert_ne!(NoSync { bytes: 1, packets: 0 }.hint(), NoSync { bytes: 1, packets: 1 }.hint());
    }
}
