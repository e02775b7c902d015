//! ETMv4 and ETE.
//!
//! Packets become elements in a queue. When P0 elements are committed, they and all older elements are
//! followed; until then they can be cancelled. With MAXSPEC 0 every P0 element is committed immediately.

mod element;
mod follow;
mod packet;
mod resolve;
#[cfg(test)]
mod tests;

use crate::event::{Context, ElementSink, Event, Fault, Lost, Start};
use crate::reading::Reading;
use crate::recorded_at::RecordedAt;
use crate::returns::ReturnStack;
use crate::walk::Walk;
use crate::{Memory, Stream};
use element::Element;
use hartrace_decoder::StreamPos;
use hartrace_etmv4::{Addresses, Batch, Config, Fields, Headers, Is, Packet, Parsed, Reader};
use hartrace_isa::arm::{Arch, Isa, Rules};
use hartrace_spaces::{Clock, Timeline};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The state of synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// Synchronisation is lost, and the loss is not reported yet.
    Lost(Lost),
    /// Waiting for an alignment synchronisation.
    Async,
    /// Waiting for TraceInfo.
    TraceInfo,
    /// Synchronised: the program is followed.
    Following,
}

/// What is known of the place in the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    /// The instruction that executes next: [`Walk::pc`].
    Known,
    /// The next address tells.
    Unknown,
    /// The instruction that executes next, but there is no code. The next address tells where code is again.
    NoCode,
    /// An indirect branch was taken: the next address tells its target, or else the return stack does.
    Returning,
}

/// The surroundings of a packet.
#[derive(Copy, Clone)]
struct Surroundings<'a> {
    /// The batch that contains it.
    batch: &'a Batch,
    /// The packets after it in the batch.
    following: &'a [Fields],
    headers: &'a Headers,
    /// The stream, up to the end of its part.
    bytes: &'a [u8],
    /// The start of the packet in `bytes`.
    offset: usize,
}

/// Decoder of one ETMv4 or ETE stream.
#[derive(Debug)]
pub struct Etmv4<'m> {
    config: Config,
    walk: Walk<'m>,
    returns: ReturnStack,
    state: State,
    /// The address registers to which packets are relative.
    addresses: Addresses,
    timestamp: Option<u64>,
    sent: Option<hartrace_etmv4::Context>,
    last_is: Is,
    threshold: u32,
    /// Elements that are not committed yet, the oldest first.
    queue: VecDeque<(StreamPos, Element)>,
    /// Number of P0 elements among them.
    depth: u32,
    /// An exception or Q element waits for its address.
    address_pending: bool,
    /// The committed context of the core.
    context: Option<Context>,
    place: Place,
    /// After TraceInfo, calls are not recorded before the first address.
    calls_blocked: bool,
    /// How the trace starts next.
    start: Start,
    /// A timestamp marker was seen.
    marked: bool,
    /// Processes are told by virtual context identifiers.
    vmid: bool,
    /// Position of the last packet.
    at: StreamPos,
    /// Number of the next packet.
    packets: u64,
}

impl<'m> Etmv4<'m> {
    /// Creates a decoder for a trace unit of a core with this architecture and memory.
    pub fn new(config: Config, arch: Arch, memory: &'m Memory) -> Self {
        let rules = Rules { arch, barriers: false, wfx: config.wfx_branch };
        Self {
            config,
            walk: Walk::new(memory, rules, true),
            returns: ReturnStack::new(config.return_stack),
            state: State::Lost(Lost::Start),
            addresses: Addresses::default(),
            timestamp: None,
            sent: None,
            last_is: Is::Is0,
            threshold: 0,
            queue: VecDeque::new(),
            depth: 0,
            address_pending: false,
            context: None,
            place: Place::Unknown,
            calls_blocked: false,
            start: Start::Normal,
            marked: false,
            vmid: false,
            at: StreamPos::default(),
            packets: 0,
        }
    }

