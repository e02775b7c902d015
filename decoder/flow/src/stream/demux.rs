//! Distributes frames to tracers.

use super::decode::{Decode, Transport};
use super::packets::{PacketCounter, PacketCounts};
use super::place::{NextSync, Place};
use super::source_sinks::SourceSinks;
use crate::config::Config;
use crate::event::{Event, Fault, StreamPos};
use crate::images::Images;
use crate::sink::Sink;
use crate::time::Time;
use crate::tracer::{Announced, Tracer};
use hartrace_encap::{Deframer, FrameError, FrameHeader, Framing, Item, Kind};
use hartrace_etrace::{Ioptions, ParamsError};

/// Passes the items of a deframer to the demultiplexer.
struct ToDemux<'t, 'a, 'f, S> {
    demux: &'t mut Demux<'a>,
    sinks: &'t mut SourceSinks<'f, S>,
    result: Result<(), ParamsError>,
}

impl<S: Sink> hartrace_encap::FrameSink for ToDemux<'_, '_, '_, S> {
    // Inlined, with everything it calls for a payload: the loop over frames then keeps its state in
    // registers.
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        if let Err(error) = self.demux.take(byte, item, self.sinks) {
            self.result = Err(error);
        }
    }
}

/// Some of the sources of a capture: every `of`-th in the order of their appearance, from `index` on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) index: usize,
    pub(super) of: usize,
}

impl Share {
    /// Every source.
    const ALL: Self = Self { index: 0, of: 1 };

    /// Whether another share follows.
    pub(super) fn has_next(self) -> bool {
        self.index.saturating_add(1) < self.of
    }

    #[inline(always)]
    fn has(self, source: usize) -> bool {
        self.of == 1 || source.checked_rem(self.of) == Some(self.index)
    }
}

/// Who follows a source.
enum Turn {
    /// The present tracer.
    Mine,
    /// Another demultiplexer.
    Other,
    /// Nobody: there are too many.
    Nobody,
}

/// Unpacks frames, and passes each payload to the tracer of its source.
#[derive(Clone, Debug)]
pub(super) struct Demux<'a> {
    config: Config,
    images: Images<'a>,
    transport: Transport,
    deframer: Deframer,
    packet: u64,
    /// The sources, in the order of their tracers; most captures have one.
    sources: Vec<Option<u16>>,
    /// One for each source. They share what is known of the code: one of them has it at a time.
    tracers: Vec<Tracer<'a>>,
    /// The index of that tracer.
    present: usize,
    /// There were more sources than the configuration allows, and a gap says so.
    refused: bool,
    /// The place where it started: the initial state of its source.
    start: Place,
    /// The modes of any other source up to its first support packet.
    options: Ioptions,
    /// Damage before any source appeared.
    early: Option<(StreamPos, Fault)>,
    /// The sources to follow.
    share: Share,
    /// Counts packets, of all sources, if that is wanted.
    counter: Option<PacketCounter>,
}

impl<'a> Demux<'a> {
    pub(super) fn new(decode: &Decode<'a>) -> Result<Self, ParamsError> {
        let counter = decode.counted.map(|_| PacketCounter::new(decode)).transpose()?;
        let Decode { config, images, transport, options, .. } = decode.clone();
        Ok(Self {
            config,
            images,
            deframer: Deframer::new(transport.framing),
            transport,
            packet: 0,
            sources: Vec::new(),
            tracers: Vec::new(),
            present: 0,
            refused: false,
            start: Place { byte: 0, packet: 0, options, source: None },
            options,
            early: None,
            share: Share::ALL,
            counter,
        })
    }

    /// Follows only some of the sources from now on.
    pub(super) fn share(&mut self, share: Share) {
        self.share = share;
        if share.index > 0 {
            // The first share counts the packets of all.
            self.counter = None;
        }
    }

    /// Counts the packets of a part, if that is wanted.
    pub(super) fn count(&mut self, bytes: &[u8], last: bool) -> Option<PacketCounts> {
        let counter = self.counter.as_mut()?;
        counter.feed(bytes);
        if last {
            counter.end();
        }
        Some(counter.take())
    }

