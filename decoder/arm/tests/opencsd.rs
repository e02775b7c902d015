//! Compares snapshots of other projects with the output of OpenCSD: every packet and every element.
//!
//! Requires `HARTRACE_DATA`, the folder that holds `coresight`; shown as ignored without it.

use flate2::read::GzDecoder;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Memory, Ptm, Range, Record, Shown, StreamPos,
    list_etmv4, list_ptm,
};
use hartrace_capture::snapshot::{Format, Protocol, Snapshot, Source};
use hartrace_encap::coresight::Mode;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let args = Arguments::from_args();
    let trials = match env::var_os("HARTRACE_DATA") {
        Some(data) => trials(&Path::new(&data).join("coresight")),
        None => ["packets", "elements"]
            .map(|name| Trial::test(name, || Ok(())).with_ignored_flag(true))
            .into(),
    };
    libtest_mimic::run(&args, trials).exit();
}

fn trials(data: &Path) -> Vec<Trial> {
    let summary = fs::read_to_string(data.join("SUMMARY.tsv")).expect("SUMMARY.tsv");
    let mut trials = Vec::new();
    for line in summary.lines().skip(1) {
        let [group, name, buffer, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let folder = data.join(group).join(name);
        let buffer = buffer.to_owned();
        // It contains no protocol that we support.
        if only_others(&folder, &buffer) {
            continue;
        }
        let (f, b) = (folder.clone(), buffer.clone());
        trials.push(Trial::test(format!("packets_{name}_{buffer}"), move || packets(&f, &b)));
        trials.push(Trial::test(format!("elements_{name}_{buffer}"), move || {
            elements(&folder, &buffer)
        }));
    }
    trials
}

fn only_others(folder: &Path, buffer: &str) -> bool {
    let snapshot = Snapshot::open(folder).expect("a snapshot");
    let sources = snapshot.sources(buffer).expect("sources");
    sources.iter().all(|source| matches!(source.protocol, Protocol::Other(_)))
}

/// Whether a source of the report has a protocol that we do not support.
fn is_other(sources: &[Source<'_>], id: u8) -> bool {
    let ours = sources.iter().any(|s| s.id == id && !matches!(s.protocol, Protocol::Other(_)));
    !ours && sources.iter().any(|source| matches!(source.protocol, Protocol::Other(_)))
}

/// A report of OpenCSD for a buffer.
fn oracle(folder: &Path, what: &str, buffer: &str) -> Result<String, Failed> {
    let several: PathBuf = folder.join(format!("oracle/{what}.{buffer}.txt.gz"));
    let one = folder.join(format!("oracle/{what}.txt.gz"));
    let file = fs::File::open(if several.exists() { several } else { one })?;
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text)?;
    Ok(text)
}

/// Records of a report: position, number of the source, text. Messages have no line end, so a
/// record can follow on the same line.
fn records(report: &str) -> impl Iterator<Item = (u64, u8, &str)> {
    report.lines().filter_map(|line| {
        let record = line.get(line.find("Idx:")?..)?;
        let (index, rest) = record.strip_prefix("Idx:")?.split_once("; ID:")?;
        let (id, rest) = rest.split_once(';')?;
        Some((index.parse().ok()?, u8::from_str_radix(id, 16).ok()?, rest.trim_start()))
    })
}

fn open<'a>(
    snapshot: &'a Snapshot,
    buffer: &str,
) -> Result<(Capture, Vec<Source<'a>>, bool), Failed> {
    let buffer = snapshot.buffer(Some(buffer))?;
    let layout = match buffer.format {
        Format::Coresight => Layout::Frames(Mode::Aligned),
        Format::Dstream => Layout::Dstream(Mode::Fsync),
        Format::SourceData => Layout::Raw,
    };
    let capture = Capture::split(layout, &snapshot.bytes(buffer).read()?);
    let sources = snapshot.sources(&buffer.name)?;
    Ok((capture, sources, layout == Layout::Raw))
}

/// The streams of supported protocols, with their sources.
fn streams<'c, 's>(
    capture: &'c Capture,
    sources: &'c [Source<'s>],
    raw: bool,
) -> impl Iterator<Item = (&'c hartrace_arm_decoder::Stream, &'c Source<'s>)> {
    capture.streams.iter().filter_map(move |stream| {
        let source = sources.iter().find(|source| raw || source.id == stream.id)?;
        (!matches!(source.protocol, Protocol::Other(_))).then_some((stream, source))
    })
}

