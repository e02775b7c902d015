//! A source, ready to be decoded.

use super::bound::Portion;
use crate::snapshot::{Core, Protocol};
use hartrace_arm_decoder::{ElementSink, Etmv4, Event, Memory, Ptm};
use hartrace_decoder::StreamPos;
use hartrace_spaces::Timeline;
use std::sync::Arc;

/// What it takes to follow the trace of a source.
#[derive(Debug)]
pub struct Traced<'c> {
    /// The name of the source.
    pub name: String,
    /// Its number in the metadata; that of its CPU if it was recorded.
    pub id: u16,
    /// What it wrote, in the order of time.
    pub portions: Vec<Portion<'c>>,
    /// The core that it traces.
    pub core: Core,
    /// The memory that the core sees.
    pub memory: Arc<Memory>,
    /// What changes in that memory.
    pub timeline: Option<Arc<Timeline>>,
}

impl Traced<'_> {
    /// Adds code that has priority over memory, but not over what a timeline tells.
    pub fn add_code(&mut self, code: &Memory) {
        self.memory = Arc::new(self.memory.behind(code));
    }

    /// Decodes all of it.
    pub fn decode(&self, sink: &mut impl ElementSink) {
        let mut packets = 0;
        for portion in &self.portions {
            packets = self.decode_portion(portion, packets, sink);
        }
    }

    /// Decodes one of its portions. Packets are numbered from `packets` on; returns the number of the next.
    pub fn decode_portion(
        &self,
        portion: &Portion<'_>,
        packets: u64,
        sink: &mut impl ElementSink,
    ) -> u64 {
        let stream = &portion.stream;
        let packets = match &portion.protocol {
            Protocol::Etmv4(config) => {
                let mut decoder =
                    Etmv4::new(*config, self.core.arch, &self.memory).numbered_from(packets);
                if let Some(timeline) = &self.timeline {
                    decoder = decoder.with_timeline(timeline);
                }
                if let Some(recorded) = &portion.recorded {
                    decoder = decoder.recorded_at(recorded);
                }
                decoder.decode(stream, sink);
                decoder.packets()
            }
            Protocol::Ptm(config) => {
                let mut decoder =
                    Ptm::new(*config, self.core.arch, &self.memory).numbered_from(packets);
                if let Some(timeline) = &self.timeline {
                    decoder = decoder.with_timeline(timeline);
                }
                if let Some(recorded) = &portion.recorded {
                    decoder = decoder.recorded_at(recorded);
                }
                decoder.decode(stream, sink);
                decoder.packets()
            }
            Protocol::Other(_) => packets,
        };
        if let Some(fault) = portion.recorded.and_then(|recorded| recorded.lost) {
            let at = StreamPos { packet: packets, byte: stream.last() };
            sink.event(at, Event::Fault(fault.into()));
        }
        packets
    }
}
