//! The commands as scripts see them: output, messages and exit status.

mod believed;
mod careless;
mod compare;
mod counted;
mod decode;
mod described;
mod diff;
mod events;
mod fpga;
mod hdl;
mod help;
mod logs;
mod manual;
mod missing;
mod outputs;
mod place;
mod probe;
mod receive;
mod run;
mod scenarios;
mod silence;
mod stream;
mod window;

use place::{Place, stderr, stdout};
use std::process::Stdio;

/// A small machine-mode run: two instructions, a taken branch back, an indirect jump, an ecall.
const RUN: &str = "\
itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0
0,0,0,3,80000000,0,0,0,1,1
5,0,0,3,80000004,0,0,0,1,1
0,0,0,3,80000000,0,0,0,1,1
4,0,0,3,80000004,0,0,0,1,1
14,0,0,3,80000008,0,0,0,1,1
0,0,0,3,80000010,0,0,0,1,1
";

/// The program of that run.
const CODE: [u32; 5] = [
    0x0000_0013, // 0: nop
    0xfe00_0ee3, // 4: beqz zero, -4
    0x0002_8067, // 8: jr t0
    0x0000_0013, // c: nop
    0x0000_0013, // 10: nop
];

const PARAMS: &str = "\
arch_p = 0\necause_width_p = 5\niaddress_lsb_p = 1\nprivilege_width_p = 2\n\
[options]\nfull-address = true\n";

const PCS: &str = "\
0000000080000000\n0000000080000004\n0000000080000000\n0000000080000004\n0000000080000008\n\
0000000080000010\n";

#[test]
fn encode_dump_explain() {
    let place = Place::new("listing");
    place.encoded();
    let dump = place.clean("dump trace --params p.toml --xlen 64");
    let lines: Vec<_> = dump.lines().collect();
    assert!(lines[0].starts_with("      1.0  1f04              3.3 support ienable=1"), "{dump}");
    assert!(lines[1].contains("3.0 start   branch=1 privilege=3 address=0x40000000"), "{dump}");
    assert!(lines.iter().any(|l| l.contains("branches=2 branch_map=TN address=0x40000008")));

    // explain is the same list with reasons, in both forms.
    let explain = place.clean("explain run.csv --params p.toml --xlen 64");
    for (explained, dumped) in explain.lines().zip(&lines) {
        assert!(explained.starts_with(dumped) && explained.contains("  ; "), "{explained}");
    }
    assert_eq!(explain.lines().count(), lines.len());
    let json = place.clean("explain run.csv --params p.toml --xlen 64 --json");
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["line"], &first["reason"]), (&2.into(), &"enabled".into()));
    assert_eq!(first["iaddr"], "0x0000000080000000");
}

#[test]
fn explain_takes_captures_too() {
    let place = Place::new("inferred");
    place.encoded();
    let dump = place.clean("dump trace --params p.toml --xlen 64");
    let explain = place.clean("explain trace --params p.toml --xlen 64");
    for (explained, dumped) in explain.lines().zip(dump.lines()) {
        assert!(explained.starts_with(&format!("{dumped}  ; likely ")), "{explained}");
    }
    assert_eq!(explain.lines().count(), dump.lines().count());
    assert!(explain.contains("likely target of an uninferable discontinuity"), "{explain}");
}

/// A ring buffer that was read out starts in the middle of a frame.
#[test]
fn a_capture_may_start_anywhere() {
    let place = Place::new("anywhere");
    place.clean("encode run.csv --params p.toml --xlen 64 --framing encap -o whole");
    let whole = std::fs::read(place.dir.join("whole")).unwrap();
    // The end of a frame, then nulls, the last of which marks alignment.
    let mut torn = vec![0x5f, 0x33, 0x81];
    torn.extend([0; 40]);
    torn.push(0x80);
    torn.extend(&whole);
    place.write("torn", &torn);
    let line = "--params p.toml --xlen 64 --framing encap --image code@0x80000000";
    assert_eq!(place.clean(&format!("decode torn --find-sync {line}")), PCS);
    assert_eq!(place.run(&format!("decode torn {line}")).status.code(), Some(1));
}

