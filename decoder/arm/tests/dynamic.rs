//! Code that changes while it is traced: random programs at the same addresses in sequence, distinguished
//! by context, by time or by position.

use fastrand::Rng;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Memory, Ptm, Range, StreamPos,
};
use hartrace_etmv4::{Headers, MAX_PACKET, Packet, Timestamp};
use hartrace_golden::arm::{Expected, Ids, Program, Step, etmv4, expected, ptm};
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Holds, Log, Timeline};

const PROGRAMS: u64 = 40;

#[derive(Default)]
struct Found {
    ranges: Vec<Expected>,
    missing: usize,
    faults: usize,
}

impl ElementSink for Found {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.ranges.push((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        match event {
            Event::NotAccessible { .. } => self.missing += 1,
            Event::Fault(_) => self.faults += 1,
            _ => {}
        }
    }
}

/// Two programs at the same address.
fn programs(rng: &mut Rng, wide: bool) -> [Program; 2] {
    let first = Program::random(rng, 300, wide);
    let second = Program::random(rng, 300, wide).at(first.base);
    [first, second]
}

/// A trace of several parts, with packets between them.
struct Trace {
    config: hartrace_etmv4::Config,
    bytes: Vec<u8>,
    /// The instructions executed in each part.
    expected: Vec<Vec<Expected>>,
    /// The latest time so far.
    time: u64,
}

impl Trace {
    fn new() -> Self {
        let registers = hartrace_etmv4::Registers { configr: 0x840, ..etmv4::REGISTERS };
        Self { config: registers.config(), bytes: Vec::new(), expected: Vec::new(), time: 0 }
    }

    fn packet(&mut self, packet: &Packet) {
        let mut bytes = [0; MAX_PACKET];
        let len = packet.emit(&Headers::new(&self.config), &mut bytes).unwrap();
        self.bytes.extend_from_slice(&bytes[..len]);
    }

    fn tell(&mut self, time: u64) {
        self.time = time;
        self.packet(&Packet::Timestamp(Timestamp { value: time, bits: 64, cycles: None }));
    }

    fn run(&mut self, program: &Program, rng: &mut Rng) {
        self.run_in(None, program, rng);
    }

    /// Runs a part in a context that is reported as soon as the part has started.
    fn run_in(&mut self, context: Option<u32>, program: &Program, rng: &mut Rng) {
        let options = etmv4::Options::default();
        let (start, mut steps) = program.walk(rng, 300);
        if let Some(context) = context {
            steps.insert(0, Step::Context(Ids { context, vmid: 0 }));
        }
        let trace = etmv4::encode(&self.config, &options, program, start, &steps, rng);
        self.bytes.extend(trace);
        self.expected.push(expected(program, &steps).0);
        for step in steps {
            if let Step::Time(time) = step {
                self.time = self.time.max(time);
            }
        }
    }

    fn decode(&self, timeline: &Timeline) -> Found {
        let memory = Memory::new();
        let capture = Capture::split(Layout::Raw, &self.bytes);
        let mut found = Found::default();
        Etmv4::new(self.config, Arch::V8, &memory)
            .with_timeline(timeline)
            .decode(&capture.streams[0], &mut found);
        found
    }
}

fn timeline(log: &str, holds: Holds, programs: &[Program; 2]) -> Timeline {
    let log = Log::parse("log", log).unwrap();
    Timeline::new(&log, holds, |image| match image.file.as_str() {
        "one" => Some(vec![(0, programs[0].bytes.clone())]),
        "two" => Some(vec![(0, programs[1].bytes.clone())]),
        _ => None,
    })
}

#[test]
fn processes_are_told_apart_by_their_context() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let wide = rng.bool();
        let programs = programs(&mut rng, wide);
        let mut trace = Trace::new();
        // The program that runs; once, an unknown one.
        let runs = [0, 1, 0, 2, 1];
        for (number, process) in runs.into_iter().enumerate() {
            if number == 0 {
                // The first part starts the trace, and a context counts only after that.
                trace.run(&programs[0], &mut rng);
            }
            let context = [0x501, 0x602, 0x703][process];
            trace.run_in(Some(context), &programs[process.min(1)], &mut rng);
        }
        let base = programs[0].base;
        let log = format!(
            "0 declare_process state=CURRENT pid=1 base_address={base:#x} image_file=one\n\
             0 declare_process state=CURRENT pid=2 base_address={base:#x} image_file=two\n\
             0 declare_thread state=CURRENT tid=5 pid=1\n\
             0 declare_thread state=CURRENT tid=6 pid=2\n\
             0 declare_asid state=CURRENT asid=1 pid=1\n\
             0 declare_asid state=CURRENT asid=2 pid=2\n"
        );
        for holds in [Holds::AsidTid, Holds::Asid] {
            let found = trace.decode(&timeline(&log, holds, &programs));
            // There is no process without a context, nor for the last part but one.
            let told = [1, 2, 3, 5].map(|stretch| trace.expected[stretch].clone()).concat();
            assert_eq!(found.ranges, told, "seed {seed}, {holds:?}");
            assert!(
                !told.is_empty() && found.missing >= 2 && found.faults == 0,
                "seed {seed}, {holds:?}"
            );
        }
    }
}

