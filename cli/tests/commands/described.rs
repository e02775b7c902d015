//! Captures that describe themselves.

use crate::place::{Place, stderr, stdout};
use crate::run::{last_return, program};
use std::fs;

/// A copy of a bundled program beside the captures.
fn copied(place: &Place, name: &str) -> String {
    fs::copy(program(name), place.dir.join(format!("{name}.elf"))).unwrap();
    format!("{name}.elf")
}

/// Every command reads a capture without further options.
#[test]
fn no_command_asks_again() {
    let place = Place::new("described");
    let calls = copied(&place, "calls");
    let table = place.clean(&format!("run {calls} --encode ir+bp -o c.te --retired c.htr"));
    let instructions: usize =
        table.lines().nth(1).unwrap().split_whitespace().nth(2).unwrap().parse().unwrap();
    let pcs = place.clean("decode c.te");
    assert_eq!(pcs.lines().count(), instructions);
    assert!(place.clean("decode c.te --emit edges").contains("fibonacci"));
    assert!(place.clean("check c.te --against c.htr").contains(&instructions.to_string()));
    let stats = place.clean("stats c.te --json");
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["program"]["instructions"], instructions, "{stats}");
    assert!(place.clean("dump c.te").contains("3.0 start"));
    assert!(place.clean("explain c.te").contains("; likely"));
    assert_eq!(place.clean("diff --packets c.te c.te"), "");
    // The description is TOML with the specification's names.
    let text = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    for line in [
        "version = 2",
        "command = \"hartrace run calls.elf --encode ir+bp -o c.te --retired c.htr\"",
        "xlen = 64",
        "iaddress_width_p = 64",
        "implicit-return = true",
        "branch-prediction = true",
        "kind = \"reference\"",
        "file = \"calls.elf\"",
        &format!("instructions = {instructions}"),
    ] {
        assert!(text.lines().any(|other| other == line), "no {line} in {text}");
    }
    // It may be named as well, and options come first.
    assert_eq!(place.clean("decode c.te --params c.te.toml"), pcs);
    let wrong = place.run("decode c.te --framing esp32");
    assert_eq!(wrong.status.code(), Some(1), "{}", stderr(&wrong));
}

/// In every mode: implicit exceptions need the trap vectors.
#[test]
fn every_mode() {
    let place = Place::new("described-modes");
    for name in ["interrupts", "user"] {
        let elf = copied(&place, name);
        let json = place.clean(&format!("run {elf} --encode all --output-dir out --json"));
        for line in json.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let mode = line["mode"].as_str().unwrap();
            let stats = place.clean(&format!("stats out/{name}.{mode}.te --json"));
            let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
            assert_eq!(stats["program"]["instructions"], line["instructions"], "{name} {mode}");
        }
    }
}

#[test]
fn another_program_is_refused() {
    let place = Place::new("described-other");
    let calls = copied(&place, "calls");
    place.clean(&format!("run {calls} -o c.te"));
    let mut other = fs::read(program("calls")).unwrap();
    // Nothing executes it: only the hash shows it.
    let last = last_return(&other);
    other[last] ^= 0x80;
    place.write("calls.elf", &other);
    for command in ["decode", "stats"] {
        let output = place.run(&format!("{command} c.te"));
        assert_eq!(output.status.code(), Some(3), "{command}: {}", stdout(&output));
        let said = stderr(&output);
        assert!(said.contains("calls.elf: this is not the program that was traced"), "{said}");
        assert!(said.contains("XXH3 of code") && said.contains("try: "), "{said}");
    }
    // Named on the command line, it is used with a warning.
    let forced = place.run("decode c.te --elf calls.elf");
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    assert!(stderr(&forced).starts_with("warning: calls.elf: this is not the program"));
    fs::remove_file(place.dir.join("calls.elf")).unwrap();
    let gone = place.run("decode c.te");
    assert_eq!(gone.status.code(), Some(3));
    assert!(stderr(&gone).contains("--elf PROG"), "{}", stderr(&gone));
    // Packets can be counted without it.
    let stats = place.run("stats c.te");
    assert_eq!(stats.status.code(), Some(0));
    assert!(stderr(&stats).contains("instructions are not counted"), "{}", stderr(&stats));
}

