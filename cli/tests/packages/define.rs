//! Sources that change their number and their configuration while they trace: `define_trace` of a log.

use crate::{Made, clean, decode, lines};
use fastrand::Rng;
use hartrace_encap::coresight::{Formatter, TraceId};
use hartrace_golden::arm::{Program, Step, etmv4, expected, ptm};
use std::fs;
use std::process::Output;

/// A buffer that several sources write into, one after the other.
struct Buffer {
    rng: Rng,
    frames: Vec<u8>,
    metadata: String,
    contents: String,
    files: Vec<(String, Vec<u8>)>,
}

/// A stretch of trace with the executed ranges, and the first and last time in it.
struct Stretch {
    start: usize,
    steps: Vec<Step>,
}

impl Buffer {
    fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            frames: Vec::new(),
            metadata: "[buffer]\nformat: coresight\n".to_owned(),
            contents: "[trace]\nmetadata=trace.ini\nbuffer0=t.bin\nevents=log\n".to_owned(),
            files: Vec::new(),
        }
    }

    /// A program in memory. Each has its own addresses.
    fn program(&mut self, wide: bool) -> Program {
        let number = self.files.len();
        let base = 0x1000_0000 * (number as u64 + 1);
        let program = Program::random(&mut self.rng, 300, wide).at(base);
        self.contents += &format!("[dump{number}]\nfile=code{number}.bin\naddress={base:#x}\n");
        self.files.push((format!("code{number}.bin"), program.bytes.clone()));
        program
    }

    /// A walk, in which all times are a second later than the one before.
    fn walk(&mut self, program: &Program, second: u64) -> Stretch {
        let (start, mut steps) = program.walk(&mut self.rng, 2000);
        let mut time = second << 20;
        steps.insert(0, Step::Time(time));
        for step in &mut steps {
            if let Step::Time(told) = step {
                time += 1;
                *told = time;
            }
        }
        Stretch { start, steps }
    }

    /// Writes frames; returns where they end.
    fn write(&mut self, id: u8, trace: &[u8]) -> usize {
        let mut formatter = Formatter::new();
        let frames = &mut self.frames;
        formatter.write(TraceId::new(id).unwrap(), trace, &mut |f| frames.extend_from_slice(f));
        formatter.finish(&mut |frame| frames.extend_from_slice(frame));
        self.frames.len()
    }

    fn package(self, name: &str, log: &str) -> Made {
        let made = Made::new(name);
        let write = |name: &str, bytes: &[u8]| fs::write(made.0.join(name), bytes).unwrap();
        write("contents.ini", self.contents.as_bytes());
        write("trace.ini", self.metadata.as_bytes());
        write("t.bin", &self.frames);
        write("log", log.as_bytes());
        self.files.iter().for_each(|(name, bytes)| write(name, bytes));
        made
    }
}

/// A PTM that becomes cycle accurate, with contexts, and gets another number; its old one goes to an
/// ETMv4.
#[test]
fn numbers_move() {
    let mut buffer = Buffer::new(6);
    let before = ptm::REGISTERS;
    let after = hartrace_ptm::Registers { cr: before.cr | 1 << 12 | 3 << 14 | 1 << 29, ..before };
    let program = buffer.program(false);
    let mut all = String::new();
    let mut ends = Vec::new();
    for (id, registers) in [(16, before), (17, after)] {
        let Stretch { start, steps } = buffer.walk(&program, id);
        let options = ptm::Options::default();
        let config = registers.config();
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut buffer.rng);
        ends.push(buffer.write(id as u8, &trace));
        all += &lines(id as u8, &expected(&program, &steps).0);
    }
    let other = buffer.program(true);
    let Stretch { start, steps } = buffer.walk(&other, 18);
    let registers = hartrace_etmv4::Registers { configr: 0x800, ..etmv4::REGISTERS };
    let options = etmv4::Options::default();
    let trace =
        etmv4::encode(&registers.config(), &options, &other, start, &steps, &mut buffer.rng);
    buffer.write(16, &trace);
    let later = lines(16, &expected(&other, &steps).0);
    buffer.metadata += &format!(
        "[trace_16]\nformat: PFT1.1\ncore: Cortex-A15\nETMCR: {:#x}\nETMIDR: {:#x}\n\
         ETMCCER: {:#x}\n\
         [trace_18]\nformat: ETM4.2\ncore: ARMv8-A\nTRCCONFIGR: {:#x}\nTRCIDR0: {:#x}\n\
         TRCIDR1: {:#x}\nTRCIDR2: {:#x}\nTRCIDR8: 0\n",
        before.cr,
        before.idr,
        before.ccer,
        registers.configr,
        registers.idr0,
        registers.idr1,
        registers.idr2
    );
    let [first, second] = ends[..] else { panic!("two stretches") };
    let log = format!(
        "@{first} define_trace state=END id=16 source=trace_16\n\
         @{first} define_trace state=START id=17 source=trace_16 etmcr={cr:#x}\n\
         @{second} define_trace state=END id=17 source=trace_16 etmcr={cr:#x}\n\
         @{second} define_trace state=START id=16 source=trace_18\n",
        cr = after.cr
    );
    let made = buffer.package("numbers", &log);
    let ranges = ["--emit", "ranges"];
    assert_eq!(clean(&decode(&made.0, &ranges)), all.clone() + &later);
    // A source stays the same, whatever its number.
    let blocks = clean(&decode(&made.0, &["--emit", "blocks"]));
    let headings: Vec<_> = blocks.lines().filter(|line| line.starts_with("source")).collect();
    assert_eq!(headings, ["source 16:", "source 18:"]);
    // Packets of all sources, each read in its configuration at that time.
    let packets = clean(&decode(&made.0, &["--emit", "packets"]));
    assert!(!packets.contains("RESERVED") && !packets.contains("BAD"), "{packets}");
    // Starts were lost; ends show the configuration before them.
    let lost: Vec<&str> = log.lines().filter(|line| !line.contains("START id=17")).collect();
    fs::write(made.0.join("log"), lost.join("\n")).unwrap();
    assert_eq!(clean(&decode(&made.0, &ranges)), all.clone() + &later);
    // No source has the number any more: its bytes are not read, and this is reported.
    let lost: Vec<&str> = log.lines().filter(|line| !line.contains("trace_18")).collect();
    fs::write(made.0.join("log"), lost.join("\n")).unwrap();
    let output = decode(&made.0, &ranges);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("of 0x10"), "{message}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), all);
    for (wrong, message) in [
        ("@0 define_trace state=START id=16 source=x", "no source x\n  try: one of trace_16"),
        ("@0 define_trace state=START id=16 source=trace_18 etmcr=0", "no such register"),
        ("@0 define_trace state=START id=500 source=x", "log:1: id=500"),
    ] {
        fs::write(made.0.join("log"), wrong).unwrap();
        let output = decode(&made.0, &ranges);
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(3) && found.contains(message), "{found}");
    }
}