/// Checks that the lists are equal; reports the first difference.
fn equal(what: &str, expected: &[String], found: &[String]) -> Result<(), Failed> {
    if expected == found {
        return Ok(());
    }
    let differ = expected.iter().zip(found).position(|(a, b)| a != b);
    let at = differ.unwrap_or(expected.len().min(found.len()));
    let show = |list: &[String]| {
        let window = list.get(at.saturating_sub(3)..(at + 4).min(list.len())).unwrap_or_default();
        window.join("\n")
    };
    let (a, b) = (expected.len(), found.len());
    Err(format!(
        "{what}: {a} expected, {b} found, the first difference at {at}\nexpected:\n{}\nfound:\n{}",
        show(expected),
        show(found)
    )
    .into())
}

fn packets(folder: &Path, buffer: &str) -> Result<(), Failed> {
    let snapshot = Snapshot::open(folder)?;
    let (capture, sources, raw) = open(&snapshot, buffer)?;
    let mut all: Vec<(u64, String)> = Vec::new();
    let mut ids = Vec::new();
    for (stream, source) in streams(&capture, &sources, raw) {
        ids.push(stream.id);
        let list: Vec<Record> = match &source.protocol {
            Protocol::Etmv4(config) => list_etmv4(stream, config),
            Protocol::Ptm(config) => list_ptm(stream, config),
            Protocol::Other(_) => continue,
        };
        for record in list {
            let bytes: String =
                stream.bytes[record.bytes.clone()].iter().map(|b| format!("{b:02x}")).collect();
            let line = format!("{}\t{:02x}\t{bytes}\t{}", record.index, stream.id, record.name);
            all.push((record.order, line));
        }
    }
    all.sort_by_key(|(order, _)| *order);
    let found: Vec<String> = all.into_iter().map(|(_, line)| line).collect();
    let report = oracle(folder, "packets", buffer)?;
    let mut expected = Vec::new();
    for (index, id, rest) in records(&report) {
        if !ids.contains(&id) {
            if !is_other(&sources, id) {
                return Err(format!("no packets of source {id:#04x}").into());
            }
            continue;
        }
        let (bytes, name) = rest.split_once("];").ok_or("no bytes")?;
        let bytes = bytes.trim_start_matches('[').replace("0x", "").replace(' ', "");
        let name = name.trim().split([' ', ':']).next().unwrap_or_default();
        expected.push(format!("{index}\t{id:02x}\t{bytes}\t{name}"));
    }
    println!("{}: {} packets", folder.display(), found.len());
    equal("packets", &expected, &found)
}

#[derive(Default)]
struct Lines {
    all: Vec<String>,
    instructions: u64,
}

impl ElementSink for Lines {
    const GOES_ON: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.instructions += u64::from(range.count);
        self.all.push(format!("{} {}", at.byte, Shown::Range(range)));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        // Messages are separate from elements in the report.
        if !matches!(event, Event::Fault(_)) {
            self.all.push(format!("{} {}", at.byte, Shown::Event(&event)));
        }
    }
}

fn elements(folder: &Path, buffer: &str) -> Result<(), Failed> {
    let snapshot = Snapshot::open(folder)?;
    let (capture, sources, raw) = open(&snapshot, buffer)?;
    let report = oracle(folder, "elements", buffer)?;
    let mut expected: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for (index, id, rest) in records(&report) {
        let element = rest.strip_prefix("OCSD_GEN_TRC_ELEM_").ok_or("not an element")?;
        expected.entry(id).or_default().push(format!("{index} {element}"));
    }
    for (stream, source) in streams(&capture, &sources, raw) {
        let mut memory = Memory::new();
        let mut warnings = Vec::new();
        let core = source.core.ok_or("no core")?;
        for segment in snapshot.segments(core, &mut warnings)? {
            memory.add(segment.address, segment.bytes, segment.spaces);
        }
        let arch = source.core_kind()?.arch;
        let mut lines = Lines::default();
        match &source.protocol {
            Protocol::Etmv4(config) => {
                Etmv4::new(*config, arch, &memory).decode(stream, &mut lines);
            }
            Protocol::Ptm(config) => Ptm::new(*config, arch, &memory).decode(stream, &mut lines),
            Protocol::Other(_) => continue,
        }
        let what = format!("source {:#04x}", source.id);
        println!("{what}: {} elements, {} instructions", lines.all.len(), lines.instructions);
        let theirs = expected.remove(&source.id).unwrap_or_default();
        let ranges = |list: &[String]| -> Vec<String> {
            list.iter().filter(|line| line.contains(" INSTR_RANGE(")).cloned().collect()
        };
        equal(&format!("{what}: ranges"), &ranges(&theirs), &ranges(&lines.all))?;
        equal(&format!("{what}: elements"), &theirs, &lines.all)?;
    }
    // Sources without a byte of trace also have an end.
    expected.retain(|id, lines| !is_other(&sources, *id) && !lines[0].contains(" EO_TRACE("));
    match expected.is_empty() {
        true => Ok(()),
        false => Err(format!("no elements of sources {:x?}", expected.keys()).into()),
    }
}