    /// Continues elsewhere, and keeps the decoded code.
    pub(super) fn restart(&mut self, place: &Place) {
        self.deframer = self.transport.deframer(place);
        if let Some(counter) = &mut self.counter {
            counter.restart(place);
        }
        self.packet = place.packet;
        self.start = *place;
        self.early = None;
        self.refused = false;
        self.share = Share::ALL;
        for index in 0..self.tracers.len() {
            self.begin(index);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.deframer.offset()
    }

    pub(super) fn packets(&self) -> u64 {
        self.packet
    }

    /// The modes in force for a source.
    pub(super) fn options_of(&self, source: Option<u16>) -> Ioptions {
        let index = self.sources.iter().position(|other| *other == source);
        let tracer = index.and_then(|index| self.tracers.get(index));
        tracer.map_or(self.options, Tracer::options)
    }

    pub(super) fn feed<S: Sink>(
        &mut self,
        bytes: &[u8],
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<(), ParamsError> {
        let mut deframer = self.deframer.clone();
        let mut taker = ToDemux { demux: self, sinks, result: Ok(()) };
        deframer.feed_to(bytes, &mut taker);
        let result = taker.result;
        self.deframer = deframer;
        result
    }

    /// Ends the capture.
    pub(super) fn finish<S: Sink>(
        &mut self,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<(), ParamsError> {
        if let Some((byte, error)) = self.deframer.clone().finish() {
            self.take(byte, Err(error), sinks)?;
        }
        if self.early.is_some() {
            // The capture contains only damage.
            self.with(self.transport.source, sinks, |_, _| {})?;
        }
        self.each(|_| true, sinks, |tracer, sink| tracer.finish(sink));
        Ok(())
    }

    /// Ends a part, at the start of the next one.
    pub(super) fn approach<S: Sink>(
        &mut self,
        sync: &NextSync,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<(), ParamsError> {
        let NextSync { at, source, start } = sync;
        self.with(*source, sinks, |tracer, sink| tracer.approach(*at, start, sink))
    }

    #[inline(always)]
    fn take<S: Sink>(
        &mut self,
        byte: u64,
        item: Result<Item<'_>, FrameError>,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<(), ParamsError> {
        if sinks.stopped {
            return Ok(());
        }
        let at = StreamPos { packet: self.packet, byte };
        let frame = match item {
            Ok(Item::Frame(frame)) => frame,
            Ok(Item::Null(_)) => return Ok(()),
            Err(error) => {
                self.damage(at, error, sinks);
                return Ok(());
            }
        };
        // The header is not read if the framing has no such fields.
        let FrameHeader { source, kind, timestamp, .. } = match self.transport.framing {
            Framing::Reference => FrameHeader::default(),
            _ => frame.header(),
        };
        if self.transport.source.is_some() && source != self.transport.source {
            return Ok(());
        }
        self.packet = self.packet.wrapping_add(1);
        if kind != Kind::Instruction {
            return Ok(());
        }
        match self.turn(source, sinks)? {
            Turn::Mine => {}
            Turn::Other => return Ok(()),
            Turn::Nobody => {
                self.refuse(at, source, sinks);
                return Ok(());
            }
        }
        let sink = sinks.index(source);
        let (Some(tracer), Some((_, sink))) =
            (self.tracers.get_mut(self.present), sinks.made.get_mut(sink))
        else {
            return Ok(());
        };
        tracer.begin_bits(at, frame.payload(), sink);
        let full = sink.is_full() || tracer.has_more();
        if full {
            self.proceed(source, sinks)?;
        }
        if let Some(value) = timestamp {
            // A frame has the time of the last instruction that it reports.
            let time = Time::Stamp { value, bits: self.transport.framing.timestamp_bits() };
            sinks.with(source, |sink| sink.event(at, Event::Time(time)));
        }
        Ok(())
    }

    /// Passes on full sinks, and continues with a payload that stands for very many instructions.
    #[cold]
    fn proceed<S: Sink>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<(), ParamsError> {
        let mut more = true;
        while more && !sinks.stopped {
            if sinks.made.iter().any(|(_, sink)| sink.is_full()) {
                sinks.flush();
            }
            self.with(source, sinks, |tracer, sink| more = tracer.proceed(sink))?;
        }
        Ok(())
    }

    /// Reports damage to every source, since the lost bytes may belong to any of them.
    #[cold]
    fn damage<S: Sink>(
        &mut self,
        at: StreamPos,
        error: FrameError,
        sinks: &mut SourceSinks<'_, S>,
    ) {
        if self.tracers.is_empty() {
            self.early.get_or_insert((at, error.into()));
        }
        let concerned = |tracer: &Tracer<'_>| !tracer.is_lost();
        self.each(concerned, sinks, |tracer, sink| tracer.damage(at, error.into(), sink));
    }

    /// Gives the code to the tracer of a source, if it is to be followed here.
    #[inline(always)]
    fn turn<S: Sink>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<Turn, ParamsError> {
        // Most captures have one source.
        if self.sources.get(self.present) == Some(&source) && self.share.has(self.present) {
            return Ok(Turn::Mine);
        }
        match self.sources.iter().position(|other| *other == source) {
            Some(index) if !self.share.has(index) => Ok(Turn::Other),
            Some(index) => {
                self.give(index);
                Ok(Turn::Mine)
            }
            None => self.appear(source, sinks),
        }
    }

    /// Puts a tracer into its state at the start.
    fn begin(&mut self, index: usize) {
        let here =
            self.start.source.is_some() && self.start.source == self.sources.get(index).copied();
        let (options, announced) = match here {
            true => (self.start.options, Announced::On),
            false => (self.options, Announced::Off),
        };
        if let Some(tracer) = self.tracers.get_mut(index) {
            tracer.restart(options, announced);
        }
    }

    /// Gives the code to another tracer.
    #[inline(never)]
    fn give(&mut self, index: usize) {
        let from = std::mem::replace(&mut self.present, index);
        if let Ok([old, new]) = self.tracers.get_disjoint_mut([from, index]) {
            new.take_code(old);
        }
    }

    /// Calls `with` with the tracer and the sink of a source.
    fn with<S: Sink>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S>,
        with: impl FnOnce(&mut Tracer<'a>, &mut S),
    ) -> Result<(), ParamsError> {
        if matches!(self.turn(source, sinks)?, Turn::Mine)
            && let Some(tracer) = self.tracers.get_mut(self.present)
        {
            sinks.with(source, |sink| with(tracer, sink));
        }
        Ok(())
    }

    /// Calls `with` with the tracers that `concerned` selects, and their sinks.
    fn each<S: Sink>(
        &mut self,
        concerned: impl Fn(&Tracer<'a>) -> bool,
        sinks: &mut SourceSinks<'_, S>,
        mut with: impl FnMut(&mut Tracer<'a>, &mut S),
    ) {
        for index in 0..self.tracers.len() {
            if !self.share.has(index) || !self.tracers.get(index).is_some_and(&concerned) {
                continue;
            }
            self.give(index);
            if let (Some(tracer), Some(source)) =
                (self.tracers.get_mut(index), self.sources.get(index))
            {
                sinks.with(*source, |sink| with(tracer, sink));
            }
        }
    }

    /// Creates a tracer for a source, if that is allowed.
    #[cold]
    fn appear<S: Sink>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S>,
    ) -> Result<Turn, ParamsError> {
        if self.sources.len() >= self.config.source_cap.max(1) {
            return Ok(Turn::Nobody);
        }
        let tracer = match self.tracers.first() {
            Some(other) => other.sibling(),
            None => Tracer::new(self.config.clone(), self.images.clone())?,
        };
        let index = self.tracers.len();
        self.tracers.push(tracer);
        self.sources.push(source);
        self.begin(index);
        if !self.share.has(index) {
            return Ok(Turn::Other);
        }
        self.give(index);
        if let (Some((at, fault)), Some(tracer)) = (self.early.take(), self.tracers.get_mut(index))
        {
            sinks.with(source, |sink| tracer.damage(at, fault, sink));
        }
        Ok(Turn::Mine)
    }

    /// Says once that there are too many sources, where the first one appears that is left out.
    #[cold]
    fn refuse<S: Sink>(
        &mut self,
        at: StreamPos,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S>,
    ) {
        // One of all shares says it.
        if !std::mem::replace(&mut self.refused, true) && self.share.index == 0 {
            let gap = Event::Gap(Fault::TooManySources(self.config.source_cap));
            sinks.with(source, |sink| sink.event(at, gap));
        }
    }
}
