//! The input and the result of decoding.

use super::packets::PacketCounts;
use super::place::Place;
use crate::config::Config;
use crate::images::Images;
use hartrace_encap::{Deframer, Framing};
use hartrace_etrace::{Ioptions, ParamsError};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// Bytes that sinks may use together while they wait for their turn, as a rule. Those of the part whose turn it is are
/// passed on at once: this bounds how far the others are ahead. The text between two synchronisations, often ten
/// megabytes, should fit, or else a thread has to wait in the middle.
pub const AHEAD: usize = 1 << 25;

/// How a capture carries its payloads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The framing of the payloads.
    pub framing: Framing,
    /// The source to decode; all sources if `None`.
    pub source: Option<u16>,
    /// The capture may start in the middle of a frame.
    pub find_sync: bool,
}

impl Transport {
    /// All sources of a capture that starts with a frame.
    pub const fn new(framing: Framing) -> Self {
        Self { framing, source: None, find_sync: false }
    }

    /// A deframer at a place of a capture.
    pub(super) fn deframer(&self, place: &Place) -> Deframer {
        let mut deframer = Deframer::at(self.framing, place.byte);
        if place.byte == 0 && self.find_sync {
            deframer.resync(&mut |_, _| {});
        }
        deframer
    }
}

/// A capture to be decoded.
#[derive(Clone, Debug)]
pub struct Decode<'a> {
    /// How to read it.
    pub config: Config,
    /// The programs.
    pub images: Images<'a>,
    /// How it carries its payloads.
    pub transport: Transport,
    /// The modes in force up to the first support packet.
    pub options: Ioptions,
    /// Number of threads.
    pub threads: NonZeroUsize,
    /// Approximate size of a part in bytes. A few parts per thread are in memory.
    pub part: usize,
    /// Bytes that sinks may use together while they wait for their turn: see [`AHEAD`].
    pub ahead: usize,
    /// Where [`run`](Self::run) adds up the packets of the parts that it decodes, if they are to be counted.
    pub counted: Option<&'a Mutex<PacketCounts>>,
}

/// The result of decoding one part of a capture.
#[derive(Debug)]
pub struct Decoded<S> {
    /// A sink for each source with payloads in this part; `None` is the source of frames without a
    /// source id.
    pub sinks: Vec<(Option<u16>, S)>,
    /// Lower bound for the number of bytes of the capture up to here.
    pub bytes: u64,
    /// Lower bound for the number of packets of the capture up to here.
    pub packets: u64,
}

impl<'a> Decode<'a> {
    /// Decodes on one thread, in parts of 64 KiB.
    pub fn new(config: Config, images: impl Into<Images<'a>>, transport: Transport) -> Self {
        Self {
            config,
            images: images.into(),
            transport,
            options: Ioptions::default(),
            threads: NonZeroUsize::MIN,
            part: 1 << 16,
            ahead: AHEAD,
            counted: None,
        }
    }
}

/// Why a capture could not be decoded to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError<E> {
    /// The parameters contradict each other.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The capture cannot be read.
    #[error("the capture cannot be read: {0}")]
    Input(io::Error),
    /// The caller's `join` function returned an error.
    #[error("{0}")]
    Join(E),
}
