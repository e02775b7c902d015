//! Finds the synchronisations at which the traces of all sources may be cut, from frames alone.

use super::decode::{Decode, Transport};
use super::place::Place;
use super::stretch::SyncPoint;
use crate::event::StreamPos;
use hartrace_encap::{Deframer, Frame, FrameError, Framing, Item, Kind};
use hartrace_etrace::{Compat, Ioptions, Layout, ParamsError, Payload};

/// Cuts of a source to keep. With more, every second one is dropped.
const MOST: usize = 1 << 13;

/// A synchronisation where the trace of a source may be cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Offset of its frame.
    pub byte: u64,
    /// Packets of the source before it.
    pub packets: u64,
    /// What a tracer needs to start there.
    pub sync: SyncPoint,
}

/// A source of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCuts {
    /// Its number; `None` if frames have none.
    pub source: Option<u16>,
    /// Offset of its first frame; 0 for the source that appears first, since damage before it is its own.
    pub first: u64,
    /// The modes in force at its start.
    pub initial: Ioptions,
    /// Its packets.
    pub packets: u64,
    /// Where it may be cut, in order: a selection, if there are very many.
    pub cuts: Vec<Cut>,
    /// The modes in force.
    options: Ioptions,
    /// Packets from one cut to the next, at least.
    grain: u64,
    /// Packets up to which no cut is wanted.
    next: u64,
}

/// Looks for places where a capture may be cut. Feed it all bytes, in pieces of any size.
#[derive(Clone, Debug)]
pub struct Cuts<'a> {
    decode: Decode<'a>,
    layout: Layout,
    deframer: Deframer,
    /// In the order of their appearance.
    sources: Vec<SourceCuts>,
    /// The source of the last frame.
    present: usize,
    /// Packets of that source that it does not count yet.
    uncounted: u64,
    /// Frames have no header fields to read.
    bare: bool,
    /// There are more sources than the configuration allows.
    too_many: bool,
}

impl<'a> Cuts<'a> {
    /// Starts at the beginning of a capture that is to be decoded like this.
    ///
    /// # Errors
    ///
    /// If the parameters contradict each other.
    pub fn new(decode: &Decode<'a>) -> Result<Self, ParamsError> {
        let start = Place { byte: 0, packet: 0, options: decode.options, source: None };
        Ok(Self {
            layout: decode.config.params.layout(decode.config.unit)?,
            decode: decode.clone(),
            deframer: decode.transport.deframer(&start),
            sources: Vec::new(),
            present: 0,
            uncounted: 0,
            bare: decode.transport == Transport::new(Framing::Reference),
            too_many: false,
        })
    }

    /// Processes the next bytes of the capture.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut deframer = self.deframer.clone();
        deframer.feed_to(bytes, self);
        self.deframer = deframer;
    }

    /// Where the trace of the first source may be cut, in order: a selection, if there are very many.
    pub fn of_first(&self) -> &[Cut] {
        self.sources.first().map_or(&[], |source| &source.cuts)
    }

    /// Drops the cuts before a place, so that there is room for all that follow.
    pub fn forget_before(&mut self, byte: u64) {
        for source in &mut self.sources {
            let gone = source.cuts.partition_point(|cut| cut.byte < byte);
            source.cuts.drain(..gone);
            source.grain = 1;
        }
    }

    /// The sources of the capture, in the order of their appearance; `None` if there are more than
    /// [`Config::source_cap`](crate::Config::source_cap).
    pub fn finish(mut self) -> Option<Vec<SourceCuts>> {
        self.count();
        if self.sources.is_empty() {
            // Nothing but damage, which is reported, or nothing at all.
            self.appear(0, self.decode.transport.source);
        }
        (!self.too_many).then_some(self.sources)
    }

    /// The index of a source.
    #[inline(always)]
    fn turn(&mut self, byte: u64, source: Option<u16>) -> usize {
        if self.sources.get(self.present).is_some_and(|present| present.source == source) {
            return self.present;
        }
        self.count();
        let known = self.sources.iter().position(|other| other.source == source);
        self.present = known.unwrap_or_else(|| self.appear(byte, source));
        self.present
    }

    /// Adds the packets of the present source to its number.
    fn count(&mut self) {
        if let Some(source) = self.sources.get_mut(self.present) {
            source.packets = source.packets.saturating_add(std::mem::take(&mut self.uncounted));
        }
    }

    #[cold]
    fn appear(&mut self, byte: u64, source: Option<u16>) -> usize {
        if self.sources.len() >= self.decode.config.source_cap.max(1) {
            self.too_many = true;
            return 0;
        }
        let first = if self.sources.is_empty() { 0 } else { byte };
        let options = self.decode.options;
        self.sources.push(SourceCuts {
            source,
            first,
            initial: options,
            packets: 0,
            cuts: Vec::new(),
            options,
            grain: 1,
            next: 1,
        });
        self.sources.len().wrapping_sub(1)
    }

    /// Checks whether the capture may be cut at a payload of format 3.
    #[cold]
    fn look(&mut self, byte: u64, index: usize, frame: &Frame<'_>) {
        self.count();
        let Some(source) = self.sources.get_mut(index) else { return };
        let (options, packets) = (source.options, source.packets);
        match Payload::parse(&self.layout, options, &mut frame.payload()) {
            Ok(Payload::Support(support)) => source.options = support.ioptions,
            Ok(Payload::Start(start)) if packets >= source.next => {
                let at = StreamPos { packet: packets, byte };
                // A synchronisation without code at its address is a fault, and faults depend on the past; so does the
                // C model's predictor (C5).
                if self.decode.config.compat == Compat::CModel
                    || !self.decode.images.code_at(&self.decode.config, at, &start)
                {
                    return;
                }
                let timestamp = frame.header().timestamp;
                source.cuts.push(Cut {
                    byte,
                    packets,
                    sync: SyncPoint { options, start, timestamp },
                });
                if source.cuts.len() >= MOST {
                    source.grain = source.grain.saturating_mul(2);
                    let mut kept = false;
                    source.cuts.retain(|_| {
                        kept = !kept;
                        kept
                    });
                }
                source.next = packets.saturating_add(source.grain);
            }
            _ => {}
        }
    }
}

impl hartrace_encap::FrameSink for Cuts<'_> {
    #[inline(always)]
    fn item(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        let Ok(Item::Frame(frame)) = item else { return };
        // Formats 0, 1 and 2, the majority, are only counted.
        let first = frame.payload_bytes().and_then(<[u8]>::first);
        let boring = first.is_some_and(|byte| byte & 3 != 3);
        let index = if self.bare {
            self.turn(byte, None)
        } else {
            let header = frame.header();
            let wanted = self.decode.transport.source;
            if wanted.is_some() && header.source != wanted || header.kind != Kind::Instruction {
                return;
            }
            self.turn(byte, header.source)
        };
        if !boring {
            self.look(byte, index, &frame);
        }
        self.uncounted = self.uncounted.wrapping_add(1);
    }
}
