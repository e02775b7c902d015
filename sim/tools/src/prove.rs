//! Proves what is claimed of generated hardware, in tests.
//!
//! A [`Rig`] is a module around a block: all inputs of the block are free, and the rig assumes and
//! asserts. A [`Proof`] is a rig and how far to look: `yosys` makes a circuit of gates of it, and ABC, which
//! comes with it, shows that no run from reset breaks an assertion: none of a number of cycles (by a SAT
//! solver), or none at all (by property-directed reachability, which finds an invariant, or by induction with
//! invariants that are given, which may be about signals within the block). Each proof comes with mistakes that
//! it has to find, so that one that cannot fail is noticed, and has to show that its assumptions allow a run.
//!
//! ```no_run
//! use hartrace_hdl_tools::prove::{Proof, Rig, run};
//! use hartrace_rtl::{Module, lit, zero};
//!
//! let m = Module::new("counter", "Counts to nine.").clocked();
//! let count_o = m.output("count_o", 4, "");
//! let count = m.reg("count", zero(4));
//! m.assign(&count.d, count.q.is(9).mux(zero(4), &count.q + lit(4, 1)));
//! m.assign(&count_o, &count.q);
//!
//! let rig = Rig::new(&m.finish());
//! rig.m.assert_always("one_digit", rig.port("count_o").le(lit(4, 9)));
//! let proof = Proof::any_run("digit", &rig.finish(), 3).refuted_without("count_o");
//! // The folder is `env!("CARGO_TARGET_TMPDIR")` in a test.
//! run(std::path::Path::new("target/tmp"), vec![proof]);
//! ```
#![forbid(unsafe_code)]

mod proof;
mod rig;

pub use proof::Proof;
pub use rig::{Rig, Stream, num};

use libtest_mimic::Arguments;
use std::path::Path;
use std::process::Command;

/// The whole of a test without harness: runs proofs and their mistakes as tests, with files in `folder`,
/// and ends the program. They are ignored if a tool is missing.
pub fn run(folder: &Path, proofs: Vec<Proof>) -> ! {
    let args = Arguments::from_args();
    let has = |tool: &str| Command::new(tool).arg("-h").output().is_ok();
    let missing = ["yosys", "yosys-abc"].into_iter().any(|tool| !has(tool));
    let trials = proofs.into_iter().flat_map(|proof| proof.trials(folder));
    let trials = trials.map(|trial| trial.with_ignored_flag(missing)).collect();
    libtest_mimic::run(&args, trials).exit()
}
