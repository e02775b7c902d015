//! Logs of executions in every format: the trace decodes to the addresses of the log.

use crate::PCS;
use crate::place::{Place, stderr, stdout};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Step, Trap, Xlen};
use std::fmt::Write as _;
use std::fs;

const PARAMS: &str = "--params p.toml --xlen";

/// The run of `crate::RUN` as Spike logs it.
const SPIKE: &str = "\
core   0: 0x0000000080000000 (0x00000013) nop
core   0: 3 0x0000000080000000 (0x00000013)
core   0: 0x0000000080000004 (0xfe000ee3) beqz    zero, pc - 4
core   0: 3 0x0000000080000004 (0xfe000ee3)
core   0: 3 0x0000000080000000 (0x00000013)
core   0: 3 0x0000000080000004 (0xfe000ee3)
core   0: 3 0x0000000080000008 (0x00028067)
core   0: 3 0x0000000080000010 (0x00000013)
";

/// The same as the commit log of a CVA6.
const CVA6: &str = "\
cycle,port,event,pc,insn,len,priv,taken_ex,cause,tval
10,0,R,80000000,13,4,3,0,0,0
11,0,R,80000004,fe000ee3,4,3,1,0,0
13,0,R,80000000,13,4,3,0,0,0
13,1,R,80000004,fe000ee3,4,3,0,0,0
17,0,R,80000008,28067,4,3,0,0,0
20,0,R,80000010,13,4,3,0,0,0
";

fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

/// How Spike names causes.
fn name(trap: &Trap) -> String {
    match (trap.interrupt, trap.cause) {
        (true, cause) => format!("interrupt #{cause}"),
        (false, 2) => "trap_illegal_instruction".into(),
        (false, 3) => "trap_breakpoint".into(),
        (false, 8) => "trap_user_ecall".into(),
        (false, 9) => "trap_supervisor_ecall".into(),
        (false, 11) => "trap_machine_ecall".into(),
        (false, 13) => "trap_load_page_fault".into(),
        (false, cause) => format!("trap #{cause}"),
    }
}

/// Executes a bundled program and writes it down as `spike -l --log-commits` does, or as either alone.
/// Returns the log and the addresses in its commits.
fn spike(name_of: &str, xlen: Xlen, started: bool, commits: bool) -> (String, Vec<u64>) {
    let memory = vec![Range { base: 0x8000_0000, size: 1 << 24 }];
    let environment = Environment::Htif;
    let mut hart = Hart::new(HartConfig { xlen, memory, environment, ..HartConfig::default() });
    hart.load_elf(&fs::read(program(name_of)).unwrap()).unwrap();
    let width = if xlen == Xlen::Rv32 { 10 } else { 18 };
    let (mut log, mut pcs) = (String::new(), Vec::new());
    hart.run(60_000, &mut |step: &Step| {
        let Step { pc, encoding, privilege, .. } = *step;
        if step.size > 0 && started {
            writeln!(log, "core   0: {pc:#0width$x} ({encoding:#010x}) unknown").unwrap();
        }
        if let Some(trap) = &step.trap {
            let epc = trap.epc;
            writeln!(log, "core   0: exception {}, epc {epc:#0width$x}", name(trap)).unwrap();
            if ![8, 9, 11].contains(&trap.cause) && !trap.interrupt {
                let tval = trap.tval;
                writeln!(log, "core   0:           tval {tval:#0width$x}").unwrap();
            }
            return;
        }
        pcs.push(pc);
        let digits = 2 + 2 * usize::from(step.size);
        if commits {
            let level = privilege.0;
            writeln!(log, "core   0: {level} {pc:#0width$x} ({encoding:#0digits$x}) x5  0x0")
                .unwrap();
        }
    });
    (log, pcs)
}

/// Encodes a file and decodes it again.
fn round(place: &Place, log: &str, xlen: &str, code: &str) -> Vec<u64> {
    place.clean(&format!("encode {log} {PARAMS} {xlen} -o trace"));
    let text = place.clean(&format!("decode trace {PARAMS} {xlen} {code}"));
    text.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect()
}

