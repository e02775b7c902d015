//! Runs every file in `scenarios/`; see [`hartrace_tests::scenario`] for their format.
//!
//! `HARTRACE_BLESS=1` rewrites their packets and trace sections.

use hartrace_tests::scenario::{Scenario, files, objdump};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let bless = hartrace_tests::bless();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let paths = match files(&folder) {
        Ok(paths) => paths,
        Err(err) => {
            eprintln!("{}: {err}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.clone();
        trials.push(Trial::test(name, move || {
            Scenario::load(&path)?.check(bless).map_err(Failed::from)
        }));
    }
    let found = objdump::find();
    let assembly = Trial::test("assembly-text", move || {
        let scenarios: Vec<Scenario> =
            paths.iter().map(|path| Scenario::load(path)).collect::<Result<_, _>>()?;
        objdump::check(found.unwrap_or_default(), &scenarios).map_err(Failed::from)
    });
    trials.push(assembly.with_ignored_flag(found.is_none()));
    libtest_mimic::run(&args, trials).exit_code()
}
