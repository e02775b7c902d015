//! Blocks of trace that Linux perf concatenates: four synchronisation words between them reset the
//! state, even where a packet is cut off.

use fastrand::Rng;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Memory, Range, StreamPos, list_etmv4,
};
use hartrace_encap::coresight::{FSYNC, Formatter, Mode, TraceId};
use hartrace_golden::arm::{Expected, Program, etmv4, expected};
use hartrace_isa::arm::{Arch, Spaces};

#[derive(Default)]
struct Found(Vec<Expected>, usize);

impl ElementSink for Found {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.0.push((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.1 += usize::from(matches!(event, Event::NoSync(_)));
    }
}

#[test]
fn blocks_have_nothing_to_do_with_each_other() {
    let mut rng = Rng::with_seed(5);
    let program = Program::random(&mut rng, 300, true);
    let config = etmv4::REGISTERS.config();
    let options = etmv4::Options::default();
    let (mut frames, mut all) = (Vec::new(), Vec::new());
    let mut incomplete = 0;
    for block in 0..3 {
        let (start, steps) = program.walk(&mut rng, 500);
        let mut trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        all.extend(expected(&program, &steps).0);
        if block < 2 {
            // The start of a long address.
            trace.extend([0x9d, 0, 0]);
            incomplete += 1;
        }
        let mut formatter = Formatter::new();
        let id = TraceId::new(0x10).unwrap();
        formatter.write(id, &trace, &mut |frame| frames.extend_from_slice(frame));
        formatter.finish(&mut |frame| frames.extend_from_slice(frame));
        if block < 2 {
            frames.extend(FSYNC.repeat(4));
        }
    }
    let mut memory = Memory::new();
    memory.add(program.base, program.bytes.clone(), Spaces::ALL);
    let capture = Capture::split(Layout::Frames(Mode::AlignedReset), &frames);
    assert!(capture.faults.is_empty(), "{:?}", capture.faults);
    let stream = capture.streams.iter().find(|stream| stream.id == 0x10).unwrap();
    let mut found = Found::default();
    Etmv4::new(config, Arch::V8, &memory).decode(stream, &mut found);
    assert_eq!(found.0, all);
    assert_eq!(found.1, 3, "each starts without synchronisation");
    let cut = list_etmv4(stream, &config).iter().filter(|r| r.name == "I_INCOMPLETE_EOT").count();
    assert_eq!(cut, incomplete);
}
