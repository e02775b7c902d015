//! Checks the sinks of the E-Trace decoder on ETMv4 and PTM traces of random programs against the
//! executed instructions.

use fastrand::Rng;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_arm_decoder::{Capture, Etmv4, Layout, Memory, Ptm};
use hartrace_decoder::{Count, Coverage, Edge, Edges, Event, Leaves, Run, Sink, StreamPos};
use hartrace_golden::arm::{Does, Program, Step, etmv4, expected, ptm};
use hartrace_isa::arm::{Arch, Spaces};
use std::collections::BTreeMap;

const PROGRAMS: u64 = 60;

/// All sinks at once, and the information that they do not provide.
#[derive(Default)]
struct All {
    count: Count,
    coverage: Coverage,
    edges: Edges,
    addresses: Vec<u64>,
    traps: Vec<(u64, bool, Option<u64>)>,
    times: Vec<u64>,
    on: usize,
}

impl Sink for All {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.addresses.push(address));
        self.count.run(at, run);
        self.coverage.run(at, run);
        self.edges.run(at, run);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.count.event(at, event);
        self.coverage.event(at, event);
        self.edges.event(at, event);
        match event {
            Event::Trap { cause, interrupt, epc, .. } => self.traps.push((cause, interrupt, epc)),
            Event::Context { time, .. } if self.times.last() != Some(&time) => {
                self.times.push(time);
            }
            Event::On => self.on += 1,
            _ => {}
        }
    }
}

fn check(name: &str, program: &Program, steps: &[Step], found: All) {
    let told: usize = expected(program, steps).0.iter().map(|range| range.2 as usize).sum();
    let mut executed = Vec::new();
    let mut edges: BTreeMap<Edge, u64> = BTreeMap::new();
    let mut from = None;
    let mut traps = Vec::new();
    for step in steps {
        match *step {
            Step::Executed(step) if executed.len() < told => {
                let code = program.code[step.number];
                executed.push(code);
                if let Some((from, kind)) = from {
                    *edges.entry(Edge { from, to: code.address, kind }).or_default() += 1;
                }
                let kind = match code.does {
                    Does::Nothing | Does::Isb => None,
                    Does::Branch { conditional: true, .. } => Some(Leaves::Branch),
                    Does::Branch { .. } => Some(Leaves::Jump),
                    Does::Jump { .. } | Does::Return | Does::ExceptionReturn => {
                        Some(Leaves::Indirect)
                    }
                };
                from = kind.map(|kind| (code.address, kind));
            }
            Step::Exception { before, number } => {
                traps.push((u64::from(number), true, Some(program.code[before].address)));
                from = None;
            }
            _ => {}
        }
    }
    assert!(!executed.is_empty(), "{name}");
    let addresses: Vec<u64> = executed.iter().map(|code| code.address).collect();
    assert_eq!(found.addresses, addresses, "{name}");
    assert_eq!(found.count, Count { instructions: told as u64, gaps: 0 }, "{name}");
    assert_eq!(found.on, 1, "{name}: it starts once");
    let sizes: BTreeMap<u64, u64> =
        executed.iter().map(|code| (code.address, u64::from(code.size))).collect();
    assert_eq!(found.coverage.bytes(), sizes.values().sum::<u64>(), "{name}");
    assert!(sizes.keys().all(|address| found.coverage.contains(*address)), "{name}");
    assert_eq!(found.edges.sorted(), edges.into_iter().collect::<Vec<_>>(), "{name}");
    // A trap after the last reported instruction may be missing.
    assert!(found.traps.len() + 1 >= traps.len(), "{name}");
    assert_eq!(found.traps, traps[..found.traps.len()], "{name}");
    assert!(found.times.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: time");
}

#[test]
fn etmv4_traces() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let wide = rng.bool();
        let program = Program::random(&mut rng, 400, wide);
        let (start, steps) = program.walk(&mut rng, 1500);
        let registers = hartrace_etmv4::Registers {
            configr: 0x800 | u32::from(rng.bool()) << 12,
            ..etmv4::REGISTERS
        };
        let options = etmv4::Options::default();
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &trace);
        let mut runs = Runs::new(All::default(), Profile::A);
        Etmv4::new(config, Arch::V8, &memory).decode(&capture.streams[0], &mut runs);
        check(&format!("seed {seed}"), &program, &steps, runs.sink);
    }
}

#[test]
fn ptm_traces() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, false);
        let (start, steps) = program.walk(&mut rng, 1500);
        let registers = hartrace_ptm::Registers {
            cr: ptm::REGISTERS.cr | u32::from(rng.bool()) << 29 | u32::from(rng.bool()) << 12,
            ..ptm::REGISTERS
        };
        let config = registers.config();
        let options = ptm::Options::default();
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &trace);
        let mut runs = Runs::new(All::default(), Profile::A);
        Ptm::new(config, Arch::V7, &memory).decode(&capture.streams[0], &mut runs);
        check(&format!("seed {seed}"), &program, &steps, runs.sink);
    }
}
