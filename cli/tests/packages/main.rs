//! Trace packages through the command line: a random program, traced by the model, with everything that a
//! package can hold.

mod define;
mod faults;
mod program;

use fastrand::Rng;
use hartrace_encap::coresight::{Formatter, TraceId};
use hartrace_golden::arm::{Expected, Program, Step, etmv4, expected};
use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Nothing names the log: it has the usual name.
const CONTENTS: &str = "[trace]\nmetadata=trace.ini\nbuffer0=t.bin\n\
                        [dump1]\nfile=code.bin\naddress=";

/// A folder for temporary files, which is removed at the end.
struct Made(PathBuf);

impl Made {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("hartrace-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A package, and what must be decoded from it. The code is in memory, but for the second half, which is
/// a library.
fn package(name: &str, seed: u64) -> (Made, String) {
    let (made, _, ranges) = package_of(name, seed, true);
    (made, ranges)
}

/// The same, of A64 or of A32 and T32, with the program.
fn package_of(name: &str, seed: u64, wide: bool) -> (Made, Program, String) {
    let mut rng = Rng::with_seed(seed);
    // Some walks leave the program early.
    let (program, start, steps): (Program, usize, Vec<Step>) = loop {
        let program = Program::random(&mut rng, 300, wide);
        let (start, steps) = program.walk(&mut rng, 2000);
        if expected(&program, &steps).0.len() > 200 {
            break (program, start, steps);
        }
    };
    let registers = hartrace_etmv4::Registers { configr: 0x800, ..etmv4::REGISTERS };
    let hartrace_etmv4::Registers { configr, idr0, idr1, idr2, .. } = registers;
    let options = etmv4::Options::default();
    let trace = etmv4::encode(&registers.config(), &options, &program, start, &steps, &mut rng);
    let mut frames = Vec::new();
    let mut formatter = Formatter::new();
    let id = TraceId::new(16).unwrap();
    formatter.write(id, &trace, &mut |frame| frames.extend_from_slice(frame));
    formatter.finish(&mut |frame| frames.extend_from_slice(frame));
    // As if the buffer had wrapped around.
    let oldest = frames.len() / 32 * 16;
    frames.rotate_right(oldest);
    let made = Made::new(name);
    let half = program.bytes.len() / 8 * 4;
    let library = program.base + half as u64;
    let (base, (low, high)) = (program.base, program.bytes.split_at(half));
    let metadata = format!(
        "[buffer]\nformat: coresight\nwrite_pointer: {oldest}\nwrapped: 1\n\
         [trace_16]\nformat: ETM4.2\nTRCCONFIGR: {configr:#x}\nTRCIDR0: {idr0:#x}\n\
         TRCIDR1: {idr1:#x}\nTRCIDR2: {idr2:#x}\nTRCIDR8: 0\ncore: ARMv8-A\n\
         context_id_holds: tid\n"
    );
    // Only its end is given, which comes after that of the trace.
    let last = 1u64 << 62;
    let log = format!(
        "{last} declare_library state=END pid=0 base_address={library:#x} image_file=library.bin\n"
    );
    let files = [
        ("contents.ini", format!("{CONTENTS}{base:#x}\n").into_bytes()),
        ("trace.ini", metadata.into_bytes()),
        ("t.bin", frames),
        ("code.bin", low.to_vec()),
        ("library.bin", high.to_vec()),
        ("system-event-log", log.into_bytes()),
    ];
    for (file, content) in files {
        fs::write(made.0.join(file), content).unwrap();
    }
    let (ranges, _) = expected(&program, &steps);
    (made, program, lines(16, &ranges))
}

/// Ranges as they are printed.
fn lines(id: u8, ranges: &[Expected]) -> String {
    assert!(ranges.len() > 20, "hardly anything is expected");
    let line =
        |(start, end, count, _): &Expected| format!("{id:02x}\t{start:x}\t{end:x}\t{count}\n");
    ranges.iter().map(line).collect()
}

fn decode(path: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    command.arg("decode").arg("--snapshot").arg(path).args(more).output().unwrap()
}

#[track_caller]
fn clean(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn folders_and_archives() {
    let (made, ranges) = package("package", 1);
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), ranges);
    // No block restarts decoding, so this changes nothing.
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges", "--frames", "reset"])), ranges);
    let archive = made.0.join("package.zip");
    let mut zip = ZipWriter::new(File::create(&archive).unwrap());
    for file in
        ["contents.ini", "trace.ini", "t.bin", "code.bin", "library.bin", "system-event-log"]
    {
        zip.start_file(file, SimpleFileOptions::default()).unwrap();
        zip.write_all(&fs::read(made.0.join(file)).unwrap()).unwrap();
    }
    zip.finish().unwrap();
    assert_eq!(clean(&decode(&archive, &["--emit", "ranges"])), ranges);
    // Its contents show what it is. Other commands do not read it, and say so.
    for path in [&made.0, &archive] {
        let run = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
            command.args(words).arg(path).output().unwrap()
        };
        assert_eq!(clean(&run(&["decode", "--emit", "ranges"])), ranges);
        let output = run(&["stats"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("package of CoreSight trace"), "{message}");
    }
    fs::write(&archive, b"PK no archive").unwrap();
    let output = decode(&archive, &["--emit", "ranges"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && message.contains("package.zip"), "{message}");
}

#[test]
fn logs_of_events() {
    let (made, ranges) = package("events", 2);
    // Without the library there are gaps, and what is decoded is right.
    let log = made.0.join("system-event-log");
    let kept = fs::read_to_string(&log).unwrap();
    fs::write(&log, "").unwrap();
    let output = decode(&made.0, &["--emit", "ranges"]);
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "gaps");
    assert!(found.lines().count() < ranges.lines().count());
    assert_ne!(found, "");
    // The log of the command line counts, and images come from the package.
    let other = made.0.join("other.log");
    fs::write(&other, &kept).unwrap();
    let events = ["--emit", "ranges", "--events", other.to_str().unwrap()];
    assert_eq!(clean(&decode(&made.0, &events)), ranges);
    fs::write(&other, "5 dance").unwrap();
    let output = decode(&made.0, &events);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("other.log:1: event dance"), "{message}");
    // Nothing is assumed of contexts.
    fs::write(&other, &kept).unwrap();
    let metadata = fs::read_to_string(made.0.join("trace.ini")).unwrap();
    fs::write(made.0.join("trace.ini"), metadata.replace("context_id_holds: tid\n", "")).unwrap();
    let output = decode(&made.0, &events);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("--context-id"), "{message}");
    let told = [&events[..], &["--context-id", "asid+tid"]].concat();
    assert_eq!(clean(&decode(&made.0, &told)), ranges);
    // Nor of the core.
    fs::write(made.0.join("trace.ini"), metadata.replace("core: ARMv8-A\n", "")).unwrap();
    let output = decode(&made.0, &events);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && message.contains("\"core\""), "{message}");
}
