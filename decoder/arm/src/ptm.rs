//! PTM.

mod follow;
#[cfg(test)]
mod tests;

use crate::event::{Context, ElementSink, Event, Fault, Lost};
use crate::reading::Reading;
use crate::recorded_at::RecordedAt;
use crate::returns::ReturnStack;
use crate::walk::Walk;
use crate::{Memory, Stream};
use hartrace_decoder::StreamPos;
use hartrace_isa::arm::{Arch, Isa, Rules};
use hartrace_ptm::{Batch, Config, Fields, Found, Kind, Packet, Reader, Target};
use hartrace_spaces::{Clock, Timeline};
use std::ops::ControlFlow;

/// The state of synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// Synchronisation is lost, and the loss is not reported yet.
    Lost(Lost),
    /// Waiting for an alignment synchronisation.
    Async,
    /// Waiting for an instruction synchronisation.
    ISync,
    /// Synchronised: the program is followed.
    Following,
}

/// Decoder of one PTM stream.
#[derive(Debug)]
pub struct Ptm<'m> {
    config: Config,
    walk: Walk<'m>,
    returns: ReturnStack,
    state: State,
    /// The address to which packets are relative.
    target: Target,
    /// The instruction set is known.
    isa_told: bool,
    timestamp: u64,
    context: Context,
    /// The address is known.
    known: bool,
    /// No instruction synchronisation has been followed since the last loss.
    fresh: bool,
    /// Position of the last packet.
    at: StreamPos,
    /// Number of the next packet.
    packets: u64,
}

impl<'m> Ptm<'m> {
    /// Creates a decoder for a trace unit of a core with this architecture and memory.
    pub fn new(config: Config, arch: Arch, memory: &'m Memory) -> Self {
        let rules = Rules { arch, barriers: config.barriers, wfx: false };
        Self {
            config,
            // The same as in OpenCSD: O13.
            walk: Walk::new(memory, rules, false),
            returns: ReturnStack::new(config.return_stack),
            state: State::Lost(Lost::Start),
            target: Target::default(),
            isa_told: false,
            timestamp: 0,
            context: Context {
                isa: Isa::A32,
                wide: false,
                ns: false,
                nse: false,
                el: None,
                context_id: None,
                vmid: None,
            },
            known: false,
            fresh: true,
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
        self
    }

    /// Decodes a whole stream. If it cannot be read to its end, that is a fault.
    pub fn decode(&mut self, stream: &Stream, sink: &mut impl ElementSink) {
        let mut reading = Reading::new(Reader::new(self.config), Batch::default());
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
                for packet in batch.packets() {
                    let at = StreamPos { packet: number, byte: positions.index(offset) };
                    self.feed_frequent(at, packet, sink);
                    number = number.wrapping_add(1);
                    offset = offset.wrapping_add(packet.len());
                }
                if batch.packets().is_empty() {
                    let Some((found, len)) = reader.next(rest) else { break };
                    let at = StreamPos { packet: number, byte: positions.index(offset) };
                    self.feed(at, found, rest, sink);
                    number = number.wrapping_add((found != Found::Unsynchronised).into());
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

    /// Handles the end of the stream within a packet.
    fn cut(&mut self, at: StreamPos, sink: &mut impl ElementSink) {
        self.at = at;
        sink.event(at, Event::Fault(Fault::Malformed));
    }

    /// Ends the stream.
    pub fn finish(&mut self, sink: &mut impl ElementSink) {
        sink.event(self.at, Event::End(Lost::End));
        self.state = State::Lost(Lost::Start);
        self.known = false;
        self.fresh = true;
    }

    /// Processes a packet whose fields have been read.
    #[inline(always)]
    fn feed_frequent(&mut self, at: StreamPos, packet: &Fields, sink: &mut impl ElementSink) {
        self.at = at;
        self.walk.reach(Clock::Position, at.byte);
        if self.state != State::Following {
            // Nothing that starts decoding is read in a batch.
            self.skip(packet);
        } else if let Some(atoms) = packet.atoms() {
            self.atoms(at, atoms, sink);
        } else if let Some((address, exception)) = packet.branch() {
            self.branch_to(at, &address, exception.as_ref(), None, sink);
        } else if let Some((address, alt_isa)) = packet.waypoint() {
            self.waypoint_at(at, &address, alt_isa, sink);
        } else if let Some(ts) = packet.timestamp() {
            self.timestamp(at, &ts, sink);
        } else {
            sink.event(at, Event::ExceptionReturn);
        }
    }

    /// Processes a packet before the synchronisation: only the state that others depend on.
    fn skip(&mut self, packet: &Fields) {
        if let Some((address, exception)) = packet.branch() {
            self.target.update(&address, exception.map(|exception| exception.alt_isa));
        } else if let Some((address, alt_isa)) = packet.waypoint() {
            self.target.update(&address, alt_isa);
        } else if let Some(ts) = packet.timestamp() {
            self.time(&ts);
        }
    }

    /// Processes the item that a [`Reader`] found at the start of `bytes`, with its position.
    #[inline(never)]
    fn feed(&mut self, at: StreamPos, found: Found, bytes: &[u8], sink: &mut impl ElementSink) {
        self.at = at;
        self.walk.reach(Clock::Position, at.byte);
        if let State::Lost(lost) = self.state {
            sink.event(at, Event::NoSync(lost));
            self.state = State::Async;
        }
        match found {
            Found::Packet(kind) => match (self.state, kind) {
                (State::Async, Kind::Async) => self.state = State::ISync,
                (State::ISync, Kind::ISync) => self.state = State::Following,
                _ => {}
            },
            Found::Bad(_) if self.state == State::Following => {
                return self.give_up(at, Fault::Malformed, sink);
            }
            Found::Bad(_) | Found::Unsynchronised => return,
        }
        let Ok((packet, _)) = Packet::parse(&self.config, bytes) else { return };
        if self.state == State::Following {
            return self.packet(at, &packet, sink);
        }
        match &packet {
            Packet::Branch { address, exception, .. } => {
                self.target.update(address, exception.map(|exception| exception.alt_isa));
            }
            Packet::Waypoint { address, alt_isa } => self.target.update(address, *alt_isa),
            Packet::Timestamp(ts) => self.time(ts),
            _ => {}
        }
    }

    /// Drops everything, up to the next alignment synchronisation.
    fn give_up(&mut self, at: StreamPos, fault: Fault, sink: &mut impl ElementSink) {
        sink.event(at, Event::Fault(fault));
        sink.event(at, Event::NoSync(Lost::Packet));
        self.state = State::Async;
        self.known = false;
        self.fresh = true;
    }

    fn time(&mut self, ts: &hartrace_ptm::Timestamp) {
        let mask = if ts.bits >= 64 { u64::MAX } else { !(u64::MAX << ts.bits) };
        self.timestamp = self.timestamp & !mask | ts.value & mask;
    }
}
