//! What is claimed of the blocks, proven; and every proof fails on a block with a mistake in it.
//!
//! A proof is a module around a block that assumes and asserts. `yosys` makes formulas of it, and
//! `yosys-smtbmc` has `z3` look for a run that breaks them: from reset for a number of cycles, and, for
//! proofs by induction, from any state.

#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod content;
mod order;
mod prover;
mod rig;
mod stable;

use libtest_mimic::Arguments;
use support::has;

fn main() {
    let args = Arguments::from_args();
    let missing = ["yosys", "yosys-smtbmc", "z3"].into_iter().any(|tool| !has(tool));
    let proofs = [order::proofs(), stable::proofs(), content::proofs(), bytes::proofs()];
    let trials = proofs.into_iter().flatten().flat_map(|proof| proof.trials());
    let trials = trials.map(|trial| trial.with_ignored_flag(missing)).collect();
    libtest_mimic::run(&args, trials).exit();
}
