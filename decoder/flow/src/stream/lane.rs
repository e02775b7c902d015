use super::part::Until;
use super::{Decode, Transport};
use crate::{Config, Fault, Images, Sink, StreamPos, Tracer};
use hartrace_encap::{Deframer, FrameError, FrameHeader, Framing, Item, Kind};
use hartrace_etrace::{Ioptions, ParamsError};

/// Where a part starts.
#[derive(Copy, Clone, Debug)]
pub(super) struct Place {
    /// Offset in the capture.
    pub(super) byte: u64,
    /// Packets before it.
    pub(super) packet: u64,
    /// The modes in force.
    pub(super) options: Ioptions,
    /// It is a synchronisation up to which another lane follows the stream.
    pub(super) continued: bool,
}

/// The sinks of a part, by source.
pub(super) struct Sinks<'f, S, F> {
    pub(super) made: Vec<(Option<u16>, S)>,
    make: &'f F,
    /// Passes on what the sinks have before the part is done. Returns whether to go on.
    flush: &'f dyn Fn(Vec<(Option<u16>, S)>) -> bool,
    /// Nobody wants more.
    stopped: bool,
}

impl<'f, S: Sink, F: Fn(Option<u16>) -> S> Sinks<'f, S, F> {
    pub(super) fn new(make: &'f F, flush: &'f dyn Fn(Vec<(Option<u16>, S)>) -> bool) -> Self {
        Self { made: Vec::new(), make, flush, stopped: false }
    }

    /// Makes room.
    #[cold]
    fn flush(&mut self) {
        self.stopped = !(self.flush)(std::mem::take(&mut self.made));
    }

    /// The place of the sink of a source.
    #[inline(always)]
    fn index(&mut self, source: Option<u16>) -> usize {
        if self.made.first().is_some_and(|(first, _)| *first == source) {
            return 0;
        }
        let known = self.made.iter().position(|(other, _)| *other == source);
        known.unwrap_or_else(|| self.appear(source))
    }

    /// Calls `with` with the sink of a source.
    fn with(&mut self, source: Option<u16>, with: impl FnOnce(&mut S)) {
        let index = self.index(source);
        if let Some((_, sink)) = self.made.get_mut(index) {
            with(sink);
        }
    }

    /// Makes the sink of a source; returns its place.
    #[cold]
    fn appear(&mut self, source: Option<u16>) -> usize {
        if S::ORDERED && !self.made.is_empty() {
            self.flush();
        }
        self.made.push((source, (self.make)(source)));
        self.made.len().wrapping_sub(1)
    }
}

/// Gives a lane what its deframer finds.
struct Taker<'t, 'a, 'f, S, F> {
    lane: &'t mut Lane<'a>,
    sinks: &'t mut Sinks<'f, S, F>,
    result: Result<(), ParamsError>,
}

impl<S: Sink, F: Fn(Option<u16>) -> S> hartrace_encap::Sink for Taker<'_, '_, '_, S, F> {
    // Inlined, with all it calls for a payload: the loop over frames keeps its state in registers.
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        if let Err(error) = self.lane.take(byte, item, self.sinks) {
            self.result = Err(error);
        }
    }
}

/// Frames to tracers.
#[derive(Clone, Debug)]
pub(super) struct Lane<'a> {
    config: Config,
    images: Images<'a>,
    transport: Transport,
    deframer: Deframer,
    packet: u64,
    /// By source; most captures have one.
    tracers: Vec<(Option<u16>, Tracer<'a>)>,
    /// Where it started: the state of a source that appears.
    start: Place,
    /// Damage before any source appeared.
    early: Option<(StreamPos, Fault)>,
}

impl<'a> Lane<'a> {
    pub(super) fn new(decode: &Decode<'a>) -> Self {
        let Decode { config, images, transport, options, .. } = decode.clone();
        Self {
            config,
            images,
            deframer: Deframer::new(transport.framing),
            transport,
            packet: 0,
            tracers: Vec::new(),
            start: Place { byte: 0, packet: 0, options, continued: false },
            early: None,
        }
    }