#[test]
fn logs_of_whole_programs_come_back() {
    let place = Place::new("logs-programs");
    for (name, xlen, started, commits) in [
        ("calls", Xlen::Rv64, true, true),
        // Without traps, either is enough.
        ("calls", Xlen::Rv64, true, false),
        ("calls", Xlen::Rv64, false, true),
        ("user", Xlen::Rv64, true, true),
        ("user", Xlen::Rv64, true, false),
        ("interrupts", Xlen::Rv64, true, true),
        ("interrupts-rv32", Xlen::Rv32, true, true),
        ("interrupts-rv32", Xlen::Rv32, true, false),
    ] {
        let (log, pcs) = spike(name, xlen, started, commits);
        assert!(pcs.len() > 10_000, "{name}");
        place.write("spike.log", log.as_bytes());
        let bits = if xlen == Xlen::Rv32 { "32" } else { "64" };
        let elf = format!("--elf {}", program(name));
        assert!(round(&place, "spike.log", bits, &elf) == pcs, "{name} {started} {commits}");
        let trace = fs::read(place.dir.join("trace")).unwrap();

        // The same through the trace file, which also contains the width.
        let summary = place.clean("log spike.log -o spike.htr");
        let count = format!("\ninstructions           {}\n", pcs.len());
        assert!(summary.contains(&count), "{summary}");
        assert!(round(&place, "spike.htr", bits, &elf) == pcs, "{name}");
        assert!(fs::read(place.dir.join("trace")).unwrap() == trace, "{name}");
        for log in ["spike.log", "spike.htr"] {
            let line = format!("check trace {PARAMS} {bits} {elf} --against {log}");
            let all = pcs.len();
            assert_eq!(place.clean(&line), format!("verified {all} of {all}\n"));
        }
    }
}

#[test]
fn every_format_is_the_same_run() {
    let place = Place::new("logs-formats");
    place.encoded();
    let trace = fs::read(place.dir.join("trace")).unwrap();
    place.write("spike.log", SPIKE.as_bytes());
    place.write("cva6.csv", CVA6.as_bytes());
    place.write("spike.log.zst", &zstd::encode_all(SPIKE.as_bytes(), 0).unwrap());
    place.clean("log run.csv -o run.htr");
    for (log, format) in [
        ("run.csv", "reference"),
        ("spike.log", "spike"),
        ("spike.log.zst", "spike"),
        ("cva6.csv", "cva6"),
        ("run.htr", "htr"),
    ] {
        for line in [String::new(), format!("--input-format {format}")] {
            place.clean(&format!("encode {log} {line} {PARAMS} 64 -o other"));
            assert!(fs::read(place.dir.join("other")).unwrap() == trace, "{log} {line}");
            let code = "--image code@0x80000000";
            let check = format!("check trace {PARAMS} 64 {code} --against {log} {line}");
            assert_eq!(place.clean(&check), "verified 6 of 6\n");
            // From the log, with lines, not inferred from a capture.
            let explain = place.clean(&format!("explain {log} {line} {PARAMS} 64"));
            let unit = if format == "htr" { "; row 5 0x0000000080000010: " } else { "; line " };
            assert!(explain.contains(unit) && !explain.contains("likely"), "{explain}");
        }
        let fed = fs::read(place.dir.join(log)).unwrap();
        let output = place.fed(&format!("encode - {PARAMS} 64 -o -"), &fed);
        assert!(output.stdout == trace, "{log}: {}", stderr(&output));
    }
    assert_eq!(place.clean(&format!("decode other {PARAMS} 64 --image code@0x80000000")), PCS);
}