    /// Adds a timeline, for code that changes while the program runs.
    pub fn with_timeline(mut self, timeline: &'m Timeline) -> Self {
        self.walk.set_timeline(timeline);
        self
    }

    /// Number of packets decoded so far. Bytes before a synchronisation are not a packet.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Sets the number of the next packet, where the stream continues another one.
    pub const fn numbered_from(mut self, packets: u64) -> Self {
        self.packets = packets;
        self
    }

    /// Sets what the recording of a stream says: its time, if the timeline has the time of recordings, and
    /// whose trace it is. Call it after [`Self::with_timeline`].
    pub fn recorded_at(mut self, recorded: &RecordedAt) -> Self {
        self.walk.set_moment(recorded.time, recorded.context);
        self.vmid = recorded.vmid;
        self
    }

    /// Decodes a whole stream. If it cannot be read to its end, that is a fault.
    pub fn decode(&mut self, stream: &Stream, sink: &mut impl ElementSink) {
        let mut reading = Reading::new(Reader::new(Headers::new(&self.config)), Batch::default());
        let read = stream.pieces(|piece, last| self.decode_piece(piece, last, &mut reading, sink));
        if read.is_err() {
            sink.event(self.at, Event::Fault(Fault::Unreadable));
            self.finish(sink);
        }
    }

    /// Decodes a piece of a stream; returns the number of bytes that were used.
    fn decode_piece(
        &mut self,
        piece: &Stream,
        last: bool,
        reading: &mut Reading<Reader, Batch>,
        sink: &mut impl ElementSink,
    ) -> ControlFlow<(), usize> {
        let mut positions = piece.positions();
        let (mut offset, mut number) = (0usize, self.packets);
        for (end, ends) in piece.parts(last) {
            reading.begin(offset..end);
            let Reading { reader, batch, .. } = &mut *reading;
            while let Some(rest) = piece.bytes.get(offset..end) {
                reader.read(rest, batch);
                let bytes = piece.bytes.get(..end).unwrap_or_default();
                let mut packets = batch.packets();
                while let [packet, following @ ..] = packets {
                    let at = StreamPos { packet: number, byte: positions.index(offset) };
                    let headers = reader.headers();
                    let all = Surroundings { batch, following, headers, bytes, offset };
                    self.feed_frequent(at, packet, all, sink);
                    number = number.wrapping_add(1);
                    offset = offset.wrapping_add(packet.len());
                    packets = following;
                }
                if batch.packets().is_empty() {
                    let Some((parsed, len)) = reader.parse(rest) else { break };
                    let at = StreamPos { packet: number, byte: positions.index(offset) };
                    self.feed(at, &parsed, sink);
                    number = number.wrapping_add((parsed != Parsed::Unsynchronised).into());
                    offset = offset.saturating_add(len);
                }
                if sink.is_done() {
                    self.packets = number;
                    return ControlFlow::Break(());
                }
            }
            if ends && reading.end(last) {
                if offset < end {
                    self.cut(StreamPos { packet: number, byte: positions.index(offset) }, sink);
                    number = number.wrapping_add(1);
                }
                self.finish(sink);
                reading.reader.resynchronise();
                offset = end;
            }
        }
        self.packets = number;
        ControlFlow::Continue(offset)
    }

    /// Processes a packet whose fields have been read.
    #[inline(always)]
    fn feed_frequent(
        &mut self,
        at: StreamPos,
        packet: &Fields,
        all: Surroundings<'_>,
        sink: &mut impl ElementSink,
    ) {
        // Without speculation nothing can be cancelled: nearly all packets need not become a `Packet`, and
        // atoms and addresses need not become elements.
        if self.state == State::Following && self.config.max_speculation == 0 {
            self.at = at;
            self.walk.reach(Clock::Position, at.byte);
            self.frequent(at, packet, all, sink);
        } else {
            let bytes = all.bytes.get(all.offset..).unwrap_or_default();
            let parsed = match Packet::parse(all.headers, bytes) {
                Ok((packet, _)) => Parsed::Packet(packet),
                Err(error) => Parsed::Bad(error),
            };
            self.feed(at, &parsed, sink);
        }
    }

