//! Compares our decoder with OpenCSD on the same trace: packets alone, and down to instructions.
//!
//! Both count ranges, or packets, and nothing else; each starts every pass with no code decoded. The
//! passes of the two alternate, so that other load on the machine slows down both; the best of each
//! counts. The last lines are `ratio NAME VALUE`: how many times as fast ours is.

mod input;
mod library;
mod ours;

use crate::library::{Job, Library, cpu_time};
use hartrace_arm_decoder::Memory;
use hartrace_isa::arm::Spaces;
use input::Input;
use std::process::ExitCode;
use std::time::Duration;

/// Number of passes; the best one counts.
const PASSES: usize = 15;

const ROWS: &str = "\
decode:  bytes to ranges of instructions, which both give to a function that counts
packets: bytes to packets with all their fields, which OpenCSD gives to a function and ours in batches;
         OpenCSD also puts addresses together from those before, ours has them as they are sent
lengths: ours finds one packet after the other, only what it is and how long; OpenCSD as before
";

fn main() -> ExitCode {
    let library = match Library::load() {
        Ok(library) => library,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    print!("{ROWS}");
    let mut ratios = Vec::new();
    for input in input::all() {
        if let Err(message) = compare(&library, &input, &mut ratios) {
            eprintln!("{}: {message}", input.name);
            return ExitCode::FAILURE;
        }
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
    ExitCode::SUCCESS
}

/// The best time of each decoder, and the result of its last pass.
fn best<T, const N: usize>(passes: [&dyn Fn() -> T; N]) -> [(Duration, T); N] {
    let timed = |pass: &dyn Fn() -> T| {
        let start = cpu_time();
        let result = pass();
        (cpu_time() - start, result)
    };
    let mut all = passes.map(timed);
    for _ in 1..PASSES {
        for (best, pass) in all.iter_mut().zip(passes) {
            let (time, result) = timed(pass);
            *best = (best.0.min(time), result);
        }
    }
    all
}

fn compare(
    library: &Library,
    input: &Input,
    ratios: &mut Vec<(String, f64)>,
) -> Result<(), String> {
    let job = Job { unit: input.unit, trace: &input.trace, program: input.memory.as_deref() };
    let mut row = |row: &str, amount: f64, unit: &str, ours: Duration, theirs: Duration| {
        let rate = |time: Duration| amount / time.as_secs_f64() / 1e6;
        let times = theirs.as_secs_f64() / ours.as_secs_f64();
        let (ours, theirs) = (rate(ours), rate(theirs));
        println!("  {row:8} {ours:9.1} {unit}, OpenCSD {theirs:8.2}: {times:.1} times");
        ratios.push((format!("{}_{row}{}", input.protocol(), input.suffix), times));
    };

    let text = |error: crate::library::Error| error.to_string();
    println!("{}: {} bytes", input.name, input.trace.len());
    if let Some(segments) = &input.memory {
        let mut memory = Memory::new();
        for (address, bytes) in segments {
            memory.add(*address, bytes.clone(), Spaces::ALL);
        }
        let decode = || {
            let count = ours::decode(input, &memory);
            Ok((count.ranges, count.instructions))
        };
        let theirs = || library.run(&job).map(|counts| (counts.ranges, 0));
        let [(ours, count), (theirs, counts)] = best([&decode, &theirs]);
        let ((ranges, instructions), (their_ranges, _)) =
            (count.map_err(text)?, counts.map_err(text)?);
        if ranges != their_ranges {
            return Err(format!("{ranges} ranges, OpenCSD has {their_ranges}"));
        }
        println!("  {instructions} instructions");
        row("decode", instructions as f64, "M instructions/s", ours, theirs);
    }

    let packets_only = Job { program: None, ..job };
    let fields = || Ok(ours::packets(input));
    let lengths = || Ok(ours::lengths(input));
    let theirs = || library.run(&packets_only).map(|counts| counts.packets);
    let [(fields, read), (lengths, found), (theirs, counts)] = best([&fields, &lengths, &theirs]);
    let (read, found, counts) = (read.map_err(text)?, found.map_err(text)?, counts.map_err(text)?);
    if read != counts || found != counts {
        return Err(format!("{read} packets or {found}, OpenCSD has {counts}"));
    }
    row("packets", input.trace.len() as f64, "MB/s", fields, theirs);
    row("lengths", input.trace.len() as f64, "MB/s", lengths, theirs);
    Ok(())
}
