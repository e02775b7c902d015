//! Distributes frames to tracers.

use super::decode::{Decode, Transport};
use super::place::{NextSync, Place};
use super::source_sinks::SourceSinks;
use crate::config::Config;
use crate::event::{Fault, StreamPos};
use crate::images::Images;
use crate::sink::Sink;
use crate::tracer::{Announced, Tracer};
use hartrace_encap::{Deframer, FrameError, FrameHeader, Framing, Item, Kind};
use hartrace_etrace::ParamsError;

/// Passes the items of a deframer to the demultiplexer.
struct Taker<'t, 'a, 'f, S, F> {
    demux: &'t mut Demux<'a>,
    sinks: &'t mut SourceSinks<'f, S, F>,
    result: Result<(), ParamsError>,
}

impl<S: Sink, F: Fn(Option<u16>) -> S> hartrace_encap::FrameSink for Taker<'_, '_, '_, S, F> {
    // Inlined, with everything it calls for a payload: the loop over frames then keeps its state in
    // registers.
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        if let Err(error) = self.demux.take(byte, item, self.sinks) {
            self.result = Err(error);
        }
    }
}

/// Unpacks frames, and passes each payload to the tracer of its source.
#[derive(Clone, Debug)]
pub(super) struct Demux<'a> {
    config: Config,
    images: Images<'a>,
    transport: Transport,
    deframer: Deframer,
    packet: u64,
    /// By source; most captures have one.
    tracers: Vec<(Option<u16>, Tracer<'a>)>,
    /// The place where it started: the initial state of a new source.
    start: Place,
    /// Damage before any source appeared.
    early: Option<(StreamPos, Fault)>,
}

impl<'a> Demux<'a> {
    pub(super) fn new(decode: &Decode<'a>) -> Self {
        let Decode { config, images, transport, options, .. } = decode.clone();
        Self {
            config,
            images,
            deframer: Deframer::new(transport.framing),
            transport,
            packet: 0,
            tracers: Vec::new(),
            start: Place { byte: 0, packet: 0, options, announced: Announced::Off },
            early: None,
        }
    }

    /// Continues elsewhere, and keeps the decoded code.
    pub(super) fn restart(&mut self, place: &Place) {
        self.deframer = Deframer::at(self.transport.framing, place.byte);
        if place.byte == 0 && self.transport.find_sync {
            self.deframer.resync(&mut |_, _| {});
        }
        self.packet = place.packet;
        self.start = *place;
        self.early = None;
        for (_, tracer) in &mut self.tracers {
            tracer.restart(place.options, place.announced);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.deframer.offset()
    }

    pub(super) fn packets(&self) -> u64 {
        self.packet
    }

    pub(super) fn feed<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        bytes: &[u8],
        sinks: &mut SourceSinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        let mut deframer = self.deframer.clone();
        let mut taker = Taker { demux: self, sinks, result: Ok(()) };
        deframer.feed_to(bytes, &mut taker);
        let result = taker.result;
        self.deframer = deframer;
        result
    }

    /// Ends the capture.
    pub(super) fn finish<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        sinks: &mut SourceSinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        if let Some((byte, error)) = self.deframer.clone().finish() {
            self.take(byte, Err(error), sinks)?;
        }
        if self.early.is_some() {
            // The capture contains only damage.
            self.with(self.transport.source, sinks, |_, _| {})?;
        }
        for (source, tracer) in &mut self.tracers {
            sinks.with(*source, |sink| tracer.finish(sink));
        }
        Ok(())
    }

    /// Ends a part, at the start of the next one.
    pub(super) fn approach<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        sync: &NextSync,
        sinks: &mut SourceSinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        let NextSync { at, source, start } = sync;
        self.with(*source, sinks, |tracer, sink| tracer.approach(*at, start, sink))
    }

    #[inline(always)]
    fn take<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        byte: u64,
        item: Result<Item<'_>, FrameError>,
        sinks: &mut SourceSinks<'_, S, F>,
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
        let FrameHeader { source, kind, .. } = match self.transport.framing {
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
        let (tracer, sink) = (self.index(source, sinks)?, sinks.index(source));
        let (Some((_, tracer)), Some((_, sink))) =
            (self.tracers.get_mut(tracer), sinks.made.get_mut(sink))
        else {
            return Ok(());
        };
        tracer.begin_bits(at, frame.payload(), sink);
        let full = sink.is_full() || tracer.has_more();
        if full {
            self.proceed(source, sinks)?;
        }
        Ok(())
    }

    /// Passes on full sinks, and continues with a payload that stands for very many instructions.
    #[cold]
    fn proceed<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S, F>,
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
    fn damage<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        at: StreamPos,
        error: FrameError,
        sinks: &mut SourceSinks<'_, S, F>,
    ) {
        if self.tracers.is_empty() {
            self.early.get_or_insert((at, error.into()));
        }
        for (source, tracer) in &mut self.tracers {
            sinks.with(*source, |sink| tracer.damage(at, error.into(), sink));
        }
    }

    /// The index of the tracer of a source.
    #[inline(always)]
    fn index<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S, F>,
    ) -> Result<usize, ParamsError> {
        // Most captures have one source.
        if self.tracers.first().is_some_and(|(first, _)| *first == source) {
            return Ok(0);
        }
        let known = self.tracers.iter().position(|(other, _)| *other == source);
        known.map_or_else(|| self.appear(source, sinks), Ok)
    }

    /// Calls `with` with the tracer and the sink of a source.
    fn with<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S, F>,
        with: impl FnOnce(&mut Tracer<'a>, &mut S),
    ) -> Result<(), ParamsError> {
        let index = self.index(source, sinks)?;
        if let Some((_, tracer)) = self.tracers.get_mut(index) {
            sinks.with(source, |sink| with(tracer, sink));
        }
        Ok(())
    }

    /// Creates a tracer for a source; returns its index.
    #[cold]
    fn appear<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut SourceSinks<'_, S, F>,
    ) -> Result<usize, ParamsError> {
        let mut tracer = Tracer::new(self.config.clone(), self.images.clone())?;
        tracer.restart(self.start.options, self.start.announced);
        if let Some((at, fault)) = self.early.take() {
            sinks.with(source, |sink| tracer.damage(at, fault, sink));
        }
        self.tracers.push((source, tracer));
        Ok(self.tracers.len().wrapping_sub(1))
    }
}