    /// Processes the next item of the stream.
    #[inline(never)]
    fn feed(&mut self, at: StreamPos, parsed: &Parsed, sink: &mut impl ElementSink) {
        self.at = at;
        self.walk.reach(Clock::Position, at.byte);
        match (self.state, parsed) {
            (State::Following, Parsed::Packet(packet)) => self.other(at, packet, sink),
            (State::Following, _) => self.give_up(at, Fault::Malformed, sink),
            (_, Parsed::Packet(packet)) => self.synchronise(at, Some(packet), sink),
            (_, Parsed::Unsynchronised | Parsed::Bad(_)) => self.synchronise(at, None, sink),
        }
    }

    /// Handles the end of the stream within a packet.
    fn cut(&mut self, at: StreamPos, sink: &mut impl ElementSink) {
        self.at = at;
        sink.event(at, Event::Fault(Fault::Malformed));
    }

    fn synchronise(&mut self, at: StreamPos, packet: Option<&Packet>, sink: &mut impl ElementSink) {
        if let State::Lost(lost) = self.state {
            sink.event(at, Event::NoSync(lost));
            self.state = State::Async;
        }
        let Some(packet) = packet else { return };
        match (self.state, packet) {
            (State::Async, Packet::Async) => self.state = State::TraceInfo,
            (State::TraceInfo, Packet::TraceInfo(info)) => {
                self.take(packet);
                self.context = None;
                self.place = Place::Unknown;
                self.returns.clear();
                let most = self.config.max_speculation.min(packet::MOST as u32);
                self.depth = info.speculation.unwrap_or(0).min(most);
                for _ in 0..self.depth {
                    self.queue.push_back((at, Element::Unseen));
                }
                self.queue.push_back((at, Element::TraceInfo));
                if info.info.unwrap_or(0) & 0x40 != 0 {
                    let within = crate::Transaction::Within;
                    self.queue.push_back((at, Element::Transaction(within, false)));
                }
                self.state = State::Following;
            }
            // ETE allows events before TraceInfo.
            (State::TraceInfo, Packet::Event(bits)) if self.config.is_ete() => {
                self.queue.push_back((at, Element::Events(*bits)));
            }
            _ => {
                self.take(packet);
            }
        }
    }

    /// Drops everything, because the number of committed or cancelled elements is wrong.
    fn give_up_elements(&mut self, at: StreamPos, fault: Fault, sink: &mut impl ElementSink) {
        self.give_up(at, fault, sink);
        sink.event(at, Event::NoSync(Lost::Packet));
        self.state = State::Async;
    }

    /// Drops everything, up to the next alignment synchronisation.
    fn give_up(&mut self, at: StreamPos, fault: Fault, sink: &mut impl ElementSink) {
        sink.event(at, Event::Fault(fault));
        self.forget();
        self.state = State::Lost(Lost::Packet);
    }

    /// Discards the state that does not survive a loss.
    fn forget(&mut self) {
        self.queue.clear();
        self.depth = 0;
        self.address_pending = false;
        self.context = None;
        self.place = Place::Unknown;
        self.start = Start::Normal;
        self.marked = false;
        self.last_is = Is::Is0;
    }

    /// Forgets that the target of the last branch may be on the return stack.
    fn forget_branch(&mut self) {
        if self.place == Place::Returning {
            self.place = Place::Unknown;
        }
    }

    /// Whether atoms can be followed.
    #[inline]
    fn is_known(&self) -> bool {
        self.place == Place::Known && self.context.is_some()
    }

    /// The instruction set at an address.
    fn isa(&self, is: Is) -> Isa {
        match (self.context, is) {
            (Some(Context { wide: true, .. }), _) => Isa::A64,
            (_, Is::Is0) => Isa::A32,
            (_, Is::Is1) => Isa::T32,
        }
    }
}
