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
/// What several readings explain is not decided: the status says so, all are listed, and one is written only if it is named.
#[test]
fn ambiguous() {
    let place = Place::new("probe-ambiguous");
    fs::copy(program("crypto"), place.dir.join("crypto.elf")).unwrap();
    for (mode, limit, certain) in [("bp", 5000, false), ("ir", 20_000, true)] {
        place.clean(&format!("run crypto.elf --encode {mode} --limit {limit} -o c.te"));
        let pcs = place.clean("decode c.te");
        fs::rename(place.dir.join("c.te"), place.dir.join("d.te")).unwrap();
        let _ = fs::remove_file(place.dir.join("d.te.toml"));
        let line = "probe d.te --elf crypto.elf";
        let output = place.run(line);
        let text = stdout(&output);
        let json: Value =
            serde_json::from_str(&stdout(&place.run(&format!("{line} --json")))).unwrap();
        let readings = json["etrace"][0]["readings"].as_array().unwrap().len();
        if certain {
            assert_eq!((output.status.code(), readings), (Some(0), 0), "{text}");
            place.clean(&format!("{line} --write"));
            assert_eq!(place.clean("decode d.te"), pcs);
            continue;
        }
        assert_eq!(output.status.code(), Some(5), "{text}");
        assert!(text.starts_with(&format!("AMBIGUOUS: {readings} readings")), "{text}");
        assert_eq!(json["etrace"][0]["ambiguous"], true);
        let refused = place.run(&format!("{line} --write"));
        assert_eq!(refused.status.code(), Some(5));
        assert!(stderr(&refused).contains("no description was written"), "{}", stderr(&refused));
        assert!(!place.dir.join("d.te.toml").exists());
        let none = place.run(&format!("{line} --write --reading {}", readings + 1));
        assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
        // One of them is what was executed.
        let decoded = (1..=readings).map(|number| {
            let _ = fs::remove_file(place.dir.join("d.te.toml"));
            place.clean(&format!("{line} --write --reading {number}"));
            stdout(&place.run("decode d.te"))
        });
        let decoded: Vec<_> = decoded.collect();
        assert_eq!(decoded.iter().filter(|text| **text == pcs).count(), 1);
        // The likeliest is the first.
        assert!(decoded[0] == pcs, "{text}");
    }
}

/// The packets are those of E-Trace, whatever the program: another one is no reason to deny that.
#[test]
fn another_program() {
    let place = executed("probe-other-program");
    fs::copy(program("sort"), place.dir.join("sort.elf")).unwrap();
    for framing in ["reference", "encap"] {
        place.clean(&format!("encode calls.htr --params probed.toml --framing {framing} -o c.te"));
        fs::remove_file(place.dir.join("c.te.toml")).unwrap();
        let output = place.run("probe c.te --elf sort.elf");
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        let first = "RISC-V E-Trace, but this program does not fit: ";
        assert!(
            text.starts_with(first) && text.contains("\ntry: the very file that ran"),
            "{text}"
        );
        let json: Value =
            serde_json::from_str(&stdout(&place.run("probe c.te --elf sort.elf --json"))).unwrap();
        assert_eq!((&json["protocol"], &json["program_fits"]), (&"e-trace".into(), &false.into()));
        let refused = place.run("probe c.te --elf sort.elf --write");
        assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
        let json: Value =
            serde_json::from_str(&place.clean("probe c.te --elf calls.elf --json")).unwrap();
        assert_eq!(json["program_fits"], true);
    }
}

/// What is no trace, but something else that is known, is named.
#[test]
fn other_files() {
    let place = executed("probe-other-files");
    place.write("c.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x04\0\x43\xbe\xb7\xe8\x01\0\0\0");
    place.write("text", b"not a trace\n");
    for (file, what, hint) in [
        ("c.gz", "a file of gzip, not a capture", "`gunzip c.gz`"),
        (
            "calls.elf",
            "a program (ELF), not a capture",
            "`hartrace run calls.elf --encode ir -o TRACE`",
        ),
        (
            "calls.htr",
            "the execution of a program, not a trace of it",
            "`hartrace encode calls.htr",
        ),
        ("text", "a text, not a capture", "the trace itself"),
    ] {
        for line in ["probe X", "probe X --elf calls.elf", "top X", "decode X", "stats X", "dump X"]
        {
            let output = place.run(&line.replace('X', file));
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{line}: {message}");
            let expected = format!("error: {file}: {what}\n  try: {hint}");
            assert!(message.starts_with(&expected), "{line}: {message}");
        }
    }
}

/// What was cut from the middle of a trace is read from its first synchronisation on.
#[test]
fn starts_in_the_middle() {
    let place = executed("probe-middle");
    for framing in ["reference", "encap", "smi"] {
        let line = format!("encode calls.htr --params probed.toml --framing {framing} -o c.te");
        place.clean(&line);
        let pcs = place.clean("decode c.te --elf calls.elf");
        let whole = fs::read(place.dir.join("c.te")).unwrap();
        for cut in [1, 700, 1001] {
            let _ = fs::remove_file(place.dir.join("m.te.cut.toml"));
            place.write("m.te", &whole[cut..]);
            let text = place.clean("probe m.te --elf calls.elf");
            assert!(text.contains(", all followed; "), "{framing}, {cut}: {text}");
            let at = text.split_once("the first synchronisation is at byte ").unwrap().1;
            let at: usize = at.lines().next().unwrap().parse().unwrap();
            let refused = place.run("probe m.te --elf calls.elf --write");
            let hint = format!("`tail -c +{} m.te > m.te.cut`", at + 1);
            assert_eq!(refused.status.code(), Some(2));
            assert!(stderr(&refused).contains(&hint), "{}", stderr(&refused));
            // The hint leads to the rest of the trace.
            place.write("m.te.cut", &whole[cut + at..]);
            place.clean("probe m.te.cut --elf calls.elf --write");
            let rest = place.clean("decode m.te.cut");
            assert!(rest.lines().count() > 1000 && pcs.ends_with(&rest), "{framing}, {cut}");
        }
    }
}

/// Parameters that do not matter are not varied together: the search for other readings comes to its end.
#[test]
fn the_search_ends() {
    let place = Place::new("probe-ends");
    fs::copy(program("sort"), place.dir.join("sort.elf")).unwrap();
    place.clean("run sort.elf --encode ir+bp+jtc --limit 40000 -o c.te");
    fs::rename(place.dir.join("c.te"), place.dir.join("d.te")).unwrap();
    let json = stdout(&place.run("probe d.te --elf sort.elf --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["limited"], false, "{json}");
}
