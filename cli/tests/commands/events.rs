//! Logs of what changed while a hart was traced: processes, threads and patches, distinguished by the
//! context and the time of E-Trace.

use crate::place::{Place, stderr, stdout};
use std::fmt::Write;

const OPTIONS: &str = "--params p.toml --xlen 64";

/// Processes 7 and 8 are at the same addresses, and 9 is a thread of the second. In 7, two instructions
/// become one at 200; at 400, another process becomes number 8.
const LOG: &str = "\
0 declare_process state=START pid=7 base_address=0x80000000 image_file=short.bin
0 declare_process state=START pid=8 base_address=0x80000000 image_file=long.bin
0 declare_thread state=START tid=9 pid=8
200 patch_code pid=7 start_address=0x80000000 length=4 code=13000000
400 declare_process state=END pid=8 base_address=0x80000000 image_file=long.bin
400 declare_process state=START pid=8 base_address=0x80000000 image_file=short.bin
400 declare_thread state=START tid=9 pid=8
";

/// The code that a process has in this third of the time, as offsets of instructions; the last one is a jump.
fn code(pid: u64, third: usize) -> &'static [u64] {
    match (pid, third) {
        (7, 1..) => &[0, 4, 6, 8],
        (7, _) | (8 | 9, 2..) => &[0, 2, 4, 6, 8],
        _ => &[0, 4, 8],
    }
}

/// What was executed: the context of each visit, the first address, and all of them.
struct Visits(Vec<(u64, String)>);

impl Visits {
    fn pcs(&self, of: impl Fn(u64) -> bool) -> String {
        self.0.iter().filter(|(pid, _)| of(*pid)).map(|(_, pcs)| pcs.as_str()).collect()
    }
}

/// Sixty visits to processes, and their trace.
fn place(name: &str) -> (Place, Visits) {
    visited(name, 60)
}

/// Some visits, ten ticks each.
fn visited(name: &str, count: usize) -> (Place, Visits) {
    let place = Place::new(name);
    let mut rows =
        "itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0,time\n"
            .to_owned();
    let mut visits = Visits(Vec::new());
    for visit in 0..count {
        // Each follows each other one, in every third of the time.
        let pid = [7, 8, 9, 8, 7, 9][visit % 6];
        let time = visit as u64 * 10;
        let code = code(pid, visit * 3 / count);
        let ends = code.iter().skip(1).copied().chain([12]);
        let mut pcs = String::new();
        for (offset, end) in code.iter().zip(ends) {
            let address = 0x8000_0000 + offset;
            let itype = if end == 12 { 14 } else { 0 };
            let ctype = if *offset == 0 { 2 } else { 0 };
            let last = u8::from(end - offset == 4);
            writeln!(rows, "{itype},0,0,3,{address:x},{pid},{ctype},0,1,{last},{time}").unwrap();
            writeln!(pcs, "{address:016x}").unwrap();
        }
        visits.0.push((pid, pcs));
    }
    place.write("run.csv", rows.as_bytes());
    let fields = "nocontext_p = false\ncontext_width_p = 8\nnotime_p = false\ntime_width_p = 32\n";
    place.write("p.toml", format!("{fields}{}", crate::PARAMS).as_bytes());
    let jump = 0x0002_8067u32.to_le_bytes(); // jr t0
    place.write("short.bin", &[[0x01, 0x00].repeat(4), jump.to_vec()].concat()); // c.nop
    place.write("long.bin", &[[0x13, 0, 0, 0].repeat(2), jump.to_vec()].concat()); // nop
    place.write("log", LOG.as_bytes());
    place.encoded();
    (place, visits)
}

#[test]
fn processes_threads_and_patches() {
    let (place, visits) = place("events");
    let all = visits.pcs(|_| true);
    let line = format!("decode trace {OPTIONS} --events log --context-id tid");
    assert_eq!(place.clean(&line), all);
    assert_eq!(place.clean(&format!("{line} --threads 4")), all);
    let check = line.replace("decode", "check");
    let count = all.lines().count();
    let verified = format!("verified {count} of {count}\n");
    assert_eq!(place.clean(&format!("{check} --against run.csv")), verified);
    let stats = place.clean(&format!("{} --json", line.replace("decode", "stats")));
    assert!(stats.contains(&format!("\"instructions\":{count},")), "{stats}");
    // The listing shows the code of that time.
    let listing = place.clean(&format!("{line} --emit listing"));
    let at_start = |word: &str| {
        let start = format!("  0x0000000080000000  {word}");
        listing.lines().filter(|line| line.starts_with(&start)).count()
    };
    let long =
        visits.0.iter().filter(|(_, pcs)| pcs.lines().nth(1).unwrap().ends_with('4')).count();
    assert_eq!((at_start("00000013"), at_start("0001")), (long, 60 - long));
    assert!(long > 20 && long < 50);

    // Code of the command line is used where the log has none.
    place.write("log", LOG.replacen("0 declare_process state=START pid=7", "# ", 1).as_bytes());
    let first = format!("{line} --image short.bin@0x80000000");
    assert_eq!(place.clean(&first), all);
}