#[test]
fn code_is_written_anew() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let wide = rng.bool();
        let programs = programs(&mut rng, wide);
        let mut trace = Trace::new();
        trace.run(&programs[0], &mut rng);
        let (before, place) = (trace.time, trace.bytes.len());
        trace.tell(before + 1);
        trace.run(&programs[1], &mut rng);
        let (base, length) = (programs[0].base, programs[1].bytes.len());
        let all = trace.expected.concat();
        for (start, when) in [("0", format!("{}", before + 1)), ("@0", format!("@{place}"))] {
            // Patches of the kernel, so no context is needed.
            let log = format!(
                "{start} declare_process state=CURRENT pid=0 base_address={base:#x} image_file=one\n\
                 {when} patch_code pid=0 start_address={base:#x} length={length} id=two\n"
            );
            let found = trace.decode(&timeline(&log, Holds::Asid, &programs));
            assert_eq!(found.ranges, all, "seed {seed} at {when}");
            assert_eq!(found.faults + found.missing, 0, "seed {seed} at {when}");
            // With only the old code, the result cannot be right.
            let old = log.lines().next().unwrap();
            let found = trace.decode(&timeline(old, Holds::Asid, &programs));
            assert_ne!(found.ranges, all, "seed {seed} at {when}");
        }
    }
}

/// Instructions of two and four bytes are replaced one by one: the code consists of many ranges.
#[test]
fn patches_of_single_instructions() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let wide = rng.bool();
        let programs = programs(&mut rng, wide);
        let program = &programs[1];
        let mut trace = Trace::new();
        trace.run(program, &mut rng);
        let mut log = String::new();
        for code in &program.code {
            let offset = (code.address - program.base) as usize;
            let bytes = &program.bytes[offset..offset + usize::from(code.size)];
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let (start, length) = (code.address, code.size);
            log += &format!(
                "0 patch_code pid=0 start_address={start:#x} length={length} code={hex}\n"
            );
        }
        // The last one may be short, and four bytes must be present (O16).
        let end = program.base + program.bytes.len() as u64;
        log += &format!("0 patch_code pid=0 start_address={end:#x} length=4 code=00000000\n");
        let found = trace.decode(&timeline(&log, Holds::Tid, &programs));
        assert_eq!(found.ranges, trace.expected[0], "seed {seed}");
    }
}

/// By the context of a synchronisation, and by position.
#[test]
fn stretches_of_ptm() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let programs = programs(&mut rng, false);
        let registers = hartrace_ptm::Registers { cr: 0x1000_c000, ..ptm::REGISTERS };
        let config = registers.config();
        let options = ptm::Options { period: 100_000, ..ptm::Options::default() };
        let base = programs[0].base;
        let (mut bytes, mut all, mut log) = (Vec::new(), Vec::new(), String::new());
        for number in [0, 1, 0, 1] {
            let program: &Program = &programs[number];
            let (start, steps) = program.walk(&mut rng, 200);
            let mut trace = ptm::encode(&config, &options, program, start, &steps, &mut rng);
            // The context, after A-Sync, address and information; it is the first process, or the second.
            assert_eq!((trace[5], trace[6], trace[12]), (0x80, 0x08, 0));
            trace[12] = number as u8 + 1;
            let (this, other) = if number == 0 { ("one", "two") } else { ("two", "one") };
            let process = format!("pid=0 base_address={base:#x} image_file");
            let place = bytes.len();
            log += &format!("@{place} declare_library state=END {process}={other}\n");
            log += &format!("@{place} declare_library state=START {process}={this}\n");
            bytes.extend(trace);
            all.extend(expected(program, &steps).0);
        }
        let by_context = format!(
            "0 declare_process state=CURRENT pid=1 base_address={base:#x} image_file=one\n\
             0 declare_process state=CURRENT pid=2 base_address={base:#x} image_file=two\n"
        );
        for log in [log, by_context] {
            let timeline = timeline(&log, Holds::Tid, &programs);
            let memory = Memory::new();
            let capture = Capture::split(Layout::Raw, &bytes);
            let mut found = Found::default();
            Ptm::new(config, Arch::V7, &memory)
                .with_timeline(&timeline)
                .decode(&capture.streams[0], &mut found);
            assert_eq!(found.ranges, all, "seed {seed}");
            assert!(!all.is_empty() && found.missing + found.faults == 0, "seed {seed}");
        }
    }
}
