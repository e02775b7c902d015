//! Traces that do not end.

use std::error::Error;
use std::fmt;

/// A trace that was on at the last packet of its capture, or before another trace. Either the rest is missing, or the
/// capture was read while the hart was traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unended {
    /// The capture.
    pub file: String,
    /// The source, where the framing names sources.
    pub source: Option<u16>,
    /// Bytes of the capture up to there.
    pub bytes: u64,
    /// Another trace follows, so captures were joined.
    pub joined: bool,
}

impl fmt::Display for Unended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, source, bytes, joined } = self;
        write!(f, "{file}: the trace does not end: tracing was on at the last packet")?;
        write!(f, ", up to byte {bytes}")?;
        source.map_or(Ok(()), |id| write!(f, ", source {id}"))?;
        if *joined { f.write_str("; a second trace starts there") } else { Ok(()) }
    }
}

impl Error for Unended {}
