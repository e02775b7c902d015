//! Random programs, executed, encoded by the models and decoded again: by our decoder, and by
//! OpenCSD's `trc_pkt_lister` where that is installed (else those tests show as ignored).

mod opencsd;

use fastrand::Rng;
use hartrace_arm_decoder::{Capture, Etmv4, Event, Layout, Memory, Ptm, Range, Sink};
use hartrace_arm_golden::{Expected, Program, Step, etmv4, expected, ptm};
use hartrace_arm_isa::{Arch, Spaces};
use libtest_mimic::{Arguments, Failed, Trial};
use opencsd::Registers;

/// Programs per test; a snapshot each where OpenCSD is asked.
const OURS: u64 = 400;
const THEIRS: usize = 12;

fn main() {
    let args = Arguments::from_args();
    let there = opencsd::is_there();
    let theirs = |name: &str, make: fn(u64) -> Case| {
        let run = move || {
            let cases = (0..).map(make).filter(|case| !case.theirs_wrong);
            cases.take(THEIRS).try_for_each(|case| case.theirs())
        };
        Trial::test(format!("opencsd_{name}"), run).with_ignored_flag(!there)
    };
    let ours = |name: &str, test: fn(u64) -> Result<(), Failed>| {
        Trial::test(name, move || (0..OURS).try_for_each(test))
    };
    let trials = vec![
        ours("etmv4_a64", |seed| Case::etmv4(seed, true).ours()),
        ours("etmv4_a32_t32", |seed| Case::etmv4(seed, false).ours()),
        ours("ptm", |seed| Case::ptm(seed).ours()),
        theirs("etmv4_a64", |seed| Case::etmv4(seed, true)),
        theirs("etmv4_a32_t32", |seed| Case::etmv4(seed, false)),
        theirs("ptm", Case::ptm),
    ];
    libtest_mimic::run(&args, trials).exit();
}

struct Case {
    seed: u64,
    registers: Registers,
    program: Program,
    steps: Vec<Step>,
    trace: Vec<u8>,
    /// OpenCSD gets it wrong.
    theirs_wrong: bool,
}

