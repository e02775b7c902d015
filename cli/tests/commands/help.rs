//! Help is true: the examples of every command are executed, in the order in which they follow from each other.

use crate::place::{Place, stderr, stdout};
use std::fs;
use std::path::Path;

/// Commands with examples, in an order in which each has what it reads. What they write is in the comments.
const ORDER: [&str; 25] = [
    "run", // prog.te, prog.htr
    "log",
    "params", // params.toml
    "encode", // log.te
    "decode",
    "top",
    "report",
    "export",
    "stats",
    "dump",
    "explain",
    "bundle",
    "probe",
    "diff",
    "check",
    "plan", // plan.json
    "part", // 0.parquet
    "merge",
    "compare",
    "hdl",
    "image",
    "scenarios",
    "completions",
    "man",
    "demo",
];

/// What needs more than this test has: QEMU, and a Linux program of the reader.
const NOT_HERE: &str = "run app --with qemu";

/// The lines that help shows as examples.
fn examples(place: &Place, command: &str) -> Vec<String> {
    let help = place.clean(&format!("{command} --help"));
    let (_, after) =
        help.split_once("Examples:").unwrap_or_else(|| panic!("{command}: no example"));
    let lines = after.lines().filter_map(|line| line.strip_prefix("  hartrace "));
    lines.map(str::to_owned).collect()
}

#[test]
fn examples_work() {
    let place = Place::new("help-examples");
    let calls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/calls.elf");
    place.write("prog.elf", &fs::read(calls).unwrap());
    for command in ORDER {
        let lines = examples(&place, command);
        assert!(!lines.is_empty(), "{command}");
        for line in lines {
            if line.starts_with(NOT_HERE) {
                continue;
            }
            // What somebody has received: no description.
            if line.contains("trace.bin") {
                place.write("trace.bin", &fs::read(place.dir.join("prog.te")).unwrap());
                let _ = fs::remove_file(place.dir.join("trace.bin.toml"));
            }
            let output = place.run(&line);
            let code = output.status.code();
            assert_eq!(code, Some(0), "{line}: {}{}", stdout(&output), stderr(&output));
        }
    }
}

/// What has its own place in the list, and what does not.
#[test]
fn without_a_command() {
    let place = Place::new("help-start");
    let text = place.clean("");
    assert!(text.contains("hartrace run prog.elf -o prog.te"), "{text}");
    assert!(text.contains("hartrace --help"), "{text}");
    let all = place.clean("--help");
    for heading in ["Make a trace:", "See what was executed:", "Trace hardware:", "Exit status"] {
        assert!(all.contains(heading), "{heading}: {all}");
    }
    assert!(all.lines().all(|line| line.len() <= 100), "{all}");
}

/// Old spellings do what the new ones do, and say so.
#[test]
fn old_spellings() {
    let place = Place::new("help-old");
    let calls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/calls.elf");
    place.write("prog.elf", &fs::read(calls).unwrap());
    place.clean("run prog.elf --limit 5000 -o prog.te --retired prog.htr");
    for (old, new, note) in [
        ("delta prog.te prog.te", "diff prog.te prog.te", "note: `delta` is now `diff`\n"),
        ("convert prog.htr", "log prog.htr", "note: `convert` is now `log`\n"),
        (
            "export prog.te --to folded",
            "export prog.te --format folded",
            "note: `--to folded` is now `--format folded`\n",
        ),
    ] {
        let output = place.run(old);
        assert_eq!(output.status.code(), Some(0), "{old}");
        assert_eq!(stdout(&output), place.clean(new), "{old}");
        assert_eq!(stderr(&output), note, "{old}");
    }
}

/// A word for the program that is traced comes after `--`, and the message says so.
#[test]
fn arguments_of_the_program() {
    let place = Place::new("help-arguments");
    let output = place.run("run app README.md");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        message.contains("to pass 'README.md' to the program, use '-- README.md'"),
        "{message}"
    );
    let other = stderr(&place.run("decode a.te README.md"));
    assert!(!other.contains("'-- README.md'"), "{other}");
}

/// Shells complete the names of modes.
#[test]
fn modes_are_completed() {
    let place = Place::new("help-completion");
    let text = place.clean("completions bash");
    assert!(text.contains("delta ir ie sij bp jtc full hp ir+bp all"), "no modes");
}

/// One empty line between the usage and what follows.
#[test]
fn no_gaps_in_the_overview() {
    let place = Place::new("help-overview");
    assert!(!place.clean("--help").contains("\n\n\n"));
}
