//! Proves claims about generated hardware, in tests.
//!
//! A [`Rig`] is a module around a block: all inputs of the block are free, and the rig contains assumptions
//! and assertions. A [`Proof`] is a rig and the number of cycles to examine. `yosys` converts it into a
//! circuit of gates, and ABC, which is part of yosys, shows that no run from reset breaks an assertion:
//! either no run of a number of cycles (by a SAT solver), or no run at all. The latter uses property-directed
//! reachability, which finds an invariant, or induction with given invariants, which may refer to signals
//! within the block. Each proof includes mistakes that it has to find, so that a proof that cannot fail is
//! noticed, and has to show that its assumptions allow a run.
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

mod buffer;
mod proof;
mod rig;

pub use buffer::buffer;
pub use proof::Proof;
pub use rig::{Rig, Stream, num};

use crate::section;
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::process::Command;

/// Implements a whole test without harness: runs proofs and their mistakes as tests, with files in `folder`,
/// and ends the program. The tests are ignored if a tool is missing.
pub fn run(folder: &Path, proofs: Vec<Proof>) -> ! {
    run_with(folder, proofs, Vec::new())
}

/// Does the same, and compares a section of a document with the list of the proofs.
pub fn run_listed(folder: &Path, proofs: Vec<Proof>, document: &Path, name: &'static str) -> ! {
    let header = "| proof | module | runs | mistakes that it finds |\n| --- | --- | --- | ---: |\n";
    let rows: String = proofs.iter().map(Proof::row).collect();
    let (list, document) = (format!("{header}{rows}"), document.to_owned());
    let check = move || Ok(section::compare(&document, name, &list)?);
    run_with(folder, proofs, vec![Trial::test("list", check)])
}

fn run_with(folder: &Path, proofs: Vec<Proof>, mut more: Vec<Trial>) -> ! {
    let args = Arguments::from_args();
    let has = |tool: &str| Command::new(tool).arg("-h").output().is_ok();
    let missing = ["yosys", "yosys-abc"].into_iter().any(|tool| !has(tool));
    let trials = proofs.into_iter().flat_map(|proof| proof.trials(folder));
    more.extend(trials.map(|trial| trial.with_ignored_flag(missing)));
    libtest_mimic::run(&args, more).exit()
}
