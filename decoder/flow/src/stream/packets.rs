//! Counts packets by format and length.

use super::decode::{Decode, Transport};
use super::place::Place;
use crate::endings::{Endings, Session};
use crate::event::{Event, Fault, StreamPos};
use hartrace_encap::{Deframer, FrameError, FrameHeader, FrameSink, Framing, Item, Kind};
use hartrace_etrace::{Format, Ioptions, Layout, ParamsError, Payload, QualStatus};
use std::collections::{HashMap, HashSet};

/// Packets by the number of bytes of their payloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths(Vec<u64>);

impl Lengths {
    /// Counts a packet.
    #[inline(always)]
    fn count(&mut self, bytes: u64) {
        match self.0.get_mut(bytes as usize) {
            Some(packets) => *packets = packets.wrapping_add(1),
            None => self.add(bytes, 1),
        }
    }

    /// Adds packets of one length. A frame has few bytes, whatever the input.
    #[cold]
    fn add(&mut self, bytes: u64, packets: u64) {
        let index = bytes as usize;
        if self.0.len() <= index {
            self.0.resize(index.saturating_add(1), 0);
        }
        if let Some(sum) = self.0.get_mut(index) {
            *sum = sum.saturating_add(packets);
        }
    }

    /// The lengths that occur, in order, each with the number of its packets.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, packets)| **packets > 0).map(|(bytes, packets)| (bytes as u64, *packets))
    }

    /// All packets.
    pub fn packets(&self) -> u64 {
        self.iter().fold(0, |sum, (_, packets)| sum.saturating_add(packets))
    }

    /// The bytes of all payloads.
    pub fn bytes(&self) -> u64 {
        self.iter()
            .fold(0, |sum, (bytes, packets)| sum.saturating_add(bytes.saturating_mul(packets)))
    }

    /// Adds other packets.
    pub fn join(&mut self, other: &Self) {
        other.iter().for_each(|(bytes, packets)| self.add(bytes, packets));
    }
}

/// What a capture, or a part of one, consists of. The counts of parts add up to those of the whole, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Bytes of the capture.
    pub capture_bytes: u64,
    /// Bytes of payload of all sources, including those that are not counted otherwise.
    pub payload_bytes: u64,
    /// Packets that can be read, in the order of [`Format::ALL`].
    pub formats: [Lengths; Format::ALL.len()],
    /// Bits of their payloads.
    pub bits: u64,
    /// Packets that cannot be read, and damaged places, which have no bytes.
    pub malformed: Lengths,
    /// Packets of other kinds of trace.
    pub other: Lengths,
    /// The sets of modes that support packets report.
    pub modes: HashSet<Ioptions>,
}

impl PacketCounts {
    /// Adds the counts of another part.
    pub fn join(&mut self, other: Self) {
        let Self { capture_bytes, payload_bytes, formats, bits, malformed, other, modes } = other;
        self.capture_bytes = self.capture_bytes.saturating_add(capture_bytes);
        self.payload_bytes = self.payload_bytes.saturating_add(payload_bytes);
        self.formats.iter_mut().zip(&formats).for_each(|(sum, format)| sum.join(format));
        self.bits = self.bits.saturating_add(bits);
        self.malformed.join(&malformed);
        self.other.join(&other);
        self.modes.extend(modes);
    }
}

/// Counts the packets of a capture, without a program. Feed it all bytes, in pieces of any size.
#[derive(Clone, Debug)]
pub struct PacketCounter {
    layout: Layout,
    transport: Transport,
    /// The modes of a source up to its first support packet.
    initial: Ioptions,
    deframer: Deframer,
    /// Packets so far, damage not counted.
    packet: u64,
    /// The modes of the sources that have reported theirs.
    modes: HashMap<Option<u16>, Ioptions>,
    /// The source of the last packet, and its modes.
    present: (Option<u16>, Ioptions),
    counts: PacketCounts,
    /// How far the traces of the sources have got.
    sessions: HashMap<Option<u16>, Session>,
    endings: Endings,
    /// The first malformed packet.
    fault: Option<(StreamPos, Fault)>,
}

impl PacketCounter {
    /// Starts at the beginning of a capture that is to be decoded like this.
    ///
    /// # Errors
    ///
    /// If the parameters contradict each other.
    pub fn new(decode: &Decode<'_>) -> Result<Self, ParamsError> {
        let layout = decode.config.params.layout(decode.config.unit)?;
        Ok(Self::with_layout(layout, decode.transport, decode.options))
    }

    /// Starts at the beginning of a capture whose payloads have these fields. `initial` are the modes in force before
    /// the first support packet.
    pub fn with_layout(layout: Layout, transport: Transport, initial: Ioptions) -> Self {
        let mut counter = Self {
            layout,
            transport,
            initial,
            deframer: Deframer::new(transport.framing),
            packet: 0,
            modes: HashMap::new(),
            present: (None, initial),
            counts: PacketCounts::default(),
            sessions: HashMap::new(),
            endings: Endings::default(),
            fault: None,
        };
        counter.restart(&Place { byte: 0, packet: 0, options: initial, source: None });
        counter
    }

