//! Decodes E-Trace in a recording, piece by piece.

use super::{Piece, Recording};
use crate::programs::Programs;
use hartrace_decoder::stream::{Decode, Decoded, StreamError, Transport};
use hartrace_decoder::{Config, Event, Fault, RecordingLoss, Sink, StreamPos};
use hartrace_etrace::Ioptions;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;

/// How to decode the pieces of a recording.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The programs, and what changes in them.
    pub programs: &'a Programs,
    /// How to read payloads.
    pub config: Config,
    /// The modes in force up to the first support packet.
    pub options: Ioptions,
    /// How the trace carries its payloads.
    pub transport: Transport,
    /// Number of threads.
    pub threads: NonZeroUsize,
}

impl<'p> Pieces<'p> {
    /// Decodes all pieces of a recording, in the order of time, each with the code that was there then. Every
    /// piece is decoded by itself, since a trace unit is started for it, into sinks that `sink` creates, one
    /// per source. They are passed to `join`, in order; its error ends the decoding. Positions are bytes of
    /// the piece, whose place in the file `sink` gets. Frames without a source are of the CPU whose buffer they are in.
    pub fn run<S: Sink + Send, E: Send>(
        &self,
        sink: impl Fn(Placed<'p>) -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<(), E> + Send,
    ) -> Result<(), StreamError<E>> {
        for piece in &self.recording.pieces {
            let thread = piece.tid.map(u64::from);
            self.programs.set_moment(piece.time.unwrap_or(u64::MAX), thread);
            self.piece(piece, &sink, &mut join)?;
        }
        Ok(())
    }

    fn piece<S: Sink + Send, E: Send>(
        &self,
        piece: &'p Piece,
        sink: &(impl Fn(Placed<'p>) -> S + Sync),
        join: &mut (impl FnMut(Decoded<S>) -> Result<(), E> + Send),
    ) -> Result<(), StreamError<E>> {
        let find_sync = self.transport.find_sync || piece.overwritten;
        let transport = Transport { find_sync, ..self.transport };
        let decode = Decode {
            options: self.options,
            threads: self.threads,
            ..Decode::new(self.config.clone(), self.programs.images(), transport)
        };
        let cpu = piece.cpu.and_then(|cpu| u16::try_from(cpu).ok());
        let parts = &piece.bytes[..];
        let bytes = self.recording.bytes(piece);
        let mut sources = BTreeSet::new();
        decode.run(
            &bytes[..],
            |_| sink(Placed::in_parts(parts)),
            |Decoded { sinks, bytes, packets }| {
                let sinks = sinks.into_iter().map(|(source, sink)| (source.or(cpu), sink));
                let sinks: Vec<(Option<u16>, S)> = sinks.collect();
                sources.extend(sinks.iter().map(|(source, _)| *source));
                join(Decoded { sinks, bytes, packets })
            },
        )?;
        let lost = match (piece.truncated, piece.partial) {
            (true, _) => RecordingLoss::Truncated,
            (_, true) => RecordingLoss::Partial,
            _ => return Ok(()),
        };
        // Any source in the buffer may have lost something.
        if sources.is_empty() {
            sources.insert(cpu);
        }
        let byte = parts.last().map_or(piece.at, |part| part.end.saturating_sub(1) as u64);
        let gap = |source| {
            let mut gap = sink(Placed::default());
            gap.event(StreamPos { packet: 0, byte }, Event::Gap(Fault::Recording(lost)));
            (source, gap)
        };
        let sinks = sources.into_iter().map(gap).collect();
        join(Decoded { sinks, bytes: bytes.len() as u64, packets: 0 }).map_err(StreamError::Join)
    }
}

/// Where a piece is in its file.
#[derive(Copy, Clone, Debug, Default)]
pub struct Placed<'p>(Option<&'p [Range<usize>]>);

impl<'p> Placed<'p> {
    /// A piece that consists of these parts of the file.
    fn in_parts(parts: &'p [Range<usize>]) -> Self {
        Self(Some(parts))
    }

    /// Whether the piece is the file, as by default.
    #[inline]
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.0.is_none()
    }

    /// A position in the file.
    #[must_use]
    pub fn place(&self, at: StreamPos) -> StreamPos {
        let Some(parts) = self.0 else { return at };
        let (mut left, mut end) = (at.byte, 0);
        for part in parts {
            let length = part.len() as u64;
            if left < length {
                return StreamPos { byte: left.saturating_add(part.start as u64), ..at };
            }
            (left, end) = (left.saturating_sub(length), part.end as u64);
        }
        StreamPos { byte: left.saturating_add(end), ..at }
    }
}
