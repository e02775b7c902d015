//! Memory with another program than the traced one: a branch that is always taken there, and that the trace
//! reports as not taken, is a fault (O19), and nothing is believed up to the next synchronisation.

use fastrand::Rng;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Fault, Layout, Memory, Ptm, Range, StreamPos,
};
use hartrace_golden::arm::{Does, Expected, Program, Step, etmv4, expected, ptm};
use hartrace_isa::arm::{Arch, Isa, Kind, Spaces};

const PROGRAMS: u64 = 40;

#[derive(Default)]
struct Found {
    ranges: Vec<Expected>,
    faults: usize,
    /// Ranges before the first fault.
    before: Option<usize>,
    /// Branches that are always taken, and were not.
    impossible: usize,
}

impl ElementSink for Found {
    fn range(&mut self, _: StreamPos, range: &Range) {
        let elsewhere = matches!(range.kind, Kind::Direct { target, .. } if target != range.end);
        let always = elsewhere && !range.conditional && range.isa != Isa::T32;
        self.impossible += usize::from(always && !range.taken);
        self.ranges.push((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if event == Event::Fault(Fault::WrongImage) {
            self.faults += 1;
            self.before.get_or_insert(self.ranges.len());
        }
    }
}

/// The same program, in which conditional branches of A64 and A32 are always taken.
fn without_conditions(program: &Program) -> Vec<u8> {
    let mut bytes = program.bytes.clone();
    for code in &program.code {
        let Does::Branch { to, conditional: true, .. } = code.does else { continue };
        let at = (code.address - program.base) as usize;
        let word = &mut bytes[at..at + 4];
        match code.isa {
            Isa::A64 => {
                let distance = program.code[to].address.wrapping_sub(code.address) >> 2;
                let branch = 0x1400_0000 | distance as u32 & 0x3ff_ffff;
                word.copy_from_slice(&branch.to_le_bytes());
            }
            Isa::A32 => word[3] = word[3] & 0xf | 0xe0,
            Isa::T32 => {}
        }
    }
    bytes
}

/// Checks what was found in the program as it is, and in the other one.
fn check(seed: u64, program: &Program, steps: &[Step], decode: impl Fn(&Memory) -> Found) -> usize {
    let memory = |bytes: Vec<u8>| {
        let mut memory = Memory::new();
        memory.add(program.base, bytes, Spaces::ALL);
        memory
    };
    let (right, _) = expected(program, steps);
    let found = decode(&memory(program.bytes.clone()));
    assert_eq!((found.ranges, found.faults), (right.clone(), 0), "seed {seed}");
    let found = decode(&memory(without_conditions(program)));
    assert_eq!(found.impossible, 0, "seed {seed}");
    // Up to the first fault, all branches are taken in both programs.
    let before = found.before.unwrap_or(found.ranges.len());
    assert_eq!(found.ranges[..before], right[..before], "seed {seed}");
    found.faults
}

#[test]
fn etmv4_streams() {
    let mut faults = 0;
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, seed % 2 == 0);
        let (start, steps) = program.walk(&mut rng, 2000);
        let config = etmv4::REGISTERS.config();
        let options = etmv4::Options::default();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let capture = Capture::split(Layout::Raw, &trace);
        faults += check(seed, &program, &steps, |memory| {
            let mut found = Found::default();
            Etmv4::new(config, Arch::V8, memory).decode(&capture.streams[0], &mut found);
            found
        });
    }
    assert!(faults > PROGRAMS as usize, "{faults}");
}

#[test]
fn ptm_streams() {
    let mut faults = 0;
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, false);
        let (start, steps) = program.walk(&mut rng, 2000);
        let config = ptm::REGISTERS.config();
        let options = ptm::Options::default();
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        let capture = Capture::split(Layout::Raw, &trace);
        faults += check(seed, &program, &steps, |memory| {
            let mut found = Found::default();
            Ptm::new(config, Arch::V7, memory).decode(&capture.streams[0], &mut found);
            found
        });
    }
    assert!(faults > PROGRAMS as usize, "{faults}");
}

/// Decodes atoms, from 0x1000 on.
fn follow<S: ElementSink + Default>(code: &[u32], atoms: &[u8]) -> S {
    let mut memory = Memory::new();
    memory.add(0x1000, code.iter().flat_map(|word| word.to_le_bytes()).collect(), Spaces::ALL);
    let sync = [&[0; 11][..], &[0x80, 1, 0, 4]].concat();
    // An address with a context.
    let address = [0x85, 0, 0x08, 0, 0, 0, 0, 0, 0, 0x31];
    let capture = Capture::split(Layout::Raw, &[&sync[..], &address, atoms].concat());
    let mut found = S::default();
    let config = etmv4::REGISTERS.config();
    Etmv4::new(config, Arch::V8, &memory).decode(&capture.streams[0], &mut found);
    found
}

/// The same, as OpenCSD does.
#[derive(Default)]
struct Going(Found);

impl ElementSink for Going {
    const GOES_ON: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.0.range(at, range);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.event(at, event);
    }
}

#[test]
fn indirect_branches_that_are_not_taken() {
    // Not taken, taken.
    let (code, atoms) = ([0xd65f_03c0, 0xd503_201f, 0x1400_0000], [0xd8 | 0b10]);
    let found: Found = follow(&code, &atoms);
    assert_eq!((found.ranges, found.faults), (Vec::new(), 1));
    let Going(found) = follow(&code, &atoms);
    assert_eq!(found.ranges, [(0x1000, 0x1004, 1, false), (0x1004, 0x100c, 2, true)]);
    assert_eq!((found.faults, found.before), (1, Some(0)));
}

/// Some trace units report a branch to the next instruction as not taken; then nothing is wrong.
#[test]
fn branches_to_the_next_instruction() {
    let code = [0x1400_0001, 0x1400_0002, 0xd503_201f, 0x1400_0000];
    // Not taken, taken, taken; not taken.
    let found: Found = follow(&code, &[0xf8 | 0b110, 0xf6]);
    let ranges = [(0x1000, 0x1004, 1, false), (0x1004, 0x1008, 1, true), (0x100c, 0x1010, 1, true)];
    assert_eq!(found.ranges, ranges);
    assert_eq!(found.faults, 1);
}
