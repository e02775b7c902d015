//! Programs on the real core with tracing attached: the decoded trace is what the core reports to have
//! executed, from the first to the last instruction, with every trap; and tracing does not influence the
//! core.
//!
//! `HARTRACE_CVA6_PROGRAMS` sets the number of random programs, `HARTRACE_SEED` the first seed.
//!
//! Ignored where the core is not installed; `./test.sh cva6` installs it.

#[path = "../../common/mod.rs"]
mod common;
mod filtered;
mod models;
mod programs;
mod random;
mod self_hosted;

use hartrace_cva6_sim::Core;
use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = Core::find().is_err();
    let mut trials = programs::trials();
    trials.extend(random::trials());
    trials.extend(self_hosted::trials());
    trials.push(Trial::test("self-hosted/filtered", filtered::filtered));
    let trials = trials.into_iter().map(|trial: Trial| {
        let ignored = trial.has_ignored_flag();
        trial.with_ignored_flag(missing || ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
