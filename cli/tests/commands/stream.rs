//! Captures that are decoded as they arrive, on any number of threads, of any number of sources.

use crate::place::{Place, stderr, stdout};
use crate::{PCS, decode};
use std::process::Output;

/// Everything that is decoded, with what follows `hartrace`.
const COMMANDS: [&str; 8] = [
    "decode CAPTURE --emit pcs",
    "decode CAPTURE --emit listing",
    "decode CAPTURE --emit blocks",
    "decode CAPTURE --emit json",
    "decode CAPTURE --emit edges",
    "decode CAPTURE --emit coverage",
    "check CAPTURE --against pcs",
    "stats CAPTURE",
];

fn all(output: &Output) -> (Option<i32>, String, String) {
    (output.status.code(), stdout(output), stderr(output))
}

/// About 300 KB: a trace repeated many times, sometimes with its end missing or followed by something
/// else.
fn long(place: &Place) -> Vec<u8> {
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    let mut long = Vec::new();
    for number in 0..7000 {
        let end = if number % 1500 == 700 { trace.len() - 9 } else { trace.len() };
        long.extend_from_slice(&trace[..end]);
        if number % 2000 == 1000 {
            long.extend_from_slice(&[0xff, 0xff]);
        }
    }
    long
}

/// Neither the number of threads nor how the capture arrives affects the output.
#[test]
fn threads_and_pieces() {
    let place = decode::place("threads");
    let capture = long(&place);
    place.write("long", &capture);
    place.write("long.zst", &zstd::encode_all(&capture[..], 1).unwrap());
    let options = "--params p.toml --xlen 64 --elf program.elf --threads";
    place.write("pcs", &place.run(&format!("decode long {options} 1")).stdout);
    for command in COMMANDS {
        let line = |capture: &str, threads: usize| {
            format!("{} {options} {threads}", command.replace("CAPTURE", capture))
        };
        let one = all(&place.run(&line("long", 1)));
        assert_eq!(one.0, Some(1), "{command}: {}", one.2);
        // Three gaps, traces that start anew, and one that does not end.
        assert_eq!(one.2.lines().count(), 5, "{command}: {}", one.2);
        for threads in [2, 5] {
            let many = all(&place.run(&line("long", threads)));
            assert!(many == one, "{command}, {threads} threads: {}", many.2);
        }
        let packed = all(&place.run(&line("long.zst", 2)));
        assert!((packed.0, &packed.1) == (one.0, &one.1), "{command}: {}", packed.2);
        for threads in [1, 2] {
            let piped = all(&place.fed(&line("-", threads), &capture));
            // Only the name is another one.
            let same = |text: &str| text.replace("standard input", "long");
            assert!((piped.0, same(&piped.1)) == (one.0, one.1.clone()), "{command}: {}", piped.2);
            assert_eq!(same(&piped.2), one.2, "{command}");
        }
    }
    // With limits, too.
    for limits in ["--from 5000 --to 30000", "--from packet:3000 --to byte:99999"] {
        for emit in ["pcs", "blocks", "edges", "coverage"] {
            let line =
                |threads: usize| format!("decode long {options} {threads} --emit {emit} {limits}");
            assert!(all(&place.run(&line(1))) == all(&place.run(&line(5))), "{emit} {limits}");
        }
    }
}

const COVERAGE: &str = "\
start              end                    bytes
0x0000000080000000 0x000000008000000a        10  <_start>
0x000000008000000e 0x000000008000001c        14  <square>
total                                        24

function             covered     bytes     share  name
0x0000000080000000        10        14   71.43 %  _start
0x000000008000000e         6         6  100.00 %  square
0x0000000080000014         8         8  100.00 %  handler
";

const COVERAGE_JSON: &str = r#"{"kind":"range","start":"0x0000000080000000","end":"0x000000008000000a","bytes":10,"symbol":"_start"}
{"kind":"range","start":"0x000000008000000e","end":"0x000000008000001c","bytes":14,"symbol":"square"}
{"kind":"function","name":"_start","start":"0x0000000080000000","covered":10,"bytes":14}
{"kind":"function","name":"square","start":"0x000000008000000e","covered":6,"bytes":6}
{"kind":"function","name":"handler","start":"0x0000000080000014","covered":8,"bytes":8}
{"kind":"total","covered":24}
"#;

