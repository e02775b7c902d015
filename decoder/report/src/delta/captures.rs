//! Decodes two captures at once, to compare them.

use super::compare::{Compare, Watch};
use super::skip::{Ahead, skip};
use super::tape::{Decoding, Start, Tape, lock};
use super::{Delta, Pieces};
use crate::Error;
use crate::decode::{Noted, OneSource, Origin, decode};
use crate::gaps::{Gaps, NoSync};
use hartrace_capture::decode::CaptureDecoder;
use hartrace_decoder::calls::Functions;
use hartrace_decoder::stream::{Decoded, StreamError};
use hartrace_decoder::{Event, StreamPos};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ScopedJoinHandle};

/// Parts of a capture that wait to be compared.
const PARTS: usize = 8;

/// Approximate bytes of a part.
const PART: usize = 1 << 16;

/// Bytes before the first difference that are decoded, so that the active functions there are known.
pub const CONTEXT: u64 = 1 << 20;

/// The bytes of a capture.
type Input<'a> = Box<dyn Read + Send + 'a>;

/// Is told the number of bytes so far.
type Progress<'a> = Box<dyn FnMut(u64) + Send + 'a>;

/// A capture of one source.
pub struct Capture<'a> {
    /// How to decode it.
    pub follow: &'a CaptureDecoder,
    /// Its bytes.
    pub input: Input<'a>,
    /// Where gaps are reported.
    pub gaps: Gaps,
    /// Is told the number of bytes so far.
    pub progress: Progress<'a>,
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("gaps", &self.gaps).finish_non_exhaustive()
    }
}

/// How the decoding of a capture ended: with its gaps, or with an error.
pub type Ended = Result<Gaps, StreamError<Error>>;

