//! Models are built with Verilator and behave like their designs.
//!
//! Ignored where Verilator or the C++ compiler is missing.

mod cache;
mod designs;
mod failures;
mod files;
mod instances;
mod ports;
mod waves;

use hartrace_hdl_tools::verilate::{Options, available};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

type Test = fn() -> Result<(), Failed>;
type TestWithOptions = fn(&Options) -> Result<(), Failed>;

const TESTS: [(&str, Test); 15] = [
    ("ports/outputs-before-and-after-the-edge", ports::before_and_after),
    ("ports/fast-is-as-checked", ports::fast_is_as_checked),
    ("ports/reset-counts-from-zero", ports::reset),
    ("ports/outputs-follow-inputs-without-a-clock", ports::combinational),
    ("ports/wide-ones", ports::wide_ports),
    ("ports/what-does-not-fit-panics", ports::does_not_fit),
    ("instances/do-not-share-state", instances::separate),
    ("instances/run-in-threads", instances::threads),
    ("instances/unknown-values-depend-on-the-seed", instances::seeds),
    ("failures/an-assertion-is-an-error", failures::assertion),
    ("failures/assertions-are-not-checked-in-fast-mode", failures::assertion_off),
    ("waves/are-written", waves::written),
    ("waves/need-a-model-with-waves", waves::missing),
    ("waves/of-a-failure", waves::of_failure),
    ("waves/of-a-late-failure-start-late", waves::of_late_failure),
];

/// Tests that build models which the next run cannot use, or must not find: these are kept in a
/// folder that is deleted. All tests share it, so that Verilator's runtime is compiled once.
const IN_A_FOLDER: [(&str, TestWithOptions); 7] = [
    ("cache/second-build-is-found", cache::found_again),
    ("cache/damaged-is-built-again", cache::damaged),
    ("cache/built-twice-at-once", cache::at_once),
    ("failures/a-loop-is-an-error-and-stays-one", failures::does_not_settle),
    ("files/ports-parameters-and-includes", files::ports_and_includes),
    ("files/errors-of-the-tool-are-passed-on", files::tool_errors),
    ("files/with-texts-and-components", files::texts_and_components),
];

/// Name of threads that are expected to panic, without a message.
const QUIET: &str = "quiet";

fn main() -> ExitCode {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(QUIET) {
            hook(info);
        }
    }));
    let folder = match tempfile::tempdir() {
        Ok(folder) => Arc::new(folder),
        Err(error) => {
            eprintln!("no folder for temporary files: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::from(TESTS.map(|(name, test)| Trial::test(name, test)));
    trials.extend(IN_A_FOLDER.map(|(name, test)| {
        let folder = Arc::clone(&folder);
        Trial::test(name, move || {
            test(&Options { cache: Some(folder.path().to_owned()), ..checked() })
        })
    }));
    // The last test that needs the folder deletes it.
    drop(folder);
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(!available()));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn checked() -> Options {
    Options::default()
}
