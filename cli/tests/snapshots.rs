//! Snapshots of other projects through the command line, compared with the output of OpenCSD.
//!
//! Needs `HARTRACE_DATA`, the folder that holds `coresight`; shows as ignored without it.

use flate2::read::GzDecoder;
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, process};

/// A test on the folder of the data.
type Test = fn(&Path) -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let mut trials = vec![
        Trial::test("what_is_missing_is_named", what_is_missing_is_named),
        Trial::test("nothing_outside_is_read", nothing_outside_is_read),
    ];
    let names = ["packets_of_several_sources", "ranges", "elements", "a_buffer_by_name", "sinks"];
    let tests: [Test; 5] = [packets, ranges, elements, buffers, sinks];
    let data = env::var_os("HARTRACE_DATA").map(|data| Path::new(&data).join("coresight"));
    for (name, test) in names.into_iter().zip(tests) {
        trials.push(match data.clone() {
            Some(data) => Trial::test(name, move || test(&data)),
            None => Trial::test(name, || Ok(())).with_ignored_flag(true),
        });
    }
    libtest_mimic::run(&args, trials).exit();
}

fn decode(folder: &Path, more: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    Ok(command.arg("decode").arg("--snapshot").arg(folder).args(more).output()?)
}

fn text(path: PathBuf) -> Result<String, Failed> {
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// Position, source and the rest of every record.
fn records(report: &str) -> Vec<(&str, &str, &str)> {
    report.lines().filter_map(record).collect()
}

fn record(line: &str) -> Option<(&str, &str, &str)> {
    let (_, record) = line.split_once("Idx:")?;
    let (index, rest) = record.split_once("; ID:")?;
    let (id, rest) = rest.split_once(';')?;
    Some((index, id, rest.trim()))
}

fn equal(expected: &[String], output: &Output) -> Result<(), Failed> {
    let found = String::from_utf8_lossy(&output.stdout);
    let found: Vec<&str> = found.lines().collect();
    if expected.len() != found.len() || expected.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} lines, not {}\n{stderr}", found.len(), expected.len()).into());
    }
    match expected.iter().zip(&found).find(|(a, b)| a != *b) {
        Some((a, b)) => Err(format!("{b:?}, not {a:?}").into()),
        None => Ok(()),
    }
}

fn packets(data: &Path) -> Result<(), Failed> {
    let folder = data.join("etmv4/juno_r1_1");
    let report = text(folder.join("oracle/packets.ETB_0.txt.gz"))?;
    let mut expected = Vec::new();
    for (index, id, rest) in records(&report) {
        let (bytes, name) = rest.split_once("];").ok_or("no bytes")?;
        let bytes = bytes.trim_start_matches('[').replace("0x", "").replace(' ', "");
        let name = name.trim().split([' ', ':']).next().unwrap_or_default();
        expected.push(format!("{index}\t{id:0>2}\t{bytes}\t{name}"));
    }
    equal(&expected, &decode(&folder, &["--emit", "packets"])?)
}

fn ranges(data: &Path) -> Result<(), Failed> {
    let folder = data.join("ptm/trace_cov_a15");
    let report = text(folder.join("oracle/elements.txt.gz"))?;
    let mut expected = Vec::new();
    for (_, id, rest) in records(&report) {
        let Some((_, range)) = rest.split_once("exec range=0x") else { continue };
        let (start, rest) = range.split_once(":[0x").ok_or("no end")?;
        let (end, rest) = rest.split_once("] num_i(").ok_or("no number")?;
        let (count, _) = rest.split_once(')').ok_or("no number")?;
        expected.push(format!("{id:0>2}\t{start}\t{end}\t{count}"));
    }
    let output = decode(&folder, &["--emit", "ranges"])?;
    if output.status.code() != Some(0) {
        return Err(format!("{}, not a clean end", output.status).into());
    }
    equal(&expected, &output)
}

fn elements(data: &Path) -> Result<(), Failed> {
    let folder = data.join("ete/002-ack_test_scr");
    let report = text(folder.join("oracle/elements.txt.gz"))?;
    let line = |(index, id, rest): (&str, &str, &str)| {
        let element = rest.strip_prefix("OCSD_GEN_TRC_ELEM_").unwrap_or(rest);
        format!("{index}\t{id:0>2}\t{element}")
    };
    let expected: Vec<String> = records(&report).into_iter().map(line).collect();
    equal(&expected, &decode(&folder, &["--emit", "elements"])?)
}

fn buffers(data: &Path) -> Result<(), Failed> {
    let folder = data.join("ete/q_elem");
    let first = decode(&folder, &["--emit", "ranges"])?;
    let second = decode(&folder, &["--emit", "ranges", "--buffer", "ETB_2"])?;
    let other = decode(&folder, &["--emit", "ranges", "--buffer", "ETB_1"])?;
    assert_eq!(first.stdout, second.stdout);
    assert_ne!(first.stdout, other.stdout);
    let none = decode(&folder, &["--emit", "ranges", "--buffer", "ETB_3"])?;
    let message = String::from_utf8_lossy(&none.stderr).into_owned();
    assert_eq!(none.status.code(), Some(3), "{message}");
    assert!(
        message.contains("ETB_3") && message.contains("ETB_1, ETB_2")
            || message.contains("ETB_2, ETB_1"),
        "{message}"
    );
    Ok(())
}

