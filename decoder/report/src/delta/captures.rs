//! Decodes two captures at once, to compare them.

use super::{Delta, Pieces, delta};
use crate::{Error, Gaps, Noted, OneSource, Silent};
use hartrace_capture::follow::Follow;
use hartrace_decoder::calls::Functions;
use hartrace_decoder::stream::StreamError;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Parts of a capture that wait to be compared.
const PARTS: usize = 8;

/// Approximate bytes of a part.
const PART: usize = 1 << 16;

/// A capture of one source.
#[derive(Debug)]
pub struct Capture<'a, I, P> {
    /// How to decode it.
    pub follow: &'a Follow,
    /// Its bytes.
    pub input: I,
    /// Where gaps are reported.
    pub gaps: Gaps,
    /// Is told the number of bytes so far.
    pub progress: P,
}

/// How the decoding of a capture ended: with its gaps, or with an error.
pub type Ended = Result<Gaps, StreamError<Error>>;

/// Decodes two captures of one program, and compares what they executed. `functions` are those of the program;
/// `rows` is the number of stretches to keep.
pub fn captures<I, P>(
    captures: [Capture<'_, I, P>; 2],
    functions: &Arc<Functions>,
    rows: usize,
) -> (Delta, [Ended; 2])
where
    I: Read + Send,
    P: FnMut(u64) + Send,
{
    thread::scope(|scope| {
        let sides = captures.map(|capture| {
            let (parts, received) = sync_channel(PARTS);
            (received, scope.spawn(move || capture.decode(&parts)))
        });
        let [(a, of_a), (b, of_b)] = sides;
        let found = delta([a.into_iter(), b.into_iter()], functions, rows);
        let ended = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (found, [of_a, of_b].map(ended))
    })
}

impl<I: Read + Send, P: FnMut(u64) + Send> Capture<'_, I, P> {
    /// Decodes it, and passes it on in parts.
    fn decode(self, parts: &SyncSender<Pieces>) -> Ended {
        let Self { follow, input, mut gaps, mut progress } = self;
        let (mut source, mut found) = (OneSource::default(), Silent::default());
        let strict = gaps.is_strict();
        let make = || Noted::new(Pieces::default(), strict);
        let flow = follow.run(input, PART, make, |decoded| {
            found = Silent { bytes: decoded.bytes, packets: decoded.packets };
            progress(decoded.bytes);
            for (id, noted) in decoded.sinks {
                source.take(id, gaps.file()).map_err(Error::Sources)?;
                let (pieces, events) = noted.into_parts();
                for (at, event) in events {
                    gaps.event(id, at, &event);
                    gaps.check()?;
                }
                if parts.send(pieces).is_err() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        gaps.end(flow);
        gaps.silent(found);
        Ok(gaps)
    }
}
