//! Cuts a capture into parts.

use super::decode::{Decode, Transport};
use super::demux::{Demux, Share};
use super::place::{NextSync, Place};
use crate::event::StreamPos;
use crate::images::Images;
use hartrace_bits::BitReader;
use hartrace_encap::{Deframer, FrameError, FrameHeader, Framing, Item, Kind};
use hartrace_etrace::{Compat, Layout, ParamsError, Payload};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// How many times longer than requested a part may become while waiting for a synchronisation.
const PATIENCE: usize = 16;

/// A piece of a capture that is decoded separately.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// Running number, from 0.
    pub(super) number: u64,
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) start: Place,
    /// The sources to decode; the others are decoded from the same bytes as another part.
    pub(super) share: Share,
    /// Source of the previous part's demultiplexer, if this part continues with it.
    pub(super) from: Option<Receiver<Demux<'a>>>,
    /// Destinations of the demultiplexer, if the next part continues with it; one for each share of the sources.
    pub(super) to: Vec<Sender<Demux<'a>>>,
    /// The synchronisation that the next part starts with.
    pub(super) next_sync: Option<NextSync>,
    /// There is no next part.
    pub(super) last: bool,
}

/// Reads a capture and cuts it.
pub(super) struct Parts<'a, R> {
    input: R,
    /// Approximate size of a part in bytes.
    size: usize,
    scan: Option<Scan<'a>>,
    /// The bytes that have been read, from `start` on.
    buffer: Vec<u8>,
    start: Place,
    number: u64,
    /// Sources of the next part's demultiplexer, one for each share of the traces.
    from: Vec<Receiver<Demux<'a>>>,
    /// Parts that have been cut, but not returned: the same bytes, for other shares.
    cut: VecDeque<Part<'a>>,
    /// Into how many shares several sources are divided.
    shares: NonZeroUsize,
    /// Buffer for reading.
    chunk: Vec<u8>,
    /// The last read did not fill the chunk: the sender may pause for a while.
    pause: bool,
    /// The whole capture has been read.
    ended: bool,
    /// The last part has been returned.
    done: bool,
}

impl<'a, R: Read> Parts<'a, R> {
    /// Sources may be decoded in any order, unless they are `ordered`.
    pub(super) fn new(decode: &Decode<'a>, input: R, ordered: bool) -> Result<Self, ParamsError> {
        let start = Place { byte: 0, packet: 0, options: decode.options, source: None };
        let threads = decode.threads.get() > 1;
        // The C model's predictor keeps its state across synchronisations (C5).
        let cut = threads && decode.config.compat != Compat::CModel;
        Ok(Self {
            input,
            size: decode.part.max(1),
            scan: if cut { Some(Scan::new(decode, start)?) } else { None },
            buffer: Vec::new(),
            start,
            number: 0,
            from: Vec::new(),
            cut: VecDeque::new(),
            shares: if ordered { NonZeroUsize::MIN } else { decode.threads },
            chunk: vec![0; CHUNK],
            pause: false,
            ended: false,
            done: false,
        })
    }

    /// Returns the next part.
    pub(super) fn next(&mut self) -> io::Result<Option<Part<'a>>> {
        loop {
            if let Some(part) = self.cut.pop_front() {
                return Ok(Some(part));
            }
            if let Some((place, next_sync)) =
                self.scan.as_mut().and_then(|scan| scan.cuts.pop_front())
            {
                let bytes = self.split(place.byte.saturating_sub(self.start.byte) as usize);
                self.part(bytes, true, Some(next_sync));
                self.start = place;
                continue;
            }
            if self.ended {
                if std::mem::replace(&mut self.done, true) {
                    return Ok(None);
                }
                let bytes = std::mem::take(&mut self.buffer);
                self.part(bytes, true, None);
                continue;
            }
            let (wait, len) = match &self.scan {
                None if self.pause => (1, self.buffer.len()),
                None => (self.size, self.buffer.len()),
                // The cut may be at a frame of which only the start has arrived.
                Some(scan) => {
                    let whole = scan.deframer.offset().saturating_sub(self.start.byte);
                    (self.size.saturating_mul(PATIENCE), whole as usize)
                }
            };
            if len >= wait {
                let bytes = self.split(len);
                self.part(bytes, false, None);
                self.start.byte = self.start.byte.saturating_add(len as u64);
                continue;
            }
            self.read()?;
        }
    }

    /// Removes `len` bytes from the buffer and returns them.
    fn split(&mut self, len: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(len.min(self.buffer.len()));
        std::mem::replace(&mut self.buffer, rest)
    }

    /// Cuts a part, with which the next one continues unless it `ends`: one for each share of the sources, if there are several.
    fn part(&mut self, bytes: Vec<u8>, ends: bool, next_sync: Option<NextSync>) {
        let last = ends && next_sync.is_none();
        let (bytes, start) = (Arc::new(bytes), self.start);
        let from = std::mem::take(&mut self.from);
        let several = self.scan.as_ref().is_some_and(|scan| scan.several);
        // The first part of several sources is decoded whole: its demultiplexer is the start of all shares.
        let shares = match from.len() {
            0 | 1 if several && !ends => self.shares.get(),
            _ => 1,
        };
        let mut from = from.into_iter().map(Some).collect::<Vec<_>>();
        if from.is_empty() {
            from.push(None);
        }
        let of = from.len();
        for (index, from) in from.into_iter().enumerate() {
            let mut to = Vec::new();
            for _ in 0..if ends { 0 } else { shares } {
                let (sender, receiver) = channel();
                to.push(sender);
                self.from.push(receiver);
            }
            let (number, share) = (self.number, Share { index, of });
            self.number = number.saturating_add(1);
            let bytes = Arc::clone(&bytes);
            self.cut.push_back(Part { number, bytes, start, share, from, to, next_sync, last });
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let got = loop {
            match self.input.read(&mut self.chunk) {
                Ok(got) => break got,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    (self.ended, self.done) = (true, true);
                    return Err(error);
                }
            }
        };
        (self.pause, self.ended) = (got < self.chunk.len(), got == 0);
        let new = self.chunk.get(..got).unwrap_or_default();
        self.buffer.extend_from_slice(new);
        if let Some(scan) = &mut self.scan {
            scan.feed(new, self.size);
        }
        Ok(())
    }
}

