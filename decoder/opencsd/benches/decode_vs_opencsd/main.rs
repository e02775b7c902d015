//! Our decoder beside OpenCSD on the same trace: packets alone, and down to instructions.
//!
//! Both count ranges, or packets, and nothing else; each starts anew in every pass, with no code
//! decoded. The trace is that of random programs: a range has two instructions on average, which is
//! shorter than in real ones.

use fastrand::Rng;
use hartrace_arm_decoder::{Capture, Etmv4, Event, Layout, Memory, Ptm, Range, Sink};
use hartrace_arm_golden::{Program, etmv4, ptm};
use hartrace_arm_isa::{Arch, Spaces};
use hartrace_opencsd::{Job, Library, Unit, cpu_time};
use std::process::ExitCode;
use std::time::Duration;

/// Passes of which the best counts.
const PASSES: usize = 15;
const INSTRUCTIONS: usize = 2_000_000;

#[derive(Default)]
struct Count {
    ranges: u64,
    instructions: u64,
}

impl Sink for Count {
    fn range(&mut self, _: u64, range: &Range) {
        self.ranges += 1;
        self.instructions += u64::from(range.count);
    }

    fn event(&mut self, _: u64, _: Event) {}
}

fn best<T>(mut pass: impl FnMut() -> T) -> (Duration, T) {
    let timed = |pass: &mut dyn FnMut() -> T| {
        let start = cpu_time();
        let result = pass();
        (cpu_time() - start, result)
    };
    let mut all = timed(&mut pass);
    for _ in 1..PASSES {
        let next = timed(&mut pass);
        if next.0 < all.0 {
            all = next;
        }
    }
    all
}

/// A trace with what it takes to decode it.
struct Input {
    name: &'static str,
    unit: Unit,
    trace: Vec<u8>,
    program: Program,
}

fn etmv4_input() -> Input {
    let mut rng = Rng::with_seed(1);
    let program = Program::random(&mut rng, 4000, true);
    let (start, steps) = program.walk(&mut rng, INSTRUCTIONS);
    let (configr, idr0, idr1, idr2) = (0x800, 0x2800_02a0, 0x4100_f420, 0x1000_0488);
    let registers = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8: 0, devarch: None };
    let options = etmv4::Options {
        branch_broadcast: false,
        cycles: None,
        return_depth: 16,
        period: 4096,
        combine: true,
        speculate: false,
    };
    let trace = etmv4::encode(&registers.config(), &options, &program, start, &steps, &mut rng);
    Input { name: "ETMv4, A64", unit: Unit::Etmv4([idr0, idr1, idr2, 0, configr]), trace, program }
}

fn ptm_input() -> Input {
    let mut rng = Rng::with_seed(1);
    let program = Program::random(&mut rng, 4000, false);
    let (start, steps) = program.walk(&mut rng, INSTRUCTIONS);
    let (cr, idr, ccer) = (0x1000_0000, 0x411c_f312, 0x30c0_0000);
    let registers = hartrace_ptm::Registers { cr, idr, ccer };
    let options = ptm::Options { branch_broadcast: false, return_depth: 16, period: 4096 };
    let trace = ptm::encode(&registers.config(), &options, &program, start, &steps, &mut rng);
    Input { name: "PTM, A32 and T32", unit: Unit::Ptm([idr, cr, ccer]), trace, program }
}

impl Input {
    fn decode(&self, memory: &Memory) -> Count {
        let capture = Capture::split(Layout::Raw, &self.trace);
        let stream = &capture.streams[0];
        let mut count = Count::default();
        match self.unit {
            Unit::Etmv4([idr0, idr1, idr2, idr8, configr]) => {
                let registers =
                    hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch: None };
                Etmv4::new(registers.config(), Arch::V8, memory).decode(stream, &mut count);
            }
            Unit::Ptm([idr, cr, ccer]) => {
                let registers = hartrace_ptm::Registers { cr, idr, ccer };
                Ptm::new(registers.config(), Arch::V7, memory).decode(stream, &mut count);
            }
        }
        count
    }

    fn packets(&self) -> u64 {
        let (mut count, mut offset) = (0, 0);
        match self.unit {
            Unit::Etmv4([idr0, idr1, idr2, idr8, configr]) => {
                let registers =
                    hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch: None };
                let headers = hartrace_etmv4::Headers::new(&registers.config());
                let mut reader = hartrace_etmv4::Reader::new(headers);
                while let Some((found, len)) = reader.next(&self.trace[offset..]) {
                    std::hint::black_box(found);
                    offset += len;
                    count += 1;
                }
            }
            Unit::Ptm([idr, cr, ccer]) => {
                let registers = hartrace_ptm::Registers { cr, idr, ccer };
                let mut reader = hartrace_ptm::Reader::new(registers.config());
                while let Some((found, len)) = reader.next(&self.trace[offset..]) {
                    std::hint::black_box(found);
                    offset += len;
                    count += 1;
                }
            }
        }
        count
    }
}

fn main() -> ExitCode {
    let library = match Library::load() {
        Ok(library) => library,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for input in [etmv4_input(), ptm_input()] {
        if let Err(message) = compare(&library, &input) {
            eprintln!("{}: {message}", input.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn compare(library: &Library, input: &Input) -> Result<(), String> {
    let mut memory = Memory::new();
    memory.add(input.program.base, input.program.bytes.clone(), Spaces::ALL);
    let program = Some((input.program.base, &input.program.bytes[..]));
    let job = Job { unit: input.unit, trace: &input.trace, program };
    let (ours, count) = best(|| input.decode(&memory));
    let (theirs, counts) = best(|| library.run(&job));
    let counts = counts.map_err(|error| error.to_string())?;
    if counts.ranges != count.ranges {
        return Err(format!("{} ranges, OpenCSD has {}", count.ranges, counts.ranges));
    }
    let millions = |time: Duration| count.instructions as f64 / time.as_secs_f64() / 1e6;
    let times = theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{:18} {:9} bytes {:9} instructions: {:8.1} M instructions/s, OpenCSD {:7.2}: {times:.1} times",
        input.name,
        input.trace.len(),
        count.instructions,
        millions(ours),
        millions(theirs),
    );
    let packets_only = Job { program: None, ..job };
    let (ours, packets) = best(|| input.packets());
    let (theirs, counts) = best(|| library.run(&packets_only));
    let counts = counts.map_err(|error| error.to_string())?;
    if counts.packets != packets {
        return Err(format!("{packets} packets, OpenCSD has {}", counts.packets));
    }
    let rate = |time: Duration| input.trace.len() as f64 / time.as_secs_f64() / 1e6;
    let times = theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{:18} {packets:9} packets: {:26.1} MB/s, OpenCSD {:23.2}: {times:.1} times",
        "",
        rate(ours),
        rate(theirs),
    );
    Ok(())
}
