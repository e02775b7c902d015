//! Decodes a capture into a report.

use crate::collect::{Input, Make, Outcome, Take};
use crate::gaps::NoSync;
use crate::limits::{Limited, SharedLimits};
use crate::{Collect, Error, Printer, Report};
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::perf::{Placed, Recording};
use hartrace_decoder::stream::{Decoded, Prepare, Preparer, StreamError};
use hartrace_etrace::Ioptions;
use std::io::{Read, Write};
use std::ops::ControlFlow;

pub use crate::collect::{Decoder, Noted};
pub use crate::erased::{Erased, OtherSink};
pub use crate::part::{Item, Part, Retired};
pub use crate::printer::{OneSource, SeveralSources};
pub use crate::report::PART_BYTES;

/// Approximate bytes in a part of a capture, where results are printed as they come. The text of a part may be a thousand
/// times as long, and has to wait for its turn; if it is short enough to stay in a cache, threads gain more.
pub const SMALL: usize = 1 << 11;

/// The same where there is one result at the end. Parts are large, since what one part has learnt of the
/// program is not known to the next.
pub const LARGE: usize = 1 << 20;

/// Where a trace is read from.
#[derive(Debug)]
pub enum Origin<'r, I> {
    /// A capture, as it arrives.
    Capture(I),
    /// The rest of a capture, from a frame on, and the modes in force there: see [`CaptureDecoder::run_rest`].
    Rest(Ioptions, I),
    /// E-Trace in a recording of perf.
    Recording(&'r Recording),
}

impl<'r, I> Origin<'r, I> {
    /// The same, read in another way.
    pub fn map<J>(self, wrap: impl FnOnce(I) -> J) -> Origin<'r, J> {
        match self {
            Self::Capture(input) => Origin::Capture(wrap(input)),
            Self::Rest(options, input) => Origin::Rest(options, wrap(input)),
            Self::Recording(recording) => Origin::Recording(recording),
        }
    }

    /// The same, of a type that does not depend on the input.
    pub fn as_dyn<'i>(&'i mut self) -> Origin<'r, &'i mut Input<'i>>
    where
        I: Read + Send,
    {
        match self {
            Self::Capture(input) => Origin::Capture(input),
            Self::Rest(options, input) => Origin::Rest(*options, input),
            Self::Recording(recording) => Origin::Recording(recording),
        }
    }
}

impl<R: Report + Send, W: Write + Send> Printer<R, W> {
    /// Decodes everything within the limits, in parts of about `size` bytes, and finishes the report, even if
    /// an error follows. `progress` is told the number of bytes so far.
    ///
    /// Limits that count instructions need a [`CaptureDecoder`] with one thread.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, the report not be written, or there is a gap where none is allowed.
    pub fn follow<I: Read + Send>(
        &mut self,
        follow: &CaptureDecoder,
        origin: Origin<'_, I>,
        size: usize,
        limits: Option<&SharedLimits>,
        mut progress: impl FnMut(u64) + Send,
    ) -> Result<(), StreamError<Error>> {
        let strict = self.gaps.is_strict();
        let (maker, preparer) = (self.report.maker(), self.report.preparer());
        // A recording is of pieces that the kernel took while the hart was traced.
        let is_recording = matches!(origin, Origin::Recording(_));
        let mut found = NoSync::default();
        let join = |Decoded { sinks, bytes, packets }: Decoded<Noted<R::Part>>| {
            found = NoSync { bytes, packets };
            progress(bytes);
            self.join(sinks)?;
            let done = limits.is_some_and(SharedLimits::is_done);
            Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let make = || Noted::new(maker(), strict);
        let outcome =
            decode_prepared(follow, origin, size, limits, &make, preparer.as_deref(), join);
        let printed = self.finish().map_err(|error| StreamError::Join(error.into()));
        self.gaps.end(*outcome.as_ref().unwrap_or(&ControlFlow::Break(())));
        let mut ended = Ok(());
        if let Ok(ControlFlow::Continue(())) = outcome {
            self.gaps.silent(found);
            if follow.setup.tells_its_end() && !is_recording {
                ended = self.gaps.ended(found).map_err(|error| StreamError::Join(error.into()));
            }
        }
        let unreached =
            limits.and_then(SharedLimits::unreached).filter(|_| self.gaps.has_started());
        let reached = unreached.map_or(Ok(()), |why| {
            let file = self.gaps.file().into();
            Err(StreamError::Join(Error::Unreached { file, why }))
        });
        outcome.and(printed).and(ended).and(reached)
    }
}

/// Decodes everything within the limits, in parts of about `size` bytes. Each part goes to a sink that `make` makes, and
/// the sinks go to `join`, in order. Breaks when `join` does.
///
/// # Errors
///
/// If the capture cannot be read, and those of `join`.
pub fn decode<P: Collect + 'static, E: Send>(
    follow: &CaptureDecoder,
    origin: Origin<'_, impl Read + Send>,
    size: usize,
    limits: Option<&SharedLimits>,
    make: &Make<'_, P>,
    join: impl FnMut(Decoded<Noted<P>>) -> Result<ControlFlow<()>, E> + Send,
) -> Result<ControlFlow<()>, StreamError<E>> {
    decode_prepared(follow, origin, size, limits, make, None, join)
}

