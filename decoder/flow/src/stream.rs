//! A capture, as it arrives, to what retired: on one thread or several, in bounded memory.
//!
//! The stream is cut into parts. Every part is decoded into a sink of its own, and the sinks are
//! joined in the order of the stream: together they have received exactly what one [`Tracer`] on one
//! thread delivers. Parts that start with a synchronisation need nothing of what comes before them
//! and are decoded at the same time; where none comes for long, a part goes on with the tracer of the
//! part before.
//!
//! Memory holds some parts per thread, and what they decode to. That may be much more: a few bytes
//! stand for a thousand instructions, and format 0.0 for billions. A sink that keeps it says when it is
//! full.
//!
//! [`Tracer`]: crate::Tracer

mod join;
mod lane;
mod part;

use crate::{Config, Images, Sink};
use hartrace_encap::Framing;
use hartrace_etrace::{Ioptions, ParamsError};
use join::Join;
use lane::{Lane, Place, Sinks};
use part::{Part, Parts};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// How a capture holds its payloads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The frames around them.
    pub framing: Framing,
    /// Whose payloads to take; all if `None`.
    pub source: Option<u16>,
    /// The capture may start in the middle of a frame.
    pub find_sync: bool,
}

impl Transport {
    /// All of a capture that starts with a frame.
    pub const fn new(framing: Framing) -> Self {
        Self { framing, source: None, find_sync: false }
    }
}

/// A capture to be decoded.
#[derive(Clone, Debug)]
pub struct Decode<'a> {
    /// How to read it.
    pub config: Config,
    /// The programs.
    pub images: Images<'a>,
    /// How it holds its payloads.
    pub transport: Transport,
    /// The modes in force up to the first support packet.
    pub options: Ioptions,
    /// Threads to decode on.
    pub threads: NonZeroUsize,
    /// Bytes of a part, about: what is in memory is some of them per thread.
    pub part: usize,
}

/// What was decoded of one part of a capture.
#[derive(Debug)]
pub struct Decoded<S> {
    /// A sink for each source that the part has payloads of; `None` is the source of frames that
    /// name none.
    pub sinks: Vec<(Option<u16>, S)>,
    /// Bytes of the capture up to here, at least.
    pub bytes: u64,
    /// Packets of the capture up to here, at least.
    pub packets: u64,
}

impl<'a> Decode<'a> {
    /// One thread, parts of 64 KiB.
    pub fn new(config: Config, images: impl Into<Images<'a>>, transport: Transport) -> Self {
        Self {
            config,
            images: images.into(),
            transport,
            options: Ioptions::default(),
            threads: NonZeroUsize::MIN,
            part: 1 << 16,
        }
    }

    /// Decodes all of `input`. Every part goes to sinks that `sink` makes, one per source, and then to
    /// `join`, in the order of the stream. An error of `join` ends it all. What has become of a part is
    /// passed on early if a sink is full ([`Sink::is_full`]).
    ///
    /// Sources are told apart and followed each on its own. Where there are several, no more than one
    /// thread has work to do: choose one for speed ([`Transport::source`]).
    pub fn run<R, S, E>(
        &self,
        input: R,
        sink: impl Fn(Option<u16>) -> S + Sync,
        join: impl FnMut(Decoded<S>) -> Result<(), E> + Send,
    ) -> Result<(), StreamError<E>>
    where
        R: Read + Send,
        S: Sink + Send,
        E: Send,
    {
        self.config.params.layout(self.config.unit)?;
        let parts = Mutex::new(Parts::new(self, input)?);
        let join = Join::new(join, self.threads);
        let work = || {
            let mut lane = None;
            loop {
                // The parts lie behind a lock: one thread looks for the end of its part while the
                // others decode theirs.
                let part = match parts.lock().unwrap_or_else(PoisonError::into_inner).next() {
                    Ok(Some(part)) => part,
                    Ok(None) => break,
                    Err(error) => {
                        join.fail_late(StreamError::Input(error));
                        break;
                    }
                };
                let number = part.number;
                let Place { byte: bytes, packet: packets, .. } = part.start;
                let flush = |sinks| join.put_some(number, Decoded { sinks, bytes, packets });
                let go_on = match self.decode(part, &mut lane, Sinks::new(&sink, &flush)) {
                    Ok(decoded) => join.put(number, decoded),
                    Err(error) => join.fail(StreamError::Params(error)),
                };
                if !go_on {
                    break;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.get() {
                scope.spawn(work);
            }
            work();
        });
        join.finish()
    }

    /// Decodes a part with the lane of this thread, or that of the part before.
    fn decode<S: Sink, F: Fn(Option<u16>) -> S>(
        &self,
        part: Part<'a>,
        mine: &mut Option<Lane<'a>>,
        mut sinks: Sinks<'_, S, F>,
    ) -> Result<Decoded<S>, ParamsError> {
        let mut lane = match part.from.and_then(|from| from.recv().ok()) {
            Some(lane) => lane,
            None => {
                let mut lane = mine.take().unwrap_or_else(|| Lane::new(self));
                lane.restart(&part.start);
                lane
            }
        };
        lane.feed(&part.bytes, &mut sinks)?;
        if let Some(until) = &part.until {
            lane.approach(until, &mut sinks)?;
        } else if part.last {
            lane.finish(&mut sinks)?;
        }
        let (bytes, packets) = (lane.bytes(), lane.packets());
        match part.to {
            // Nobody waits for it if all is to end.
            Some(to) => drop(to.send(lane)),
            None => *mine = Some(lane),
        }
        Ok(Decoded { sinks: sinks.made, bytes, packets })
    }
}

/// Why a capture could not be decoded to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError<E> {
    /// The parameters do not go together.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The capture cannot be read.
    #[error("the capture cannot be read: {0}")]
    Input(io::Error),
    /// What was decoded could not be taken.
    #[error("{0}")]
    Join(E),
}