impl Case {
    fn etmv4(seed: u64, wide: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, wide);
        let (start, steps) = program.walk(&mut rng, 1500);
        let speculative = rng.u8(0..3) == 0;
        // What commits nothing by cycle counts may speculate or not; what does has to.
        let commopt = !speculative || rng.bool();
        let (cycles, broadcast, stack) = (rng.bool(), rng.u8(0..4) == 0, rng.bool());
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        let registers = hartrace_etmv4::Registers {
            configr: bit(broadcast, 3) | bit(cycles, 4) | bit(true, 11) | bit(stack, 12),
            idr0: 1 << 5 | 1 << 7 | 1 << 9 | bit(commopt, 29) | 0x0800_0000,
            idr1: 0x4100_f420,
            idr2: 8 << 25 | 0x0000_0488,
            idr8: if speculative { rng.u32(1..100) } else { 0 },
            devarch: None,
        };
        let combine = rng.bool();
        let options = etmv4::Options {
            branch_broadcast: broadcast,
            cycles: cycles.then(|| rng.u32(0..100)),
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
            speculate: speculative && wide,
            combine,
        };
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let registers = Registers::Etmv4(registers);
        // Before 1.4 it loses instructions where elements are committed late. All pop the return
        // stack where an exception tells the target of the branch before: O17.
        let theirs_wrong = speculative || combine && stack;
        Self { seed, registers, program, steps, trace, theirs_wrong }
    }

    fn ptm(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, false);
        let (start, steps) = program.walk(&mut rng, 1500);
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        let registers = hartrace_ptm::Registers {
            cr: bit(rng.bool(), 12) | rng.u32(0..4) << 14 | 1 << 28 | bit(rng.bool(), 29),
            idr: 0x411c_f312,
            ccer: 1 << 22 | 1 << 23 | 1 << 28 | bit(rng.bool(), 29),
        };
        let options = ptm::Options {
            branch_broadcast: rng.u8(0..4) == 0,
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
        };
        let config = registers.config();
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        let registers = Registers::Ptm(registers);
        Self { seed, registers, program, steps, trace, theirs_wrong: false }
    }

    fn compare(&self, found: &[Expected], times: Option<&[u64]>) -> Result<(), Failed> {
        let wanted = expected(&self.program, &self.steps);
        if wanted.len() < 10 && self.steps.len() > 200 {
            return Err(format!("seed {}: hardly anything is expected", self.seed).into());
        }
        if let Some(at) =
            (0..wanted.len().max(found.len())).find(|at| wanted.get(*at) != found.get(*at))
        {
            let (a, b) = (wanted.get(at), found.get(at));
            let (seed, all) = (self.seed, wanted.len());
            return Err(format!(
                "seed {seed}: range {at} of {all} is {b:x?}, not {a:x?}\n{:x?}",
                self.registers
            )
            .into());
        }
        let time = |step: &Step| match step {
            Step::Time(time) => Some(*time),
            _ => None,
        };
        // What comes behind the last instruction whose outcome is told may be missing.
        let traced = |step: &Step| match step {
            Step::Executed(walked) => self.program.is_traced(walked.number),
            Step::Exception { .. } => true,
            Step::Time(_) => false,
        };
        let last = self.steps.iter().rposition(traced).unwrap_or(0);
        let sure: Vec<u64> = self.steps[..last].iter().filter_map(time).collect();
        let sent: Vec<u64> = self.steps.iter().filter_map(time).collect();
        match times {
            Some(times) if !times.starts_with(&sure) || !sent.starts_with(times) => {
                Err(format!("seed {}: times {times:x?}, not {sent:x?}", self.seed).into())
            }
            _ => Ok(()),
        }
    }

    fn ours(&self) -> Result<(), Failed> {
        let mut memory = Memory::new();
        memory.add(self.program.base, self.program.bytes.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &self.trace);
        let stream = &capture.streams[0];
        let mut seen = Seen::default();
        match self.registers {
            Registers::Etmv4(registers) => {
                Etmv4::new(registers.config(), Arch::V8, &memory).decode(stream, &mut seen);
            }
            Registers::Ptm(registers) => {
                Ptm::new(registers.config(), Arch::V7, &memory).decode(stream, &mut seen);
            }
        }
        if !seen.wrong.is_empty() {
            return Err(format!("seed {}: {:x?}", self.seed, seen.wrong).into());
        }
        let exceptions = self.steps.iter().filter(|step| matches!(step, Step::Exception { .. }));
        let exceptions: Vec<u64> = exceptions
            .map(|step| match step {
                Step::Exception { before, .. } => self.program.code[*before].address,
                _ => 0,
            })
            .collect();
        if seen.exceptions != exceptions {
            return Err(format!("seed {}: other exceptions", self.seed).into());
        }
        self.compare(&seen.ranges, Some(&seen.times))
    }

    fn theirs(&self) -> Result<(), Failed> {
        let mut found = Vec::new();
        let memory = [(self.program.base, self.program.bytes.clone())];
        let errors = opencsd::decode(&self.registers, &memory, &self.trace, |range| {
            found.push(range);
            Ok(())
        })?;
        self.compare(&found, None).map_err(|failed| {
            format!("{}\n{errors:?}", failed.message().unwrap_or_default()).into()
        })
    }
}

#[derive(Default)]
struct Seen {
    ranges: Vec<Expected>,
    times: Vec<u64>,
    exceptions: Vec<u64>,
    wrong: Vec<(u64, Event)>,
}

impl Sink for Seen {
    fn range(&mut self, _: u64, range: &Range) {
        self.ranges.push((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, at: u64, event: Event) {
        match event {
            Event::Timestamp { value, .. } => self.times.push(value),
            Event::Exception { returns, .. } => self.exceptions.push(returns.unwrap_or(0)),
            Event::Fault(_) | Event::NotAccessible { .. } => self.wrong.push((at, event)),
            Event::NoSync(lost) if lost != hartrace_arm_decoder::Lost::Start => {
                self.wrong.push((at, event));
            }
            _ => {}
        }
    }
}
