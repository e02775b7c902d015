//! Memory does not grow with the length of a trace buffer.

use fastrand::Rng;
use hartrace_arm_decoder::{
    BufferSource, Capture, ElementSink, Etmv4, Event, Layout, Memory, Range, StreamPos,
};
use hartrace_encap::coresight::{Formatter, Mode, TraceId};
use hartrace_golden::arm::{Program, etmv4};
use hartrace_isa::arm::{Arch, Spaces};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::io::{self, Read};
use std::sync::Arc;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A buffer of 64 MiB, which repeats a block of frames.
#[derive(Debug)]
struct Long(Arc<Vec<u8>>);

const LENGTH: usize = 64 << 20;

impl BufferSource for Long {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Repeated(self.0.clone(), 0)))
    }
}

struct Repeated(Arc<Vec<u8>>, usize);

impl Read for Repeated {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[self.1 % self.0.len()..];
        let count = rest.len().min(room.len()).min(LENGTH.saturating_sub(self.1));
        room[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

struct Live<'r> {
    region: &'r Region<'r, System>,
    instructions: u64,
    most: isize,
}

impl ElementSink for Live<'_> {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.instructions += u64::from(range.count);
        if self.instructions.is_multiple_of(1024) {
            self.most = self.most.max(live(self.region));
        }
    }

    fn event(&mut self, _: StreamPos, _: Event) {}
}

fn live(region: &Region<'_, System>) -> isize {
    let change = region.change();
    change.bytes_allocated as isize - change.bytes_deallocated as isize
}

#[test]
fn a_long_buffer() {
    let mut rng = Rng::with_seed(1);
    let program = Program::random(&mut rng, 300, true);
    let (start, steps) = program.walk(&mut rng, 100_000);
    let config = etmv4::REGISTERS.config();
    let options = etmv4::Options::default();
    let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
    let (mut frames, mut formatter) = (Vec::new(), Formatter::new());
    let id = TraceId::new(0x10).unwrap();
    formatter.write(id, &trace, &mut |frame| frames.extend_from_slice(frame));
    formatter.finish(&mut |frame| frames.extend_from_slice(frame));
    let mut memory = Memory::new();
    memory.add(program.base, program.bytes.clone(), Spaces::ALL);
    let bytes = Long(Arc::new(frames));
    let region = Region::new(GLOBAL);
    let capture = Capture::open(Layout::Frames(Mode::Aligned), bytes).unwrap();
    let mut sink = Live { region: &region, instructions: 0, most: 0 };
    Etmv4::new(config, Arch::V8, &memory).decode(&capture.streams[0], &mut sink);
    assert!(sink.instructions > 10_000_000, "{}", sink.instructions);
    assert!(sink.most > 0 && sink.most < 4 << 20, "{} bytes", sink.most);
}