    /// Goes on elsewhere, with what is known about the program.
    pub(super) fn restart(&mut self, place: &Place) {
        self.deframer = Deframer::at(self.transport.framing, place.byte);
        if place.byte == 0 && self.transport.find_sync {
            self.deframer.resync(&mut |_, _| {});
        }
        self.packet = place.packet;
        self.start = *place;
        self.early = None;
        for (_, tracer) in &mut self.tracers {
            tracer.restart(place.options, place.continued);
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
        sinks: &mut Sinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        let mut deframer = self.deframer.clone();
        let mut taker = Taker { lane: self, sinks, result: Ok(()) };
        deframer.feed_to(bytes, &mut taker);
        let result = taker.result;
        self.deframer = deframer;
        result
    }

    /// The end of the capture.
    pub(super) fn finish<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        sinks: &mut Sinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        if let Some((byte, error)) = self.deframer.clone().finish() {
            self.take(byte, Err(error), sinks)?;
        }
        if self.early.is_some() {
            // Damage is all there is.
            self.with(self.transport.source, sinks, |_, _| {})?;
        }
        for (source, tracer) in &mut self.tracers {
            sinks.with(*source, |sink| tracer.finish(sink));
        }
        Ok(())
    }

    /// The end of a part that another one starts behind.
    pub(super) fn approach<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        until: &Until,
        sinks: &mut Sinks<'_, S, F>,
    ) -> Result<(), ParamsError> {
        let Until { at, source, start } = until;
        self.with(*source, sinks, |tracer, sink| tracer.approach(*at, start, sink))
    }

    #[inline(always)]
    fn take<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        byte: u64,
        item: Result<Item<'_>, FrameError>,
        sinks: &mut Sinks<'_, S, F>,
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
        // Frames that say nothing need not be asked.
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

    /// Passes on what sinks hold, and goes on with a payload that stands for very much.
    #[cold]
    fn proceed<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut Sinks<'_, S, F>,
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

    /// What was lost may be of any source: none must go on as if nothing was.
    #[cold]
    fn damage<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        at: StreamPos,
        error: FrameError,
        sinks: &mut Sinks<'_, S, F>,
    ) {
        if self.tracers.is_empty() {
            self.early.get_or_insert((at, error.into()));
        }
        for (source, tracer) in &mut self.tracers {
            sinks.with(*source, |sink| tracer.damage(at, error.into(), sink));
        }
    }

    /// The place of the tracer of a source.
    #[inline(always)]
    fn index<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut Sinks<'_, S, F>,
    ) -> Result<usize, ParamsError> {
        // Most captures have one source.
        if self.tracers.first().is_some_and(|(first, _)| *first == source) {
            return Ok(0);
        }
        let known = self.tracers.iter().position(|(other, _)| *other == source);
        known.map_or_else(|| self.appear(source, sinks), Ok)
    }

    /// Calls `with` with tracer and sink of a source.
    fn with<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut Sinks<'_, S, F>,
        with: impl FnOnce(&mut Tracer<'a>, &mut S),
    ) -> Result<(), ParamsError> {
        let index = self.index(source, sinks)?;
        if let Some((_, tracer)) = self.tracers.get_mut(index) {
            sinks.with(source, |sink| with(tracer, sink));
        }
        Ok(())
    }

    /// Makes a tracer for a source; returns its place.
    #[cold]
    fn appear<S: Sink, F: Fn(Option<u16>) -> S>(
        &mut self,
        source: Option<u16>,
        sinks: &mut Sinks<'_, S, F>,
    ) -> Result<usize, ParamsError> {
        let mut tracer = Tracer::new(self.config.clone(), self.images.clone())?;
        tracer.restart(self.start.options, self.start.continued);
        if let Some((at, fault)) = self.early.take() {
            sinks.with(source, |sink| tracer.damage(at, fault, sink));
        }
        self.tracers.push((source, tracer));
        Ok(self.tracers.len().wrapping_sub(1))
    }
}