#[test]
fn every_framing_carries_the_same_packets() {
    let place = Place::new("framings");
    place.encoded();
    let fields = |dump: String| -> Vec<String> {
        let column = |line: &str| line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
        dump.lines().map(|l| column(l.split("  index=").next().unwrap_or(l))).collect()
    };
    let expected = fields(place.clean("dump trace --params p.toml --xlen 64"));
    for framing in [
        "encap",
        "encap --src-bits 5 --type-bits 1 --timestamp-bytes 3 --source 9",
        "smi --hart-bits 4",
        "atb --atid 5",
        "esp32",
    ] {
        let options = format!("--params p.toml --xlen 64 --framing {framing}");
        place.clean(&format!("encode run.csv {options} -o framed"));
        assert_eq!(fields(place.clean(&format!("dump framed {options}"))), expected, "{framing}");
        let pcs = place.clean(&format!("decode framed {options} --image code@0x80000000"));
        assert_eq!(pcs, PCS, "{framing}");
    }
}

#[test]
fn standard_streams() {
    let place = Place::new("standard");
    let options = "--params p.toml --xlen 64";
    let packed = zstd::encode_all(RUN.as_bytes(), 0).unwrap();
    for input in [RUN.as_bytes(), &packed] {
        let trace = place.fed(&format!("encode - {options} -o -"), input);
        assert_eq!(trace.status.code(), Some(0), "{}", stderr(&trace));
        let pcs = place.fed(&format!("decode - {options} --image code@0x80000000"), &trace.stdout);
        assert_eq!(stdout(&pcs), PCS);
        let from = format!("decode {} {options} --image -@0x80000000", "trace2");
        place.write("trace2", &trace.stdout);
        let pcs = place.fed(&from, &CODE.map(u32::to_le_bytes).concat());
        assert_eq!(stdout(&pcs), PCS);
    }
    let twice = place.run("dump - --params - --xlen 64");
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("standard input cannot be read twice"));
}

