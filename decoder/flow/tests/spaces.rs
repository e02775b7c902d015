//! A log of processes and patches also works with the context and time of E-Trace.

use hartrace_decoder::{
    Config, Event, Fault, Image, Images, Moment, Run, Sink, StreamPos, Tracer, Versions,
};
use hartrace_etrace::{Params, Payload, Start};
use hartrace_isa::{Isa, Xlen};
use hartrace_spaces::{Holds, Log, Segment, Space, Timeline};
use std::sync::Mutex;

/// Collects addresses, and addresses without code.
#[derive(Default)]
struct Found {
    addresses: Vec<u64>,
    missing: Vec<u64>,
}

impl Sink for Found {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.addresses.push(address));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if let Event::Gap(Fault::NoCode(address)) = event {
            self.missing.push(address);
        }
    }
}

/// Programs of a log, created when they are needed.
#[derive(Debug)]
struct Programs {
    timeline: Timeline,
    seen: Mutex<Vec<Space>>,
}

impl Versions for Programs {
    fn at(&self, moment: Moment) -> Option<(usize, Image)> {
        let space = self.timeline.space(moment.time, moment.context);
        let mut seen = self.seen.lock().unwrap();
        let known = seen.iter().position(|other| *other == space);
        let number = known.unwrap_or_else(|| {
            seen.push(space);
            seen.len() - 1
        });
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        for Segment { start, code, part } in self.timeline.segments(space) {
            image.add_shared(start, &code, part);
        }
        Some((number, image))
    }
}

#[test]
fn processes_share_addresses_and_code_is_patched() {
    let log = "0 declare_process state=CURRENT pid=7 base_address=0x1000 image_file=short\n\
               0 declare_process state=CURRENT pid=8 base_address=0x1000 image_file=long\n\
               20 patch_code pid=7 start_address=0x1004 length=4 code=13000000\n\
               30 declare_process state=END pid=8 base_address=0x1000 image_file=long\n";
    let log = Log::parse("log", log).unwrap();
    let timeline = Timeline::new(&log, Holds::Tid, |image| {
        let nop: &[u8] = if image.file == "short" { &[0x01, 0x00] } else { &[0x13, 0, 0, 0] };
        Some(vec![(0, nop.repeat(0x20 / nop.len()))])
    });
    let nothing = Image::new(Isa::new(Xlen::Rv64));
    let programs = Programs { timeline, seen: Mutex::default() };
    let images = Images::new(&nothing).versions(&programs);
    let params = Params {
        nocontext_p: false,
        context_width_p: 8,
        notime_p: false,
        time_width_p: 8,
        ..Params::default()
    };
    let fresh = Tracer::new(Config { params, ..Config::default() }, images).unwrap();
    let mut found = Found::default();
    let visits = [(7, 10), (8, 10), (7, 20), (8, 29), (8, 30), (9, 30), (7, 31)];
    for ((context, time), packet) in visits.into_iter().zip(0..) {
        // Each one separately: otherwise the path from one to the next would also be followed.
        let mut tracer = fresh.clone();
        for (address, byte) in [(0x1000u64, 0), (0x1008, 1)] {
            let address = address >> params.iaddress_lsb_p;
            let start = Start { branch: true, context, time, address, ..Start::default() };
            tracer.feed(StreamPos { packet, byte }, &Payload::Start(start), &mut found);
        }
        tracer.finish(&mut found);
    }
    let short = [0x1000, 0x1002, 0x1004, 0x1006, 0x1008];
    let long = [0x1000, 0x1004, 0x1008];
    let patched = [0x1000, 0x1002, 0x1004, 0x1008];
    let expected = [&short[..], &long, &patched, &long, &patched].concat();
    assert_eq!(found.addresses, expected);
    // Once for each part.
    assert_eq!(found.missing, [0x1000, 0x1000]);
}
