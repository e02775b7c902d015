//! Packets in batches are decoded in the same way as one by one.

use super::*;
use crate::{Capture, Layout, Range};
use fastrand::Rng;
use hartrace_golden::arm::{Disturbances, Program, ptm};
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

fn one_by_one(mut decoder: Ptm<'_>, stream: &Stream) -> All {
    let mut all = All::default();
    let mut reader = Reader::new(decoder.config);
    let (mut offset, mut packet) = (0, 0);
    while let Some((found, len)) = reader.next(&stream.bytes[offset..]) {
        let at = StreamPos { packet, byte: offset as u64 };
        decoder.feed(at, found, &stream.bytes[offset..], &mut all);
        packet += u64::from(found != Found::Unsynchronised);
        offset += len;
    }
    if offset < stream.bytes.len() {
        decoder.cut(StreamPos { packet, byte: offset as u64 }, &mut all);
    }
    decoder.finish(&mut all);
    all
}

#[test]
fn batches_are_decoded_as_packets_one_by_one() {
    let mut ranges = 0;
    for seed in 0..120 {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, false);
        let (start, steps) = program.walk(&mut rng, 1500);
        let disturbances =
            Disturbances { contexts: rng.bool(), overflows: rng.bool(), unknown: false };
        let steps = program.disturb(&mut rng, &steps, &disturbances);
        let config = Config {
            cycle_accurate: rng.u8(0..8) == 0,
            return_stack: rng.bool(),
            timestamp_64: rng.bool(),
            context_id_bytes: 4,
            ..Config::default()
        };
        let options = ptm::Options {
            branch_broadcast: rng.bool(),
            return_depth: 16,
            period: rng.usize(50..500),
        };
        let mut trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        for _ in 0..rng.u8(0..6) {
            let at = rng.usize(0..trace.len());
            trace[at] = rng.u8(..);
        }
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes, Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &trace);
        let [stream] = &capture.streams[..] else { panic!("one stream") };
        let decoder = || Ptm::new(config, Arch::V7, &memory);
        let mut batches = All::default();
        decoder().decode(stream, &mut batches);
        let expected = one_by_one(decoder(), stream);
        assert!(batches == expected, "seed {seed}");
        ranges += batches.ranges.len();
    }
    assert!(ranges > 20_000, "{ranges}");
}
