//! Streams that are read piece by piece are decoded as those that are in memory.

use super::*;
use crate::{ElementSink, Etmv4, Event, Memory, Ptm, Range, StreamPos};
use fastrand::Rng;
use hartrace_encap::coresight::{FSYNC, Formatter, TraceId};
use hartrace_golden::arm::{Program, etmv4, ptm};
use hartrace_isa::arm::{Arch, Spaces};
use std::io::{self, Read};

#[derive(Default, PartialEq, Debug)]
struct All(Vec<(StreamPos, Result<Range, Event>)>);

impl ElementSink for All {
    fn range(&mut self, at: StreamPos, range: &Range) {
        self.0.push((at, Ok(*range)));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.push((at, Err(event)));
    }
}

/// A buffer that arrives a few bytes at a time.
#[derive(Debug)]
struct Slow(Vec<u8>);

impl BufferSource for Slow {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Few(self.0.clone(), 0)))
    }
}

struct Few(Vec<u8>, usize);

impl Read for Few {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[self.1..];
        let count = rest.len().min(room.len()).min(1 + self.1 % 97);
        room[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

fn open(layout: Layout, bytes: &[u8]) -> Capture {
    Capture::open(layout, Slow(bytes.to_vec())).unwrap()
}

fn injure(trace: &mut [u8], rng: &mut Rng) {
    for _ in 0..rng.u8(0..4) {
        let at = rng.usize(0..trace.len());
        trace[at] = rng.u8(..);
    }
}

#[test]
fn pieces_are_decoded_as_the_whole() {
    let (mut ranges, mut resets) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, false);
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes.clone(), Spaces::ALL);
        let registers = hartrace_etmv4::Registers { configr: 0x800, ..etmv4::REGISTERS };
        let (one, two) = (registers.config(), ptm::REGISTERS.config());
        let (mut frames, mut raw) = (Vec::new(), Vec::new());
        for block in 0..rng.usize(1..4) {
            let (start, steps) = program.walk(&mut rng, 1000);
            let (a, b) = (etmv4::Options::default(), ptm::Options::default());
            let mut a = etmv4::encode(&one, &a, &program, start, &steps, &mut rng);
            let mut b = ptm::encode(&two, &b, &program, start, &steps, &mut rng);
            injure(&mut a, &mut rng);
            injure(&mut b, &mut rng);
            raw.extend_from_slice(&a);
            if block > 0 {
                frames.extend(FSYNC.repeat(4 * rng.usize(1..3)));
                resets += 1;
            }
            let mut formatter = Formatter::new();
            let (mut a, mut b) = (&a[..], &b[..]);
            while a.len() + b.len() > 0 {
                let of = rng.usize(1..40);
                let (id, from) = if rng.bool() { (0x10, &mut a) } else { (0x11, &mut b) };
                let (now, later) = from.split_at(of.min(from.len()));
                *from = later;
                let id = TraceId::new(id).unwrap();
                formatter.write(id, now, &mut |frame| frames.extend_from_slice(frame));
            }
            formatter.finish(&mut |frame| frames.extend_from_slice(frame));
        }
        for (layout, bytes) in [(Layout::Frames(Mode::AlignedReset), &frames), (Layout::Raw, &raw)]
        {
            let (whole, read) = (Capture::split(layout, bytes), open(layout, bytes));
            assert_eq!((whole.faults, whole.statistics), (read.faults, read.statistics));
            assert_eq!(whole.streams.len(), read.streams.len());
            for (whole, read) in whole.streams.iter().zip(&read.streams) {
                assert_eq!((whole.id, whole.first()), (read.id, read.first()));
                assert!(read.bytes.is_empty());
                let decode = |stream: &Stream| {
                    let mut all = All::default();
                    match stream.id {
                        0x11 => Ptm::new(two, Arch::V7, &memory).decode(stream, &mut all),
                        _ => Etmv4::new(one, Arch::V8, &memory).decode(stream, &mut all),
                    }
                    all
                };
                let (expected, found) = (decode(whole), decode(read));
                let differ = expected.0.iter().zip(&found.0).position(|(a, b)| a != b);
                assert!(expected == found, "seed {seed}, source {:x}, at {differ:?}", whole.id);
                let held = read.held().unwrap();
                assert_eq!((&whole.bytes, &whole.resets), (&held.bytes, &held.resets));
                ranges += expected.0.iter().filter(|(_, what)| what.is_ok()).count();
            }
        }
    }
    assert!(ranges > 20_000 && resets > 20, "{ranges} {resets}");
}
