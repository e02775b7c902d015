//! What a careless hand gives to a command: it is refused, or said, and never believed.

use crate::place::{Place, stderr, stdout};
use crate::run::program;
use std::fs;
use std::process::{Output, Stdio};

/// A run of a bundled program, with the log that `encode` reads and parameters without a unit or a framing.
fn traced(name: &str) -> Place {
    let place = Place::new(name);
    for name in ["calls", "sort"] {
        fs::copy(program(name), place.dir.join(format!("{name}.elf"))).unwrap();
    }
    place.clean("run calls.elf --encode ir -o calls.te --retired calls.htr --limit 20000");
    place.write("bare.toml", PARAMS.as_bytes());
    place
}

const PARAMS: &str = "iaddress_width_p = 64\niaddress_lsb_p = 1\necause_width_p = 5\n\
    return_stack_size_p = 4\n[options]\nimplicit-return = true\nresync-max = 6\n";

fn refused(output: &Output, status: i32, expected: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(said.starts_with("error: ") && said.contains(expected), "{expected}: {said}");
}

/// Whatever `encode` writes, `stats` follows to the last instruction.
#[test]
fn what_is_encoded_can_be_decoded() {
    let place = traced("careless-framings");
    let encode = "encode calls.htr --elf calls.elf -o x.te --params";
    let output = place.run(&format!("{encode} calls.te.toml --framing rv-tracer"));
    refused(&output, 2, "try: unit = \"rv-tracer\"");
    for unit in ["reference", "rv-tracer", "hartrace"] {
        place.write("p.toml", format!("{PARAMS}unit = \"{unit}\"\n").as_bytes());
        for framing in ["reference", "encap", "smi", "rv-tracer", "atb", "esp32"] {
            let output = place.run(&format!("{encode} p.toml --framing {framing}"));
            if framing == "rv-tracer" && unit != framing {
                refused(&output, 2, "framing rv-tracer holds payloads of");
                continue;
            }
            assert_eq!(stderr(&output), "", "{framing} {unit}");
            let stats = place.clean("stats x.te --json");
            let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
            assert_eq!(stats["program"]["gaps"], 0, "{framing} {unit}");
            assert_eq!(stats["program"]["instructions"], 20_000, "{framing} {unit}");
        }
    }
}

#[test]
fn a_log_is_of_its_program() {
    let place = traced("careless-program");
    let output = place.run("encode calls.htr --params calls.te.toml --elf sort.elf -o wrong.te");
    refused(&output, 3, "calls.htr, row ");
    assert!(stderr(&output).contains("try: the program that was executed"));
    assert!(!place.dir.join("wrong.te").exists());
    // A log with encodings, of which one is another.
    let log = "core   0: 3 0x0000000080000000 (0x00000013)\ncore   0: 3 0x0000000080000004 (0xfe000ee3)\n";
    place.write("elf.s", log.as_bytes());
    let output = place.run("encode elf.s --params p.toml --xlen 64 --elf calls.elf -o wrong.te");
    refused(&output, 3, "elf.s:1: the program has 0x");
}

/// Without its second line, the log jumps.
#[test]
fn a_log_with_a_hole() {
    let place = traced("careless-hole");
    let log = "core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000\n\
               core   0: 3 0x0000000080000008 (0x00028067)\n";
    place.write("holed.log", log.as_bytes());
    let line = "warning: holed.log: guessed 1 trap without a cause, after line 1: the log jumps there, \
                and names no trap; a line may be missing\n";
    let params = "--params p.toml --xlen 64";
    let output = place.run(&format!("encode holed.log {params} -o holed.te"));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), line.into()));
    assert_eq!(stderr(&place.run(&format!("explain holed.log {params}"))), line);
    let output = place.run("check calls.te --against holed.log");
    assert!(stderr(&output).ends_with(line), "{}", stderr(&output));
}

