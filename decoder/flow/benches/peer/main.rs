//! Compares the speed with the peer crate, in one run, on the same packets.
//!
//! The input is two streams of the reference flow with `HARTRACE_DATA`, otherwise a random walk.
//! Each is decoded once, starting with nothing decoded, and many times, as in a long trace. The time
//! includes everything from bytes to the requested result. Every rate is that of the best of several
//! passes. The last lines are `ratio NAME VALUE`, ours over theirs.

mod input;
mod steps;
mod theirs;

use hartrace_decoder::{Count, Coverage, Edges};
use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Ioptions, Payload, Unit};
use input::{Input, Visit, decode, follow_calls, inputs};
use std::hint::black_box;
use std::time::Instant;

/// A long trace repeats a short one this many times.
const LONG: usize = 64;

fn main() {
    let inputs = inputs();
    if steps::run_task(&inputs) {
        return;
    }
    let mut ratios = Vec::new();
    for input in &inputs {
        steps::measure(input);
        measure(input, 1, 15, &mut ratios);
        measure(input, LONG, 5, &mut ratios);
        packets(input, &mut ratios);
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
}

/// Seconds of the best pass, and its result.
fn best<T>(passes: usize, mut pass: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..passes {
        let start = Instant::now();
        let value = black_box(pass());
        best = best.min(start.elapsed().as_secs_f64());
        result = Some(value);
    }
    (best, result.expect("at least one pass"))
}

fn measure(input: &Input, times: usize, passes: usize, ratios: &mut Vec<(String, f64)>) {
    let image = input.image();
    let addresses =
        |threads| best(passes, || decode::<Visit>(input, &image, times, threads, Visit::join));
    let (address_time, visit) = addresses(1);
    let (address_time_2, visit_2) = addresses(2);
    let counting = |threads| {
        let join = |all: &mut Count, next: Count| all.instructions += next.instructions;
        best(passes, || decode::<Count>(input, &image, times, threads, join))
    };
    let (count_time, count) = counting(1);
    let (count_time_2, _) = counting(2);
    let (edge_time, edges) = best(passes, || {
        decode::<Edges>(input, &image, times, 1, |all, next| all.merge(next)).sorted()
    });
    let (coverage_time, coverage) = best(passes, || {
        decode::<Coverage>(input, &image, times, 1, |all, next| all.merge(&next)).bytes()
    });
    let functions = input.functions();
    let (calls_time, (called, calls)) =
        best(passes, || follow_calls(input, &image, times, &functions));
    assert_eq!(called, visit.instructions);
    assert_eq!((visit_2.instructions, visit_2.sum), (visit.instructions, visit.sum));
    assert_eq!((count.instructions, count.gaps), (visit.instructions, 0));

    let elf_time = input.elf.as_ref().map(|elf| {
        let (time, theirs) = best(passes.div_ceil(5), || theirs::with_elf(input, times, elf));
        assert_eq!((theirs.instructions, theirs.sum), (visit.instructions, visit.sum));
        time
    });
    let table = theirs::table(input);
    let (table_time, theirs) =
        best(passes.div_ceil(5), || theirs::with_table(input, times, &table));
    assert_eq!((theirs.instructions, theirs.sum), (visit.instructions, visit.sum));

    let name = if times > 1 { format!("{}_x{times}", input.name) } else { input.name.clone() };
    println!(
        "{name}: {} instructions, {} edges, {calls} calls, {coverage} bytes of code covered",
        visit.instructions,
        edges.len()
    );
    let line = |what: &str, time: f64| {
        println!("  {what:<32} {:9.1} M instructions/s", visit.instructions as f64 / time / 1e6);
    };
    line("ours, every address", address_time);
    line("ours, every address, 2 threads", address_time_2);
    line("ours, counting instructions", count_time);
    line("ours, counting, 2 threads", count_time_2);
    line("ours, counting edges", edge_time);
    line("ours, coverage", coverage_time);
    line("ours, call stacks", calls_time);
    if let Some(time) = elf_time {
        line("peer, ELF", time);
    }
    line("peer, prepared table", table_time);

    let mut ratio = |what: String, value: f64| ratios.push((format!("{name}-{what}"), value));
    let peers = elf_time.map(|time| ("elf", time)).into_iter().chain([("table", table_time)]);
    for (peer, time) in peers {
        ratio(format!("addresses-over-peer-{peer}"), time / address_time);
        ratio(format!("counting-over-peer-{peer}"), time / count_time);
        ratio(format!("edges-over-peer-{peer}"), time / edge_time);
        ratio(format!("coverage-over-peer-{peer}"), time / coverage_time);
    }
    ratio("call-stacks-over-edges".into(), edge_time / calls_time);
    // An input that is not cut into several parts has no work for a second thread.
    if times > 1 {
        ratio("addresses-two-threads-over-one".into(), address_time / address_time_2);
        ratio("counting-two-threads-over-one".into(), count_time / count_time_2);
    }
}

/// Frames and payloads alone.
fn packets(input: &Input, ratios: &mut Vec<(String, f64)>) {
    let (ours, count) = best(15, || parse(input));
    let (theirs, their_count) = best(15, || theirs::parse(input));
    assert_eq!(count, their_count);
    let rate = |time: f64| input.stream.len() as f64 / time / 1e6;
    println!("{}: {count} packets", input.name);
    println!("  {:<32} {:9.1} MB/s", "ours, packets only", rate(ours));
    println!("  {:<32} {:9.1} MB/s", "peer, packets only", rate(theirs));
    ratios.push((format!("{}-packets-over-peer", input.name), theirs / ours));
}

fn parse(input: &Input) -> u64 {
    let layout = input.params.layout(Unit::Reference).expect("legal");
    let mut count = 0;
    for item in Framing::Reference.frames(&input.stream) {
        let (_, Item::Frame(frame)) = item.expect("frames") else { continue };
        let payload = Payload::parse(&layout, Ioptions::default(), &mut frame.payload());
        black_box(payload.expect("payloads"));
        count += 1;
    }
    count
}