#[test]
fn coverage() {
    let place = decode::place("coverage");
    let line = format!("{} --emit coverage", decode::LINE);
    assert_eq!(place.clean(&line), COVERAGE);
    assert_eq!(place.clean(&format!("{line} --json")), COVERAGE_JSON);
    let part = place.clean(&format!("{line} --from 1 --to 3"));
    assert!(part.contains("\n0x0000000080000002 0x0000000080000006         4  <_start+0x2>\n"));
    assert!(part.contains("\n0x000000008000000e 0x0000000080000012         4  <square>\n"));
    // Without symbols there are ranges only.
    place.write("code", &[0x13, 0, 0, 0].repeat(8));
    let bare = format!("{line} --image code@0x80000000").replace("--elf program.elf", "");
    let text = stdout(&place.run(&bare));
    assert!(text.contains("\ntotal ") && !text.contains("function"), "{text}");
}

/// Two sources, packet by packet.
fn two_sources(name: &str) -> Place {
    let place = Place::new(name);
    for source in [1, 2] {
        place.clean(&format!("encode run.csv {SOURCES} --source {source} -o t{source}"));
    }
    let read = |name: &str| std::fs::read(place.dir.join(name)).unwrap();
    place.write("both", &[read("t1"), read("t2")].concat());
    // The frames are of the same lengths: 1 byte, the source, what the first byte counts.
    let (one, two) = (read("t1"), read("t2"));
    let (mut mixed, mut at) = (Vec::new(), 0);
    while let Some(header) = one.get(at) {
        let end = at + 2 + usize::from(header & 31);
        mixed.extend_from_slice(&one[at..end]);
        mixed.extend_from_slice(&two[at..end]);
        at = end;
    }
    place.write("mixed", &mixed);
    place
}

const SOURCES: &str = "--params p.toml --xlen 64 --framing encap --src-bits 8";
const PROGRAM: &str = "--image code@0x80000000";

#[test]
fn several_sources() {
    let place = two_sources("sources");
    let line = |rest: &str| format!("{rest} {SOURCES} {PROGRAM}");
    // Plain addresses cannot name their source, nor can a comparison.
    place.write("pcs", PCS.as_bytes());
    for command in ["decode both", "decode mixed", "check both --against pcs"] {
        let output = place.run(&line(command));
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = ": traces of several sources: 1, 2\n  try: --source 1\n";
        assert!(stderr(&output).ends_with(message), "{command}: {}", stderr(&output));
    }
    for capture in ["both", "mixed"] {
        assert_eq!(place.clean(&line(&format!("decode {capture} --source 2"))), PCS);
    }

    let blocks = "\
0x0000000080000000 0x0000000080000008     2 branch
0x0000000080000000 0x0000000080000008     2 branch
0x0000000080000008 0x000000008000000c     1 indirect
0x0000000080000010 0x0000000080000014     1 -
";
    assert_eq!(place.clean(&line("decode t1 --emit blocks --source 1")), blocks);
    assert_eq!(
        place.clean(&line("decode both --emit blocks")),
        format!("source 1:\n{blocks}source 2:\n{blocks}")
    );
    // What is printed of each is the same, however they are mixed.
    let mixed = place.clean(&line("decode mixed --emit listing"));
    let alone = place.clean(&line("decode t2 --emit json"));
    assert!(mixed.starts_with("source 1:\n-- packet 2, "), "{mixed}");
    assert!(mixed.matches("source 2:\n").count() > 1, "{mixed}");
    for json in ["both", "mixed"].map(|capture| format!("decode {capture} --emit json")) {
        for threads in [1, 2, 5] {
            let text = place.clean(&line(&format!("{json} --threads {threads}")));
            let of = |text: &str, source: u64| -> Vec<(String, String)> {
                let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
                lines
                    .filter(|line: &serde_json::Value| line["source"] == source)
                    .map(|line| (line["event"].to_string(), line["iaddr"].to_string()))
                    .collect()
            };
            assert_eq!(of(&text, 1), of(&alone, 2), "{json}");
            assert_eq!(of(&text, 2), of(&alone, 2), "{json}");
        }
    }
    let edges = place.clean(&line("decode mixed --emit edges"));
    let tables: Vec<_> = edges.split("source ").collect();
    assert_eq!(tables.len(), 3, "{edges}");
    assert_eq!(tables[1].strip_prefix("1:\n"), tables[2].strip_prefix("2:\n"));
    let json = place.clean(&line("decode mixed --emit edges --json"));
    assert!(json.starts_with(r#"{"source":1,"from":"#), "{json}");
    let stats = place.clean(&line("stats mixed --json"));
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["program"]["instructions"], 2 * PCS.lines().count());
    let dump = place.clean(&format!("dump both {SOURCES}"));
    assert!(dump.lines().next().unwrap().starts_with("      2.0      1  1f04"), "{dump}");
}

#[test]
fn gaps_of_several_sources() {
    let place = two_sources("source-gaps");
    // Null packets are not damage; a frame that is cut off is.
    let mut cut = std::fs::read(place.dir.join("mixed")).unwrap();
    cut.push(0x05);
    place.write("cut", &cut);
    let output = place.run(&format!("decode cut {SOURCES} {PROGRAM} --emit blocks"));
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, source) in lines.iter().zip([1, 2]) {
        assert!(line.contains(&format!(", source {source}: ")), "{text}");
        assert!(line.contains("; never resumed; try "), "{text}");
    }
}

