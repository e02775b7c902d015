//! Decodes E-Trace in a recording, piece by piece.

use super::{Piece, Recording};
use crate::programs::Programs;
use hartrace_decoder::stream::{Decode, Decoded, StreamError, Transport};
use hartrace_decoder::{Config, Event, Fault, Path, Run, Sink, StreamPos};
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

impl Pieces<'_> {
    /// Decodes all pieces of a recording, in the order of time, each with the code that was there then. Every
    /// piece is decoded by itself, since a trace unit is started for it, into sinks that `sink` creates, one
    /// per source. They are passed to `join`, in order; its error ends the decoding. Positions are bytes of
    /// the file. Frames without a source are of the CPU whose buffer they are in.
    pub fn run<S: Sink + Send, E: Send>(
        &self,
        sink: impl Fn() -> S + Sync,
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
        piece: &Piece,
        sink: &(impl Fn() -> S + Sync),
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
            |_| Placed { sink: sink(), parts },
            |Decoded { sinks, bytes, packets }| {
                let sinks = sinks.into_iter().map(|(source, sink)| (source.or(cpu), sink.sink));
                let sinks: Vec<(Option<u16>, S)> = sinks.collect();
                sources.extend(sinks.iter().map(|(source, _)| *source));
                join(Decoded { sinks, bytes, packets })
            },
        )?;
        let lost = match (piece.truncated, piece.partial) {
            (true, _) => "the buffer of the recording was full, and trace was lost",
            (_, true) => "trace was lost within this stretch of the recording",
            _ => return Ok(()),
        };
        // Any source in the buffer may have lost something.
        if sources.is_empty() {
            sources.insert(cpu);
        }
        let byte = parts.last().map_or(piece.at, |part| part.end.saturating_sub(1) as u64);
        let gap = |source| {
            let mut gap = sink();
            gap.event(StreamPos { packet: 0, byte }, Event::Gap(Fault::Other(lost)));
            (source, gap)
        };
        let sinks = sources.into_iter().map(gap).collect();
        join(Decoded { sinks, bytes: bytes.len() as u64, packets: 0 }).map_err(StreamError::Join)
    }
}

/// Tells a sink positions in the file.
struct Placed<'p, S> {
    sink: S,
    /// The parts of the file that the piece consists of.
    parts: &'p [Range<usize>],
}

impl<S> Placed<'_, S> {
    fn place(&self, at: StreamPos) -> StreamPos {
        let (mut left, mut end) = (at.byte, 0);
        for part in self.parts {
            let length = part.len() as u64;
            if left < length {
                return StreamPos { byte: left.saturating_add(part.start as u64), ..at };
            }
            (left, end) = (left.saturating_sub(length), part.end as u64);
        }
        StreamPos { byte: left.saturating_add(end), ..at }
    }
}

impl<S: Sink> Sink for Placed<'_, S> {
    const ADDRESSES: bool = S::ADDRESSES;
    const ORDERED: bool = S::ORDERED;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.sink.run(self.place(at), run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.sink.path(self.place(at), path);
    }

    fn is_full(&self) -> bool {
        self.sink.is_full()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.sink.event(self.place(at), event);
    }
}
