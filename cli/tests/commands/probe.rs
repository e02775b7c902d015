//! Captures without a description.

use crate::place::{Place, stderr, stdout};
use crate::run::program;
use serde_json::Value;
use std::fs;

const PARAMS: &str = "\
iaddress_width_p = 64\niaddress_lsb_p = 1\necause_width_p = 5\n[options]\nresync-max = 3\n";

/// A place with a program, what it executed and parameters.
fn executed(name: &str) -> Place {
    let place = Place::new(name);
    fs::copy(program("calls"), place.dir.join("calls.elf")).unwrap();
    place.clean("run calls.elf --limit 20000 --retired calls.htr");
    place.write("probed.toml", PARAMS.as_bytes());
    place
}

/// Every framing is found, with all widths that matter, and the description decodes to what was traced.
#[test]
fn every_framing() {
    let place = executed("probe-framings");
    for (given, found) in [
        ("reference", "reference"),
        ("encap", "encap"),
        ("encap --src-bits 3 --source 5", "encap --src-bits 3"),
        (
            "encap --src-bits 8 --timestamp-bytes 4 --source 5",
            "encap --src-bits 8 --timestamp-bytes 4",
        ),
        (
            "encap --src-bits 6 --type-bits 2 --instruction-type 2 --source 3",
            "encap --src-bits 6 --type-bits 2 --instruction-type 2",
        ),
        ("smi --hart-bits 8 --source 2", "smi --hart-bits 8"),
        ("smi --timestamp-bytes 2", "smi"),
        ("atb --atid 3 --timestamp-bytes 8", "atb --timestamp-bytes 8"),
        ("esp32", "esp32"),
    ] {
        let _ = fs::remove_file(place.dir.join("c.te.toml"));
        place.clean(&format!("encode calls.htr --params probed.toml --framing {given} -o c.te"));
        let pcs = place.clean("decode c.te --elf calls.elf");
        fs::remove_file(place.dir.join("c.te.toml")).unwrap();
        let json = place.clean("probe c.te --elf calls.elf --json --write");
        let json: Value = serde_json::from_str(&json).unwrap();
        let best = &json["etrace"][0];
        let alike = best["alike"].as_array().unwrap();
        assert!(best["framing"] == found || alike.contains(&found.into()), "{given}: {best}");
        assert_eq!(best["decoded"]["lost_bytes"], 0, "{given}: {best}");
        assert_eq!((&json["protocol"], &best["unit"]), (&"e-trace".into(), &"reference".into()));
        assert_eq!(place.clean("decode c.te"), pcs, "{given}");
    }
}

/// What is found, and what is not certain.
#[test]
fn for_people() {
    let place = executed("probe-text");
    place.clean("encode calls.htr --params probed.toml -o c.te");
    fs::remove_file(place.dir.join("c.te.toml")).unwrap();
    let text = place.clean("probe c.te --elf calls.elf");
    assert!(text.starts_with("RISC-V E-Trace: "), "{text}");
    for line in [
        "  framing                     reference     the payloads are the same with smi, encap, atb",
        "  xlen                        64            that of the program",
        "  privilege + time + context  2             found: every other value decodes worse",
        "  iaddress_width_p            64            does not matter here",
        "  iaddress_lsb_p              1             found: every other value decodes worse",
        "  ecause_width_p              4             no packet contains it",
    ] {
        assert!(text.lines().any(|other| other == line), "no {line} in {text}");
    }
    // Without the program, the framing remains.
    let text = place.clean("probe c.te");
    assert!(text.contains("not decoded without the program"), "{text}");
    assert!(text.contains("  framing                     reference"), "{text}");
}

/// A description is not overwritten, and none is made up.
#[test]
fn descriptions_are_kept() {
    let place = executed("probe-kept");
    place.clean("encode calls.htr --params probed.toml -o c.te --elf calls.elf");
    let refused = place.run("probe c.te --write");
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    // The programs of the description are used.
    assert!(place.clean("probe c.te").contains("all followed"));
    place.write("zeros", &[0; 4096]);
    let nothing = place.run("probe zeros");
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stdout(&nothing).starts_with("neither E-Trace nor Arm trace"), "{}", stdout(&nothing));
    // What is not looked for is named.
    place.clean("run calls.elf --limit 5000 --encode hp -o hp.te");
    std::fs::rename(place.dir.join("hp.te"), place.dir.join("history")).unwrap();
    let history = place.run("probe history --elf calls.elf");
    assert_eq!(history.status.code(), Some(1));
    let text = stdout(&history);
    assert!(text.contains("not looked for: E-Trace with history prediction"), "{text}");
    let refused = place.run("probe zeros --write");
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(!place.dir.join("zeros.toml").exists());
}

/// Arm trace is recognised by its synchronisations.
#[test]
fn arm() {
    let place = Place::new("probe-arm");
    let mut trace = [[0; 11].as_slice(), &[0x80, 0x01, 0x00]].concat();
    trace.extend([0xf7; 16]);
    place.write("raw", &trace);
    let text = place.clean("probe raw");
    let first = "Arm trace: one source without frames\n  ETMv4 or ETE, 0 bytes of context";
    assert!(text.starts_with(first), "{text}");
    let json: Value = serde_json::from_str(&place.clean("probe raw --json")).unwrap();
    assert_eq!(json["protocol"], "arm");
    assert_eq!(json["coresight"]["streams"][0]["packets"], 18, "{json}");
}
