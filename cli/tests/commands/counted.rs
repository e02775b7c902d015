//! A capture of a few bytes that stands for billions of instructions: no command needs the time or the memory for them.

use crate::place::{Place, stderr, stdout};
use hartrace_bits::BitWriter;
use hartrace_etrace::{
    Branch, BranchCount, BranchFmt, BranchMap, Ioptions, Params, Payload, Start, Support, Unit,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const PARAMS: &str = "iaddress_width_p = 64\niaddress_lsb_p = 1\nbpred_size_p = 6\nf0s_width_p = 1\n\
                      return_stack_size_p = 3\n";

/// A loop: c.addi a0,-1; c.bnez a0,.-2; ret.
const LOOP: [u16; 3] = [0x157d, 0xfd7d, 0x8082];

/// The same, with a call in each turn: loop: jal ra,f; c.bnez a0,loop; f: c.addi a0,-1; ret.
const CALLS: [u16; 5] = [0x00ef, 0x0060, 0xfd75, 0x157d, 0x8082];

/// Bytes of address space that a command may use. Threads reserve some.
const MEMORY: u64 = 1_500_000_000;

/// Far longer than any of this takes.
const SOON: Duration = Duration::from_secs(60);

/// A capture with `count` branches that were predicted.
fn capture(count: u32) -> Vec<u8> {
    let params = Params {
        iaddress_width_p: 64,
        bpred_size_p: 6,
        f0s_width_p: 1,
        return_stack_size_p: 3,
        ..Params::default()
    };
    let layout = params.layout(Unit::Reference).unwrap();
    let options =
        Ioptions { branch_prediction: true, implicit_return: true, ..Ioptions::default() };
    let support = Support { ienable: true, ioptions: options, ..Support::default() };
    let start = Start { branch: true, privilege: 3, address: 0x8000_0000 >> 1, ..Start::default() };
    let map = BranchMap::new(31, 0).unwrap();
    let counted = BranchCount { branch_count: count, branch_fmt: BranchFmt::NoAddress };
    let payloads = [
        Payload::Support(support),
        Payload::Start(start),
        Payload::Branch(Branch { map, address: None }),
        Payload::BranchCount(counted),
    ];
    let mut capture = Vec::new();
    for payload in payloads {
        let mut bytes = [0; 32];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let len = out.finish_compressed();
        capture.push(0x40 | len as u8);
        capture.extend_from_slice(&bytes[..len]);
    }
    capture
}

fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("p.toml", PARAMS.as_bytes());
    for (name, code) in [("loop", &LOOP[..]), ("calls", &CALLS[..])] {
        place.write(name, &code.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>());
    }
    place.write("t", &capture(u32::MAX));
    place.write("u", &capture(u32::MAX - 12_345));
    place
}

/// The command with a limit of memory, where the system has one.
fn limited(place: &Place, line: &str) -> Command {
    let plain = place.command(line);
    let mut limited = Command::new("prlimit");
    let has_limits = limited.arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_limits {
        return plain;
    }
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--as={MEMORY}")).arg(plain.get_program()).args(plain.get_args());
    limited.current_dir(&place.dir);
    limited
}

/// Waits for the end of a command, which must come soon.
fn ended(mut child: Child, line: &str) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > SOON {
            child.kill().unwrap();
            panic!("{line}: still running after {SOON:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

const OPTIONS: &str = "--params p.toml --xlen 64";

/// What is a listing of every instruction ends when its reader does.
#[test]
fn a_closed_output_ends_a_listing() {
    let place = place("counted-listing");
    for code in ["loop", "calls"] {
        for threads in [1, 2, 8] {
            for emit in ["pcs", "listing", "blocks", "blocks --json", "json"] {
                let line = format!(
                    "decode t {OPTIONS} --image {code}@0x80000000 --threads {threads} --emit {emit}"
                );
                let mut command = limited(&place, &line);
                let mut child =
                    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                let mut first = String::new();
                BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
                assert!(!first.is_empty(), "{line}");
                let status = ended(child, &line);
                assert_eq!(status.code(), Some(0), "{line}");
            }
        }
    }
}

/// So does what ends before the capture: a limit, or a comparison.
#[test]
fn the_rest_is_not_decoded() {
    let place = place("counted-limits");
    let expected: String =
        (0..50).map(|n| format!("{:016x}\n", 0x8000_0000u64 + n % 2 * 2)).collect();
    place.write("pcs", expected.as_bytes());
    let code = "--image loop@0x80000000";
    for threads in [1, 2, 8] {
        let check = format!("check t {OPTIONS} {code} --threads {threads} --against pcs");
        let status = ended(limited(&place, &check).stdout(Stdio::null()).spawn().unwrap(), &check);
        assert_eq!(status.code(), Some(4), "{check}");
        for emit in ["pcs", "edges", "json"] {
            let line = format!(
                "decode t {OPTIONS} {code} --threads {threads} --emit {emit} --from 100 --to 200"
            );
            let output = limited(&place, &line).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        }
    }
}

/// Everything that only adds up counts the turns of a loop.
#[test]
fn a_count_is_a_count() {
    let place = place("counted-sums");
    let exports = ["bolt", "callgrind", "folded", "perfetto", "pprof", "speedscope"];
    let exports = exports.map(|to| format!("export t --format {to} -o out"));
    let others = [
        "decode t --emit edges",
        "decode t --emit coverage",
        "stats t",
        "report t -o out.html",
        "diff t u --whole",
        "decode t --emit edges --from packet:1 --to byte:1000",
        "decode t --emit edges --from 4000000000 --to 8000000000",
    ];
    let others = others.map(str::to_owned);
    for code in ["loop", "calls"] {
        for threads in [1, 2] {
            for line in exports.iter().chain(&others) {
                let line =
                    format!("{line} {OPTIONS} --image {code}@0x80000000 --threads {threads}");
                let mut command = limited(&place, &line);
                let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let status = ended(child, &line);
                let expected = if line.starts_with("diff") { 4 } else { 0 };
                assert_eq!(status.code(), Some(expected), "{line}");
            }
        }
    }
    // A full map, and all that the payload counts: 31 more than it says, and one that was not predicted.
    let turns = 31 + u64::from(u32::MAX) + 31 + 1;
    let folded = |code: &str| {
        let line = format!("export t --format folded {OPTIONS} --image {code}@0x80000000 -o -");
        stdout(&place.run(&line))
    };
    assert_eq!(folded("loop"), format!("0x0000000080000000 {}\n", 2 * turns));
    let calls = folded("calls");
    let lines = ["0x0000000080000000", "0x0000000080000000;0x0000000080000006"];
    let lines = lines.map(|stack| format!("{stack} {}\n", 2 * turns));
    assert_eq!(calls, lines.concat());
}

/// Numbers that no machine has room for.
#[test]
fn large_numbers() {
    let place = place("counted-numbers");
    for (option, status) in [
        ("--threads 0", 2),
        ("--threads 1025", 2),
        ("--threads 1000000", 2),
        ("--threads 18446744073709551615", 2),
        ("--threads 1024", 0),
        ("--max-blocks 0", 1),
        ("--max-blocks 18446744073709551615", 0),
        ("--to 18446744073709551615", 0),
    ] {
        let line = format!("decode t {OPTIONS} --image loop@0x80000000 --emit edges {option}");
        let to = if option.starts_with("--to") { line.replace(" t ", " short ") } else { line };
        place.write("short", &capture(5));
        let output = place.run(&to);
        assert_eq!(output.status.code(), Some(status), "{to}: {}", stderr(&output));
    }
}
