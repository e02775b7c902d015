//! Programs on the real core. Its record has to be consistent, and to agree with the instruction set
//! simulator wherever no interrupt occurs.
//!
//! `HARTRACE_CVA6_PROGRAMS` sets the number of random programs, `HARTRACE_SEED` the first seed.
//!
//! Ignored where the core is not installed; `./test.sh cva6` installs it.

mod buffers;
mod flow;
mod iss;
mod programs;
mod random;
mod recorded;
#[path = "../common/simulator.rs"]
mod simulator;

use hartrace_cva6_sim::{Commit, Config, Core, Exit, Platform, Run};
use hartrace_hdl_tools::verilate::Model;
use libtest_mimic::{Arguments, Failed, Trial};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// More cycles than any program here uses.
const LIMIT: u64 = 5_000_000;

/// The model, built once.
fn model() -> Result<&'static Model, String> {
    static MODEL: LazyLock<Result<Model, String>> = LazyLock::new(|| {
        let start = Instant::now();
        let model = Core::find().and_then(|core| core.model()).map_err(|e| e.to_string())?;
        let how = if model.cached() { "found" } else { "built" };
        println!("model {how} in {:.0} s", start.elapsed().as_secs_f64());
        Ok(model)
    });
    MODEL.as_ref().map_err(Clone::clone)
}

/// Number of random programs in one trial.
const GROUP: u64 = 8;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs the programs of some seeds, and reports all that differ.
fn random(seeds: Range<u64>) -> Result<(), String> {
    let (mut seen, mut failures) = (random::Seen::default(), Vec::new());
    for seed in seeds.clone() {
        if let Err(what) = random::check(seed, &mut seen) {
            failures.push(format!("seed {seed}: {what}"));
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n\n"));
    }
    let random::Seen { cycles, instructions, exceptions, interrupts, halts } = seen;
    println!(
        "random programs {seeds:?}: {cycles} cycles, {instructions} instructions, {exceptions} exceptions, \
         {interrupts} interrupts, {halts} halts"
    );
    // Required of a whole group; a single program may lack one.
    let all = exceptions > 0 && interrupts > 0 && halts > 0;
    let whole = seeds.end - seeds.start == GROUP;
    if all || !whole { Ok(()) } else { Err("something was never seen".to_owned()) }
}

static CYCLES: AtomicU64 = AtomicU64::new(0);

/// Runs a program to its end and checks that the record is consistent.
fn run(elf: &[u8], config: &Config) -> Result<(Run, Vec<Commit>), String> {
    let mut platform = Platform::new(model()?, elf, config).map_err(|e| e.to_string())?;
    finish(&mut platform, LIMIT)
}

fn finish(platform: &mut Platform, limit: u64) -> Result<(Run, Vec<Commit>), String> {
    let mut commits = Vec::new();
    let run = platform.run(limit, &mut |commit: &Commit| commits.push(*commit));
    let run = run.map_err(|error| error.to_string())?;
    CYCLES.fetch_add(run.cycles, Ordering::Relaxed);
    if run.exit == Exit::Limit {
        let last: Vec<String> = commits.iter().rev().take(5).map(Commit::to_string).collect();
        return Err(format!("no end after {limit} cycles; last, backwards\n{}", last.join("\n")));
    }
    flow::check(&commits)?;
    Ok((run, commits))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = Core::find().is_err();
    let data = std::env::var_os("HARTRACE_DATA").is_none();
    let test = |name: String, test: fn() -> Result<(), Failed>| Trial::test(name, test);
    let mut trials = vec![
        test("recorded/prog_a".into(), recorded::prog_a).with_ignored_flag(data),
        test("memory/latency-changes-nothing-but-time".into(), programs::latency),
        test("memory/a-program-elsewhere-is-refused".into(), programs::elsewhere),
        test("surprises/every-kind-was-seen".into(), programs::surprises),
        test("debug/halts-are-not-traced".into(), programs::debug),
        test("buffers/sizes-of-the-document".into(), buffers::sizes),
    ];
    for program in &programs::ALL {
        let name = format!("programs/{}", program.name);
        trials.push(Trial::test(name, move || program.check().map_err(Into::into)));
    }
    let first = number("HARTRACE_SEED", 0);
    let seeds = first..first.saturating_add(number("HARTRACE_CVA6_PROGRAMS", 104));
    for start in seeds.clone().step_by(GROUP as usize) {
        let group = start..seeds.end.min(start + GROUP);
        let name = format!("random/{}-{}", group.start, group.end - 1);
        trials.push(Trial::test(name, move || Ok(random(group)?)));
    }
    let trials = trials.into_iter().map(|trial| {
        let ignored = trial.has_ignored_flag();
        trial.with_ignored_flag(missing || ignored)
    });
    let start = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    let (cycles, seconds) = (CYCLES.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
    println!("{cycles} cycles in {seconds:.0} s, building included");
    conclusion.exit_code()
}
