//! Decodes a stretch of one source, without anything before it.

use super::decode::Decode;
use super::demux::Demux;
use super::place::{NextSync, Place};
use super::source_sinks::SourceSinks;
use crate::event::StreamPos;
use crate::sink::Sink;
use hartrace_encap::{Item, Kind, MAX_FRAME};
use hartrace_etrace::{Ioptions, ParamsError, Payload, Start};
use std::cell::RefCell;
use std::io::{self, ErrorKind, Read};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// A synchronisation, with everything that a tracer needs to start from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SyncPoint {
    /// The modes in force.
    pub options: Ioptions,
    /// The payload.
    pub start: Start,
    /// The timestamp of its frame.
    pub timestamp: Option<u64>,
}

/// A stretch of a capture: the trace of one source from a synchronisation, or from its first frame, up to a
/// synchronisation, or to the end of the capture.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Offset of its first frame.
    pub byte: u64,
    /// The modes in force there.
    pub options: Ioptions,
    /// It starts with a synchronisation up to which another stretch leads.
    pub resumes: bool,
    /// Offset of the synchronisation that the next stretch starts with; `None` if the stretch leads to the end of
    /// the capture.
    pub end: Option<u64>,
}

/// The two ends of a stretch, as they were found.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The synchronisation at its start, if it resumes.
    pub first: Option<SyncPoint>,
    /// The synchronisation that the next stretch starts with, read with the modes that are in force at the end of
    /// this one.
    pub next: Option<SyncPoint>,
}

/// Why a stretch could not be decoded to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StretchError<E> {
    /// The parameters contradict each other.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The capture cannot be read.
    #[error("the capture cannot be read: {0}")]
    Input(io::Error),
    /// There is no synchronisation of this source where the stretch should start or end.
    #[error("no synchronisation at byte {0}")]
    NoSync(u64),
    /// The caller's `join` function returned an error.
    #[error("{0}")]
    Join(E),
}

impl Decode<'_> {
    /// Decodes a stretch of the source that [`Transport::source`](super::Transport::source) names, on one thread.
    /// `input` starts with its first frame. Its sinks are passed to `join`, in order; a sink that is full
    /// ([`Sink::is_full`]) is passed on before the end.
    ///
    /// The stretches of a source, one after the other, deliver what the whole capture does.
    ///
    /// # Errors
    ///
    /// Those of `input` and of `join`, and if there is no synchronisation where there should be one.
    pub fn run_stretch<S: Sink, E>(
        &self,
        input: &mut dyn Read,
        stretch: &Stretch,
        sink: &dyn Fn() -> S,
        join: &mut dyn FnMut(S) -> Result<(), E>,
    ) -> Result<Ends, StretchError<E>> {
        let Stretch { byte, options, resumes, end } = *stretch;
        let source = self.transport.source;
        let mut demux = Demux::new(self)?;
        demux.restart(&Place { byte, packet: 0, options, source: resumes.then_some(source) });
        let (join, failed) = (RefCell::new(join), RefCell::new(None));
        let mut pass = |sinks: Vec<(Option<u16>, S)>| {
            let outcome = sinks.into_iter().try_for_each(|(_, sink)| (*join.borrow_mut())(sink));
            *failed.borrow_mut() = outcome.err();
            failed.borrow().is_none()
        };
        let make = |_| sink();
        let mut sinks = SourceSinks::new(&make, &mut pass);
        let mut ends = Ends::default();
        let mut left = end.map_or(u64::MAX, |end| end.saturating_sub(byte));
        let mut chunk = vec![0; CHUNK];
        let mut start = resumes;
        while left > 0 && !sinks.stopped {
            let room = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
            let got = fill(input, chunk.get_mut(..room).unwrap_or_default());
            let got = got.map_err(StretchError::Input)?;
            let bytes = chunk.get(..got).unwrap_or_default();
            if std::mem::take(&mut start) {
                let first = self.sync_at(bytes, options).ok_or(StretchError::NoSync(byte))?;
                ends.first = Some(first);
            }
            demux.feed(bytes, &mut sinks)?;
            left = left.saturating_sub(got as u64);
            if got < room {
                break;
            }
        }
        if let Some(end) = end.filter(|_| !sinks.stopped) {
            let bytes = chunk.get_mut(..MAX_FRAME).unwrap_or_default();
            let got = fill(input, bytes).map_err(StretchError::Input)?;
            let bytes = chunk.get(..got).unwrap_or_default();
            let found = self.sync_at(bytes, demux.options_of(source)).filter(|_| left == 0);
            let next = found.ok_or(StretchError::NoSync(end))?;
            let at = StreamPos { packet: demux.packets(), byte: end };
            demux.approach(&NextSync { at, source, start: next.start }, &mut sinks)?;
            ends.next = Some(next);
        } else if !sinks.stopped {
            demux.finish(&mut sinks)?;
        }
        sinks.flush();
        failed.into_inner().map_or(Ok(ends), |error| Err(StretchError::Join(error)))
    }

    /// The synchronisation at the start of `bytes`, if there is one, and it is of the source to decode.
    fn sync_at(&self, bytes: &[u8], options: Ioptions) -> Option<SyncPoint> {
        let Item::Frame(frame) = self.transport.framing.parse(bytes).ok()?.item else {
            return None;
        };
        let header = frame.header();
        if header.source != self.transport.source || header.kind != Kind::Instruction {
            return None;
        }
        let layout = self.config.params.layout(self.config.unit).ok()?;
        match Payload::parse(&layout, options, &mut frame.payload()) {
            Ok(Payload::Start(start)) => {
                Some(SyncPoint { options, start, timestamp: header.timestamp })
            }
            _ => None,
        }
    }
}

/// Reads until the buffer is full, or the input ends; returns the number of bytes.
fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut full: usize = 0;
    while let Some(rest) = buffer.get_mut(full..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => full = full.saturating_add(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(full)
}
