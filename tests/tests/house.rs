//! The structure of the workspace: which crate may use which, and what only one place does.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All crates, from the lowest up: a crate depends only on those before it. Read from top to bottom, this is the structure of
/// the workspace.
const ORDER: [&str; 29] = [
    // Packets and instructions.
    "hartrace-bits",
    "hartrace-etrace",
    "hartrace-encap",
    "hartrace-etmv4",
    "hartrace-ptm",
    "hartrace-isa",
    // Decoders and the encoder, in software.
    "hartrace-decoder",
    "hartrace-spaces",
    "hartrace-arm-decoder",
    "hartrace-encoder",
    "hartrace-capture",
    "hartrace-report",
    "hartrace-parts",
    "hartrace",
    // Models, what they execute, and what E-Trace is compared with.
    "hartrace-golden",
    "hartrace-iss",
    "hartrace-executions",
    "hartrace-compressors",
    // Hardware.
    "hartrace-rtl",
    "hartrace-rust-hdl",
    "hartrace-encoder-hdl",
    "hartrace-decoder-hdl",
    "hartrace-cva6-connector",
    // Hardware that is simulated and measured.
    "hartrace-hdl-tools",
    "hartrace-lockstep",
    "hartrace-cva6-sim",
    "hartrace-fpga",
    // What people use, and what tests all of it.
    "hartrace-cli",
    "hartrace-tests",
];

/// Only the command line reads arguments.
const ARGUMENTS: &str = "clap";
const READS_ARGUMENTS: &str = "hartrace-cli";

/// Crates that golden models check, and therefore must not use.
const CHECKED_BY_GOLDEN: [&str; 3] =
    ["hartrace-decoder", "hartrace-encoder", "hartrace-arm-decoder"];

/// The part of `hartrace-golden` that takes types of `hartrace-isa`. The models for E-Trace must
/// not: they have a classifier of their own, with which that of the decoder is compared.
const GOLDEN_WITH_ISA: &str = "arm";

/// Crates whose files are written whole or not at all, by `decoder/capture/src/output.rs`.
const WRITERS: [&str; 8] = [
    "cli",
    "hartrace",
    "decoder/capture",
    "decoder/report",
    "decoder/parts",
    "executions",
    "compressors",
    "python",
];

/// Sources of these crates that open files for writing by themselves, and why they may.
const WRITING: [(&str, &str); 7] = [
    ("decoder/capture/src/output.rs", "writes to devices and pipes, which cannot be replaced"),
    ("decoder/capture/src/output/temporary.rs", "makes temporary files for all others"),
    ("executions/src/qemu/plugin.rs", "in a private folder, for the compiler"),
    ("executions/src/qemu/runner.rs", "in a private folder, for QEMU"),
    ("executions/src/executed/program/by_qemu.rs", "in a private folder, for QEMU"),
    ("compressors/src/comparison/arm/run.rs", "in a private folder, for QEMU"),
    (
        "compressors/src/comparison/journal.rs",
        "appends figures, which a sweep that was stopped needs",
    ),
];

struct Package {
    name: String,
    /// Its folder relative to the repository, such as `packets/bits`.
    folder: String,
    /// Packages that it requires.
    dependencies: Vec<String>,
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is not the top")
}

/// Returns the sources below a folder of the repository, with their paths relative to it.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = top().join(folder);
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("it is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source is text");
                let path = path.strip_prefix(&root).expect("it was found there");
                sources.push((path.to_owned(), text));
            }
        }
    }
    sources
}

fn packages() -> Vec<Package> {
    let top = top();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(top);
    let output = cargo.output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let packages = list(&metadata["packages"]);
    let package = |package: Value| {
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().and_then(|path| path.strip_prefix(top).ok());
        let dependencies = list(&package["dependencies"]);
        let needed = dependencies.iter().filter(|one| one["kind"].is_null());
        Package {
            name: text(&package["name"]),
            folder: folder.expect("inside the repository").to_string_lossy().into_owned(),
            dependencies: needed.map(|one| text(&one["name"])).collect(),
        }
    };
    packages.into_iter().map(package).collect()
}

#[test]
fn dependencies_point_one_way() {
    let packages = packages();
    let place = |name: &str| ORDER.iter().position(|other| *other == name);
    let mut edges = 0;
    for package in &packages {
        let own = place(&package.name);
        assert!(own.is_some(), "where does {} belong? see ORDER", package.name);
        for dependency in &package.dependencies {
            let Some(other) = place(dependency) else { continue };
            edges += 1;
            assert!(
                Some(other) < own,
                "{} must not depend on {dependency}, which is above it",
                package.name
            );
        }
    }
    assert_eq!(packages.len(), ORDER.len(), "a crate of ORDER is gone");
    assert!(edges > packages.len(), "{edges} dependencies were found: is the list complete?");
}