/// After a gap, an address may be enough; and a packet may be followed only so far.
#[test]
fn resync_and_limits_of_the_decoder() {
    let place = decode::place("resync");
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    // Without its synchronisation, but with the support packet.
    place.write("late", &[&trace[..3], &trace[11..]].concat());
    let line = decode::LINE.replace("trace", "late");
    let [sync, address] =
        ["sync", "address"].map(|how| stdout(&place.run(&format!("{line} --resync {how}"))));
    assert!(address.ends_with(&sync) && address.len() > sync.len(), "{sync}\n{address}");
    let few = place.run(&format!("{} --max-blocks 1", decode::LINE));
    assert_eq!(few.status.code(), Some(1));
    assert!(
        stderr(&few).contains("the walk has reached the configured limit of blocks, 1"),
        "{}",
        stderr(&few)
    );
    assert!(stderr(&few).contains("more --max-blocks"), "{}", stderr(&few));
    for (option, message) in [("--threads 0", "--threads"), ("--resync soon", "address")] {
        let output = place.run(&format!("{} {option}", decode::LINE));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// The peak memory of a command, in KiB.
#[cfg(target_os = "linux")]
fn peak(place: &Place, line: &str, pieces: usize, piece: &[u8]) -> u64 {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let mut command = place.command(line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The process runs as long as its input does not end.
    let reader = BufReader::new(child.stdout.take().unwrap());
    let drain = std::thread::spawn(move || reader.split(b'\n').count());
    for _ in 0..pieces {
        stdin.write_all(piece).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    drain.join().unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Neither 90 MB of trace nor 100 MB of text are ever in memory.
#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn memory_is_bounded() {
    let place = decode::place("bounded");
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    let piece = trace.repeat(1 << 10);
    let options = "--params p.toml --xlen 64 --elf program.elf --threads 2";
    for (command, pieces) in [
        ("decode - --emit edges", 2000),
        ("decode - --emit coverage", 2000),
        ("decode - --emit pcs", 400),
        ("decode - --emit listing", 200),
        ("stats -", 2000),
    ] {
        let peak = peak(&place, &format!("{command} {options}"), pieces, &piece);
        assert!(peak < 80 << 10, "{command}: {peak} KiB");
    }
}
