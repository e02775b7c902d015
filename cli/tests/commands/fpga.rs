//! `hartrace fpga`, as far as it goes without yosys and nextpnr; `tests/fpga.rs` has the rest.

use crate::place::{Place, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};

fn tracked(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fpga/reports/te_core.{name}.json"))
}

#[test]
fn what_cannot_be_measured_is_told_first() {
    let place = Place::new("fpga-errors");
    place.write("wrong.toml", b"[encoder]\nlanes = 9\n");
    fs::create_dir_all(place.dir.join("empty")).unwrap();
    for (line, what, status) in [
        ("", "bin/pip install pyosys==", 3),
        ("--config huge", "try: cva6, full, linux, micro, small, small_bytes, or a file", 2),
        ("--config micro --config wrong.toml", "lanes = 9 is not in 1..=4", 3),
        ("--config micro --top te_return_stack", "micro has no module `te_return_stack`", 2),
        ("--config micro --top te_return_stack", "te_branch_map, te_", 2),
        ("--only area --seeds 2", "--only area leaves out", 2),
        ("--seeds 0", "0 is not in 1..=100", 2),
    ] {
        let mut command = place.command(&format!("fpga report {line} -o out"));
        let output = command.env("HARTRACE_FPGA_TOOLS", "empty").output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(what), "{line}: {}", stderr(&output));
        assert!(!place.dir.join("out").exists(), "{line}");
    }
}

#[test]
fn reports_are_compared() {
    let place = Place::new("fpga-compare");
    let [micro, small] = ["micro", "small"].map(|name| fs::read_to_string(tracked(name)).unwrap());
    place.write("old", format!("{micro}{small}").as_bytes());
    place.write("new", format!("{small}{micro}").as_bytes());
    let same = "te_core of micro\nno figure changed\n\nte_core of small\nno figure changed\n\n";
    assert_eq!(place.clean("fpga compare old new"), same);

    let lut = micro.lines().find(|line| line.contains("\"lut\"")).unwrap();
    place.write("new", micro.replacen(lut, "\"lut\": 1,", 1).as_bytes());
    let output = place.run("fpga compare old new");
    assert_eq!(output.status.code(), Some(4));
    let said = stdout(&output);
    assert!(said.contains("\nflattened LUT ") && said.contains("te_core of small: only in old"));
    let output = place.run("fpga compare new old");
    assert_eq!(output.status.code(), Some(4));
    assert!(stdout(&output).contains("te_core of small: only in old"));
}

#[test]
fn what_is_no_report_is_refused() {
    let place = Place::new("fpga-no-report");
    fs::copy(tracked("micro"), place.dir.join("micro")).unwrap();
    place.write("empty", b"");
    for other in ["p.toml", "empty", "missing"] {
        for line in [format!("micro {other}"), format!("{other} micro")] {
            let output = place.run(&format!("fpga compare {line}"));
            assert_eq!(output.status.code(), Some(3), "{line}");
            assert!(stderr(&output).contains(other), "{line}: {}", stderr(&output));
        }
    }
}