/// Every command that follows a program says that it was built anew after the trace, and none goes on as if it were not.
#[test]
fn stale_code_is_noticed_by_every_command() {
    let place = Place::new("described-stale");
    let calls = copied(&place, "calls");
    place.clean(&format!("run {calls} --limit 20000 -o c.te --retired c.htr"));
    place.clean(&format!("run {calls} --limit 20000 -o d.te"));
    let mut other = fs::read(program("calls")).unwrap();
    let last = last_return(&other);
    other[last] ^= 0x80;
    place.write("calls.elf", &other);
    for line in [
        "bundle c.te -o c.zip",
        "check c.te --against c.htr",
        "decode c.te",
        "decode c.te --emit edges",
        "diff c.te d.te",
        "export c.te --format folded",
        "export c.te --format callgrind",
        "plan c.te -o plan.json",
        "probe c.te",
        "report c.te -o c.html",
        "stats c.te",
    ] {
        let output = place.run(line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {}{said}", stdout(&output));
        assert!(
            said.contains("calls.elf: this is not the program that was traced"),
            "{line}: {said}"
        );
        // If it is meant, it is said all the same.
        if line.starts_with("plan") || line.starts_with("bundle") || line.starts_with("probe") {
            continue;
        }
        let said = stderr(&place.run(&format!("{line} --elf calls.elf")));
        assert!(said.contains("warning: calls.elf: this is not the program"), "{line}: {said}");
    }
    let page = fs::read_to_string(place.dir.join("c.html")).unwrap();
    assert!(page.contains("\"doubts\":[\"calls.elf: this is not the program"), "no banner");
}

#[test]
fn what_is_wrong_with_a_description() {
    let place = Place::new("described-wrong");
    // What a run before has left.
    let _ = fs::remove_file(place.dir.join("trace.toml"));
    place.encoded();
    for (text, status, what) in [
        ("version = 3", 2, "trace.toml:1:1: version 3 is not known here, only 1"),
        ("versoin = 1", 2, "trace.toml:1:1: unknown key versoin\n  try: version"),
        ("= 1", 3, "trace.toml:1:1: not TOML"),
        ("version = 1", 2, "trace.toml: the parameters do not specify the width"),
        ("version = 1\n[[programs]]\nfile = 1", 2, "trace.toml:3:1: file must be a string"),
    ] {
        place.write("trace.toml", text.as_bytes());
        let output = place.run("dump trace");
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(stderr(&output).contains(what), "{text}: {}", stderr(&output));
    }
}

/// A bundle needs nothing else, and contains what was put into it.
#[test]
fn bundles() {
    let place = Place::new("bundles");
    let calls = copied(&place, "calls");
    place.clean(&format!("run {calls} --encode ir -o c.te --retired c.htr"));
    let outputs = |file: &str| {
        ["decode", "decode --emit edges", "stats", "dump", "check --against c.htr"].map(|command| {
            // The name of the capture is in some outputs.
            place.clean(&format!("{command} {file}")).replace(file, "FILE")
        })
    };
    let before = outputs("c.te");
    let said = place.clean("bundle c.te -o c.zip");
    assert_eq!(said, "c.zip: c.te, its description and 1 program\n");
    for file in ["c.te", "c.te.toml", "calls.elf"] {
        fs::remove_file(place.dir.join(file)).unwrap();
    }
    let after = outputs("c.zip");
    for (before, after) in before.iter().zip(after) {
        assert_eq!(*before, after.replace("FILE/c.te", "FILE"));
    }
    assert_eq!(place.clean("diff --packets c.zip c.zip"), "");
    // A bundle of a bundle is the same bundle.
    place.clean("bundle c.zip -o again.zip");
    let read = |name: &str| fs::read(place.dir.join(name)).unwrap();
    assert_eq!(read("c.zip"), read("again.zip"));
    // A cut archive is read as a capture, which it is not.
    place.write("cut.zip", &read("c.zip")[..200]);
    assert_ne!(place.run("decode cut.zip").status.code(), Some(0));
}

/// The description of an encoder's output names the program of the log.
#[test]
fn encoded_logs() {
    let place = Place::new("described-encode");
    let calls = copied(&place, "calls");
    place.clean(&format!("run {calls} --retired c.htr"));
    place.write("p.toml", b"iaddress_width_p = 64\niaddress_lsb_p = 1\necause_width_p = 5\n");
    let framing = "--framing encap --src-bits 4 --timestamp-bytes 2 --source 3";
    place.clean(&format!("encode c.htr --params p.toml {framing} --elf {calls} -o e.te"));
    assert!(place.clean("check e.te --against c.htr").starts_with("verified"));
    // Compressed later, it keeps its description.
    let bytes = fs::read(place.dir.join("e.te")).unwrap();
    place.write("e.te.zst", &zstd::encode_all(&bytes[..], 0).unwrap());
    assert!(place.clean("check e.te.zst --against c.htr").starts_with("verified"));
    place.clean("bundle e.te.zst -o e.zip");
    assert!(place.clean("check e.zip --against c.htr").starts_with("verified"));
}
