//! Simulation speed of the encoder `full` with two lanes, and the time of the golden encoder for the same
//! input: `cargo bench -p hartrace-lockstep`.
//!
//! Rows are those of bundled programs, with at most two instructions per cycle. Time is CPU time of this
//! thread, which other programs disturb least; figures are the best of some passes.

// Tests also decode, and need the code.
#[allow(dead_code)]
#[path = "../tests/encoder/bundled.rs"]
mod bundled;

use bundled::bundled;
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::{Options, available};
use hartrace_lockstep::{Bench, Seen, Setting, Traffic};
use std::error::Error;
use std::fs;

const PROGRAMS: [&str; 3] = ["calls", "interrupts", "crypto"];
const STEPS: u64 = 400_000;
const PASSES: u32 = 3;
/// A synchronisation every 2^(10 + 4) packets.
const RESYNC_MAX: u8 = 10;
/// The goal in cycles per second, for the model alone.
const GOAL: f64 = 1e6;

fn main() -> Result<(), Box<dyn Error>> {
    if !available() {
        println!("needs verilator and g++");
        return Ok(());
    }
    let config = Config { lanes: 2, ..Config::named("full").ok_or("no configuration")? };
    let mut bench = Bench::new(&config, &Options::fast())?;
    let plain = Ioptions::default();
    let all = Ioptions {
        implicit_return: true,
        jump_target_cache: true,
        branch_prediction: true,
        sequentially_inferred_jump: true,
        ..plain
    };
    println!(
        "{:24} {:>9} {:>9} {:>9}  {:>10} {:>10} {:>10}",
        "million cycles a second", "cycles", "rows", "lost", "RTL alone", "golden", "lock step"
    );
    let mut slowest = f64::MAX;
    for name in PROGRAMS {
        let executed = bundled(name, STEPS, &config, config.lanes.into())?;
        for (mode, options) in [("no mode", plain), ("all modes", all)] {
            let setting = Setting { options, resync: (1, RESYNC_MAX), ..Setting::default() };
            let [alone, golden, both] = passes(&mut bench, &executed.rows, &setting)?;
            let rate = |pass: Pass| alone.cycles as f64 / pass.seconds / 1e6;
            println!(
                "{:24} {:9} {:9} {:9}  {:10.3} {:10.3} {:10.3}",
                format!("{name}, {mode}"),
                alone.cycles,
                executed.rows.len(),
                alone.lost,
                rate(alone),
                rate(golden),
                rate(both)
            );
            slowest = slowest.min(alone.cycles as f64 / alone.seconds);
        }
    }
    let accepted = throughput(&config, [("no mode", plain), ("all modes", all)])?;
    println!("ratio simulation-speed {:.2}", slowest / GOAL);
    println!("ratio throughput {accepted:.3}");
    Ok(())
}

/// The share of cycles in which the encoder accepts what retires, for a hart that retires two instructions
/// in every cycle and waits otherwise: the minimum over all programs.
fn throughput(config: &Config, modes: [(&str, Ioptions); 2]) -> Result<f64, Box<dyn Error>> {
    let config = Config { overflow: Overflow::Stall, ..config.clone() };
    let mut bench = Bench::new(&config, &Options::fast())?;
    println!(
        "{:24} {:>9} {:>9} {:>9}",
        "two instructions a cycle", "cycles", "stalled", "payloads"
    );
    let mut least = 1.0f64;
    for name in PROGRAMS {
        let executed = bundled(name, STEPS, &config, config.lanes.into())?;
        for (mode, options) in modes {
            let setting = Setting { options, resync: (1, RESYNC_MAX), ..Setting::default() };
            bench.restart(1)?;
            let summary = bench.run(&executed.rows, &setting, Traffic::default())?;
            println!(
                "{:24} {:9} {:9} {:9}",
                format!("{name}, {mode}"),
                summary.cycles,
                summary.stalled,
                summary.payloads
            );
            let share = summary.groups as f64 / (summary.groups + summary.stalled) as f64;
            least = least.min(share);
        }
    }
    Ok(least)
}

/// One pass through the rows.
#[derive(Clone, Copy)]
struct Pass {
    /// CPU time in seconds.
    seconds: f64,
    cycles: u64,
    /// Number of lost rows.
    lost: u64,
}

/// The best of some passes of the RTL alone, of the golden encoder alone, and of both compared.
fn passes(
    bench: &mut Bench,
    rows: &[Retired],
    setting: &Setting,
) -> Result<[Pass; 3], Box<dyn Error>> {
    let mut best = [Pass { seconds: f64::MAX, cycles: 0, lost: 0 }; 3];
    for _ in 0..PASSES {
        for (which, best) in best.iter_mut().enumerate() {
            bench.restart(1)?;
            let mut nobody = |_: Seen<'_>| {};
            let start = cpu_time()?;
            let (cycles, lost) = match which {
                0 => {
                    let mut run = bench.start_alone(setting, Traffic::default(), &mut nobody)?;
                    run.push(rows)?;
                    let summary = run.finish()?;
                    (summary.cycles, summary.lost_rows)
                }
                1 => {
                    let mut golden = setting.golden(bench.config())?;
                    let mut bytes = 0;
                    let mut out = |encoded: hartrace_golden::Encoded| bytes += encoded.bytes.len();
                    rows.iter().for_each(|row| golden.retire(row, &mut out));
                    golden.finish(&mut out);
                    std::hint::black_box(bytes);
                    (0, 0)
                }
                _ => {
                    let summary = bench.run(rows, setting, Traffic::default())?;
                    (summary.cycles, summary.lost_rows)
                }
            };
            let seconds = cpu_time()? - start;
            if seconds < best.seconds {
                *best = Pass { seconds, cycles, lost };
            }
        }
    }
    Ok(best)
}

/// Seconds that this thread has run, according to Linux.
fn cpu_time() -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().ok_or("no time in schedstat")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}
