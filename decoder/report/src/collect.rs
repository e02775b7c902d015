//! What a part of a capture is decoded into, with its gaps.

use hartrace_capture::decode::CaptureDecoder;
use hartrace_decoder::stream::{AHEAD, Decoded, StreamError};
use hartrace_decoder::{Event, Path, Run, Sink, StreamPos};
use std::convert::Infallible;
use std::io::Read;
use std::ops::ControlFlow;

/// What a part of a capture is decoded into.
pub trait Collect: Sink + Send {
    /// Bytes of parts that may wait for their turn, if the decoder is shared: see
    /// [`Decode::ahead`](hartrace_decoder::stream::Decode::ahead).
    const AHEAD: usize = AHEAD;

    /// A decoder that is compiled for it alone. Without one, it gets one that is shared ([`Erased`](crate::decode::Erased)),
    /// which will do where decoding takes a small share of the time.
    fn decoder() -> Option<Decoder<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Takes an event outside the stretch that is reported; see [`Limited`](crate::limits::Limited).
    fn aside(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}

/// A capture.
pub(crate) type Input<'a> = dyn Read + Send + 'a;

/// Makes sinks.
pub(crate) type Make<'a, P> = dyn Fn() -> Noted<P> + Sync + 'a;

/// Takes parts, and says whether more are wanted.
pub(crate) type Take<'a, P> = dyn FnMut(Decoded<Noted<P>>) -> ControlFlow<()> + Send + 'a;

pub(crate) type Outcome = Result<ControlFlow<()>, StreamError<Infallible>>;

/// Decodes a capture in parts of about so many bytes. Nothing of its type depends on who calls it, so that it is compiled
/// once, here.
pub type Decoder<P> =
    fn(&CaptureDecoder, &mut Input<'_>, usize, &Make<'_, P>, &mut Take<'_, P>) -> Outcome;

/// A decoder for one type of sink.
pub(crate) fn own<P: Collect>(
    follow: &CaptureDecoder,
    input: &mut Input<'_>,
    size: usize,
    make: &Make<'_, P>,
    take: &mut Take<'_, P>,
) -> Outcome {
    follow.run(input, size, make, |decoded| Ok(take(decoded)))
}

/// Notes after which a part is passed on.
const FULL: usize = 1 << 12;

/// A sink, and the gaps to report to the user, with where tracing starts and ends.
#[derive(Debug, Default)]
pub struct Noted<S> {
    pub(crate) sink: S,
    /// Instructions that the sink got.
    pub(crate) instructions: u64,
    /// Gaps, where decoding resumed, and where traces start and end.
    pub(crate) gaps: Vec<(StreamPos, Event)>,
    /// The first gap ends it.
    strict: bool,
    ended: bool,
}

impl<S> Noted<S> {
    /// Starts without gaps. If `strict`, the sink gets nothing after the first gap.
    pub fn new(sink: S, strict: bool) -> Self {
        Self { sink, instructions: 0, gaps: Vec::new(), strict, ended: false }
    }

    /// Instructions that the sink got.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The sink, and the gaps with where decoding resumed, and where traces start and end.
    pub fn into_parts(self) -> (S, Vec<(StreamPos, Event)>) {
        (self.sink, self.gaps)
    }

    /// The same gaps, with another sink.
    pub(crate) fn map<T>(self, sink: impl FnOnce(S) -> T) -> Noted<T> {
        let Self { sink: from, instructions, gaps, strict, ended } = self;
        Noted { sink: sink(from), instructions, gaps, strict, ended }
    }

    /// The same gaps, with another sink if there is one.
    pub(crate) fn try_map<T, E>(self, sink: impl FnOnce(S) -> Result<T, E>) -> Result<Noted<T>, E> {
        let Self { sink: from, instructions, gaps, strict, ended } = self;
        Ok(Noted { sink: sink(from)?, instructions, gaps, strict, ended })
    }

    /// Whether a gap has ended it.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Whether a source has a trace in it. Support packets alone are none.
    pub(crate) fn has_trace(&self) -> bool {
        self.gaps.iter().any(|(_, event)| matches!(event, Event::Gap(_) | Event::On))
    }

    /// Records gaps and resumptions, and where traces start and end.
    fn note(&mut self, at: StreamPos, event: Event) {
        let noted = matches!(event, Event::Gap(_) | Event::On | Event::Off(_) | Event::Restart);
        if noted && !self.ended {
            self.gaps.push((at, event));
            self.ended = self.strict && matches!(event, Event::Gap(_));
        }
    }
}

impl<S: Sink> Sink for Noted<S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;
    const REPEATS: bool = S::REPEATS;

    fn repeats(&self) -> bool {
        self.sink.repeats()
    }

    #[inline]
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        if !self.ended {
            self.instructions = self.instructions.wrapping_add(run.insns().into());
            self.sink.run(at, run);
        }
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        if !self.ended {
            let instructions = u64::from(run.insns()).wrapping_mul(times);
            self.instructions = self.instructions.wrapping_add(instructions);
            self.sink.repeat(at, run, times);
        }
    }

    fn end_turn(&mut self) {
        if !self.ended {
            self.sink.end_turn();
        }
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        if !self.ended {
            self.instructions = self.instructions.wrapping_add(path.insns());
            self.sink.path(at, path);
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.gaps.len() >= FULL || self.ended || self.sink.is_full()
    }

    fn bytes(&self) -> Option<usize> {
        let gaps = self.gaps.capacity().saturating_mul(size_of::<(StreamPos, Event)>());
        Some(self.sink.bytes()?.saturating_add(gaps))
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if !self.ended {
            self.sink.event(at, event);
        }
        self.note(at, event);
    }
}

impl<S: Collect> Collect for Noted<S> {
    fn aside(&mut self, at: StreamPos, event: Event) {
        if !self.ended {
            self.sink.aside(at, event);
        }
        self.note(at, event);
    }
}