#[test]
fn gaps_are_one_line_each_and_status_1() {
    let place = Place::new("gaps");
    place.encoded();
    let mut trace = std::fs::read(place.dir.join("trace")).unwrap();
    trace.splice(0..0, [0xff, 0xff]);
    place.write("damaged", &trace);
    let options = "--params p.toml --xlen 64";
    let output = place.run(&format!("decode damaged {options} --image code@0x80000000"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "damaged: gap at byte 0, packet 0: no frame starts with header 0xff; resumed at byte 5, \
         packet 1; try another --framing, or a capture without damage\n"
    );
    assert_eq!(stdout(&output), PCS);

    let output = place.run(&format!("dump damaged {options}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("      0.0                    error: frame: no frame"));

    // What is not in the image is a gap.
    place.write("half", &CODE[..1][0].to_le_bytes());
    let output = place.run(&format!("decode trace {options} --image half@0x80000000 --emit json"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no code at 0x0000000080000010; never resumed; try --elf"));
    assert!(stdout(&output).contains(r#""event":"gap""#));
}

#[test]
fn differences() {
    let place = Place::new("diff");
    place.encoded();
    let options = "--params p.toml --xlen 64";
    assert_eq!(place.clean(&format!("diff --packets trace trace {options}")), "");
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    place.write("longer", &[&trace[..], &[0x41, 0x02]].concat());
    let output = place.run(&format!("diff --packets trace longer {options}"));
    assert_eq!(output.status.code(), Some(4));
    let text = stdout(&output);
    assert!(text.starts_with("--- trace\n+++ longer\n@@ packet "), "{text}");
    assert!(text.contains("\npackets only in A: 0, only in B: 1, equal: "));
    assert!(!text.contains('\x1b'));
    let output = place.run(&format!("diff --packets trace longer {options} --json"));
    assert_eq!(output.status.code(), Some(4));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&json["op"], &json["b"][0]["raw"]), (&"insert".into(), &"02".into()));
}

#[test]
fn checks() {
    let place = Place::new("check");
    place.encoded();
    let line = "check trace --params p.toml --xlen 64 --image code@0x80000000 --against";
    let packed = zstd::encode_all(PCS.as_bytes(), 0).unwrap();
    place.write("pcs", PCS.as_bytes());
    place.write("pcs.zst", &packed);
    place.write("run.csv.zst", &zstd::encode_all(RUN.as_bytes(), 0).unwrap());
    place.write("short", PCS.replace("000000008", "0x8").as_bytes());
    for trace in ["pcs", "pcs.zst", "short", "run.csv", "run.csv.zst"] {
        assert_eq!(place.clean(&format!("{line} {trace}")), "verified 6 of 6\n", "{trace}");
    }
    let output = place.fed(&format!("{line} -"), &packed);
    assert_eq!(stdout(&output), "verified 6 of 6\n");

    let pcs: Vec<_> = PCS.lines().collect();
    let different = |trace: &[&str]| {
        place.write("other", trace.join("\n").as_bytes());
        let output = place.run(&format!("{line} other"));
        assert_eq!((output.status.code(), stderr(&output)), (Some(4), String::new()));
        stdout(&output)
    };
    for (number, before, after) in [(0, 0, 3), (3, 3, 2), (5, 4, 0)] {
        let mut trace = pcs.clone();
        trace[number] = "0x80000ffe";
        let text = different(&trace);
        assert!(text.starts_with(&format!("instruction {number}: trace packet ")), "{text}");
        assert!(text.contains(&format!(" differs from other line {}\n", number + 1)), "{text}");
        let rows: Vec<_> = text.lines().skip(2).collect();
        let marked = format!("> {number:>11}  0x{}  0x0000000080000ffe  ", pcs[number]);
        assert!(rows[before].starts_with(&marked), "{text}");
        assert_eq!(rows.len(), before + 1 + after + 1, "{text}");
    }
    let text = different(&pcs[..4]);
    assert!(text.starts_with("instruction 4: other has ended, trace continues: packet "), "{text}");
    let text = different(&[&pcs[..], &["80000014"]].concat());
    assert!(
        text.starts_with("instruction 6: trace has ended, other continues: line 7\n"),
        "{text}"
    );

    // Equal, but something could not be read.
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    place.write("damaged", &[&[0xff, 0xff], &trace[..]].concat());
    let output = place.run(&format!("{} pcs", line.replace("check trace", "check damaged")));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "verified 6 of 6, gaps: 1\n");
    assert!(stderr(&output).starts_with("damaged: gap at byte 0, packet 0: no frame starts with"));
}

#[test]
fn statistics() {
    let place = Place::new("stats");
    place.encoded();
    let options = "--params p.toml --xlen 64";
    let json = |text: String| -> serde_json::Value { serde_json::from_str(&text).unwrap() };
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };

    let bare = json(place.clean(&format!("stats trace {options} --json")));
    let mut expected = [
        "capture_bytes",
        "overhead_bytes",
        "formats",
        "malformed",
        "other",
        "total",
        "sync_share",
        "lengths",
        "ended",
        "program",
    ];
    expected.sort_unstable();
    let mut found = keys(&bare);
    found.sort_unstable();
    assert_eq!(found, expected);
    let mut codes = keys(&bare["formats"]);
    codes.sort_unstable();
    assert_eq!(codes, ["0.0", "0.1", "1", "2", "3.0", "3.1", "3.2", "3.3"]);
    assert!(bare["program"].is_null());
    let dump = place.clean(&format!("dump trace {options}"));
    assert_eq!(bare["total"]["packets"], dump.lines().count());
    assert_eq!(bare["formats"]["3.0"]["packets"], 1);
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let size = std::fs::metadata(place.dir.join("trace")).unwrap().len();
    assert_eq!(number(&bare["capture_bytes"]), size);
    assert_eq!(number(&bare["total"]["bytes"]) + number(&bare["overhead_bytes"]), size);

    let with = format!("stats trace {options} --image code@0x80000000");
    let program = &json(place.clean(&format!("{with} --json")))["program"];
    let bits = 8.0 * number(&bare["total"]["bytes"]) as f64;
    assert_eq!((&program["instructions"], &program["gaps"]), (&6.into(), &0.into()));
    assert_eq!(program["bits_per_instruction"], bits / 6.0);
    assert_eq!(program["compression"], 1.0 - bits / 6.0 / 32.0);
    let table = place.clean(&with);
    assert!(table.starts_with("format "), "{table}");
    assert!(table.contains("\ninstructions                          6\n"), "{table}");

    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    place.write("damaged", &[&[0xff], &trace[..]].concat());
    let output = place.run(&format!("stats damaged {options} --json"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(stdout(&output))["malformed"]["packets"], 1);
    // Code that is missing is a gap.
    place.write("half", &CODE[0].to_le_bytes());
    let output = place.run(&format!("stats trace {options} --image half@0x80000000"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn mistakes() {
    let place = Place::new("mistakes");
    place.encoded();
    place.write("bad.toml", b"iadress_lsb_p = 1\n");
    place.write("bad.csv", RUN.replace("80000008", "8000000g").as_bytes());
    for (line, status, message) in [
        ("encode run.csv", 2, "--output"),
        ("frobnicate", 2, "frobnicate"),
        ("dump code --xlen 64", 2, "try: `hartrace probe"),
        ("dump trace --params p.toml", 2, "try: --xlen 32 or --xlen 64"),
        ("dump trace --params p.toml --xlen 48", 2, "48"),
        ("dump trace --params bad.toml --xlen 64", 2, "bad.toml:1:1: unknown key iadress_lsb_p"),
        ("dump trace --params none.toml --xlen 64", 3, "none.toml: cannot read"),
        ("dump none --params p.toml --xlen 64", 3, "none: cannot read"),
        ("decode trace --params p.toml --xlen 64", 2, "try: --elf PROG"),
        ("decode trace --params p.toml --xlen 64 --elf code", 3, "code: not an ELF file"),
        ("decode trace --params p.toml --xlen 64 --image code", 2, "FILE@ADDR"),
        ("decode trace --params p.toml --xlen 64 --image code@0 --json", 2, "try: --emit json"),
        (
            "decode trace --params p.toml --xlen 64 --image code@0 --from packet:x",
            2,
            "`x` is not a number",
        ),
        (
            "decode trace --params p.toml --xlen 64 --image code@0 --from 5 --to 5",
            2,
            "after --from",
        ),
        ("decode trace --params p.toml --xlen 64 --context-elf code", 2, "ID=PROG"),
        ("decode trace --params p.toml --xlen 64 --context-elf 1=code", 2, "no contexts"),
        ("decode trace --params p.toml --xlen 64 --image code@0 --buffer a", 2, "means nothing"),
        ("decode trace --params p.toml --xlen 64 --image code@0 --sysroot .", 2, "means nothing"),
        (
            "bundle trace --params p.toml --xlen 64 --image code@0 -o b --max-blocks 1",
            2,
            "no place",
        ),
        ("explain trace --params p.toml --xlen 64 --hart 3", 2, "is for logs"),
        ("stats code --xlen 64", 2, "try: `hartrace probe"),
        ("check trace --params p.toml --xlen 64 --image code@0", 2, "--against"),
        ("check trace --params p.toml --xlen 64 --against run.csv", 2, "try: --elf PROG"),
        ("check trace --params p.toml --xlen 64 --image code@0 --against none", 3, "none: cannot"),
        ("check - --params p.toml --xlen 64 --image code@0 --against -", 2, "read twice"),
        (
            "check trace --params p.toml --xlen 64 --image code@0x80000000 --against bad.csv",
            3,
            "bad.csv:6, column 5: iaddr_0",
        ),
        (
            "check trace --params p.toml --xlen 64 --image code@0x80000000 --against p.toml",
            3,
            "p.toml:1: `arch_p = 0` is not an address of 64 bits",
        ),
        ("encode bad.csv --params p.toml --xlen 64 -o x", 3, "bad.csv:6, column 5: iaddr_0"),
        ("encode run.csv --params p.toml --xlen 64 -o no/such", 3, "no/such: cannot write"),
        ("encode run.csv --framing rv-tracer --compat c-model -o x", 2, "--compat"),
    ] {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(status), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn help_is_clean() {
    let place = Place::new("help");
    for line in
        ["--help", "--version", "encode --help", "decode -h", "check --help", "stats -h", "log -h"]
    {
        assert!(!place.clean(line).is_empty());
    }
}

/// The reader of our output may close it early.
#[test]
fn a_broken_pipe_is_quiet() {
    let place = Place::new("pipe");
    let header = RUN.lines().next().unwrap();
    let rows: String = (0..20_000).map(|_| &RUN[header.len() + 1..]).collect();
    place.write("long.csv", format!("{header}\n{rows}").as_bytes());
    let mut child = place
        .command("explain long.csv --params p.toml --xlen 64")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}