/// Several sources: the output is the same on any number of threads.
#[test]
fn threads() {
    let mut buffer = Buffer::new(7);
    let program = buffer.program(true);
    let mut all = String::new();
    for id in 16..23 {
        let Stretch { start, steps } = buffer.walk(&program, id);
        let registers = hartrace_etmv4::Registers { configr: 0x1800, ..etmv4::REGISTERS };
        let hartrace_etmv4::Registers { configr, idr0, idr1, idr2, .. } = registers;
        let options = etmv4::Options::default();
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut buffer.rng);
        buffer.write(id as u8, &trace);
        all += &lines(id as u8, &expected(&program, &steps).0);
        buffer.metadata += &format!(
            "[trace_{id}]\nformat: ETM4.2\ncore: ARMv8-A\nTRCCONFIGR: {configr:#x}\n\
             TRCIDR0: {idr0:#x}\nTRCIDR1: {idr1:#x}\nTRCIDR2: {idr2:#x}\nTRCIDR8: 0\n"
        );
    }
    let code = buffer.files[0].1.clone();
    let made = buffer.package("threads", "");
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges", "--threads", "3"])), all);
    // Not all of the code is known, so there are gaps, too.
    fs::write(made.0.join("code0.bin"), &code[..code.len() * 3 / 4]).unwrap();
    for emit in ["ranges", "elements", "blocks", "edges", "coverage", "json"] {
        let on = |threads: &str| {
            let Output { stdout, stderr, status } =
                decode(&made.0, &["--emit", emit, "--threads", threads]);
            (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status)
        };
        let one = on("1");
        assert!(one.1.contains("gap") || one.1.contains("stretches"), "{emit}: {}", one.1);
        assert!(one.0.lines().count() > 10, "{emit}");
        assert_eq!(one, on("2"), "{emit}");
        assert_eq!(one, on("16"), "{emit}");
    }
}

/// An ETMv4 that gets a return stack, at a time; its number stays.
#[test]
fn configurations_change_at_a_time() {
    let mut buffer = Buffer::new(6);
    let program = buffer.program(true);
    let mut all = String::new();
    for (second, configr) in [(1, 0x800), (2, 0x1800), (3, 0x800)] {
        let registers = hartrace_etmv4::Registers { configr, ..etmv4::REGISTERS };
        let Stretch { start, steps } = buffer.walk(&program, second);
        let options = etmv4::Options::default();
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut buffer.rng);
        buffer.write(16, &trace);
        all += &lines(16, &expected(&program, &steps).0);
    }
    let hartrace_etmv4::Registers { idr0, idr1, idr2, .. } = etmv4::REGISTERS;
    buffer.metadata += &format!(
        "[trace_16]\nformat: ETM4.2\ncore: ARMv8-A\nTRCCONFIGR: 0x800\nTRCIDR0: {idr0:#x}\n\
         TRCIDR1: {idr1:#x}\nTRCIDR2: {idr2:#x}\nTRCIDR8: 0\n"
    );
    let log = format!(
        "{} define_trace state=START id=16 source=trace_16 trcconfigr=0x1800\n\
         {} define_trace state=START id=16 source=trace_16 trcconfigr=0x800\n",
        2 << 20,
        3 << 20
    );
    let made = buffer.package("configurations", &log);
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), all);
    // Without the log it is wrong: targets of returns come from the return stack.
    fs::write(made.0.join("log"), "").unwrap();
    let output = decode(&made.0, &["--emit", "ranges"]);
    assert_ne!(String::from_utf8_lossy(&output.stdout), all);
}
