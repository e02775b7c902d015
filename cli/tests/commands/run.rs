//! `hartrace run`.

use crate::place::{Place, stderr, stdout};

/// One of the bundled programs.
pub(crate) fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

/// The place of the last return in a program; what it is a part of ends long before the program does.
pub(crate) fn last_return(elf: &[u8]) -> usize {
    elf.windows(2).rposition(|pair| pair == [0x82, 0x80]).expect("a return")
}

#[test]
fn every_mode_comes_back() {
    let place = Place::new("run-all");
    for (name, modes) in [("calls", 13), ("user", 13), ("strings", 13), ("linux", 11)] {
        // That of a Linux program comes on standard error.
        let output = place.run(&format!("run {} --encode all --limit 200k", program(name)));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = if name == "linux" { stderr(&output) } else { stdout(&output) };
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with(name) && !line.contains(" executed "))
            .collect();
        assert_eq!(lines.len(), modes, "{text}");
        // Some have more instructions, and some fewer.
        let ends = |line: &&str| line.ends_with(" yes") || line.ends_with(" yes, up to the limit");
        assert!(lines.iter().all(ends), "{text}");
    }
    let json = place.clean(&format!("run {} --encode implicit-return --json", program("calls")));
    assert!(json.contains(r#""mode":"ir""#) && json.contains(r#""verified":true"#), "{json}");
}

/// What a program makes of its arguments is its own business; what it executed was recovered.
#[test]
fn a_program_may_fail() {
    let place = Place::new("run-fails");
    let linux = program("linux");
    let output = place.run(&format!("run {linux} -- x"));
    let text = stderr(&output);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{text}");
    let line = text.lines().nth(1).unwrap_or_default();
    assert!(line.ends_with("%  yes; the program ended with exit code 1"), "{text}");
    let output = place.run(&format!("run {linux} --json -- x"));
    let json = stdout(&output);
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), String::new()), "{json}");
    assert!(json.contains(r#""ended":"exit code 1","exit_status":1,"#), "{json}");
    assert!(json.contains(r#""cut":false"#), "{json}");
    let json = place.clean(&format!("run {linux} --json --limit 1000"));
    assert!(
        json.contains(r#""ended":null,"exit_status":0,"trace":"trace.te","cut":true"#),
        "{json}"
    );
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
    let figures = |line: &str| {
        let output = place.run(line);
        let printed = "hartrace: sum of the list is 1851723737\n";
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), printed.into()), "{line}");
        stdout(&output)
    };
    let once = figures(&format!("run {linux} --retired kept/linux.htr --json"));
    let twice = figures(&format!("run {linux} --json -- 2"));
    let instructions = |json: &str| -> f64 {
        let line: serde_json::Value = serde_json::from_str(json).unwrap();
        line["instructions"].as_f64().unwrap()
    };
    let ratio = instructions(&twice) / instructions(&once);
    assert!((1.9..2.1).contains(&ratio), "{once}{twice}");
    let file = std::fs::File::open(place.dir.join("kept/linux.htr")).unwrap();
    let (mut half_words, mut first) = (0, None);
    hartrace_executions::file::read(file, "linux.htr", |row| {
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

/// The program with other contents in some places.
fn patched(name: &str, patches: &[(usize, &[u8])]) -> Vec<u8> {
    let mut elf = std::fs::read(program(name)).unwrap();
    for (at, bytes) in patches {
        elf.resize(elf.len().max(at + bytes.len()), 0);
        elf[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    elf
}

fn number(elf: &[u8], at: usize, bytes: usize) -> usize {
    elf[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

/// A program header that is not loaded, and the place of the first one that is.
fn headers(elf: &[u8]) -> (usize, usize) {
    let (start, count) = (number(elf, 32, 8), number(elf, 56, 2));
    let all = (0..count).map(|n| start + 56 * n);
    let is_load = |at: &usize| number(elf, *at, 4) == 1;
    (all.clone().find(|at| !is_load(at)).unwrap(), all.clone().find(is_load).unwrap())
}

#[test]
fn programs_that_need_something_else() {
    let place = Place::new("run-others");
    let elf = std::fs::read(program("linux")).unwrap();
    let (other, load) = headers(&elf);
    let interpreter = b"/lib/ld.so.1\0";
    let (end, length) = (elf.len().to_le_bytes(), interpreter.len().to_le_bytes());
    let dynamic = patched(
        "linux",
        &[
            (other, &3u32.to_le_bytes()),
            (other + 8, &end),
            (other + 32, &length),
            (other + 40, &length),
            (elf.len(), interpreter),
        ],
    );
    place.write("dynamic.elf", &dynamic);
    // A vector instruction where the program starts.
    let entry = number(&elf, 24, 8) - number(&elf, load + 16, 8) + number(&elf, load + 8, 8);
    place.write("vector.elf", &patched("linux", &[(entry, &0x0d05_f057u32.to_le_bytes())]));
    place.write("x86.elf", &patched("linux", &[(18, &[62])]));
    place.write("cut.elf", &elf[..elf.len() / 2]);

    for (file, what, status) in [
        ("dynamic.elf", "dynamically linked, and there is no /lib/ld.so.1 in ", 3),
        ("x86.elf", "x86.elf: ", 3),
        ("x86.elf", "not RISC-V", 3),
        ("cut.elf", "cut.elf: ", 3),
        ("dynamic.elf", "dynamic.elf: ", 3),
        ("vector.elf", "vector.elf: no instruction 0x0d05f057 at 0x", 3),
        ("vector.elf", "build for rv32gc or rv64gc", 3),
    ] {
        let output = place.run(&format!("run {file}"));
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{file}: {text}");
        assert!(text.contains(what), "{file}: {text}");
        // Before it is the table, if the program was executed.
        let error = text.find("error: ").map(|at| &text[at..]).unwrap_or_default();
        assert!((1..=2).contains(&error.lines().count()), "{file}: {text}");
    }
}
