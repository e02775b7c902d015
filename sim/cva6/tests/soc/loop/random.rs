//! Random programs in all modes of the core, with random interrupts and requests for debug mode, traced with
//! every combination of modes of the encoder.

use crate::models::{Kind, alone};
use crate::programs::trace;
use crate::{common, number};
use hartrace_cva6_sim::soc::Survey;
use libtest_mimic::{Failed, Trial};
use std::ops::Range;

/// Number of random programs in one trial.
const GROUP: u64 = 8;

fn check(seed: u64) -> Result<(u64, u64), String> {
    let job = common::random(seed)?;
    let survey = Survey::alone(alone()?, &job).map_err(|error| error.to_string())?;
    let outcome = trace(Kind::Full, &job, &survey)?;
    let hart = &outcome.harts[0];
    if hart.lost > 0 { Err(format!("{hart:?}")) } else { Ok((hart.verified.decoded, hart.traps)) }
}

fn group(seeds: Range<u64>) -> Result<(), Failed> {
    let (mut instructions, mut traps, mut failures) = (0, 0, Vec::new());
    for seed in seeds.clone() {
        match check(seed) {
            Ok((decoded, trapped)) => {
                instructions += decoded;
                traps += trapped;
            }
            Err(what) => failures.push(format!("seed {seed}: {what}")),
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n\n").into());
    }
    println!("random programs {seeds:?}: {instructions} instructions and {traps} traps came back");
    assert!(instructions > 1_000 && traps > 100);
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let first = number("HARTRACE_SEED", 0);
    let seeds = first..first.saturating_add(number("HARTRACE_CVA6_PROGRAMS", 104));
    let groups =
        seeds.clone().step_by(GROUP as usize).map(|start| start..seeds.end.min(start + GROUP));
    groups
        .map(|seeds| {
            let name = format!("random/{}-{}", seeds.start, seeds.end - 1);
            Trial::test(name, move || group(seeds))
        })
        .collect()
}
