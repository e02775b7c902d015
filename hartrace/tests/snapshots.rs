//! Snapshots of Arm systems: all questions have one answer.
//!
//! Requires `HARTRACE_DATA`, the folder that holds `coresight`; shown as ignored without it.

use hartrace::{Count, Form, OpenError, Options};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let trials = match env::var_os("HARTRACE_DATA") {
        Some(data) => snapshots(&Path::new(&data).join("coresight"))
            .into_iter()
            .map(|path| Trial::test(name(&path), move || same_answers(&path)))
            .collect(),
        None => vec![Trial::test("snapshots", || Ok(())).with_ignored_flag(true)],
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn name(path: &Path) -> String {
    let words: Vec<_> = path.iter().rev().take(2).map(|word| word.to_string_lossy()).collect();
    words.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// Folders with snapshots.
fn snapshots(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for kind in fs::read_dir(folder).expect("HARTRACE_DATA has coresight").map(Result::unwrap) {
        let Ok(entries) = fs::read_dir(kind.path()) else { continue };
        let paths = entries.map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| path.join("snapshot.ini").is_file()));
    }
    found.sort();
    assert!(found.len() > 10, "{} snapshots", found.len());
    found
}

fn same_answers(path: &Path) -> Result<(), Failed> {
    let capture = match hartrace::open(path) {
        Ok(capture) => capture,
        // Protocols that are not read.
        Err(hartrace::OpenError::NoTrace { .. }) => return Ok(()),
        Err(error) => return Err(error.to_string().into()),
    };
    assert_eq!(capture.protocol(), "CoreSight");
    let count: Count = capture.sum()?.value;
    let steps = capture.instructions().filter(Result::is_ok).count() as u64;
    assert_eq!(count.instructions, steps);
    let own: u64 = capture.functions()?.value.iter().map(|function| function.instructions).sum();
    assert_eq!(own, steps);
    let _ = capture.write(Form::Listing, io::sink())?;
    // Each source alone, and all of them.
    let sources: BTreeSet<u16> =
        capture.blocks().flatten().filter_map(|block| block.source).collect();
    let mut sum = 0;
    for id in &sources {
        let alone = Options::default().source(*id).open(path)?;
        sum += alone.sum::<Count>()?.value.instructions;
    }
    assert!(
        sources.is_empty() || sum == steps,
        "{sum} instructions of {sources:?}, {steps} of all"
    );
    let none = Options::default().source(9999).open(path).map(drop);
    assert!(matches!(none, Err(OpenError::NoSource { id: 9999, .. })), "{none:?}");
    let given = Options::default().parameters("none.toml").open(path).map(drop);
    assert!(matches!(given, Err(OpenError::Meaningless { option: "parameters", .. })), "{given:?}");
    Ok(())
}