/// Lines and tables of E-Trace for the traces of all three protocols: they must agree with OpenCSD's
/// ranges.
fn sinks(data: &Path) -> Result<(), Failed> {
    for folder in ["ptm/trace_cov_a15", "etmv4/test-file-mem-offsets", "ete/002-ack_test_scr"] {
        let folder = data.join(folder);
        let report = text(folder.join("oracle/elements.txt.gz"))?;
        let mut ranges = Vec::new();
        for (_, _, rest) in records(&report) {
            let Some((_, range)) = rest.split_once("exec range=0x") else { continue };
            let numbers: Vec<&str> = range.split([':', '[', 'x', ']', '(', ')']).collect();
            let hex = |text: &str| u64::from_str_radix(text, 16);
            let count: u64 = numbers[5].parse()?;
            ranges.push((hex(numbers[0])?, hex(numbers[3])?, count));
        }
        let instructions: u64 = ranges.iter().map(|range| range.2).sum();
        if instructions < 20 {
            return Err(format!("{}: hardly anything to compare", folder.display()).into());
        }
        let lines = |emit: &str| -> Result<Vec<String>, Failed> {
            let output = decode(&folder, &["--emit", emit])?;
            Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
        };
        let pcs = lines("pcs")?;
        assert_eq!(pcs.len() as u64, instructions, "{}", folder.display());
        let field = |line: &str, number| -> Result<u64, Failed> {
            let field = line.split_whitespace().nth(number).ok_or("no field")?;
            Ok(match field.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16)?,
                None => field.parse()?,
            })
        };
        let mut counted = 0;
        for line in lines("blocks")? {
            counted += field(&line, 2)?;
        }
        assert_eq!(counted, instructions, "{}", folder.display());
        let executed = |byte: u64| ranges.iter().any(|range| (range.0..range.1).contains(&byte));
        let covered = lines("coverage")?;
        let mut bytes = 0;
        for line in &covered[1..covered.len() - 1] {
            let (start, end) = (field(line, 0)?, field(line, 1)?);
            assert!((start..end).all(executed) && !executed(end), "{line}");
            bytes += end - start;
        }
        assert_eq!(field(&covered[covered.len() - 1], 1)?, bytes);
        assert!(ranges.iter().all(|range| bytes >= range.1 - range.0));
        // Every edge leaves the end of a range for the start of another one.
        let edges = lines("edges")?;
        assert!(edges.len() > 2, "{}", folder.display());
        for line in &edges[1..] {
            let (from, to) = (field(line, 0)?, field(line, 1)?);
            let leaves = ranges.iter().any(|range| (range.0..range.1).contains(&from));
            assert!(leaves && ranges.iter().any(|range| range.0 == to), "{line}");
        }
    }
    Ok(())
}

/// A snapshot in a folder for temporary files, which is removed at the end.
struct Made(PathBuf);

impl Made {
    fn new(name: &str, files: &[(&str, &str)]) -> Result<Self, Failed> {
        let folder = env::temp_dir().join(format!("hartrace-{name}-{}", process::id()));
        fs::create_dir_all(&folder)?;
        for (file, content) in files {
            fs::write(folder.join(file), content)?;
        }
        Ok(Self(folder))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const MAIN: &str =
    "[snapshot]\nversion=1\n[device_list]\na=core.ini\nb=etm.ini\n[trace]\nmetadata=trace.ini\n";
const CORE: &str = "[device]\nname=cpu\nclass=core\ntype=Cortex-A53\n";
const TRACE: &str = "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=t.bin\nformat=source_data\n\
                     [source_buffers]\netm=B\n[core_trace_sources]\ncpu=etm\n";
const ETM: &str = "[device]\nname=etm\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0\n\
                   TRCTRACEIDR=1\nTRCIDR0=0\nTRCIDR1=0x4100f400\n";

fn refused(folder: &Path, what: &str) -> Result<(), Failed> {
    let output = decode(folder, &["--emit", "packets"])?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(3) && message.contains(what) {
        return Ok(());
    }
    Err(format!("{}: {message}", output.status).into())
}

fn what_is_missing_is_named() -> Result<(), Failed> {
    let trace = ("trace.ini", TRACE);
    let files = [("snapshot.ini", MAIN), ("core.ini", CORE), ("etm.ini", ETM), trace];
    let made = Made::new("register", &files)?;
    refused(&made.0, "register TRCIDR2")?;
    fs::write(made.0.join("etm.ini"), format!("{ETM}TRCIDR2=0x488\nTRCIDR8=0\n"))?;
    refused(&made.0, "t.bin")?;
    // A stream without a synchronisation has no packets, and is not an error.
    fs::write(made.0.join("t.bin"), [1, 2, 3])?;
    let output = decode(&made.0, &["--emit", "packets"])?;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\t00\t010203\tI_INCOMPLETE_EOT\n");
    fs::write(made.0.join("trace.ini"), TRACE.replace("format=source_data", "format=new"))?;
    refused(&made.0, "format=new")?;
    fs::remove_file(made.0.join("snapshot.ini"))?;
    refused(&made.0, "snapshot.ini")
}

fn nothing_outside_is_read() -> Result<(), Failed> {
    let outside = MAIN.replace("core.ini", "../core.ini");
    let made = Made::new("outside", &[("snapshot.ini", &outside)])?;
    refused(&made.0, "not within the snapshot")?;
    fs::write(made.0.join("snapshot.ini"), MAIN.replace("core.ini", "/etc/hostname"))?;
    refused(&made.0, "not within the snapshot")
}
