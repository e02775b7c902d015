//! What the tests of all cores have in common: jobs, and what a trace has to be like.

mod simulator;
pub(crate) mod spaces;

use hartrace_cva6_sim::soc::{Job, Outcome, Soc, Survey};
use hartrace_cva6_sim::{Config, Exit, Latency, Surprises};
use hartrace_etrace::Ioptions;
use hartrace_lockstep::Setting;
use hartrace_tests::cva6::{Monitored, elf, monitored};

/// More cycles than any random program uses.
const LIMIT: u64 = 500_000;

/// One of 64 combinations of modes; the encoder `full` supports all of them.
pub(crate) fn modes(number: u64) -> Ioptions {
    let bit = |at: u32| number >> at & 1 == 1;
    Ioptions {
        implicit_return: bit(0),
        implicit_exception: bit(1),
        full_address: bit(2),
        jump_target_cache: bit(3),
        branch_prediction: bit(4),
        sequentially_inferred_jump: bit(5),
        ..Ioptions::default()
    }
}

pub(crate) fn setting(options: Ioptions) -> Setting {
    // Synchronise after 128 packets.
    Setting { options, resync: (1, 3), ..Setting::default() }
}

/// Traces a program that was surveyed.
pub(crate) fn trace(soc: &Soc, job: &Job, survey: &Survey) -> Result<Outcome, String> {
    let outcome = soc.trace(job, survey).map_err(|error| error.to_string())?;
    check(soc, &outcome, survey)?;
    Ok(outcome)
}

/// A traced program has to end as it did when it was surveyed; without stalls only the trace may differ.
pub(crate) fn check(soc: &Soc, outcome: &Outcome, survey: &Survey) -> Result<(), String> {
    if !soc.config().stalls() && outcome.run != survey.run {
        return Err(format!("traced {:?}, else {:?}", outcome.run, survey.run));
    }
    if outcome.run.exit == Exit::Limit || outcome.run.exit != survey.run.exit {
        return Err(format!("{:?}, else {:?}", outcome.run.exit, survey.run.exit));
    }
    for (number, hart) in outcome.harts.iter().enumerate() {
        if let Some(difference) = &hart.verified.difference {
            return Err(format!("hart {number}: {difference}\n{hart:?}"));
        }
        // Harts may wait for the end of the program.
        if hart.verified.decoded + hart.idle + hart.lost != hart.instructions {
            return Err(format!("hart {number}: {hart:?}"));
        }
    }
    Ok(())
}

/// A program that sees random interrupts and, for odd seeds, debug mode, in addition to those that it raises itself.
pub(crate) fn surprising(seed: u64) -> Result<Job, String> {
    let pokes =
        Surprises { gap: 400, until: 80_000, interrupts: true, debug: seed % 2 == 1 }.draw(seed);
    let latency = Latency { cycles: 1, jitter: seed * 3 };
    let platform = Config { latency, seed, pokes, ..Config::default() };
    let setting = setting(modes(0b1_1001 | seed << 1));
    Ok(Job { platform, setting, ..Job::new(elf("surprises")?) })
}

/// A random program with random interrupts and requests for debug mode, traced with one of all combinations of modes.
pub(crate) fn random(seed: u64) -> Result<Job, String> {
    let Monitored { monitor, memory } = monitored(seed)?;
    let surprises =
        Surprises { gap: 150, until: 1_000_000, interrupts: true, debug: seed.is_multiple_of(4) };
    let latency = Latency { cycles: seed % 5, jitter: seed % 7 };
    let platform = Config { latency, seed, pokes: surprises.draw(seed), ..Config::default() };
    let setting = setting(modes(seed));
    Ok(Job { memory, platform, setting, limit: LIMIT, ..Job::new(monitor) })
}
