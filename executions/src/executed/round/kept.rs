//! What can be kept of a trace that could not be written to its end.

use super::{FRAMING, RoundError};
use hartrace_decoder::{Config, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{FrameError, Item};
use hartrace_etrace::{Params, Unit};
use std::io::{self, Read};

/// Whole packets at the start of a trace.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Their bytes.
    pub(super) bytes: u64,
    /// The instructions that they decode to.
    pub(super) instructions: u64,
}

/// Counts instructions.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.0 += u64::from(run.insns());
    }
}

impl Kept {
    /// Reads the start of a trace, as whoever opens it later will.
    pub(super) fn read(
        mut input: impl Read,
        params: Params,
        tvec: Vec<(u8, u64)>,
        image: &Image,
    ) -> Result<Self, RoundError> {
        let config = Config { params, unit: Unit::Hartrace, tvec, ..Config::default() };
        let mut tracer = Tracer::new(config, image)?;
        let (mut count, mut kept, mut packet) = (Count::default(), Self::default(), 0);
        let (mut bytes, mut room) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            let read = match input.read(&mut room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(RoundError::Write)?,
            };
            bytes.extend_from_slice(room.get(..read).unwrap_or_default());
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let parsed = match FRAMING.parse(rest) {
                    Ok(parsed) => parsed,
                    Err(FrameError::Incomplete { .. }) => break,
                    Err(error) => return Err(error.into()),
                };
                if let Item::Frame(frame) = parsed.item {
                    let at = StreamPos { packet, byte: kept.bytes };
                    tracer.feed_bits(at, frame.payload(), &mut count);
                }
                packet += 1;
                kept.bytes += parsed.used as u64;
                rest = rest.get(parsed.used..).unwrap_or_default();
            }
            let used = bytes.len() - rest.len();
            bytes.drain(..used);
            if read == 0 {
                break;
            }
        }
        tracer.finish(&mut count);
        kept.instructions = count.0;
        Ok(kept)
    }
}