/// Looks for synchronisations at which a capture may be cut.
struct Scan<'a> {
    images: Images<'a>,
    decode: Decode<'a>,
    layout: Layout,
    /// Frames have no header fields to read.
    bare: bool,
    deframer: Deframer,
    /// Position of the next frame.
    place: Place,
    /// Position of the last cut.
    cut: u64,
    /// The source of all frames so far.
    source: Option<Option<u16>>,
    /// There are several sources. Where one of them can start, the others cannot.
    several: bool,
    cuts: VecDeque<(Place, NextSync)>,
}

/// Passes the items of a deframer to the scan.
struct ToScan<'t, 'a> {
    scan: &'t mut Scan<'a>,
    size: usize,
}

impl hartrace_encap::FrameSink for ToScan<'_, '_> {
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        self.scan.take(byte, item, self.size);
    }
}

impl<'a> Scan<'a> {
    fn new(decode: &Decode<'a>, place: Place) -> Result<Self, ParamsError> {
        Ok(Self {
            images: decode.images.clone(),
            layout: decode.config.params.layout(decode.config.unit)?,
            bare: decode.transport == Transport::new(Framing::Reference),
            decode: decode.clone(),
            deframer: decode.transport.deframer(&place),
            place,
            cut: 0,
            source: None,
            several: false,
            cuts: VecDeque::new(),
        })
    }

    fn feed(&mut self, bytes: &[u8], size: usize) {
        let mut deframer = self.deframer.clone();
        deframer.feed_to(bytes, &mut ToScan { scan: self, size });
        self.deframer = deframer;
    }

    // All threads wait for this function, so it does as little as possible.
    #[inline(always)]
    fn take(&mut self, byte: u64, item: Result<Item<'_>, FrameError>, size: usize) {
        let Ok(Item::Frame(frame)) = item else { return };
        // Formats 0, 1 and 2, the majority, are not relevant.
        let first = frame.payload_bytes().and_then(<[u8]>::first);
        let boring = first.is_some_and(|byte| byte & 3 != 3);
        if boring && self.bare {
            self.place.packet = self.place.packet.wrapping_add(1);
            return;
        }
        let FrameHeader { source, kind, .. } = frame.header();
        let wanted = self.decode.transport.source;
        if wanted.is_some() && source != wanted {
            return;
        }
        self.several |= *self.source.get_or_insert(source) != source;
        let packet = self.place.packet;
        self.place.packet = packet.wrapping_add(1);
        if !boring && !self.several && kind == Kind::Instruction {
            self.look(StreamPos { packet, byte }, source, frame.payload(), size);
        }
    }

    /// Checks whether the capture may be cut at a payload.
    #[cold]
    fn look(&mut self, at: StreamPos, source: Option<u16>, mut bits: BitReader<'_>, size: usize) {
        let StreamPos { packet, byte } = at;
        match Payload::parse(&self.layout, self.place.options, &mut bits) {
            Ok(Payload::Support(support)) => self.place.options = support.ioptions,
            // A synchronisation without code at its address is a fault, and faults depend on the
            // past.
            Ok(Payload::Start(start))
                if byte.saturating_sub(self.cut) >= size as u64
                    && self.images.code_at(&self.decode.config, at, &start) =>
            {
                self.cut = byte;
                let place = Place { byte, packet, source: Some(source), ..self.place };
                self.cuts.push_back((place, NextSync { at, source, start }));
            }
            _ => {}
        }
    }
}
