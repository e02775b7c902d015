//! E-Trace in recordings.

use crate::{Made, clean, decode, message, printed, stamp};
use hartrace_encap::{EncapParams, Framing};
use hartrace_tests::perf::{Map, Writer};
use std::process::Command;

const PARAMS: &str = "iaddress_width_p = 64\niaddress_lsb_p = 1\necause_width_p = 5\n\
                      return_stack_size_p = 4\n[options]\nimplicit-return = true\n\
                      [framing]\nkind = \"encap\"\nsrc-bits = 1\n";

/// Programs of the tests, which are linked for the same address.
const PROGRAMS: [&str; 2] = ["calls", "sort"];

fn hartrace(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace")).args(args).output().unwrap();
    clean(&output)
}

fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

/// What a hart executed, and its trace.
struct Hart {
    frames: Vec<u8>,
    pcs: String,
}

impl Hart {
    fn new(made: &Made, name: &str, source: usize) -> Self {
        let path = |kind: &str| made.0.join(format!("{name}.{kind}")).to_str().unwrap().to_owned();
        let (log, capture, params) =
            (path("htr"), path("te"), made.write("params.toml", PARAMS.as_bytes()));
        hartrace(&["run", &program(name), "--limit", "20000", "--retired", &log]);
        let source = source.to_string();
        hartrace(&["encode", &log, "--params", &params, "--source", &source, "-o", &capture]);
        let elf = program(name);
        let pcs = hartrace(&["decode", &capture, "--params", &params, "--elf", &elf]);
        // The decoder is compared with what was executed elsewhere; here it is enough that it agrees.
        hartrace(&["check", &capture, "--params", &params, "--elf", &elf, "--against", &log]);
        Self { frames: std::fs::read(capture).unwrap(), pcs }
    }
}

/// Frames of both take turns.
fn interleaved(harts: &[Hart]) -> Vec<u8> {
    let framing = Framing::Encap(EncapParams::new(1, 0, 0).unwrap());
    let mut rest: Vec<&[u8]> = harts.iter().map(|hart| &hart.frames[..]).collect();
    let mut all = Vec::new();
    while rest.iter().any(|rest| !rest.is_empty()) {
        for rest in rest.iter_mut().filter(|rest| !rest.is_empty()) {
            let len = framing.parse(rest).unwrap().used;
            all.extend(&rest[..len]);
            *rest = &rest[len..];
        }
    }
    all
}

/// Two harts in one buffer, told apart by srcID; the recording is of the PMU `gtrace`.
#[test]
fn two_harts_in_one_buffer() {
    let made = Made::new("gtrace");
    let harts: Vec<Hart> =
        PROGRAMS.iter().enumerate().map(|(n, name)| Hart::new(&made, name, n)).collect();
    let bytes = interleaved(&harts);
    let mut writer = Writer::new();
    writer.arch("riscv64").cpus(2).pmus(&[(9, "gtrace")]).info(8, &[9]);
    writer.hw_id(stamp(1, 0), 0).hw_id(stamp(1, 1), 1);
    writer.auxtrace(0, 0, 0, &bytes).aux(stamp(9, 0), 0, bytes.len() as u64, 0x100);
    let data = made.write("perf.data", &writer.file());
    let params = made.write("params.toml", PARAMS.as_bytes());
    for ((hart, name), source) in harts.iter().zip(PROGRAMS).zip(["0", "1"]) {
        let elf = program(name);
        let more = ["--params", &params, "--elf", &elf, "--source", source];
        assert_eq!(clean(&decode(&data, &more)), hart.pcs, "{name}");
    }
    // Without the width of srcID, that of the machine is taken.
    let short = PARAMS.split("[framing]").next().unwrap();
    let guessed = made.write("guessed.toml", short.as_bytes());
    let elf = program(PROGRAMS[1]);
    let output = decode(&data, &["--params", &guessed, "--elf", &elf, "--source", "1"]);
    assert!(message(&output).contains("srcID"), "{}", message(&output));
    assert_eq!(printed(&output), harts[1].pcs);
}