    /// Continues elsewhere.
    pub(super) fn restart(&mut self, place: &Place) {
        self.deframer = self.transport.deframer(place);
        self.packet = place.packet;
        self.modes.clear();
        self.present = (None, self.initial);
        if let Some(source) = place.source {
            self.modes.insert(source, place.options);
            self.present = (source, place.options);
        }
    }

    /// Counts the next bytes of the capture.
    pub fn feed(&mut self, bytes: &[u8]) {
        let total = &mut self.counts.capture_bytes;
        *total = total.saturating_add(bytes.len() as u64);
        let mut deframer = self.deframer.clone();
        deframer.feed_to(bytes, self);
        self.deframer = deframer;
    }

    /// Ends the capture: a frame whose end is missing is malformed.
    pub fn end(&mut self) {
        if let Some((byte, error)) = self.deframer.clone().finish() {
            self.malformed(byte, 0, error.into());
        }
    }

    /// What has been counted since the last call.
    pub fn take(&mut self) -> PacketCounts {
        std::mem::take(&mut self.counts)
    }

    /// What has been counted so far.
    pub fn counts(&self) -> &PacketCounts {
        &self.counts
    }

    /// The first packet that is malformed, if there is one so far.
    pub fn fault(&self) -> Option<(StreamPos, Fault)> {
        self.fault
    }

    /// Which sources are being traced after the last packet, as their packets tell.
    pub fn endings(&self) -> &Endings {
        &self.endings
    }

    /// Follows where traces start and end.
    #[cold]
    fn follow(&mut self, byte: u64, source: Option<u16>, modes: Ioptions, payload: &Payload) {
        let at = StreamPos { packet: self.packet, byte };
        let session = self.sessions.entry(source).or_default();
        match payload {
            Payload::Support(support) => {
                let on = self.endings.on().any(|on| on == source);
                let restarts = session.restarts(on, modes, support);
                if support.qual_status != QualStatus::NoChange || !support.ienable {
                    self.endings.event(source, at, &Event::Off(support.qual_status));
                }
                if restarts {
                    self.endings.event(source, at, &Event::Restart);
                }
            }
            _ => {
                *session = Session::Started;
                self.endings.event(source, at, &Event::On);
            }
        }
    }

    /// The modes in force for a source.
    #[inline(always)]
    fn modes_of(&mut self, source: Option<u16>) -> Ioptions {
        if self.present.0 != source {
            self.present = (source, self.modes.get(&source).copied().unwrap_or(self.initial));
        }
        self.present.1
    }

    #[cold]
    fn malformed(&mut self, byte: u64, bytes: u64, fault: Fault) {
        self.counts.malformed.count(bytes);
        self.endings.damage();
        self.fault.get_or_insert((StreamPos { packet: self.packet, byte }, fault));
    }
}

impl FrameSink for PacketCounter {
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        let frame = match item {
            Ok(Item::Frame(frame)) => frame,
            Ok(Item::Null(_)) => return,
            Err(error) => return self.malformed(byte, 0, error.into()),
        };
        let mut payload = frame.payload();
        let bits = payload.remaining();
        let bytes = bits.div_ceil(8);
        // Payloads of other sources are not overhead.
        self.counts.payload_bytes = self.counts.payload_bytes.saturating_add(bytes);
        // The header is not read if the framing has no such fields.
        let FrameHeader { source, kind, .. } = match self.transport.framing {
            Framing::Reference => FrameHeader::default(),
            _ => frame.header(),
        };
        if self.transport.source.is_some() && source != self.transport.source {
            return;
        }
        if kind != Kind::Instruction {
            self.counts.other.count(bytes);
        } else {
            let modes = self.modes_of(source);
            match Payload::parse(&self.layout, modes, &mut payload) {
                Ok(payload) => {
                    if let Payload::Support(support) = &payload {
                        self.present = (source, support.ioptions);
                        self.modes.insert(source, support.ioptions);
                        self.counts.modes.insert(support.ioptions);
                    }
                    if is_boundary(&payload) {
                        self.follow(byte, source, modes, &payload);
                    }
                    if let Some(lengths) = self.counts.formats.get_mut(payload.format() as usize) {
                        lengths.count(bytes);
                    }
                    self.counts.bits = self.counts.bits.saturating_add(bits);
                }
                Err(error) => self.malformed(byte, bytes, Fault::Malformed(error)),
            }
        }
        self.packet = self.packet.wrapping_add(1);
    }
}

/// Whether a trace may start or end with a packet.
fn is_boundary(payload: &Payload) -> bool {
    match payload {
        Payload::Support(_) | Payload::Start(_) => true,
        Payload::Trap(trap) => trap.thaddr,
        _ => false,
    }
}
