//! Recordings of perf through the command line: random programs, traced by the models, in files that a
//! generator wrote byte by byte. What is decoded is what was executed.

mod faults;
mod riscv;

use fastrand::Rng;
use hartrace_encap::coresight::{Formatter, TraceId};
use hartrace_golden::arm::{Expected, Ids, Program, Step, etmv4, expected, ptm};
use hartrace_tests::perf::{ETE, ETMV3, ETMV4, Map, Stamp, Writer, coresight_info};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

/// A folder for temporary files, which is removed at the end.
struct Made(PathBuf);

impl Made {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("hartrace-perf-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Writes a file; returns its path.
    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn decode(path: &str, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    command.env("HOME", Path::new(path).parent().unwrap());
    command.args(["decode", "--perf", path]).args(more).output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn clean(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", message(output));
    printed(output)
}

/// Ranges as they are printed.
fn lines(id: u8, ranges: &[Expected]) -> String {
    assert!(ranges.len() > 20, "hardly anything is expected");
    let line =
        |(start, end, count, _): &Expected| format!("{id:02x}\t{start:x}\t{end:x}\t{count}\n");
    ranges.iter().map(line).collect()
}

/// Timestamps and context identifiers are on.
const ETM: hartrace_etmv4::Registers =
    hartrace_etmv4::Registers { configr: 0x840, ..etmv4::REGISTERS };

/// What a core executed in a process, and its trace.
struct Ran {
    trace: Vec<u8>,
    ranges: Vec<Expected>,
}

/// Runs a program on a core with an ETMv4 or ETE.
fn run(registers: &hartrace_etmv4::Registers, ids: Ids, program: &Program, rng: &mut Rng) -> Ran {
    // Some walks end soon.
    let walks = std::iter::repeat_with(|| program.walk(rng, 800));
    let long = |(_, steps): &(usize, Vec<Step>)| expected(program, steps).0.len() > 20;
    let (start, steps) = walks.take(100).find(long).expect("a long walk");
    let mut unit =
        etmv4::Unit::new(&registers.config(), &etmv4::Options::default(), Some(rng.fork()));
    // Before the start, so that the first packets have it.
    unit.context(ids);
    unit.start(program.place(start));
    for step in &steps {
        match *step {
            Step::Executed(walked) => unit.executed(&program.executed(&walked)),
            Step::Exception { before, number } => {
                unit.exception(number, program.place(before), Some(program.place(program.handler)));
            }
            Step::Time(time) => unit.timestamp(time),
            _ => unreachable!("walks have nothing else"),
        }
    }
    Ran { trace: unit.finish().unwrap(), ranges: expected(program, &steps).0 }
}

/// Programs at the same address.
fn programs<const N: usize>(rng: &mut Rng, wide: bool) -> [Program; N] {
    let first = Program::random(rng, 300, wide);
    let base = first.base;
    let mut first = Some(first);
    std::array::from_fn(|_| match first.take() {
        Some(first) => first,
        None => Program::random(rng, 300, wide).at(base),
    })
}

/// Where the code of a program starts in its file.
const PGOFF: u64 = 0x200;

/// The build identifier of all files.
const ID: [u8; 20] = *b"\xa0\xa1\xa23456789abcdefghij";

/// The file of a program: an ELF file that is linked for another address. Four bytes must follow an
/// instruction (O16).
fn file(program: &Program) -> Vec<u8> {
    let note = [&[4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", &ID].concat();
    let code = [&program.bytes[..], &[0; 4]].concat();
    let mut file = vec![0; PGOFF as usize];
    file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
    let mut put = |at: usize, value: u64, len: usize| {
        file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    // Kind, machine, sizes and number of headers.
    for (at, value) in [(16, 3), (18, 183), (52, 64), (54, 56), (56, 2), (58, 64)] {
        put(at, value, 2);
    }
    put(20, 1, 4);
    put(32, 64, 8);
    let segments = [(1, PGOFF, 0x4_0000, code.len()), (4, 0xb0, 0, note.len())];
    for ((kind, offset, address, size), at) in segments.into_iter().zip([64, 64 + 56]) {
        put(at, kind, 4);
        for (field, value) in
            [(8, offset), (16, address), (32, size as u64), (40, size as u64), (48, 4)]
        {
            put(at + field, value, 8);
        }
    }
    file[0xb0..0xb0 + note.len()].copy_from_slice(&note);
    [file, code].concat()
}

fn map<'a>(pid: u32, program: &Program, path: &'a str) -> Map<'a> {
    let length = program.bytes.len() as u64 + 4;
    Map { pid, tid: pid, address: program.base, length, pgoff: PGOFF, path }
}

fn stamp(time: u64, cpu: u32) -> Stamp {
    Stamp { time, cpu, pid: 1, tid: 1 }
}

/// Frames with the trace of several sources, which take turns.
fn frames(traces: &[(u8, &[u8])]) -> Vec<u8> {
    let mut frames = Vec::new();
    let mut formatter = Formatter::new();
    let mut chunks: Vec<_> = traces.iter().map(|(id, trace)| (*id, trace.chunks(37))).collect();
    loop {
        let mut any = false;
        for (id, chunks) in &mut chunks {
            if let Some(chunk) = chunks.next() {
                any = true;
                let id = TraceId::new(*id).unwrap();
                formatter.write(id, chunk, &mut |frame| frames.extend_from_slice(frame));
            }
        }
        if !any {
            formatter.finish(&mut |frame| frames.extend_from_slice(frame));
            return frames;
        }
    }
}

/// The registers of a unit, in the order of AUXTRACE_INFO.
fn words(registers: &hartrace_etmv4::Registers, trace_id: u64) -> Vec<u64> {
    let hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch } = *registers;
    let mut words: Vec<u64> = [configr, 0, idr0, idr1, idr2, idr8, 0xcc].map(u64::from).to_vec();
    words[1] = trace_id;
    words.extend(devarch.map(u64::from));
    words
}

/// Two CPUs run different programs at the same address, in two processes; frames of both are in the buffer of
/// the first, and later in that of the second.
#[test]
fn two_cpus_in_frames() {
    for (version, seed) in [(0, 1), (1, 2), (2, 3)] {
        let made = Made::new(&format!("frames-{version}"));
        let mut rng = Rng::with_seed(seed);
        let [one, two] = programs(&mut rng, true);
        let [a, b] =
            [("a", &one), ("b", &two)].map(|(name, program)| made.write(name, &file(program)));
        let of = |pid| Ids { context: pid, vmid: 0 };
        let first = [run(&ETM, of(100), &one, &mut rng), run(&ETM, of(200), &two, &mut rng)];
        let later = [run(&ETM, of(200), &two, &mut rng), run(&ETM, of(101), &one, &mut rng)];
        // With records of their own for the numbers, the register has another one that is not used.
        let register = |id: u64| if version == 2 { 1 << 31 | 0x7f } else { id };
        let units =
            [(ETMV4, 0, words(&ETM, register(0x11))), (ETMV4, 2, words(&ETM, register(0x12)))];
        let mut writer = Writer::new();
        writer.arch("aarch64").info(3, &coresight_info(version, false, &units));
        writer.mmap2(stamp(0, 0), map(100, &one, &a), None).mmap(stamp(0, 0), map(200, &two, &b));
        writer.fork(Stamp { pid: 100, tid: 100, ..stamp(5, 0) }, 100, 101);
        if version == 2 {
            writer.hw_id(stamp(6, 0), 0x11).hw_id(stamp(7, 2), 1 << 56 | 0x77 << 8 | 0x12);
        }
        let buffers = [&first, &later]
            .map(|[at_0, at_2]| frames(&[(0x11, &at_0.trace[..]), (0x12, &at_2.trace[..])]));
        writer.aux(stamp(10, 0), 0, buffers[0].len() as u64, 0);
        writer.aux(stamp(20, 2), 0x1000, buffers[1].len() as u64, 0);
        writer.auxtrace(0, 0, 0, &buffers[0]).auxtrace(2, 0, 0x1000, &buffers[1]);
        // The buffer of the second comes later, whatever its offset.
        let on = |cpu: usize| [&first[cpu].ranges[..], &later[cpu].ranges].concat();
        let expected = lines(0x11, &on(0)) + &lines(0x12, &on(1));
        for (name, bytes) in [("file.data", writer.file()), ("pipe.data", writer.pipe())] {
            let path = made.write(name, &bytes);
            assert_eq!(clean(&decode(&path, &["--emit", "ranges"])), expected, "{version} {name}");
        }
    }
}

/// The same number on two sinks stands for two CPUs.
#[test]
fn numbers_belong_to_sinks() {
    let made = Made::new("sinks");
    let mut rng = Rng::with_seed(4);
    let [one, two] = programs(&mut rng, true);
    let [a, b] = [("a", &one), ("b", &two)].map(|(name, program)| made.write(name, &file(program)));
    let ran = [(100, &one), (200, &two)]
        .map(|(context, program)| run(&ETM, Ids { context, vmid: 0 }, program, &mut rng));
    let units = [0, 1].map(|cpu| (ETMV4, cpu, words(&ETM, 1 << 31)));
    let mut writer = Writer::new();
    writer.info(3, &coresight_info(2, false, &units));
    writer.mmap(stamp(0, 0), map(100, &one, &a)).mmap(stamp(0, 0), map(200, &two, &b));
    for (ran, cpu) in ran.iter().zip(0..) {
        writer.hw_id(stamp(1, cpu), 1 << 56 | u64::from(cpu) << 8 | 0x10);
        let frames = frames(&[(0x10, &ran.trace[..])]);
        writer.auxtrace(cpu, 0, 0, &frames).aux(stamp(5, cpu), 0, frames.len() as u64, 0);
    }
    let path = made.write("perf.data", &writer.file());
    let expected: String = ran.iter().map(|ran| lines(0x10, &ran.ranges)).collect();
    assert_eq!(clean(&decode(&path, &["--emit", "ranges"])), expected);
    // Tables have a heading for each.
    let edges = clean(&decode(&path, &["--emit", "edges"]));
    assert!(edges.contains("source 0") && edges.contains("source 1"), "{edges}");
}

/// TRBE: the bytes of one source, without frames.
#[test]
fn ete_without_frames() {
    let made = Made::new("ete");
    let mut rng = Rng::with_seed(5);
    let [program] = programs(&mut rng, true);
    let path = made.write("lib/a", &file(&program));
    let ete = hartrace_etmv4::Registers { devarch: Some(0x4770_5a13), ..ETM };
    let ran = run(&ete, Ids { context: 100, vmid: 0 }, &program, &mut rng);
    let mut writer = Writer::new();
    writer.info(3, &coresight_info(1, false, &[(ETE, 3, words(&ete, 0x7f))]));
    writer.mmap(stamp(0, 0), map(100, &program, &path));
    writer.auxtrace(3, 0, 0, &ran.trace).aux(stamp(9, 3), 0, ran.trace.len() as u64, 0x100);
    let data = made.write("perf.data", &writer.file());
    let expected = lines(0x7f, &ran.ranges);
    assert_eq!(clean(&decode(&data, &["--emit", "ranges"])), expected);
    // Every address, and no more.
    let addresses: Vec<u64> = clean(&decode(&data, &["--emit", "pcs"]))
        .lines()
        .map(|line| u64::from_str_radix(line.trim_start_matches("0x"), 16).unwrap())
        .collect();
    let executed: u64 = ran.ranges.iter().map(|range| u64::from(range.2)).sum();
    assert_eq!(addresses.len() as u64, executed);
    assert_eq!(addresses.first(), ran.ranges.first().map(|(start, ..)| start));
}

/// Trace without context identifiers, in the buffer of a thread.
#[test]
fn threads_without_contexts() {
    let made = Made::new("thread");
    let mut rng = Rng::with_seed(6);
    let [one, two] = programs(&mut rng, true);
    let [a, b] = [("a", &one), ("b", &two)].map(|(name, program)| made.write(name, &file(program)));
    let etm = hartrace_etmv4::Registers { configr: 0x800, idr2: 0x1000_0008, ..etmv4::REGISTERS };
    let ran = [&one, &two].map(|program| run(&etm, Ids::default(), program, &mut rng));
    let mut writer = Writer::new();
    writer.info(3, &coresight_info(1, false, &[(ETMV4, 0, words(&etm, 0x10))]));
    writer.mmap(stamp(0, 0), map(100, &one, &a)).mmap(stamp(0, 0), map(200, &two, &b));
    for (ran, tid) in ran.iter().zip([100, 200]) {
        let frames = frames(&[(0x10, &ran.trace[..])]);
        writer.auxtrace(u32::MAX, tid, 0, &frames);
        writer.aux(Stamp { tid, ..stamp(tid.into(), 0) }, 0, frames.len() as u64, 0);
    }
    let path = made.write("perf.data", &writer.file());
    let expected: String = ran.iter().map(|ran| lines(0x10, &ran.ranges)).collect();
    assert_eq!(clean(&decode(&path, &["--emit", "ranges"])), expected);
}

/// A kernel in EL2 writes the thread to another register, which is traced as the virtual machine.
#[test]
fn contexts_of_el2() {
    let made = Made::new("vmid");
    let mut rng = Rng::with_seed(7);
    let [one, two] = programs(&mut rng, true);
    let [a, b] = [("a", &one), ("b", &two)].map(|(name, program)| made.write(name, &file(program)));
    // VMID of 32 bits, with VMIDOPT.
    let etm = hartrace_etmv4::Registers { configr: 0x8880, idr2: 0x1000_1008, ..etmv4::REGISTERS };
    let ran = [(100, &one), (70_000, &two)]
        .map(|(vmid, program)| run(&etm, Ids { context: 0, vmid }, program, &mut rng));
    let mut writer = Writer::new();
    writer.info(3, &coresight_info(1, false, &[(ETMV4, 0, words(&etm, 0x10))]));
    writer.mmap(stamp(0, 0), map(100, &one, &a)).mmap(stamp(0, 0), map(70_000, &two, &b));
    let frames = ran.each_ref().map(|ran| frames(&[(0x10, &ran.trace[..])]));
    let sizes = frames.each_ref().map(|frames| frames.len() as u64);
    writer.auxtrace(0, 0, 0, &frames.concat());
    writer.aux(stamp(1, 0), 0, sizes[0], 0).aux(stamp(2, 0), sizes[0], sizes[1], 0);
    let path = made.write("perf.data", &writer.file());
    let expected: String = ran.iter().map(|ran| lines(0x10, &ran.ranges)).collect();
    assert_eq!(clean(&decode(&path, &["--emit", "ranges"])), expected);
}

/// A process maps another file at the same address between two pieces.
#[test]
fn code_changes_between_pieces() {
    let made = Made::new("changes");
    let mut rng = Rng::with_seed(8);
    let [one, two] = programs(&mut rng, true);
    let [a, b] = [("a", &one), ("b", &two)].map(|(name, program)| made.write(name, &file(program)));
    let ran =
        [&one, &two].map(|program| run(&ETM, Ids { context: 100, vmid: 0 }, program, &mut rng));
    let frames = ran.each_ref().map(|ran| frames(&[(0x10, &ran.trace[..])]));
    let sizes = frames.each_ref().map(|frames| frames.len() as u64);
    let write = |second: u64| {
        let mut writer = Writer::new();
        writer.info(3, &coresight_info(1, false, &[(ETMV4, 0, words(&ETM, 0x10))]));
        writer.mmap(stamp(0, 0), map(100, &one, &a));
        writer.mmap(stamp(second, 0), map(100, &two, &b)).exit(stamp(25, 0));
        writer.aux(stamp(10, 0), 0, sizes[0], 0).aux(stamp(30, 0), sizes[0], sizes[1], 0);
        // Copies end anywhere.
        let all = frames.concat();
        let (start, end) = all.split_at(72);
        writer.auxtrace(0, 0, 0, start).auxtrace(0, 0, 72, end);
        made.write("perf.data", &writer.file())
    };
    let expected: String = ran.iter().map(|ran| lines(0x10, &ran.ranges)).collect();
    assert_eq!(clean(&decode(&write(20), &["--emit", "ranges"])), expected);
    // At another time it cannot be right.
    for wrong in [5, 40] {
        assert_ne!(printed(&decode(&write(wrong), &["--emit", "ranges"])), expected, "{wrong}");
    }
}

/// PTM of a 32-bit machine, whose context identifiers have the thread above an ASID.
#[test]
fn ptm_of_a_32_bit_machine() {
    let made = Made::new("ptm");
    let mut rng = Rng::with_seed(9);
    let [program] = programs(&mut rng, false);
    let code = made.write("a", &file(&program));
    // Timestamps, and context identifiers of four bytes.
    let registers = hartrace_ptm::Registers { cr: 0x1000_c000, ..ptm::REGISTERS };
    let config = registers.config();
    let options = ptm::Options { period: 100_000, ..ptm::Options::default() };
    let (start, steps) = program.walk(&mut rng, 800);
    let mut trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
    // The context, after A-Sync, address and information.
    assert_eq!((trace[5], trace[6], &trace[12..16]), (0x80, 0x08, &[0; 4][..]));
    trace[12..16].copy_from_slice(&(100u32 << 8 | 0x42).to_le_bytes());
    let words = [registers.cr, 0x21, registers.ccer, registers.idr].map(u64::from).to_vec();
    let frames = frames(&[(0x21, &trace[..])]);
    let mut writer = Writer::new();
    writer.arch("armv7l").info(3, &coresight_info(0, false, &[(ETMV3, 1, words)]));
    writer.mmap(stamp(0, 0), map(100, &program, &code));
    writer.auxtrace(1, 0, 0, &frames).aux(stamp(9, 1), 0, frames.len() as u64, 0);
    let path = made.write("perf.data", &writer.file());
    let expected = lines(0x21, &expected(&program, &steps).0);
    assert_eq!(clean(&decode(&path, &["--emit", "ranges"])), expected);
}

/// Files are found on another machine: by option, below a folder, by build identifier.
#[test]
fn files_elsewhere() {
    let made = Made::new("files");
    let mut rng = Rng::with_seed(10);
    let [program] = programs(&mut rng, true);
    let code = file(&program);
    let ran = run(&ETM, Ids { context: 100, vmid: 0 }, &program, &mut rng);
    let frames = frames(&[(0x10, &ran.trace[..])]);
    let mut writer = Writer::new();
    writer.info(3, &coresight_info(1, false, &[(ETMV4, 0, words(&ETM, 0x10))]));
    writer.mmap2(stamp(0, 0), map(100, &program, "/target/bin/prog"), Some(&ID));
    writer.auxtrace(0, 0, 0, &frames).aux(stamp(9, 0), 0, frames.len() as u64, 0);
    let data = made.write("perf.data", &writer.file());
    let expected = lines(0x10, &ran.ranges);
    let ranges = |more: &[&str]| decode(&data, &[&["--emit", "ranges"], more].concat());
    let missing = ranges(&[]);
    assert_eq!(missing.status.code(), Some(1), "{}", message(&missing));
    assert!(message(&missing).contains("/target/bin/prog"), "{}", message(&missing));
    let given = made.write("here/prog", &code);
    assert_eq!(clean(&ranges(&["--elf", &given])), expected);
    // A file of the same name that is another one.
    let mut wrong = code.clone();
    wrong[0xb0 + 16] ^= 1;
    made.write("root/target/bin/prog", &wrong);
    let root = made.0.join("root");
    let output = ranges(&["--sysroot", root.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", message(&output));
    assert!(message(&output).contains("build identifier"), "{}", message(&output));
    made.write("root/target/bin/prog", &code);
    assert_eq!(clean(&ranges(&["--sysroot", root.to_str().unwrap()])), expected);
    let digits: String = ID[1..].iter().map(|byte| format!("{byte:02x}")).collect();
    made.write(&format!("ids/.build-id/a0/{digits}/elf"), &code);
    let ids = made.0.join("ids");
    assert_eq!(clean(&ranges(&["--build-ids", ids.to_str().unwrap()])), expected);
    // Where perf keeps them.
    made.write(&format!(".debug/.build-id/a0/{digits}/elf"), &code);
    assert_eq!(clean(&ranges(&[])), expected);
}
