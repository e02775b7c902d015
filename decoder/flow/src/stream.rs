//! Decodes a capture as it arrives, on one thread or several, in bounded memory.
//!
//! The stream is cut into parts. Every part is decoded into a separate sink, and the sinks are joined
//! in the order of the stream: together they have received exactly what one [`Tracer`] on one thread
//! delivers. Parts that start with a synchronisation do not depend on the parts before them and are
//! decoded in parallel. If no synchronisation arrives for a long time, a part continues with the
//! tracers of the part before. Where one of several sources can start, the others cannot: each part then
//! continues with the tracers of the part before, in several shares of the sources, each in parallel.
//!
//! Memory holds a few parts per thread and the content of their sinks. The sinks may use much more: a
//! few bytes stand for a thousand instructions, and a payload of format 0.0 for billions. A sink that
//! stores instructions reports when it is full.
//!
//! [`Tracer`]: crate::Tracer

mod cuts;
mod decode;
mod demux;
mod join;
mod packets;
mod part;
mod place;
mod prepare;
mod source_sinks;
mod stretch;

pub use cuts::{Cut, Cuts, SourceCuts};
pub use decode::{AHEAD, Decode, Decoded, StreamError, Transport};
pub use packets::{Lengths, PacketCounter, PacketCounts};
pub use prepare::{Before, Prepare, Preparer};
pub use stretch::{Ends, Stretch, StretchError, SyncPoint};

use crate::sink::Sink;
use demux::Demux;
use hartrace_etrace::ParamsError;
use join::Join;
use part::{Part, Parts};
use place::Place;
use prepare::Preparing;
use source_sinks::SourceSinks;
use std::io::Read;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

impl<'a> Decode<'a> {
    /// Decodes all of `input`. Every part is decoded into sinks that `sink` creates, one per source.
    /// They are then passed to `join`, in the order of the stream. An error of `join` ends the
    /// decoding, and so does a panic of `sink`, of a sink or of `join`, which is passed on to the caller.
    /// A sink that is full ([`Sink::is_full`]) is passed on before its part ends.
    ///
    /// Each source is followed separately. If there are several, each is decoded by one thread at a time, and all
    /// by one if the sinks depend on their order ([`Sink::ORDERED`]).
    pub fn run<R, S, E>(
        &self,
        mut input: R,
        sink: impl Fn(Option<u16>) -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<(), E> + Send,
    ) -> Result<(), StreamError<E>>
    where
        R: Read + Send,
        S: Sink + Send,
        E: Send,
    {
        let nothing = || -> Box<Prepare<'_, S>> { Box::new(|_, _, _| ()) };
        self.run_part_by_part(&mut input, &sink, &nothing, &mut join)
    }

    /// The same, with sinks that are prepared before they are passed to `join`: by the thread that decoded them, while
    /// the others decode. Each thread has its own function for it, made by `preparer`.
    pub fn run_prepared<R, S, E>(
        &self,
        mut input: R,
        sink: impl Fn(Option<u16>) -> S + Sync,
        preparer: &Preparer<'_, S>,
        mut join: impl FnMut(Decoded<S>) -> Result<(), E> + Send,
    ) -> Result<(), StreamError<E>>
    where
        R: Read + Send,
        S: Sink + Send,
        E: Send,
    {
        self.run_part_by_part(&mut input, &sink, preparer, &mut join)
    }

    /// The same, compiled only once for each type of sink.
    fn run_part_by_part<S: Sink + Send, E: Send>(
        &self,
        input: &mut (dyn Read + Send),
        sink: &(dyn Fn(Option<u16>) -> S + Sync),
        preparer: &Preparer<'_, S>,
        join: &mut (dyn FnMut(Decoded<S>) -> Result<(), E> + Send),
    ) -> Result<(), StreamError<E>> {
        self.config.params.layout(self.config.unit)?;
        let parts = Mutex::new(Parts::new(self, input, S::ORDERED)?);
        let join = Join::new(join, self.threads, self.ahead);
        let work = || {
            let _watch = join.watch();
            let (mut demux, mut preparing) = (None, Preparing::new(preparer));
            loop {
                // A lock guards the parts: one thread looks for the end of its part while the others
                // decode theirs.
                let part = match parts.lock().unwrap_or_else(PoisonError::into_inner).next() {
                    Ok(Some(part)) => part,
                    Ok(None) => break,
                    Err(error) => {
                        join.fail_late(StreamError::Input(error));
                        break;
                    }
                };
                let (number, more) = (part.number, part.share.has_next());
                let Place { byte: bytes, packet: packets, .. } = part.start;
                let mut flush = |mut sinks: Vec<_>| {
                    preparing.prepare(number, &mut sinks);
                    join.put_some(number, Decoded { sinks, bytes, packets })
                };
                let sinks = SourceSinks::new(sink, &mut flush);
                let go_on = match self.decode(part, &mut demux, sinks) {
                    Ok(mut decoded) => {
                        preparing.prepare(number, &mut decoded.sinks);
                        join.put(number, decoded, more)
                    }
                    Err(error) => join.fail(StreamError::Params(error)),
                };
                if !go_on {
                    break;
                }
            }
        };
        std::thread::scope(|scope| {
            // Fewer threads do the same work, if the system has no more.
            let start = |_| Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..self.threads.get()).map_while(start).collect();
            work();
            for other in others {
                if let Err(panic) = other.join() {
                    resume_unwind(panic);
                }
            }
        });
        join.finish()
    }

    /// Decodes a part with the demultiplexer of this thread, or with that of the part before.
    fn decode<S: Sink>(
        &self,
        part: Part<'a>,
        mine: &mut Option<Demux<'a>>,
        mut sinks: SourceSinks<'_, S>,
    ) -> Result<Decoded<S>, ParamsError> {
        let mut demux = match part.from.map(|from| from.recv()) {
            Some(Ok(mut demux)) => {
                demux.share(part.share);
                demux
            }
            // The part before was not decoded to its end, so nobody wants this one.
            Some(Err(_)) => {
                let Place { byte: bytes, packet: packets, .. } = part.start;
                return Ok(Decoded { sinks: Vec::new(), bytes, packets });
            }
            None => {
                let mut demux = match mine.take() {
                    Some(demux) => demux,
                    None => Demux::new(self)?,
                };
                demux.restart(&part.start);
                demux
            }
        };
        if let Some((all, counts)) = self.counted.zip(demux.count(&part.bytes, part.last)) {
            all.lock().unwrap_or_else(PoisonError::into_inner).join(counts);
        }
        demux.feed(&part.bytes, &mut sinks)?;
        let (bytes, packets) = (demux.bytes(), demux.packets());
        if sinks.stopped {
            // Nobody wants the rest: of a single payload, that may be billions of instructions.
            return Ok(Decoded { sinks: sinks.made, bytes, packets });
        }
        if let Some(sync) = &part.next_sync {
            demux.approach(sync, &mut sinks)?;
        } else if part.last {
            demux.finish(&mut sinks)?;
        }
        match part.to.split_last() {
            // There may be no receivers if the decoding ends.
            Some((last, others)) => {
                others.iter().for_each(|to| drop(to.send(demux.clone())));
                drop(last.send(demux));
            }
            None => *mine = Some(demux),
        }
        Ok(Decoded { sinks: sinks.made, bytes, packets })
    }
}
