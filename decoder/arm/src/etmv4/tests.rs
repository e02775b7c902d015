//! Packets in batches are decoded in the same way as one by one, through the queue.

use super::*;
use crate::{Capture, Layout, Range};
use fastrand::Rng;
use hartrace_etmv4::{Found, Kind};
use hartrace_golden::arm::{Program, etmv4};
use hartrace_isa::arm::Spaces;

#[derive(Default, PartialEq, Debug)]
struct All {
    ranges: Vec<(StreamPos, Range)>,
    events: Vec<(StreamPos, usize, Event)>,
}

impl ElementSink for All {
    fn range(&mut self, at: StreamPos, range: &Range) {
        self.ranges.push((at, *range));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.events.push((at, self.ranges.len(), event));
    }
}

fn one_by_one(mut decoder: Etmv4<'_>, stream: &Stream) -> All {
    let mut all = All::default();
    let mut reader = Reader::new(Headers::new(&decoder.config));
    let (mut offset, mut packet) = (0, 0);
    while let Some((parsed, len)) = reader.parse(&stream.bytes[offset..]) {
        let at = StreamPos { packet, byte: offset as u64 };
        decoder.feed(at, &parsed, &mut all);
        packet += u64::from(parsed != Parsed::Unsynchronised);
        offset += len;
    }
    if offset < stream.bytes.len() {
        decoder.cut(StreamPos { packet, byte: offset as u64 }, &mut all);
    }
    decoder.finish(&mut all);
    all
}

/// A trace where bytes that are not a packet follow some exceptions: elements that wait are lost.
fn without_addresses(config: &Config, trace: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut reader = Reader::new(Headers::new(config));
    let (mut injured, mut offset) = (Vec::new(), 0);
    while let Some((found, len)) = reader.next(&trace[offset..]) {
        injured.extend_from_slice(&trace[offset..offset + len]);
        offset += len;
        if found == Found::Packet(Kind::Exception) && rng.u8(0..4) == 0 {
            injured.push(0xb3);
        }
    }
    injured.extend_from_slice(&trace[offset..]);
    injured
}

#[test]
fn batches_are_decoded_as_packets_one_by_one() {
    let mut ranges = 0;
    for seed in 0..120 {
        let mut rng = Rng::with_seed(seed);
        let wide = rng.bool();
        let program = Program::random(&mut rng, 300, wide);
        let (start, steps) = program.walk(&mut rng, 1500);
        let config = Config {
            version: 0x42,
            context_id_bytes: 4,
            vmid_bytes: 1,
            return_stack: rng.bool(),
            max_speculation: if rng.u8(0..4) == 0 { 8 } else { 0 },
            ..Config::default()
        };
        let options = etmv4::Options {
            branch_broadcast: rng.bool(),
            cycles: None,
            return_depth: 16,
            period: rng.usize(50..500),
            combine: rng.bool(),
            speculate: config.max_speculation > 0,
        };
        let mut trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        for _ in 0..rng.u8(0..6) {
            let at = rng.usize(0..trace.len());
            trace[at] = rng.u8(..);
        }
        if rng.bool() {
            trace = without_addresses(&config, &trace, &mut rng);
        }
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes, Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &trace);
        let [stream] = &capture.streams[..] else { panic!("one stream") };
        let decoder = || Etmv4::new(config, Arch::V8, &memory);
        let mut batches = All::default();
        decoder().decode(stream, &mut batches);
        let expected = one_by_one(decoder(), stream);
        assert!(batches == expected, "seed {seed}");
        ranges += batches.ranges.len();
    }
    assert!(ranges > 20_000, "{ranges}");
}

/// Outcomes that cannot be followed for lack of a context move the program on (O21).
#[test]
fn an_address_before_unknown_outcomes_is_not_believed() {
    let sync = [&[0; 11][..], &[0x80, 0x01, 0x00]].concat();
    // b 0x1004, b 0x1000
    let code = [0x1400_0001_u32, 0x17ff_ffff].map(u32::to_le_bytes).concat();
    let address = [0x9d, 0, 0x08, 0, 0, 0, 0, 0, 0];
    let (context, atom) = ([0x81, 0x10], [0xf7]);
    let ranges = |packets: &[&[u8]]| -> Vec<u64> {
        let mut memory = Memory::new();
        memory.add(0x1000, code.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &[&[&sync[..]], packets].concat().concat());
        let mut all = All::default();
        let config = Config { version: 0x42, ..Config::default() };
        Etmv4::new(config, Arch::V8, &memory).decode(&capture.streams[0], &mut all);
        all.ranges.iter().map(|(_, range)| range.start).collect()
    };
    assert_eq!(ranges(&[&address, &context, &atom]), [0x1000]);
    assert_eq!(ranges(&[&address, &atom, &context, &atom]), [0u64; 0]);
    assert_eq!(ranges(&[&address, &atom, &context, &atom, &address, &atom]), [0x1000]);
}
