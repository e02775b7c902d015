//! `hartrace compare`.

use crate::place::{Place, stderr, stdout};
use hartrace_compressors::Family;
use serde_json::Value;

/// One of the bundled programs.
fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_scheme_comes_back() {
    let place = Place::new("compare-all");
    let names = ["calls", "interrupts-rv32", "linux"];
    let programs = names.map(program).join(" ");
    let line = format!("compare {programs} --limit 100000 --data --json out.json --html out.html");
    let text = place.clean(&line);
    assert!(text.contains("Synchronisation: only at the start"), "{text}");
    assert!(text.contains("E-Trace+ie: not for linux"), "{text}");

    let json = std::fs::read_to_string(place.dir.join("out.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    // Two of 35 schemes need the trap vectors, which a Linux program does not have.
    assert_eq!(rows.len(), 3 * 35 - 2);
    assert!(rows.iter().all(|row| row["verified"] == true), "{text}");
    for row in rows {
        let count = |key: &str| row[key].as_f64().unwrap();
        let ratio = count("bits") / count("instructions");
        assert!((ratio - count("bits_per_instruction")).abs() < 1e-9);
        assert!(count("framed_bits") >= count("bits"));
    }
    let data = json["data"].as_array().unwrap();
    assert_eq!(data.len(), 3 * 8);
    assert!(data.iter().all(|row| row["verified"] == true), "{text}");
    let software = |row: &&Value| row["gates"].is_null();
    assert_eq!(rows.iter().filter(software).count(), 3 * 5);
    let total = |key: &str| -> f64 {
        rows.iter()
            .filter(|row| row["scheme"] == "bTMBP")
            .map(|row| row[key].as_f64().unwrap())
            .sum()
    };
    let mean = json["mean"]["bTMBP"].as_f64().unwrap();
    assert!((total("bits") / total("instructions") - mean).abs() < 1e-9);
    // What the schemes must achieve.
    let mean = |name: &str| json["mean"][name].as_f64().unwrap();
    assert!(mean("bTMBP") < mean("rSDC-128") && mean("rSDC-128") < mean("NEXS"));
    assert!(mean("NEXS") < mean("BASE") && mean("E-Trace+ir+bp+jtc") < mean("E-Trace"));

    let html = std::fs::read_to_string(place.dir.join("out.html")).unwrap();
    // All programs together, the front against both costs, and each program.
    assert_eq!(html.matches("<svg").count(), 3 + names.len());
    assert!(html.contains("id=\"by-storage\"") && html.contains("<table class=\"sortable\">"));
    // The page loads nothing, and forbids it; the name of the format is not an address to load.
    assert!(html.contains("http-equiv=\"Content-Security-Policy\""));
    let elsewhere = html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "");
    for other in ["http", " src=", "url(", "@import", "<link"] {
        assert!(!elsewhere.contains(other), "{other}");
    }
    assert!(names.iter().all(|name| html.contains(&format!("<h2>{name}</h2>"))));
}

#[test]
fn a_log_gives_what_the_program_does() {
    let place = Place::new("compare-log");
    let linux = program("linux");
    place.clean(&format!("run {linux} --limit 50000 --retired linux.htr --json"));
    let options = "--schemes BASE,rSDC-32x4,tTMBP --sweep sdc.ways=1,2 --sync-every 1000 --brief";
    let [program, log] = [format!("{linux} --limit 50000"), format!("linux.htr --elf {linux}")]
        .map(|input| {
            let text = place.clean(&format!("compare {input} {options}"));
            // The program is cut there, and the log ends.
            let means = text.lines().filter(|line| line.starts_with("mean "));
            let means = means.map(|line| line.replace(", up to the limit", ""));
            means.collect::<Vec<_>>()
        });
    assert_eq!((program.len(), &program), (5, &log));
    assert!(program.iter().all(|line| line.ends_with("  yes")), "{program:?}");
}

/// What the limit has cut is verified up to there, in the table and as JSON; what has ended, to its end.
#[test]
fn a_cut_execution_is_no_whole_one() {
    let place = Place::new("compare-cut");
    for (limit, cut) in [("", false), (" --limit 5000", true)] {
        let line = format!("compare {}{limit} --schemes BASE,E-Trace --data", program("calls"));
        let text = place.clean(&line);
        let verdict = if cut { "  yes, up to the limit" } else { "  yes" };
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("calls  ")).collect();
        let rows = rows.into_iter().filter(|line| line.contains("yes"));
        assert!(
            rows.clone().count() >= 2 && rows.clone().all(|row| row.ends_with(verdict)),
            "{text}"
        );
        let json: Value = serde_json::from_str(&place.clean(&format!("{line} --json -"))).unwrap();
        for list in ["rows", "data"] {
            let rows = json[list].as_array().unwrap();
            assert!(!rows.is_empty() && rows.iter().all(|row| row["cut"] == cut), "{list}: {json}");
        }
    }
}

