//! The measurements of our decoder.

use crate::input::Input;
use crate::library::Unit;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Memory, Ptm, Range, StreamPos,
};
use hartrace_isa::arm::Arch;
use std::hint::black_box;

#[derive(Default)]
pub(crate) struct Count {
    pub(crate) ranges: u64,
    pub(crate) instructions: u64,
}

impl ElementSink for Count {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.ranges += 1;
        self.instructions += u64::from(range.count);
    }

    fn event(&mut self, _: StreamPos, _: Event) {}
}

fn etmv4([idr0, idr1, idr2, idr8, configr]: [u32; 5]) -> hartrace_etmv4::Config {
    hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch: None }.config()
}

fn ptm([idr, cr, ccer]: [u32; 3]) -> hartrace_ptm::Config {
    hartrace_ptm::Registers { cr, idr, ccer }.config()
}

/// Decodes down to instructions.
pub(crate) fn decode(input: &Input, memory: &Memory) -> Count {
    let capture = Capture::split(Layout::Raw, &input.trace);
    let stream = &capture.streams[0];
    let mut count = Count::default();
    match input.unit {
        Unit::Etmv4(registers) => {
            Etmv4::new(etmv4(registers), Arch::V8, memory).decode(stream, &mut count);
        }
        Unit::Ptm(registers) => {
            Ptm::new(ptm(registers), Arch::V7, memory).decode(stream, &mut count);
        }
    }
    count
}

/// Reads packets with their fields.
#[inline(never)]
pub(crate) fn packets(input: &Input) -> u64 {
    let (mut count, mut offset) = (0, 0);
    match input.unit {
        Unit::Etmv4(registers) => {
            let headers = hartrace_etmv4::Headers::new(&etmv4(registers));
            let mut reader = hartrace_etmv4::Reader::new(headers.clone());
            let mut batch = hartrace_etmv4::Batch::default();
            loop {
                let bytes = &input.trace[offset..];
                let len = reader.read(bytes, &mut batch);
                offset += len;
                for packet in batch.packets() {
                    black_box(packet);
                    count += 1;
                }
                // Rare packets have separate forms.
                if len == 0 {
                    let Some((_, len)) = reader.next(bytes) else { break };
                    let _ = black_box(hartrace_etmv4::Packet::parse(&headers, bytes));
                    offset += len;
                    count += 1;
                }
            }
        }
        Unit::Ptm(registers) => {
            let mut reader = hartrace_ptm::Reader::new(ptm(registers));
            let mut batch = hartrace_ptm::Batch::default();
            loop {
                let bytes = &input.trace[offset..];
                let len = reader.read(bytes, &mut batch);
                offset += len;
                for packet in batch.packets() {
                    black_box(packet);
                    count += 1;
                }
                if len == 0 {
                    let Some((_, len)) = reader.next(bytes) else { break };
                    let _ = black_box(hartrace_ptm::Packet::parse(reader.config(), bytes));
                    offset += len;
                    count += 1;
                }
            }
        }
    }
    count
}

/// Finds only the kinds and the ends of packets.
pub(crate) fn lengths(input: &Input) -> u64 {
    let (mut count, mut offset) = (0, 0);
    match input.unit {
        Unit::Etmv4(registers) => {
            let headers = hartrace_etmv4::Headers::new(&etmv4(registers));
            let mut reader = hartrace_etmv4::Reader::new(headers);
            while let Some((found, len)) = reader.next(&input.trace[offset..]) {
                black_box(found);
                offset += len;
                count += 1;
            }
        }
        Unit::Ptm(registers) => {
            let mut reader = hartrace_ptm::Reader::new(ptm(registers));
            while let Some((found, len)) = reader.next(&input.trace[offset..]) {
                black_box(found);
                offset += len;
                count += 1;
            }
        }
    }
    count
}
