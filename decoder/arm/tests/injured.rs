//! Streams that are cut, lack bytes or contain wrong bytes: nothing panics, and decoding is exact again
//! after the damage.
//!
//! At best, it is exact after the next synchronisation. But a damaged packet may look like a longer one
//! that reaches into the synchronisation: it is then exact after the following one.

use fastrand::Rng;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Memory, Ptm, Range, StreamPos,
};
use hartrace_etmv4::{Found as Packets, Headers, Kind, Reader};
use hartrace_golden::arm::{Program, etmv4, ptm};
use hartrace_isa::arm::{Arch, Spaces};

const PROGRAMS: u64 = 60;
const INJURIES: usize = 12;

/// Everything that was executed, with its position.
#[derive(Debug, Default, PartialEq)]
struct Found(Vec<(u64, What)>);

#[derive(Copy, Clone, Debug, PartialEq)]
enum What {
    Range(Range),
    Exception(u16, Option<u64>),
}

impl ElementSink for Found {
    fn range(&mut self, at: StreamPos, range: &Range) {
        self.0.push((at.byte, What::Range(*range)));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if let Event::Exception { number, returns, .. } = event {
            self.0.push((at.byte, What::Exception(number, returns)));
        }
    }
}

impl Found {
    /// The part after a position, counted from there.
    fn behind(&self, position: usize) -> Vec<(u64, What)> {
        let position = position as u64;
        let behind = self.0.iter().filter(|(at, _)| *at >= position);
        behind.map(|(at, what)| (at - position, *what)).collect()
    }
}

/// Damages a trace. Returns it with the position of the first byte after the damage, before and after.
fn injure(trace: &[u8], rng: &mut Rng) -> (Vec<u8>, usize, usize) {
    let at = rng.usize(0..trace.len());
    let len = rng.usize(1..20).min(trace.len() - at);
    let mut injured = trace[..at].to_vec();
    match rng.u8(0..4) {
        // Other bytes.
        0 => injured.extend((0..len).map(|_| rng.u8(..))),
        // One bit.
        1 => {
            injured.extend(&trace[at..at + len]);
            injured[at] ^= 1 << rng.u8(0..8);
        }
        // Bytes are missing.
        2 => {}
        // The start is missing.
        _ => injured.clear(),
    }
    let behind = injured.len();
    injured.extend(&trace[at + len..]);
    (injured, at + len, behind)
}

/// A synchronisation.
#[derive(Debug)]
struct Sync {
    start: usize,
    /// The address is known from here on.
    known: usize,
}

/// Counts how often the first synchronisation was enough.
#[derive(Default)]
struct Tally {
    all: usize,
    first: usize,
}

impl Tally {
    fn check(
        &mut self,
        seed: u64,
        trace: &[u8],
        syncs: &[Sync],
        rng: &mut Rng,
        decode: impl Fn(&[u8]) -> Found,
    ) {
        let whole = decode(trace);
        for _ in 0..INJURIES {
            let (injured, before, after) = injure(trace, rng);
            let found = decode(&injured);
            let exact = |sync: &Sync| {
                let known = sync.known;
                let (a, b) = (whole.behind(known), found.behind(known - before + after));
                a == b && !a.is_empty()
            };
            let next: Vec<&Sync> = syncs.iter().filter(|sync| sync.start >= before).collect();
            // The last part may have no branch.
            if let [first, second, _, ..] = next[..] {
                self.all += 1;
                self.first += usize::from(exact(first));
                assert!(
                    exact(second),
                    "seed {seed}: injured up to {before}, {second:?} is not exact"
                );
            }
        }
    }

    fn is_good(&self) {
        let Self { all, first } = self;
        assert!(*all > 300 && first * 10 > all * 9, "{first} of {all} at the first");
    }
}

fn memory(program: &Program) -> Memory {
    let mut memory = Memory::new();
    memory.add(program.base, program.bytes.clone(), Spaces::ALL);
    memory
}

#[test]
fn etmv4_streams() {
    let mut tally = Tally::default();
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, true);
        let (start, steps) = program.walk(&mut rng, 2000);
        let speculative = seed % 3 == 0;
        let registers = hartrace_etmv4::Registers {
            // Without a return stack: an incomplete one misleads until the next synchronisation.
            configr: 0x800,
            idr8: if speculative { 20 } else { 0 },
            ..etmv4::REGISTERS
        };
        let config = registers.config();
        let options = etmv4::Options {
            branch_broadcast: rng.bool(),
            period: 60,
            speculate: speculative,
            ..etmv4::Options::default()
        };
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let memory = memory(&program);
        let (mut reader, mut offset) = (Reader::new(Headers::new(&config)), 0);
        let (mut start, mut syncs) = (None, Vec::new());
        while let Some((found, len)) = reader.next(&trace[offset..]) {
            match found {
                Packets::Packet(Kind::Async) => start = Some(offset),
                // The model sends the address not with the synchronisation, but with the next
                // exception.
                Packets::Packet(Kind::AddressContext64Is0) => {
                    syncs.extend(start.take().map(|start| Sync { start, known: offset }));
                }
                _ => {}
            }
            offset += len;
        }
        tally.check(seed, &trace, &syncs, &mut rng, |bytes| {
            let mut found = Found::default();
            let capture = Capture::split(Layout::Raw, bytes);
            Etmv4::new(config, Arch::V8, &memory).decode(&capture.streams[0], &mut found);
            found
        });
    }
    tally.is_good();
}

#[test]
fn ptm_streams() {
    let mut tally = Tally::default();
    for seed in 0..PROGRAMS {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 300, false);
        let (start, steps) = program.walk(&mut rng, 2000);
        let registers = hartrace_ptm::Registers {
            cr: ptm::REGISTERS.cr | u32::from(rng.bool()) << 29 | u32::from(rng.bool()) << 12,
            ..ptm::REGISTERS
        };
        let config = registers.config();
        let options =
            ptm::Options { branch_broadcast: rng.bool(), period: 60, ..ptm::Options::default() };
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        let memory = memory(&program);
        let syncs: Vec<Sync> = trace
            .windows(6)
            .enumerate()
            .filter(|(_, window)| *window == [0, 0, 0, 0, 0, 0x80])
            .map(|(start, _)| Sync { start, known: start })
            .collect();
        tally.check(seed, &trace, &syncs, &mut rng, |bytes| {
            let mut found = Found::default();
            let capture = Capture::split(Layout::Raw, bytes);
            Ptm::new(config, Arch::V7, &memory).decode(&capture.streams[0], &mut found);
            found
        });
    }
    tally.is_good();
}