/// A trace of several parts, which are decoded side by side.
#[test]
fn several_threads() {
    let (place, visits) = visited("events-threads", 30_000);
    assert!(std::fs::metadata(place.dir.join("trace")).unwrap().len() > 4 << 16);
    place.write("log", LOG.replace("200 ", "100000 ").replace("400 ", "200000 ").as_bytes());
    let line = format!("decode trace {OPTIONS} --events log --context-id tid");
    let all = visits.pcs(|_| true);
    for threads in [1, 2, 5] {
        assert!(place.clean(&format!("{line} --threads {threads}")) == all, "{threads}");
    }
}

/// The same where the log counts bytes of the capture.
#[test]
fn positions() {
    let (place, visits) = place("positions");
    let line = format!("decode trace {OPTIONS} --events log --context-id tid");
    let events = place.clean(&format!("{line} --emit json"));
    let byte = |time: u64| -> u64 {
        let parsed = events.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut found = { parsed }.filter(|e: &serde_json::Value| e["event"] == "context");
        found.find(|event| event["time"] == time).unwrap()["byte"].as_u64().unwrap()
    };
    let (patched, ended) = (byte(200), byte(400));
    let at = |line: &str| match line.split_once(' ').unwrap() {
        ("200", rest) => format!("@{patched} {rest}\n"),
        ("400", rest) => format!("@{ended} {rest}\n"),
        (_, rest) => format!("@0 {rest}\n"),
    };
    place.write("log", LOG.lines().map(at).collect::<String>().as_bytes());
    assert_eq!(place.clean(&line), visits.pcs(|_| true));
}

#[test]
fn incomplete_logs() {
    let (place, visits) = place("incomplete");
    let line = format!("decode trace {OPTIONS} --events log --context-id tid");
    // Starts are lost: what ends, or exists later, must have existed before.
    let lost = LOG
        .replacen(
            "0 declare_process state=START pid=7",
            "590 declare_process state=CURRENT pid=7",
            1,
        )
        .replacen("0 declare_process state=START pid=8", "# ", 1)
        .replacen("0 declare_thread state=START", "300 declare_thread state=CURRENT", 1);
    place.write("log", lost.as_bytes());
    assert_eq!(place.clean(&line), visits.pcs(|_| true));
    // A process that the log does not contain is a gap, and so is one whose image is missing. Nothing is
    // guessed, and everything else is correct.
    let unknown: String = LOG
        .lines()
        .filter(|line| !line.contains("pid=7"))
        .map(|line| format!("{line}\n"))
        .collect();
    for log in [unknown, LOG.replacen("short.bin", "none.bin", 1).replace("200 patch", "# ")] {
        place.write("log", log.as_bytes());
        let output = place.run(&line);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("no code at 0x0000000080000000"), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("image none.bin cannot be read"), log.contains("none"));
        assert_eq!(stdout(&output), visits.pcs(|pid| pid != 7));
    }
}

#[test]
fn mistakes() {
    let (place, _) = place("events-mistakes");
    place.write("dance", b"# steps\n5 dance\n");
    place.write("mixed", b"5 declare_thread state=END tid=1 pid=1\n@6 declare_thread\n");
    place.write(
        "outside",
        b"0 declare_process state=START pid=7 base_address=0 image_file=../log\n",
    );
    place.write("bare.toml", crate::PARAMS.as_bytes());
    let line = |log: &str, params: &str, more: &str| {
        format!("decode trace --params {params} --xlen 64 --events {log} {more}")
    };
    for (line, status, message) in [
        (line("log", "p.toml", ""), 2, "--context-id tid"),
        (line("none", "p.toml", "--context-id tid"), 3, "none: cannot read"),
        (line("dance", "p.toml", "--context-id tid"), 3, "dance:2: event dance: expected"),
        (line("mixed", "p.toml", "--context-id tid"), 3, "mixed:2: times and positions"),
        (line("log", "bare.toml", "--context-id tid"), 2, "the trace has none"),
        (line("outside", "p.toml", "--context-id tid"), 1, "image ../log cannot be read"),
        (format!("decode trace {OPTIONS} --image long.bin@0 --context-id tid"), 2, "--events LOG"),
    ] {
        let output = place.run(&line);
        assert_eq!(output.status.code(), Some(status), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
    }
}