/// The same, with sinks that are prepared before they go to `join`, unless there are limits, or a decoder that is
/// compiled for them alone.
fn decode_prepared<P: Collect + 'static, E: Send>(
    follow: &CaptureDecoder,
    mut origin: Origin<'_, impl Read + Send>,
    size: usize,
    limits: Option<&SharedLimits>,
    make: &Make<'_, P>,
    preparer: Option<&Preparer<'_, P>>,
    mut join: impl FnMut(Decoded<Noted<P>>) -> Result<ControlFlow<()>, E> + Send,
) -> Result<ControlFlow<()>, StreamError<E>> {
    let mut failed = None;
    let mut take = |decoded: Decoded<Noted<P>>| {
        join(decoded).unwrap_or_else(|error| {
            failed = Some(error);
            ControlFlow::Break(())
        })
    };
    let outcome = match (origin.as_dyn(), limits, P::decoder()) {
        // Only a whole capture has to be decoded as fast as possible.
        (Origin::Capture(input), None, Some(decoder)) => {
            decoder(follow, input, size, make, &mut take)
        }
        (origin, limits, _) => {
            let preparer = preparer.filter(|_| limits.is_none());
            let job = Job { follow, origin, size, limits, ahead: P::AHEAD };
            match P::REPEATS {
                true => erased(job, make, preparer, &mut take, decode_repeated),
                false => erased(job, make, preparer, &mut take, decode_each),
            }
        }
    };
    match (outcome, failed) {
        (_, Some(error)) => Err(StreamError::Join(error)),
        (Ok(flow), None) => Ok(flow),
        (Err(StreamError::Input(error)), None) => Err(StreamError::Input(error)),
        (Err(StreamError::Params(error)), None) => Err(StreamError::Params(error)),
    }
}

/// What to decode.
struct Job<'j, 'i> {
    follow: &'j CaptureDecoder,
    origin: Origin<'j, &'i mut Input<'i>>,
    size: usize,
    limits: Option<&'j SharedLimits>,
    /// Bytes of parts that may wait for their turn.
    ahead: usize,
}

/// A sink whose type is not known, within limits.
type Within<'l, const REPEATS: bool> = Limited<'l, Noted<Erased<REPEATS>>>;

/// Decodes into sinks whose types are not known.
type DecodeErased<const REPEATS: bool> = for<'j> fn(
    Job<'j, '_>,
    &Make<'_, Erased<REPEATS>>,
    &Preparer<'_, Within<'j, REPEATS>>,
    &mut Take<'_, Erased<REPEATS>>,
) -> Outcome;

/// Decodes with a decoder for sinks of any type.
fn erased<P: Collect + 'static, const REPEATS: bool>(
    job: Job<'_, '_>,
    make: &Make<'_, P>,
    preparer: Option<&Preparer<'_, P>>,
    take: &mut Take<'_, P>,
    decode: DecodeErased<REPEATS>,
) -> Outcome {
    let make = || make().map(Erased::new);
    let mut other: Option<OtherSink> = None;
    let mut taking = |Decoded { sinks, bytes, packets }: Decoded<Noted<Erased<REPEATS>>>| {
        let sinks = sinks.into_iter();
        let sinks = sinks.map(|(source, sink)| Ok((source, sink.try_map(Erased::into_sink)?)));
        match sinks.collect() {
            Ok(sinks) => take(Decoded { sinks, bytes, packets }),
            Err(error) => {
                other = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let preparer = || -> Box<Prepare<'_, Within<'_, REPEATS>>> {
        let mut prepare = preparer.map(|preparer| preparer());
        Box::new(move |before, source, limited| {
            let part = limited.sink.sink.as_sink();
            if let (Some(prepare), Some(part)) = (&mut prepare, part) {
                prepare(before, source, part);
            }
        })
    };
    let outcome = decode(job, &make, &preparer, &mut taking)?;
    match other {
        None => Ok(outcome),
        Some(other) => Err(StreamError::Input(other.into())),
    }
}

/// The decoder of sinks that receive every turn of a loop. It is no generic function, or every crate that uses it would compile
/// it anew.
fn decode_each<'j>(
    job: Job<'j, '_>,
    make: &Make<'_, Erased<false>>,
    preparer: &Preparer<'_, Within<'j, false>>,
    take: &mut Take<'_, Erased<false>>,
) -> Outcome {
    decode_erased(job, make, preparer, take)
}

/// The decoder of sinks that accept repetitions.
fn decode_repeated<'j>(
    job: Job<'j, '_>,
    make: &Make<'_, Erased<true>>,
    preparer: &Preparer<'_, Within<'j, true>>,
    take: &mut Take<'_, Erased<true>>,
) -> Outcome {
    decode_erased(job, make, preparer, take)
}

fn decode_erased<'j, const REPEATS: bool>(
    job: Job<'j, '_>,
    make: &Make<'_, Erased<REPEATS>>,
    preparer: &Preparer<'_, Within<'j, REPEATS>>,
    take: &mut Take<'_, Erased<REPEATS>>,
) -> Outcome {
    let Job { follow, origin, size, limits, ahead } = job;
    let placed = |placed| Limited::new(make(), limits, placed);
    let make = || placed(Placed::default());
    let join = |Decoded { sinks, bytes, packets }: Decoded<Limited<'_, _>>| {
        let sinks = sinks.into_iter().map(|(source, limited)| (source, limited.sink));
        Ok(take(Decoded { sinks: sinks.collect(), bytes, packets }))
    };
    match origin {
        Origin::Capture(input) => follow.run_prepared(input, size, ahead, make, preparer, join),
        Origin::Rest(options, input) => follow.run_rest(options, input, size, make, join),
        Origin::Recording(recording) => follow.run_recorded(recording, placed, join),
    }
}