/// Programs that were mapped, each with its own buffer; without srcID, CPUs are sources.
#[test]
fn mapped_programs_by_thread() {
    let made = Made::new("rvtrace");
    let mut writer = Writer::new();
    writer.arch("riscv64").pmus(&[(9, "rvtrace")]).info(7, &[9]);
    let mut pcs = String::new();
    for (name, pid) in PROGRAMS.iter().zip([100, 200]) {
        let hart = Hart::new(&made, name, 0);
        let elf = std::fs::read(program(name)).unwrap();
        // The first segment, as the kernel would map it.
        let word = |at: usize| u64::from_le_bytes(elf[at..at + 8].try_into().unwrap());
        let header = (0..elf[56] as usize).map(|n| word(32) as usize + 56 * n);
        let load = header
            .filter(|at| elf[*at] == 1)
            .map(|at| (word(at + 8), word(at + 16), word(at + 32)));
        let path = made.write(&format!("bin/{name}"), &elf);
        for (pgoff, address, length) in load {
            let map = Map { pid, tid: pid, address, length, pgoff, path: &path };
            writer.mmap(stamp(0, 0), map);
        }
        writer.auxtrace(u32::MAX, pid, 0, &hart.frames);
        let size = hart.frames.len() as u64;
        writer.aux(hartrace_tests::perf::Stamp { tid: pid, ..stamp(pid.into(), 0) }, 0, size, 0);
        pcs += &hart.pcs;
    }
    let data = made.write("perf.data", &writer.pipe());
    let params = made.write("params.toml", PARAMS.as_bytes());
    assert_eq!(clean(&decode(&data, &["--params", &params])), pcs);
}

#[test]
fn what_is_refused() {
    let made = Made::new("ntrace");
    let params = made.write("params.toml", PARAMS.as_bytes());
    let elf = program("calls");
    let mut writer = Writer::new();
    writer.arch("riscv64").pmus(&[(9, "gtrace")]).info(8, &[9]);
    let without = decode(&made.write("perf.data", &writer.file()), &["--elf", &elf]);
    assert_eq!(without.status.code(), Some(2), "{}", message(&without));
    assert!(message(&without).contains("--params"), "{}", message(&without));
    writer.auxtrace(0, 0, 0, &[0; 16]).aux(stamp(9, 0), 0, 16, 0x200);
    let mut spacemit = Writer::new();
    spacemit.arch("riscv64").pmus(&[(9, "rvtrace")]).info(7, &[9 << 32 | 1, 0, 5, 1, 0, 0, 0, 0]);
    for writer in [writer, spacemit] {
        let data = made.write("perf.data", &writer.file());
        let output = decode(&data, &["--params", &params, "--elf", &elf]);
        assert_eq!(output.status.code(), Some(3), "{}", message(&output));
        assert!(message(&output).contains("N-Trace"), "{}", message(&output));
    }
}

/// The buffer was full.
#[test]
fn truncated() {
    let made = Made::new("riscv-truncated");
    let hart = Hart::new(&made, "calls", 1);
    let mut writer = Writer::new();
    writer.arch("riscv64").pmus(&[(9, "gtrace")]).info(8, &[9]);
    let size = hart.frames.len() as u64;
    writer.auxtrace(0, 0, 0, &hart.frames).aux(stamp(9, 0), 0, size, 0x101);
    let data = made.write("perf.data", &writer.file());
    let params = made.write("params.toml", PARAMS.as_bytes());
    let output = decode(&data, &["--params", &params, "--elf", &program("calls"), "--emit", "pcs"]);
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    assert!(
        message(&output).contains("the buffer of the recording was full"),
        "{}",
        message(&output)
    );
    assert_eq!(printed(&output), hart.pcs);
}