/// A compressed program is executed, as `run` does, and not taken for a log.
#[test]
fn a_compressed_program_is_a_program() {
    let place = Place::new("compare-compressed");
    let elf = std::fs::read(program("calls")).unwrap();
    place.write("calls.elf.zst", &zstd::encode_all(&elf[..], 0).unwrap());
    let of = |file: &str| {
        place.clean(&format!("compare {file} --limit 20000 --schemes BASE,E-Trace --json -"))
    };
    let figures = |text: String| text.replace("calls.elf", "calls");
    assert_eq!(figures(of("calls.elf.zst")), figures(of(&program("calls"))));
}

#[test]
fn what_cannot_be_compared_is_said_in_a_line() {
    let place = Place::new("compare-errors");
    let calls = program("calls");
    place.clean(&format!("run {calls} --limit 1000 --retired calls.htr"));
    // The head of a program for A64 decides.
    let mut head = [0; 64];
    head[..4].copy_from_slice(b"\x7fELF");
    head[18] = 183;
    place.write("arm.elf", &head);
    for (line, status, what) in [
        (format!("compare {calls} --schemes xTMBP"), 2, "no scheme `xTMBP`"),
        (format!("compare {calls} --schemes ETMv4+rs"), 2, "try: --arm"),
        (format!("compare {calls} --schemes bTMBP[entires=4]"), 2, "only bhr_bits, branches"),
        (format!("compare {calls} --sweep tmbp.entries=3"), 2, "powers of two"),
        (format!("compare {calls} --sweep base.x=3"), 2, "BASE: it has no settings"),
        (format!("compare {calls} --sweep gzip.kind=zstd"), 2, "no `kind`, only level"),
        (format!("compare {calls} --table 5.2"), 2, "5.2 is not measured: shares of Arm's forms"),
        (format!("compare {calls} --table 7.1"), 2, "only 3.3, 4.1, 4.2"),
        (format!("compare {calls} --table 4.3 --schemes BASE"), 2, "cannot be used with"),
        (format!("compare {calls} --sweep nothing"), 2, "no values"),
        ("compare calls.htr".into(), 2, "without the program"),
        (
            format!("compare calls.htr --elf {}", program("sort")),
            3,
            "the program has another one at",
        ),
        ("compare missing.elf".into(), 3, "cannot read"),
        (format!("compare {calls} --data --with qemu"), 2, "--with qemu, but there is nothing"),
        (format!("compare calls.htr --elf {calls} --with qemu"), 2, "no program for RISC-V"),
        (format!("compare calls.htr --elf {calls} --data"), 2, "no program for RISC-V"),
        (format!("compare {calls} --elf {calls}"), 2, "no log to read"),
        (format!("compare {calls} --hart 1"), 2, "no log to read"),
        (format!("compare {calls} --input-format spike"), 2, "no log to read"),
        (format!("compare {calls} --format-table text"), 2, "--table"),
        (format!("compare {calls} --table 4.3 --brief"), 2, "cannot be used with"),
        ("compare arm.elf --schemes BASE".into(), 2, "schemes of their own"),
        ("compare arm.elf --sweep tmbp.entries=4".into(), 2, "schemes of their own"),
        ("compare arm.elf --with qemu".into(), 2, "no program for RISC-V"),
        ("compare arm.elf --data".into(), 2, "no program for RISC-V"),
        (
            format!("compare {calls} --limit 1000 --schemes BASE --html no/where.html"),
            3,
            "no/where",
        ),
    ] {
        let output = place.run(&line);
        let (out, err) = (stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(status), "{line}: {out}{err}");
        assert!(err.contains(what), "{line}: {err}");
    }
}

/// Help has every family with its settings, whatever the table of them has.
#[test]
fn help_lists_every_family() {
    let help = Place::new("compare-help").clean("compare --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for Family { name, forms, idea, default, settings, .. } in Family::all() {
        assert!(help.contains(&format!("{}: {idea}", forms.join(", "))), "{name}: {help}");
        for setting in *settings {
            assert!(help.contains(&format!("{setting}")), "{name}: {help}");
        }
        let varied = format!("{name} ({default}): ");
        assert!(settings.is_empty() || help.contains(&varied), "{varied}{help}");
    }
}
