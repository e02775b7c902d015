//! Decodes two captures at once, to compare them.

use super::skip::{Skipped, skip};
use super::{Delta, Pieces, delta};
use crate::{Error, Gaps, Noted, OneSource, Silent};
use hartrace_capture::follow::Follow;
use hartrace_decoder::calls::Functions;
use hartrace_decoder::stream::{Decoded, StreamError};
use hartrace_decoder::{Event, StreamPos};
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Parts of a capture that wait to be compared.
const PARTS: usize = 8;

/// Approximate bytes of a part.
const PART: usize = 1 << 16;

/// Bytes before the first difference that are decoded, so that the active functions there are known.
pub const CONTEXT: u64 = 1 << 20;

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
///
/// What both have in common, byte for byte, is not decoded, but for `context` bytes before the first difference;
/// [`Delta::skipped`] says so. Gaps in there are not reported. Without `context`, or if a gap is an error, everything is
/// decoded.
pub fn captures<I, P>(
    mut captures: [Capture<'_, I, P>; 2],
    functions: &Arc<Functions>,
    rows: usize,
    context: Option<u64>,
) -> (Delta, [Ended; 2])
where
    I: Read + Send,
    P: FnMut(u64) + Send,
{
    let [a, b] = &mut captures;
    let strict = a.gaps.is_strict() || b.gaps.is_strict();
    let context = context.filter(|_| !strict && a.follow.is_same(b.follow));
    let inputs = [&mut a.input, &mut b.input];
    let (skipped, read) = match context {
        Some(context) => match skip(a.follow, inputs, context, &mut a.progress) {
            Ok(found) => found,
            Err((side, error)) => return (Delta::default(), unreadable(captures, side, error)),
        },
        None => (None, Default::default()),
    };
    thread::scope(|scope| {
        let mut read = read.into_iter();
        let sides = captures.map(|capture| {
            let (parts, received) = sync_channel(PARTS);
            let read = read.next().unwrap_or_default();
            (received, scope.spawn(move || capture.decode(skipped, &read, &parts)))
        });
        let [(a, of_a), (b, of_b)] = sides;
        let mut found = delta([a.into_iter(), b.into_iter()], functions, rows);
        found.skipped = skipped.map(|skipped| skipped.at);
        let ended = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (found, [of_a, of_b].map(ended))
    })
}

/// One of both captures cannot be read.
fn unreadable<I, P>(
    captures: [Capture<'_, I, P>; 2],
    side: usize,
    error: std::io::Error,
) -> [Ended; 2] {
    let [a, b] = captures.map(|capture| Ok(capture.gaps));
    let failed = Err(StreamError::Input(error));
    if side == 0 { [failed, b] } else { [a, failed] }
}

impl<I: Read + Send, P: FnMut(u64) + Send> Capture<'_, I, P> {
    /// Decodes it from a place on, of which `read` has been read already, and passes it on in parts.
    fn decode(self, skipped: Option<Skipped>, read: &[u8], parts: &SyncSender<Pieces>) -> Ended {
        let Self { follow, input, mut gaps, mut progress } = self;
        let Skipped { at: start, options } = skipped.unwrap_or_default();
        let input = read.chain(input);
        let (mut source, mut found) = (OneSource::default(), Silent::default());
        let strict = gaps.is_strict();
        let make = || Noted::new(Pieces::default(), strict);
        let join = |decoded: Decoded<Noted<Pieces>>| {
            let StreamPos { byte: bytes, packet: packets } =
                after(start, StreamPos { byte: decoded.bytes, packet: decoded.packets });
            found = Silent { bytes, packets };
            progress(bytes);
            for (id, noted) in decoded.sinks {
                source.take(id, gaps.file()).map_err(Error::Sources)?;
                let (mut pieces, events): (_, Vec<(StreamPos, Event)>) = noted.into_parts();
                for (at, event) in events {
                    gaps.event(id, after(start, at), &event);
                    gaps.check()?;
                }
                pieces.0.iter_mut().for_each(|(at, _)| *at = after(start, *at));
                if parts.send(pieces).is_err() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let flow = match skipped {
            Some(_) => follow.run_rest(options, input, PART, make, join),
            None => follow.run(input, PART, make, join),
        }?;
        gaps.end(flow);
        gaps.silent(found);
        Ok(gaps)
    }
}

/// A place, counted from the start of the capture instead of from another place.
fn after(start: StreamPos, at: StreamPos) -> StreamPos {
    StreamPos {
        byte: start.byte.saturating_add(at.byte),
        packet: start.packet.saturating_add(at.packet),
    }
}
