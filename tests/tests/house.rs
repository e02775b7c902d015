//! The structure of the workspace: the number of crates, and the direction of their dependencies.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders from the lowest layer up. A crate may depend on its own layer and on those below.
const FLOORS: [&[&str]; 7] = [
    &["packets"],
    &["decoder", "rtl"],
    &["golden"],
    &["encoder-hdl", "decoder-hdl", "cva6-connector"],
    &["sim"],
    &["fpga"],
    &["cli", "tests"],
];

/// The largest number of crates; with more, some would not be useful on their own.
const MOST_CRATES: usize = 26;

/// The largest number of lines of the command line: it keeps arguments, files, progress and exit status.
/// Everything else belongs in a library, where it can be used from Rust.
const MOST_LINES_OF_CLI: usize = 5600;

/// Crates that golden models check, and therefore must not use.
const CHECKED_BY_GOLDEN: [&str; 3] =
    ["hartrace-decoder", "hartrace-encoder", "hartrace-arm-decoder"];

/// The part of `hartrace-golden` that takes types of `hartrace-isa`. The models for E-Trace must
/// not: they have a classifier of their own, with which that of the decoder is compared.
const GOLDEN_WITH_ISA: &str = "arm";

/// Crates whose files are written whole or not at all, by `decoder/capture/src/output.rs`.
const WRITERS: [&str; 6] =
    ["cli", "decoder/capture", "decoder/report", "executions", "compressors", "python"];

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
    /// Packages of the workspace that it requires.
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
        let needed =
            dependencies.iter().filter(|one| one["kind"].is_null() && one["path"].is_string());
        Package {
            name: text(&package["name"]),
            folder: folder.expect("inside the repository").to_string_lossy().into_owned(),
            dependencies: needed.map(|one| text(&one["name"])).collect(),
        }
    };
    packages.into_iter().map(package).collect()
}

fn floor(folder: &str) -> usize {
    let top = folder.split('/').next().unwrap_or_default();
    FLOORS
        .iter()
        .position(|folders| folders.contains(&top))
        .unwrap_or_else(|| panic!("which floor is {folder} on? see FLOORS"))
}

#[test]
fn crates_are_few() {
    let names: Vec<_> = packages().into_iter().map(|package| package.name).collect();
    assert!(names.len() <= MOST_CRATES, "{} crates: {names:?}", names.len());
}

#[test]
fn no_dependency_points_up() {
    let packages = packages();
    let floors: BTreeMap<_, _> =
        packages.iter().map(|package| (&package.name, floor(&package.folder))).collect();
    let mut edges = 0;
    for package in &packages {
        for dependency in &package.dependencies {
            edges += 1;
            assert!(
                floors[dependency] <= floors[&package.name],
                "{} must not depend on {dependency}, which is above it",
                package.name
            );
        }
    }
    assert!(edges > packages.len(), "{edges} dependencies were found: is the list complete?");
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

#[test]
fn the_command_line_is_thin() {
    let sources = sources("cli/src");
    assert!(sources.iter().any(|(path, _)| path == Path::new("args/decode.rs")), "folders count");
    let lines: usize = sources.iter().map(|(_, text)| text.lines().count()).sum();
    assert!(lines <= MOST_LINES_OF_CLI, "cli/src has {lines} lines: move some to a library");
}

/// Whoever else opens a file for writing may destroy what is there, and leave a part of what should be.
#[test]
fn files_are_written_in_one_way() {
    let opens = ["File::create", "fs::write", ".write(true)", ".append(true)", "generate_to("];
    let mut found = Vec::new();
    for folder in WRITERS {
        for (path, text) in sources(&format!("{folder}/src")) {
            // Tests are at the end of a file, or in one of their own.
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let is_test = path.ends_with("tests.rs");
            if !is_test && opens.iter().any(|open| code.contains(open)) {
                found.push(format!("{folder}/src/{}", path.display()));
            }
        }
    }
    let allowed = |name: &str| WRITING.iter().any(|(other, _)| *other == name);
    let wrong: Vec<_> = found.iter().filter(|name| !allowed(name)).collect();
    assert!(wrong.is_empty(), "{wrong:?}: hartrace_capture::output::Output instead");
    let missing: Vec<_> =
        WRITING.iter().filter(|(name, _)| !found.iter().any(|f| f == name)).collect();
    assert!(missing.is_empty(), "{missing:?} write no more: remove them from the list");
}
