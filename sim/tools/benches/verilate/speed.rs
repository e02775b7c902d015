//! Cycles per second of a small model, and the time to build it: `cargo bench -p hartrace-hdl-tools`.
//!
//! Inputs are set and outputs read in every cycle. Figures are wall time, the best of some passes.

use hartrace_hdl_tools::verilate::{Mode, Model, Options, SimError, available};
use hartrace_rtl::{Component, Module, lit, zero};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

const CYCLES: u32 = 1_000_000;
const PASSES: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    if !available() {
        println!("needs verilator and g++");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    println!("{:<16} {:>8} {:>8} {:>14}", "", "build", "found", "cycles/s");
    for (name, mode, waves) in [
        ("checked", Mode::Checked, false),
        ("fast", Mode::Fast, false),
        ("checked, waves", Mode::Checked, true),
    ] {
        let cache = Some(folder.path().to_owned());
        let options = Options { mode, waves, cache, ..Options::default() };
        // Compiles Verilator's runtime, which is not part of the time of any model.
        Model::build(&branch_map(1), &options)?;
        let (model, build) = timed(|| Model::build(&branch_map(4), &options))?;
        let (_, found) = timed(|| Model::build(&branch_map(4), &options))?;
        let mut best = Duration::MAX;
        for pass in 0..PASSES {
            let file = waves.then(|| folder.path().join(format!("{pass}.fst")));
            best = best.min(timed(|| run(&model, file.as_deref()))?.1);
        }
        let speed = f64::from(CYCLES) / best.as_secs_f64();
        println!(
            "{name:<16} {:>6.2} s {:>6.3} s {speed:>14.0}",
            build.as_secs_f64(),
            found.as_secs_f64()
        );
    }
    Ok(())
}

fn timed<T>(body: impl FnOnce() -> Result<T, SimError>) -> Result<(T, Duration), SimError> {
    let start = Instant::now();
    body().map(|value| (value, start.elapsed()))
}

fn run(model: &Model, waves: Option<&std::path::Path>) -> Result<(), SimError> {
    let mut sim = model.start(0)?;
    if let Some(path) = waves {
        sim.waves(path)?;
    }
    let inputs = ["valid_i", "taken_i", "flush_i"].map(|name| model.input(name));
    let [valid, taken, flush] = inputs;
    let (valid, taken, flush) = (valid?, taken?, flush?);
    let (map, full) = (model.output("map_o")?, model.output("full_o")?);
    sim.reset()?;
    let mut random = 1u32;
    for _ in 0..CYCLES {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        sim.set(valid, u64::from(random >> 28));
        sim.set(taken, u64::from(random >> 24 & 15));
        sim.set(flush, u64::from(random >> 21 & 7 == 0));
        sim.step()?;
        black_box((sim.get(map), sim.get(full)));
    }
    Ok(())
}

/// Collects the outcomes of up to `lanes` branches per cycle.
fn branch_map(lanes: u32) -> Component {
    let m = Module::new("branch_map", "Collects the outcomes of branches.").clocked();
    let valid = m.input("valid_i", lanes, "");
    let taken = m.input("taken_i", lanes, "");
    let flush = m.input("flush_i", 1, "");
    let map_o = m.output("map_o", 31, "");
    let full_o = m.output("full_o", 1, "");
    let map = m.reg("map", zero(31));
    let count = m.reg("count", zero(5));
    m.comb(|b| {
        b.when(&flush, |b| {
            b.set(&map.d, zero(31));
            b.set(&count.d, zero(5));
        });
        b.each(0..lanes, |b, i| {
            b.when(valid.bit(i) & count.d.ne(lit(5, 31)), |b| {
                b.set(&map.d, &map.d | ((!taken.bit(i)).zext(31) << &count.d));
                b.set(&count.d, &count.d + lit(5, 1));
            });
        });
    });
    m.assign(&map_o, &map.q);
    m.assign(&full_o, count.q.is(31));
    m.assert_always("map_fits", map.q.shr(&count.q).is(0));
    m.finish()
}