/// A row may stand for several instructions: the program says which.
#[test]
fn blocks_are_checked_instruction_by_instruction() {
    let place = Place::new("logs-blocks");
    place.encoded();
    let blocks = "itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0\n\
                  5,0,0,3,80000000,4,1\n14,0,0,3,80000000,6,1\n0,0,0,3,80000010,2,1\n";
    place.write("blocks.csv", blocks.as_bytes());
    let summary = place.clean("log blocks.csv --retirement block -o blocks.htr");
    assert!(summary.contains("\ninstructions           - (rows are blocks"), "{summary}");
    let check = format!("check trace {PARAMS} 64 --image code@0x80000000 --against");
    for line in ["blocks.csv --retirement block", "blocks.htr"] {
        assert_eq!(place.clean(&format!("{check} {line}")), "verified 6 of 6\n");
    }
    place.write("other.csv", blocks.replace("80000010", "8000000c").as_bytes());
    let output = place.run(&format!("{check} other.csv --retirement block"));
    let text = stdout(&output);
    assert!(text.starts_with("instruction 5: trace packet "), "{text}");
    assert!(text.contains(" differs from other.csv line 4\n"), "{text}");
    place.clean("log other.csv --retirement block -o other.htr");
    let text = stdout(&place.run(&format!("{check} other.htr")));
    assert!(text.contains(" differs from other.htr\n"), "{text}");
    // A block without code.
    place.write("away.csv", blocks.replace("80000000", "90000000").as_bytes());
    let output = place.run(&format!("{check} away.csv --retirement block"));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("away.csv: no code at 0x0000000090000000\n  try: "));
}

#[test]
fn summaries() {
    let place = Place::new("logs-summary");
    let (log, pcs) = spike("user", Xlen::Rv64, true, true);
    place.write("user.log", log.as_bytes());
    let json: serde_json::Value =
        serde_json::from_str(&place.clean("log user.log --json -o user.htr")).unwrap();
    let number = |key: &str| json[key].as_u64().unwrap();
    let count = |what: &str| log.lines().filter(|line| line.contains(what)).count() as u64;
    assert_eq!(number("instructions"), pcs.len() as u64);
    assert_eq!(number("exceptions"), count(": exception trap"));
    assert_eq!(number("interrupts"), count(": exception interrupt"));
    assert_eq!(number("rows"), number("instructions") + count(": exception "));
    let halfwords = count("core   0: 0 ") + count("core   0: 1 ") + count("core   0: 3 ");
    assert!((halfwords..=2 * halfwords).contains(&number("halfwords")));
    let per = 2.0 * number("halfwords") as f64 / pcs.len() as f64;
    assert_eq!(json["bytes_per_instruction"].as_f64(), Some(per));
    assert_eq!(json["first"], format!("{:#018x}", pcs[0]));
    assert_eq!(json["last"], format!("{:#018x}", pcs[pcs.len() - 1]));
    let levels: Vec<_> = json["privilege"].as_object().unwrap().keys().cloned().collect();
    assert!(levels.contains(&"U".into()) && levels.contains(&"M".into()), "{json}");
    assert_eq!(number("written_bytes"), fs::metadata(place.dir.join("user.htr")).unwrap().len());
    assert_eq!((&json["guessed_traps"], &json["format"]), (&0.into(), &"Spike log".into()));

    // Of a trace file, and without writing anything.
    let again: serde_json::Value =
        serde_json::from_str(&place.clean("log user.htr --json")).unwrap();
    for key in ["rows", "instructions", "halfwords", "privilege", "first", "last", "exceptions"] {
        assert_eq!(again[key], json[key], "{key}");
    }
    assert!(again["written_bytes"].is_null());
    // Standard output gets only the file.
    let output = place.run("log user.log -o -");
    assert!(output.stdout == fs::read(place.dir.join("user.htr")).unwrap());
    // What the log does not contain is reported.
    let commits = "core   0: 3 0x0000000080000000 (0x00000013)\n\
                   core   0: 3 0x0000000080000100 (0xfe000ee3)\n";
    place.write("commits.log", commits.as_bytes());
    let text = place.clean("log commits.log");
    assert!(text.contains("1 traps without a cause") && text.contains("the last branch"), "{text}");
}