/// Decodes two captures of one program, and compares what they executed. `functions` are those of the program;
/// `rows` is the number of stretches to keep.
///
/// What both have in common, byte for byte, is not decoded, but for `context` bytes before the first difference;
/// [`Delta::skipped`] says so. So are longer stretches after a difference, from a synchronisation on that follows the same
/// instruction in both; [`Delta::later`] counts them. Gaps in there are not reported. Without `context`, or if a gap is an error,
/// everything is decoded.
pub fn captures(
    captures: [Capture<'_>; 2],
    functions: &Arc<Functions>,
    rows: usize,
    context: Option<u64>,
) -> (Delta, [Ended; 2]) {
    let [a, b] = &captures;
    let strict = a.gaps.is_strict() || b.gaps.is_strict();
    let context = context.filter(|_| !strict && a.follow.is_same(b.follow));
    let mut both = captures.map(|capture| Reading::new(capture, context.is_none()));
    let mut compare = Compare::new(functions, rows);
    let mut starts = both
        .each_ref()
        .map(|reading| Start { at: StreamPos::default(), options: reading.follow.setup.options });
    if let Some(context) = context {
        starts = skipped(&mut both, starts, context);
        compare.delta.skipped = Some(starts[0].at).filter(|at| *at != StreamPos::default());
    }
    // Short stretches are decoded sooner than the decoders are started anew.
    let least = context.map(|context| context / 16);
    loop {
        let (stopped, flows) = round(&mut both, starts, &mut compare, least);
        if let (Some(Stop::Skip { from, to }), [Ok(_), Ok(_)]) = (&stopped, &flows) {
            starts = skipped(&mut both, *to, 0);
            compare.delta.later.add(*from, starts.map(|start| start.at));
            continue;
        }
        let ([a, b], [of_a, of_b]) = (both, flows);
        let mut ended = [a.ended(of_a), b.ended(of_b)];
        if let Some(Stop::Failed(side, error)) = stopped
            && let Some(ended) = ended.get_mut(side)
        {
            *ended = Err(StreamError::Join(error));
        }
        return (compare.finish(), ended);
    }
}

/// Skips what both captures have in common from there on; returns where to go on.
fn skipped([a, b]: &mut [Reading<'_>; 2], from: [Start; 2], context: u64) -> [Start; 2] {
    skip([&mut lock(&a.tape), &mut lock(&b.tape)], from, context, &mut a.progress)
}

/// A capture that is being read.
struct Reading<'a> {
    follow: &'a CaptureDecoder,
    tape: Mutex<Tape<'a, Input<'a>>>,
    gaps: Gaps,
    progress: Progress<'a>,
    source: OneSource,
    found: NoSync,
}

impl<'a> Reading<'a> {
    fn new(capture: Capture<'a>, whole: bool) -> Self {
        let Capture { follow, input, gaps, progress } = capture;
        let tape = Mutex::new(Tape::new(input, follow, whole));
        let (source, found) = (OneSource::default(), NoSync::default());
        Self { follow, tape, gaps, progress, source, found }
    }

    fn ended(self, flow: Flow) -> Ended {
        let Self { mut gaps, found, follow, .. } = self;
        let flow = flow?;
        gaps.end(flow);
        gaps.silent(found);
        if flow.is_continue() && follow.setup.tells_its_end() {
            gaps.ended(found).map_err(|error| StreamError::Join(error.into()))?;
        }
        Ok(gaps)
    }
}

/// Whether decoding came to the end of the capture.
type Flow = Result<ControlFlow<()>, StreamError<Error>>;

/// A gap, or where decoding resumed, of a source.
type Note = (Option<u16>, StreamPos, Event);

/// What was decoded from a part of a capture.
struct Part {
    pieces: Pieces,
    notes: Vec<Note>,
}

/// Why both captures are not decoded further.
enum Stop {
    /// They are the same from the places where they have been compared up to others.
    Skip { from: [StreamPos; 2], to: [Start; 2] },
    /// One of them has a gap, and none is allowed.
    Failed(usize, Error),
}

/// Decodes both captures from these places on, and compares them up to their ends, or to a stretch to skip.
fn round(
    both: &mut [Reading<'_>; 2],
    starts: [Start; 2],
    compare: &mut Compare,
    least: Option<u64>,
) -> (Option<Stop>, [Flow; 2]) {
    let [notes_a, notes_b] = [const { RefCell::new(VecDeque::new()) }; 2];
    let noted = |notes: &RefCell<VecDeque<Note>>, part: Part| {
        notes.borrow_mut().extend(part.notes);
        part.pieces
    };
    thread::scope(|scope| {
        let mut starts = starts.into_iter();
        let [a, b] = both.each_mut().map(|reading| {
            let Reading { follow, tape, gaps, progress, source, found } = reading;
            let (sender, parts) = sync_channel(PARTS);
            let (strict, file) = (gaps.is_strict(), gaps.file().to_owned());
            let decoder =
                Decoder { follow, start: starts.next(), strict, file, source, found, progress };
            let input = Decoding(&*tape);
            let decoding =
                thread::Builder::new().spawn_scoped(scope, move || decoder.run(input, &sender));
            (&*tape, gaps, parts, decoding)
        });
        let ((tape_a, gaps_a, parts_a, of_a), (tape_b, gaps_b, parts_b, of_b)) = (a, b);
        let mut watching = Watching {
            notes: [&notes_a, &notes_b],
            gaps: [gaps_a, gaps_b],
            ahead: Ahead::new([tape_a, tape_b], least),
            stop: None,
        };
        let parts_a = parts_a.into_iter().map(|part| noted(&notes_a, part));
        let parts_b = parts_b.into_iter().map(|part| noted(&notes_b, part));
        // Whatever is left of the parts ends here, and with it the decoders.
        compare.run(parts_a, parts_b, &mut watching);
        if watching.stop.is_none() {
            watching.tell([u64::MAX; 2]);
        }
        (watching.stop, [joined(of_a), joined(of_b)])
    })
}

/// How the decoding on a thread ended, if the system had a thread for it.
fn joined(thread: io::Result<ScopedJoinHandle<'_, Flow>>) -> Flow {
    let thread = thread.map_err(StreamError::Input)?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Follows how far two captures have been compared.
struct Watching<'t, 'a> {
    /// Gaps that have been decoded, but not compared.
    notes: [&'t RefCell<VecDeque<Note>>; 2],
    gaps: [&'t mut Gaps; 2],
    ahead: Ahead<'t, 'a, Input<'a>>,
    stop: Option<Stop>,
}

impl Watching<'_, '_> {
    /// Reports gaps up to these offsets: not as they are decoded, since some of them may be decoded twice.
    fn tell(&mut self, up_to: [u64; 2]) {
        let sides = self.gaps.iter_mut().zip(self.notes).zip(up_to).enumerate();
        for (side, ((gaps, notes), up_to)) in sides {
            let mut notes = notes.borrow_mut();
            let count = notes.partition_point(|(_, at, _)| at.byte <= up_to);
            for (id, at, event) in notes.drain(..count) {
                gaps.event(id, at, &event);
                if let Err(missing) = gaps.check() {
                    self.stop.get_or_insert(Stop::Failed(side, missing.into()));
                }
            }
        }
    }
}

impl Watch for Watching<'_, '_> {
    fn step(&mut self, at: [StreamPos; 2], alike: Option<bool>) -> ControlFlow<()> {
        self.tell(at.map(|at| at.byte));
        self.ahead.forget(at);
        match alike {
            Some(alike) => {
                let found = self.ahead.passes(at, alike);
                let skip = found.map(|to| Stop::Skip { from: at, to });
                self.stop = self.stop.take().or(skip);
            }
            None => self.ahead.differs(),
        }
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Decodes one of both captures.
struct Decoder<'r, 'p> {
    follow: &'r CaptureDecoder,
    start: Option<Start>,
    strict: bool,
    file: String,
    source: &'r mut OneSource,
    found: &'r mut NoSync,
    progress: &'r mut Progress<'p>,
}

impl Decoder<'_, '_> {
    /// Decodes from a place on, and passes on what was decoded, in parts.
    fn run(self, input: impl Read + Send, parts: &SyncSender<Part>) -> Flow {
        let Self { follow, start, strict, file, source, found, progress } = self;
        let first = start.map_or(StreamPos::default(), |start| start.at);
        let make = || Noted::new(Pieces::default(), strict);
        let join = |decoded: Decoded<Noted<Pieces>>| {
            let StreamPos { byte: bytes, packet: packets } =
                after(first, StreamPos { byte: decoded.bytes, packet: decoded.packets });
            *found = NoSync { bytes, packets };
            progress(bytes);
            for (id, noted) in decoded.sinks {
                source.take(id, &file).map_err(Error::Sources)?;
                let (mut pieces, notes) = noted.into_parts();
                let notes = notes.into_iter().map(|(at, event)| (id, after(first, at), event));
                let notes = notes.collect();
                pieces.list.iter_mut().for_each(|(at, _)| *at = after(first, *at));
                if parts.send(Part { pieces, notes }).is_err() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let origin = match start.filter(|start| start.at != StreamPos::default()) {
            Some(start) => Origin::Rest(start.options, input),
            None => Origin::Capture(input),
        };
        decode(follow, origin, PART, None, &make, join)
    }
}

/// A place, counted from the start of the capture instead of from another place.
fn after(start: StreamPos, at: StreamPos) -> StreamPos {
    StreamPos {
        byte: start.byte.saturating_add(at.byte),
        packet: start.packet.saturating_add(at.packet),
    }
}