/// A library that knows arguments cannot be used without them.
#[test]
fn only_the_command_line_reads_arguments() {
    let all = packages();
    let reads = |package: &&Package| package.dependencies.iter().any(|name| name == ARGUMENTS);
    let reading: Vec<_> = all.iter().filter(reads).map(|package| &package.name[..]).collect();
    assert_eq!(reading, [READS_ARGUMENTS]);
}

#[test]
fn golden_models_do_not_use_what_they_check() {
    for package in packages().iter().filter(|package| package.folder.starts_with("golden/")) {
        for checked in CHECKED_BY_GOLDEN {
            assert!(
                !package.dependencies.iter().any(|name| name == checked),
                "{} must not depend on {checked}",
                package.name
            );
        }
    }
}

#[test]
fn golden_models_of_etrace_have_their_own_classifier() {
    let (arm, etrace): (Vec<_>, Vec<_>) = sources("golden/model/src")
        .into_iter()
        .partition(|(path, _)| path.with_extension("").starts_with(GOLDEN_WITH_ISA));
    let uses_isa = |(path, text): &(PathBuf, String)| {
        text.contains("hartrace_isa").then(|| path.display().to_string())
    };
    assert_ne!(arm.iter().filter_map(uses_isa).count(), 0, "sources that use it are recognised");
    let wrong: Vec<_> = etrace.iter().filter_map(uses_isa).collect();
    assert!(wrong.is_empty(), "{wrong:?} of golden/model must not use hartrace-isa");
}

/// Sources of these crates that open files for reading by themselves, and why they may.
const READING: [(&str, &str); 11] = [
    ("decoder/capture/src/input.rs", "opens files for all others"),
    ("decoder/capture/src/output.rs", "reads again what it has written, to cut it"),
    ("decoder/capture/src/output/capture.rs", "looks at what it replaces"),
    ("decoder/capture/src/output/scratch.rs", "locks a folder of its own"),
    ("decoder/capture/src/output/temporary.rs", "looks at what others have left"),
    ("decoder/capture/src/receive.rs", "opens ports and pipes"),
    ("executions/src/qemu/runner.rs", "reads what QEMU has written to a private folder"),
    ("python/src/lib.rs", "may well write later what it has read before"),
    ("cli/src/args/inputs.rs", "looks whether a file is there"),
    ("cli/src/files.rs", "looks how a file starts"),
    ("cli/src/signals.rs", "asks the system which signals are ignored"),
];

/// Returns the sources of [`WRITERS`] whose code has one of these words in it, without those of tests.
fn sources_with(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in WRITERS {
        for (path, text) in sources(&format!("{folder}/src")) {
            // Tests are at the end of a file, or in one of their own. Examples are in comments.
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let is_test = path.ends_with("tests.rs");
            if !is_test && lines.any(|line| words.iter().any(|word| line.contains(word))) {
                found.push(format!("{folder}/src/{}", path.display()));
            }
        }
    }
    found
}

/// Checks that these are the sources that are allowed to do something.
fn check_allowed(found: &[String], allowed: &[(&str, &str)], others: &str) {
    let wrong: Vec<_> =
        found.iter().filter(|name| !allowed.iter().any(|(other, _)| other == name)).collect();
    assert!(wrong.is_empty(), "{wrong:?}: {others} instead");
    let missing: Vec<_> =
        allowed.iter().filter(|(name, _)| !found.iter().any(|f| f == name)).collect();
    assert!(missing.is_empty(), "{missing:?} do so no more: remove them from the list");
}

/// Whoever else opens a file for writing may destroy what is there, and leave a part of what should be.
#[test]
fn files_are_written_in_one_way() {
    let opens = ["File::create", "fs::write", ".write(true)", ".append(true)", "generate_to("];
    check_allowed(&sources_with(&opens), &WRITING, "hartrace_capture::output::Output");
}

/// A file that is opened in another way may be replaced by the command that reads it.
#[test]
fn files_are_read_in_one_way() {
    let opens = ["File::open", "fs::read(", "fs::read_to_string"];
    check_allowed(&sources_with(&opens), &READING, "hartrace_capture::input::open");
}