/// Traces of rv_tracer do not tell where they end, but a description does.
#[test]
fn a_trace_without_an_end_that_was_cut() {
    let place = traced("careless-rv-tracer");
    place.clean("encode calls.htr --params bare.toml --elf calls.elf --framing rv-tracer -o r.te");
    let bytes = fs::read(place.dir.join("r.te")).unwrap();
    place.write("cut.te", &bytes[..bytes.len() / 80 * 40]);
    let stats = "stats cut.te --params r.te.toml --elf calls.elf";
    let output = place.run(stats);
    let expected = "warning: cut.te: the trace may be cut off: it has ";
    assert!(stderr(&output).starts_with(expected), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
    refused(&place.run(&format!("{stats} --strict")), 1, "cut.te: the trace may be cut off");
    place.clean("stats r.te --params r.te.toml --elf calls.elf --strict");
}

#[test]
fn a_bundle_that_was_cut() {
    let place = traced("careless-bundle");
    let _ = fs::remove_file(place.dir.join("b.zip"));
    place.clean("bundle calls.te -o b.zip");
    let bytes = fs::read(place.dir.join("b.zip")).unwrap();
    for length in [8, 40, bytes.len() / 2, bytes.len() - 10] {
        place.write("cut.zip", &bytes[..length]);
        for command in [
            "stats cut.zip",
            "decode cut.zip",
            "dump cut.zip",
            "explain cut.zip",
            "diff --packets cut.zip cut.zip",
            "diff cut.zip cut.zip",
            "check cut.zip --against calls.htr",
            "probe cut.zip",
            "export cut.zip --format folded",
            "report cut.zip -o page.html",
            "bundle cut.zip -o other.zip",
            "plan cut.zip -o plan.json",
        ] {
            let output = place.run(command);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{command}, {length} bytes: {said}");
            assert!(
                said.contains("the archive is cut off or damaged\n  try: "),
                "{command}: {said}"
            );
        }
    }
    // A capture may start with these bytes.
    place.write("raw.te", b"PK\x03\x04\xff\xff\xff\xff\xff\xff");
    refused(&place.run("stats raw.te"), 2, "parameters");
}

#[test]
fn nothing_is_not_verified() {
    let place = traced("careless-nothing");
    for (command, expected) in [
        ("run calls.elf --limit 0", "write 1 or more"),
        ("compare calls.elf --limit 0 --schemes BASE", "write 1 or more"),
        ("decode calls.te --to 0", "nothing comes before --to 0"),
        ("decode calls.te --to packet:0", "nothing comes before --to 0"),
        ("decode calls.te --to byte:0", "nothing comes before --to 0"),
    ] {
        refused(&place.run(command), 2, expected);
    }
}

/// Nobody reads on, but the captures differ all the same.
#[test]
fn captures_differ_also_in_a_closed_pipe() {
    let place = traced("careless-pipe");
    place.clean("run calls.elf --encode delta -o ds.te --limit 20000");
    for options in ["", "--json"] {
        let mut command = place.command(&format!("diff --packets calls.te ds.te {options}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(4), String::new()), "{options}");
    }
}

#[test]
fn names_of_programs_in_tables() {
    let place = traced("careless-names");
    let name = "e\x1b[31mVIL\u{202e}.elf";
    fs::copy(program("calls"), place.dir.join(name)).unwrap();
    for command in [
        format!("run {name} --limit 100"),
        format!("run {name} --limit 100 --json"),
        format!("compare {name} --limit 100 --schemes BASE"),
        format!("compare calls.htr {name} --elf calls.elf --limit 100 --schemes BASE"),
    ] {
        let output = place.run(&command);
        let text = stdout(&output) + &stderr(&output);
        assert!(
            !text.contains(['\x1b', '\u{202e}']) && text.contains("VIL"),
            "{command}: {text:?}"
        );
    }
}

/// Options that would change nothing.
#[test]
fn options_that_mean_nothing() {
    let place = traced("careless-options");
    fs::create_dir_all(place.dir.join("folder")).unwrap();
    let encode = "encode calls.htr --params calls.te.toml -o o.te";
    for (command, expected) in [
        (format!("{encode} --find-sync"), "--find-sync is for captures that are read"),
        (format!("{encode} --ring 5"), "--ring is for captures that are read"),
        (format!("{encode} --hart 9"), "--hart is for logs of Spike, but this is a trace file"),
        (format!("{encode} --retirement block"), "--retirement is for encoder input"),
        ("log calls.htr --hart 0".into(), "--hart is for logs of Spike"),
        ("explain calls.htr --params calls.te.toml --hart 5".into(), "--hart is for logs of Spike"),
        ("check calls.te --against calls.htr --hart 5".into(), "--hart is for logs of Spike"),
        ("compare calls.htr --elf calls.elf --hart 5".into(), "--hart is for logs of Spike"),
        (
            "export calls.te --format speedscope --clock cycles -o x".into(),
            "E-Trace counts no cycles",
        ),
        ("export calls.te --format callgrind --clock ticks -o x".into(), "callgrind has no times"),
        (
            "export calls.te --format speedscope --ticks-per-second 5 -o x".into(),
            "speedscope has no seconds",
        ),
        (
            "decode --snapshot folder --find-sync".into(),
            "--find-sync means nothing with a snapshot",
        ),
        ("decode --snapshot folder --ring 5".into(), "--ring means nothing with a snapshot"),
        (
            "decode --snapshot folder --framing atb".into(),
            "--framing means nothing with a snapshot",
        ),
        ("decode --snapshot folder --source 5".into(), "--source means nothing with a snapshot"),
    ] {
        refused(&place.run(&command), 2, expected);
    }
    assert!(!place.dir.join("o.te").exists());
}
