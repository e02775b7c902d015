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

/// A test on a buffer.
type CaseTest = fn(&Case) -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let mut trials = vec![
        Trial::test("what_is_missing_is_named", what_is_missing_is_named),
        Trial::test("nothing_outside_is_read", nothing_outside_is_read),
    ];
    let names = ["every_snapshot", "a_buffer_by_name", "sinks"];
    match env::var_os("HARTRACE_DATA").map(|data| Path::new(&data).join("coresight")) {
        None => {
            let ignored = |name| Trial::test(name, || Ok(())).with_ignored_flag(true);
            trials.extend(names.map(ignored));
        }
        Some(data) => {
            let tests: [Test; 2] = [buffers, sinks];
            for (name, test) in names[1..].iter().zip(tests) {
                let data = data.clone();
                trials.push(Trial::test(*name, move || test(&data)));
            }
            trials.extend(every_snapshot(&data));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

/// Every packet, element and range of every buffer of every snapshot.
fn every_snapshot(data: &Path) -> Vec<Trial> {
    let summary = fs::read_to_string(data.join("SUMMARY.tsv")).expect("SUMMARY.tsv");
    let mut trials = Vec::new();
    for line in summary.lines().skip(1) {
        let [group, name, buffer, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let case = Case {
            folder: data.join(group).join(name),
            buffer: buffer.to_owned(),
            // O2.
            others: if name == "TC2" { &["10", "11", "12", "20"] } else { &[] },
        };
        let tests: &[(&str, CaseTest)] = match (name, buffer) {
            ("juno_r1_1" | "infrastructure", "ETB_1") => &[("no_trace", no_trace)],
            _ => &[("packets", packets), ("elements", elements), ("ranges", ranges)],
        };
        for (what, test) in tests {
            let (case, test) = (case.clone(), *test);
            trials.push(Trial::test(format!("{what}_{name}_{buffer}"), move || test(&case)));
        }
    }
    assert!(trials.len() > 40, "{}", trials.len());
    trials
}

/// A buffer of a snapshot.
#[derive(Clone)]
struct Case {
    folder: PathBuf,
    buffer: String,
    /// Sources of other protocols, which are not read.
    others: &'static [&'static str],
}

impl Case {
    /// What OpenCSD reports.
    fn report(&self, what: &str) -> Result<String, Failed> {
        let several = self.folder.join(format!("oracle/{what}.{}.txt.gz", self.buffer));
        let one = self.folder.join(format!("oracle/{what}.txt.gz"));
        text(if several.exists() { several } else { one })
    }

    /// Its records of our protocols.
    fn records<'r>(&self, report: &'r str) -> Vec<(&'r str, &'r str, &'r str)> {
        let mut all = records(report);
        all.retain(|(_, id, _)| !self.others.contains(id));
        all
    }

    fn decode(&self, emit: &str) -> Result<Output, Failed> {
        decode(&self.folder, &["--buffer", &self.buffer, "--emit", emit])
    }
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

fn stdout(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn equal(expected: &[String], found: &[String]) -> Result<(), Failed> {
    if let Some((a, b)) = expected.iter().zip(found).find(|(a, b)| a != b) {
        return Err(format!("{b:?}, not {a:?}").into());
    }
    match expected.len() == found.len() {
        true => Ok(()),
        false => Err(format!("{} lines, not {}", found.len(), expected.len()).into()),
    }
}

fn packets(case: &Case) -> Result<(), Failed> {
    let report = case.report("packets")?;
    let mut expected = Vec::new();
    for (index, id, rest) in case.records(&report) {
        let (bytes, name) = rest.split_once("];").ok_or("no bytes")?;
        let bytes = bytes.trim_start_matches('[').replace("0x", "").replace(' ', "");
        let name = name.trim().split([' ', ':']).next().unwrap_or_default();
        expected.push(format!("{index}\t{id:0>2}\t{bytes}\t{name}"));
    }
    equal(&expected, &stdout(&case.decode("packets")?))
}

/// Ours are sorted by source, and have faults, which OpenCSD reports elsewhere.
fn elements(case: &Case) -> Result<(), Failed> {
    let report = case.report("elements")?;
    let line = |(index, id, rest): (&str, &str, &str)| {
        let element = rest.strip_prefix("OCSD_GEN_TRC_ELEM_").unwrap_or(rest);
        format!("{index}\t{id:0>2}\t{element}")
    };
    let mut expected: Vec<String> = case.records(&report).into_iter().map(line).collect();
    let id = |line: &str| line.split('\t').nth(1).unwrap_or_default().to_owned();
    expected.sort_by_key(|line| id(line));
    let mut found = stdout(&case.decode("elements")?);
    found.retain(|line| !line.contains("\tFAULT("));
    // A source without a byte of trace has only an end.
    let there = |line: &String| found.iter().any(|other| id(other) == id(line));
    expected.retain(|line| !line.contains("\tEO_TRACE(") || there(line));
    equal(&expected, &found)
}

fn ranges(case: &Case) -> Result<(), Failed> {
    let report = case.report("elements")?;
    let mut expected = Vec::new();
    for (_, id, rest) in case.records(&report) {
        let Some((_, range)) = rest.split_once("exec range=0x") else { continue };
        let (start, rest) = range.split_once(":[0x").ok_or("no end")?;
        let (end, rest) = rest.split_once("] num_i(").ok_or("no number")?;
        let (count, _) = rest.split_once(')').ok_or("no number")?;
        expected.push(format!("{id:0>2}\t{start}\t{end}\t{count}"));
    }
    expected.sort_by_key(|line| line[..2].to_owned());
    equal(&expected, &stdout(&case.decode("ranges")?))
}

/// A buffer with nothing but other protocols.
fn no_trace(case: &Case) -> Result<(), Failed> {
    let output = case.decode("packets")?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(3) && message.contains("no ETMv4, ETE or PTM trace") {
        return Ok(());
    }
    Err(format!("{}: {message}", output.status).into())
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