/// Errors name the problem, the place and what to try, in two short lines.
#[test]
fn damaged_logs() {
    let place = Place::new("logs-damaged");
    place.write("cut.log", &SPIKE.as_bytes()[..SPIKE.len() - 20]);
    place.write("bad.log", SPIKE.replacen("0x00028067", "0x0002806z", 1).as_bytes());
    place.write("cut.cva6", &CVA6.as_bytes()[..CVA6.len() - 3]);
    place.write("bad.cva6", CVA6.replace("17,0,R", "9,0,R").as_bytes());
    place.write("cut.csv", &crate::RUN.as_bytes()[..crate::RUN.len() - 2]);
    place.write("table.csv", b"time,pc\n1,2\n");
    place.write("text", b"hello\n");
    place.write("empty", b"");
    // Several chunks, one of which is cut or damaged.
    let (log, _) = spike("user", Xlen::Rv64, true, true);
    place.write("user.log", log.repeat(8).as_bytes());
    place.clean("log user.log -o user.htr");
    let whole = fs::read(place.dir.join("user.htr")).unwrap();
    let chunk = 16 + whole[16..].windows(4).skip(1).position(|tag| tag == b"HTRC").unwrap() + 1;
    place.write("cut.htr", &whole[..chunk + 500]);
    let mut damaged = whole.clone();
    damaged[chunk + 300] ^= 1;
    place.write("damaged.htr", &damaged);
    let mut newer = whole.clone();
    newer[8] = 2;
    place.write("newer.htr", &newer);
    place.write("text.htr", &[b"HTRACE\n", &whole[8..]].concat());
    let packed = zstd::encode_all(&log.as_bytes()[..500_000], 0).unwrap();
    place.write("cut.log.zst", &packed[..packed.len() / 2]);
    let chunk_place = format!("damaged.htr, byte {chunk}: cannot decompress the chunk");
    for (line, message) in [
        ("cut.log", "cut.log:8: ends within a line\n  try: a complete file"),
        ("bad.log", "bad.log:7: cannot understand `core   0: 3 0x0000000080000008 (0x0002806z)`"),
        ("cut.cva6", "cut.cva6:7: ends within a line\n  try: a complete file"),
        ("bad.cva6", "bad.cva6:6, column 1: cycle `9`: less than in the row before\n  try: "),
        ("cut.csv", "cut.csv:7: ends within a line\n  try: a complete file"),
        ("table.csv", "table.csv:1: no column itype_0\n  try: a header row"),
        ("text", "text: neither an execution log nor a trace file\n  try: another file, or --in"),
        ("empty", "empty: neither an execution log"),
        ("missing", "missing: cannot read"),
        ("cut.htr", "ends too early\n  try: writing it again"),
        ("damaged.htr", &chunk_place),
        ("newer.htr", "newer.htr, byte 8: version 2\n  try: a newer hartrace"),
        ("text.htr", "text.htr, byte 0: not a trace file\n  try: "),
        ("cut.log.zst", ": cannot read: "),
        ("user.log --hart 3", "no line of hart 3\n  try: "),
        ("cut.log --input-format cva6", "cut.log:1: no column cycle\n  try: a commit log with"),
        ("cut.log --input-format htr", "cut.log, byte 0: not a trace file\n  try: "),
    ] {
        for command in ["log", "encode"] {
            let rest = if command == "encode" { "--params p.toml --xlen 64 -o x" } else { "" };
            let output = place.run(&format!("{command} {line} {rest}"));
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{command} {line}: {text}");
            assert!(text.starts_with("error: ") && text.contains(message), "{line}: {text}");
            assert!(text.lines().count() <= 2, "{line}: {text}");
        }
    }
    let output = place.run("log cut.log --input-format csv");
    assert_eq!(output.status.code(), Some(2));
    let output = place.run("log user.log -o no/such");
    assert!(stderr(&output).contains("no/such: cannot write"));
}
