//! Programs on a current core, with one and with two issue ports, with tracing attached at its `rvfi_probes_o`: the decoded
//! trace is what the core reports to have executed, and tracing does not influence the core.
//!
//! `HARTRACE_CVA6_SOURCE` names a checkout of the core's repository in which the package of its submodule `core/cvfpu` is
//! present. `HARTRACE_CVA6_PROGRAMS` sets the number of random programs, `HARTRACE_SEED` the first seed.
//!
//! Ignored without such a checkout.

#[path = "../common/mod.rs"]
mod common;
mod models;

use common::{modes, setting};
use hartrace_cva6_sim::soc::{Job, Outcome};
use hartrace_cva6_sim::{Config, Exit, Latency};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_tests::cva6::elf;
use libtest_mimic::{Arguments, Failed, Trial};
use models::{Issue, Shape};
use std::ops::Range;
use std::process::ExitCode;

/// Number of random programs in one trial.
const GROUP: u64 = 8;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a program without and with tracing. Nothing may be lost.
fn trace(issue: Issue, shape: Shape, job: &Job) -> Result<Outcome, String> {
    let soc = issue.soc(shape)?;
    let survey = soc.survey(job).map_err(|error| error.to_string())?;
    let outcome = common::trace(soc, job, &survey)?;
    match outcome.harts.iter().find(|hart| hart.lost > 0) {
        Some(hart) => Err(format!("{hart:?}")),
        None => Ok(outcome),
    }
}

fn print(name: &str, issue: Issue, outcome: &Outcome) {
    for hart in &outcome.harts {
        println!(
            "{issue:?} {name}: {} cycles, {} of {} instructions, {:.2} per cycle, {} traps, {:.3} bits/instruction, \
             queue up to {}",
            outcome.run.cycles,
            hart.verified.decoded,
            hart.instructions - hart.idle,
            hart.instructions as f64 / outcome.run.cycles as f64,
            hart.traps,
            8.0 * hart.payload_bytes as f64 / hart.instructions as f64,
            hart.peak_queue,
        );
    }
}

/// Everything is recovered, with each of some settings.
fn directed(issue: Issue, name: &str, all_modes: &[u64]) -> Result<(), Failed> {
    let mut job = Job::new(elf(name)?);
    for number in all_modes {
        job.setting = setting(modes(*number));
        let outcome = trace(issue, Shape::Rv64, &job)
            .map_err(|what| format!("modes {number:06b}: {what}"))?;
        // This core mixes up causes of accesses that PMP denies (its issue 3174), which the program counts.
        if outcome.run.exit != Exit::Exited(0) && name != "exceptions" {
            return Err(format!("{:?}", outcome.run.exit).into());
        }
        print(name, issue, &outcome);
    }
    Ok(())
}

/// The bundled programs for 32 bits.
fn rv32(issue: Issue, name: &str) -> Result<(), Failed> {
    let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).ok_or("no such program")?;
    let mut job = Job::new(elf.to_vec());
    for number in [63, 1] {
        job.setting = setting(modes(number));
        let outcome = trace(issue, Shape::Rv32, &job)?;
        // The other one wants a load from nowhere to trap, which this core does not do.
        assert!(outcome.run.exit == Exit::Exited(0) || name != "strings", "{:?}", outcome.run);
        print(name, issue, &outcome);
    }
    Ok(())
}

fn surprises(issue: Issue, seed: u64) -> Result<(), Failed> {
    let outcome = trace(issue, Shape::Rv64, &common::surprising(seed)?)?;
    print("surprises", issue, &outcome);
    let hart = &outcome.harts[0];
    // Each halt ends a trace, and another one starts after it.
    let halts = seed % 2 == 1;
    assert!(hart.traps > 100 && (hart.verified.starts > 20) == halts, "{hart:?}");
    Ok(())
}

/// Contexts are the numbers of address spaces.
fn spaces(issue: Issue) -> Result<(), Failed> {
    let soc = issue.soc(Shape::Linux)?;
    Ok(common::spaces::check(soc, |job| soc.survey(job).map_err(|error| error.to_string()))?)
}

fn two_harts(issue: Issue) -> Result<(), Failed> {
    let mut job = Job::new(elf("harts")?);
    for seed in 0..2 {
        let latency = Latency { cycles: 1, jitter: 5 * seed };
        job.platform = Config { latency, seed, ..Config::default() };
        job.setting = setting(modes(seed));
        let outcome = trace(issue, Shape::TwoHarts, &job)?;
        print("harts", issue, &outcome);
        assert!(outcome.harts.iter().all(|hart| hart.instructions > 5_000 && hart.traps > 0));
    }
    Ok(())
}

fn random(issue: Issue, seeds: Range<u64>) -> Result<(), Failed> {
    let (mut programs, mut instructions, mut traps, mut failures) = (0, 0, 0, Vec::new());
    for seed in seeds.clone() {
        match common::random(seed).and_then(|job| trace(issue, Shape::Rv64, &job)) {
            Ok(outcome) => {
                programs += 1;
                instructions += outcome.harts[0].verified.decoded;
                traps += outcome.harts[0].traps;
            }
            Err(what) => failures.push(format!("seed {seed}: {what}")),
        }
    }
    println!(
        "{issue:?} random programs {seeds:?}: {programs} verified, {instructions} instructions, {traps} traps"
    );
    if !failures.is_empty() {
        return Err(failures.join("\n\n").into());
    }
    assert!(instructions > 1_000 && traps > 100);
    Ok(())
}

/// What cannot be traced is an error when the system is elaborated, and named.
fn refused(field: &str, named: &str) -> Result<(), Failed> {
    match models::build(&[&format!("{field}=1")], Shape::Rv64) {
        Err(what) if what.contains(named) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = models::source().is_err();
    let first = number("HARTRACE_SEED", 0);
    let seeds = first..first.saturating_add(number("HARTRACE_CVA6_PROGRAMS", 104));
    let mut trials = Vec::new();
    for issue in [Issue::Single, Issue::Dual] {
        let mut trial = |name: String, run: Box<dyn FnOnce() -> Result<(), Failed> + Send>| {
            let name = format!("{}/{name}", format!("{issue:?}").to_lowercase());
            trials.push(Trial::test(name, run));
        };
        for (i, name) in
            ["calls", "atomics", "exceptions", "paging", "interrupts", "user", "surprises"]
                .into_iter()
                .enumerate()
        {
            // Every mode alone for some program, and all of them for every program.
            let some = [63, 1 << (i % 6)];
            trial(name.into(), Box::new(move || directed(issue, name, &some)));
        }
        for seed in 0..2 {
            trial(format!("surprises/{seed}"), Box::new(move || surprises(issue, seed)));
        }
        for name in ["strings", "interrupts-rv32"] {
            trial(format!("rv32/{name}"), Box::new(move || rv32(issue, name)));
        }
        trial("linux/spaces".into(), Box::new(move || spaces(issue)));
        trial("two-harts".into(), Box::new(move || two_harts(issue)));
        for start in seeds.clone().step_by(GROUP as usize) {
            let group = start..seeds.end.min(start + GROUP);
            let name = format!("random/{}-{}", group.start, group.end - 1);
            trial(name, Box::new(move || random(issue, group)));
        }
    }
    for (field, named) in [
        ("RVH", "hypervisor extension (RVH)"),
        ("RVZCMP", "push and pop instructions (RVZCMP)"),
        ("RVZCMT", "table jumps (RVZCMT)"),
    ] {
        trials.push(Trial::test(format!("refused/{field}"), move || refused(field, named)));
    }
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(missing));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
