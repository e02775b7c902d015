//! The rate of the decoder on long traces of real programs, in several modes: `cargo bench -p hartrace-decoder --bench
//! programs`.
//!
//! The programs are those of `workloads` if `HARTRACE_DATA` is set, executed by QEMU, otherwise one of our own.
//! `HARTRACE_LIMIT` is the number of instructions of each, and `HARTRACE_PROGRAM` the start of the names of those to
//! execute. The time includes everything from bytes to the result. On two threads it is the time that passed, so
//! the machine should have nothing else to do. The last lines are `ratio NAME VALUE`: the time in a mode over
//! that in delta mode for the same instructions; the time on one thread over that on two; and the time of the peer crate, which
//! follows delta mode only, over ours.

#[expect(dead_code, reason = "other benchmarks use more of it")]
#[path = "../peer/input.rs"]
mod input;
#[expect(dead_code, reason = "the other benchmark uses more of it")]
#[path = "../peer/theirs.rs"]
mod theirs;
mod traces;

use hartrace_decoder::{Count, Coverage, Edges};
use input::{Input, Visit, decode};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use traces::Traced;

/// Number of series of passes, the best of which counts.
const SERIES_COUNT: usize = 3;

/// Seconds that a series takes at least: some systems count processor time in steps of [`TICK`] seconds, longer than a
/// pass.
const SERIES: f64 = 0.25;
const TICK: f64 = 0.004;

/// What is asked of the decoder.
const SINKS: [&str; 4] = ["count", "edges", "coverage", "addresses"];

fn main() -> Result<(), Box<dyn Error>> {
    let limit = std::env::var("HARTRACE_LIMIT").ok().and_then(|text| text.parse().ok());
    let only = std::env::var("HARTRACE_PROGRAM").unwrap_or_default();
    println!("M instructions/s on one thread and on two");
    let sinks = SINKS.map(|sink| format!("{sink:>14}")).concat();
    println!("{:12} {:22} {:>8} {:>6}{sinks}", "program", "modes", "M instr.", "MB");
    let mut ratios = Vec::new();
    for program in traces::programs()?.iter().filter(|program| program.name().starts_with(&only)) {
        measure(&Traced::new(program, limit.unwrap_or(100_000_000))?, &mut ratios);
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
    Ok(())
}

fn measure(program: &Traced, ratios: &mut Vec<(String, f64)>) {
    let Traced { name, instructions, traces } = program;
    let rate = |time: f64| *instructions as f64 / time / 1e6;
    let mut delta = None;
    for (mode, input) in traces {
        let times = [
            timed(input, |sum: &mut Count, part: Count| sum.instructions += part.instructions),
            timed(input, Edges::merge),
            timed(input, |all: &mut Coverage, part| all.merge(&part)),
            timed(input, Visit::join),
        ];
        let rates = times.map(|[one, two]| format!("{:7.0}{:7.0}", rate(one), rate(two)));
        let size = input.stream.len() as f64 / 1e6;
        println!(
            "{name:12} {mode:22} {:8.1} {size:6.2}{}",
            *instructions as f64 / 1e6,
            rates.concat()
        );
        let first = *delta.get_or_insert(times);
        for ((sink, [one, two]), [delta, _]) in SINKS.into_iter().zip(times).zip(first) {
            let name = format!("{name}-{mode}-{sink}");
            ratios.push((format!("{name}-time-over-delta"), one / delta));
            ratios.push((format!("{name}-two-threads-over-one"), one / two));
        }
    }
    if let (Some([.., [ours, _]]), Some((_, input))) = (delta, traces.first()) {
        let table = theirs::table(input);
        let start = Instant::now();
        let visit = theirs::with_table(input, 1, &table);
        let time = start.elapsed().as_secs_f64();
        let all = decode::<Visit>(input, &input.image(), 1, 1, Visit::join);
        assert_eq!((visit.instructions, visit.sum), (all.instructions, all.sum), "{name}");
        println!("{name:12} {:22} {:8.1} M instructions/s", "peer, delta", rate(time));
        ratios.push((format!("{name}-delta-addresses-over-peer"), time / ours));
    }
}

/// Seconds of a pass on one thread and on two, in the best series of passes: of processor time on one, since other
/// programs disturb that least.
fn timed<S: hartrace_decoder::Sink + Default + Send>(
    input: &Input,
    join: impl FnMut(&mut S, S) + Send + Copy,
) -> [f64; 2] {
    let image = input.image();
    [1, 2].map(|threads| {
        let series = |passes: u32| {
            let (start, cpu) = (Instant::now(), processor_time());
            for _ in 0..passes {
                black_box(&decode(input, &image, 1, threads, join));
            }
            let time = match threads {
                1 => (processor_time() - cpu) as f64 / 1e9,
                _ => start.elapsed().as_secs_f64(),
            };
            time / f64::from(passes)
        };
        let passes = (SERIES / series(1).max(TICK)).ceil() as u32;
        (0..SERIES_COUNT).map(|_| series(passes)).fold(f64::INFINITY, f64::min)
    })
}

/// Nanoseconds that this thread has run so far.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}
