//! The rate of the encoder beside that of the golden one and of the peer crate, on the same blocks:
//! `cargo bench -p hartrace-encoder`.
//!
//! The input is what programs retire: those of `workloads` if `HARTRACE_DATA` is set, executed by QEMU,
//! and some of this project's own. Rates are in million instructions per second of CPU time, the best of
//! several passes, from blocks in memory to bytes of payloads. `end to end` includes the execution by QEMU
//! or by the hart, and `source` is the rate of the execution alone; both are of time that passed. The peer implements neither implicit
//! returns nor prediction nor the cache, so both of our rates are compared with its delta mode. The last
//! lines are `ratio NAME VALUE`, ours over theirs.
//!
//! `HARTRACE_LIMIT` is the number of instructions of each program.

mod input;
mod theirs;
mod workloads;

use hartrace_encoder::{Encoded, Encoder, EncoderConfig};
use hartrace_etrace::Ioptions;
use hartrace_executions::Retired;
use hartrace_executions::executed::ProgramError;
use input::{Input, config};
use std::hint::black_box;
use std::time::Instant;

const MODES: [&str; 3] = ["delta", "ir+bp+jtc", "ir+ie+sij+bp+jtc+full"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ratios = Vec::new();
    println!(
        "{:12} {:22} {:>10} {:>9}  {:>8} {:>8} {:>8}  {:>10} {:>7}",
        "program", "modes", "instr.", "blocks", "ours", "golden", "peer", "end to end", "source"
    );
    for input in input::all()? {
        let (theirs, _) = best(2, || theirs::encode(&input));
        for mode in MODES {
            measure(&input, mode, theirs, &mut ratios)?;
        }
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
    Ok(())
}

fn measure(
    input: &Input,
    mode: &str,
    theirs: f64,
    ratios: &mut Vec<(String, f64)>,
) -> Result<(), Box<dyn std::error::Error>> {
    let options = Ioptions::named(mode).map_err(|part| format!("no mode {part}"))?;
    let config = config(input.xlen(), options);
    let (ours, bytes) = best(5, || encode(&config, &input.rows));
    let (golden, expected) = best(1, || encode_golden(&config, &input.rows));
    assert_eq!(bytes, expected, "{}: another trace than that of the golden encoder", input.name);
    let (source, _) = wall(|| input.execute(|_| Ok::<(), ProgramError>(())));
    let (end_to_end, total) = wall(|| {
        let mut encoder = Encoder::new(config.clone()).expect("legal");
        let mut bytes = 0;
        let mut out = |encoded: Encoded<'_>| bytes += encoded.bytes.len();
        let ending = input.execute(|rows| {
            encoder.retire_all(rows, &mut out);
            Ok::<(), ProgramError>(())
        });
        encoder.finish(&mut out);
        ending.map(|_| bytes)
    });
    black_box(total?);
    let rate = |time: f64| input.instructions as f64 / time / 1e6;
    println!(
        "{:12} {mode:22} {:10} {:9}  {:8.1} {:8.1} {:8.1}  {:10.1} {:7.1}",
        input.name,
        input.instructions,
        input.rows.len(),
        rate(ours),
        rate(golden),
        rate(theirs),
        rate(end_to_end),
        rate(source)
    );
    let name = format!("{}-{mode}", input.name);
    ratios.push((format!("{name}-over-golden"), golden / ours));
    ratios.push((format!("{name}-over-peer"), theirs / ours));
    Ok(())
}

/// Seconds of the best pass, and its result.
///
/// A pass repeats short work: Linux counts CPU time in steps of some milliseconds.
fn best<T>(passes: usize, mut pass: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..passes {
        let (start, mut times) = (cpu_time(), 0);
        while times == 0 || cpu_time() - start < 0.1 {
            result = Some(black_box(pass()));
            times += 1;
        }
        best = best.min((cpu_time() - start) / f64::from(times));
    }
    (best, result.expect("at least one pass"))
}

/// Seconds that passed, which include those of other processes, and the result.
fn wall<T>(pass: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = pass();
    (start.elapsed().as_secs_f64(), value)
}

/// Seconds that this thread has run according to Linux, which other programs disturb least; elsewhere
/// those that have passed.
fn cpu_time() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let passed = || START.get_or_init(Instant::now).elapsed().as_secs_f64();
    nanoseconds.map_or_else(passed, |nanoseconds| nanoseconds / 1e9)
}

/// Number and sum of the bytes of all payloads.
fn encode(config: &EncoderConfig, rows: &[Retired]) -> (usize, u64) {
    let mut encoder = Encoder::new(config.clone()).expect("legal");
    let mut all = (0, 0);
    let mut out = |encoded: Encoded<'_>| add(&mut all, encoded.bytes);
    encoder.retire_all(rows, &mut out);
    encoder.finish(&mut out);
    all
}

fn encode_golden(config: &EncoderConfig, rows: &[Retired]) -> (usize, u64) {
    let mut encoder = hartrace_golden::Encoder::new(config.clone()).expect("legal");
    let mut all = (0, 0);
    let mut out = |encoded: hartrace_golden::Encoded| add(&mut all, &encoded.bytes);
    rows.iter().for_each(|row| encoder.retire(row, &mut out));
    encoder.finish(&mut out);
    all
}

#[inline]
fn add(all: &mut (usize, u64), bytes: &[u8]) {
    all.0 += bytes.len();
    for byte in bytes {
        all.1 = all.1.rotate_left(5).wrapping_add(u64::from(*byte));
    }
}
