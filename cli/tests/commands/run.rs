//! `hartrace run`.

use crate::place::{Place, stderr, stdout};

/// One of the bundled programs.
fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_mode_comes_back() {
    let place = Place::new("run-all");
    for (name, modes) in [("calls", 13), ("user", 13), ("strings", 13), ("linux", 11)] {
        let text = place.clean(&format!("run {} --encode all --limit 200000", program(name)));
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with(name) && !line.contains(" executed "))
            .collect();
        assert_eq!(lines.len(), modes, "{text}");
        assert!(lines.iter().all(|line| line.ends_with(" yes")), "{text}");
    }
    let json = place.clean(&format!("run {} --encode return --json", program("calls")));
    assert!(json.contains(r#""mode":"return""#) && json.contains(r#""verified":true"#), "{json}");
}

#[test]
fn the_trace_can_be_decoded() {
    let place = Place::new("run-decode");
    place.write("p.toml", b"iaddress_width_p = 64\niaddress_lsb_p = 1\nprivilege_width_p = 2\necause_width_p = 5\nnocontext_p = 1\nnotime_p = 1\nf0s_width_p = 1\nbpred_size_p = 7\ncache_size_p = 7\nreturn_stack_size_p = 4\nsijump_p = 1\n[options]\nunit = \"hartrace\"\n");
    let calls = program("calls");
    let table = place.clean(&format!("run {calls} --encode return+prediction -o calls.te"));
    let instructions = table.lines().nth(1).and_then(|line| line.split_whitespace().nth(2));
    let pcs = place.clean(&format!("decode calls.te --elf {calls} --params p.toml --xlen 64"));
    assert_eq!(Some(pcs.lines().count().to_string().as_str()), instructions);
}

#[test]
fn what_cannot_run_is_said_in_a_line() {
    let place = Place::new("run-errors");
    place.write("no.elf", b"hello");
    let mut dynamic = std::fs::read(program("linux")).unwrap();
    // x86-64 instead of RISC-V.
    dynamic[18] = 62;
    place.write("x86.elf", &dynamic);
    for (line, what) in [
        ("run no.elf", "not an ELF file"),
        ("run x86.elf", "not RISC-V"),
        ("run missing.elf", "cannot read"),
    ] {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(3), "{line}: {}", stdout(&output));
        assert!(stderr(&output).contains(what), "{line}: {}", stderr(&output));
    }
    let calls = program("calls");
    for (line, what) in [
        (format!("run {calls} --encode retrun"), "no mode `retrun`"),
        (format!("run {calls} --encode delta,full -o x.te"), "several modes"),
        (format!("run {} --encode exception", program("linux")), "trap vectors"),
    ] {
        let output = place.run(&line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stdout(&output));
        assert!(stderr(&output).contains(what), "{line}: {}", stderr(&output));
    }
}

#[test]
fn what_ran_can_be_kept() {
    let place = Place::new("run-retired");
    let linux = program("linux");
    let once = place.clean(&format!("run {linux} --retired kept/linux.htr --json"));
    let twice = place.clean(&format!("run {linux} --json -- 2"));
    let instructions = |json: &str| -> f64 {
        let line: serde_json::Value = serde_json::from_str(json).unwrap();
        line["instructions"].as_f64().unwrap()
    };
    let ratio = instructions(&twice) / instructions(&once);
    assert!((1.9..2.1).contains(&ratio), "{once}{twice}");
    let file = std::fs::File::open(place.dir.join("kept/linux.htr")).unwrap();
    let (mut half_words, mut first) = (0, None);
    hartrace_sources::file::read(file, "linux.htr", |row| {
        first.get_or_insert(row.iaddr);
        half_words += u64::from(row.iretire);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    // Compressed and other instructions.
    assert!((1.0..=2.0).contains(&(half_words as f64 / instructions(&once))), "{half_words}");
    assert!(first.is_some());
    let output = place.run(&format!("run {} -- 2", program("calls")));
    assert!(stderr(&output).contains("takes no arguments"), "{}", stderr(&output));
}
