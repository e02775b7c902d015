//! The generated RTL of the named configurations, each for one hart into memory, is tracked: that
//! of one as text, to be read, and digests of the others. Errors for illegal configurations give
//! the reason.
//!
//! `HARTRACE_BLESS=1` rewrites text and digests.

use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{
    Encapsulation, Sink, Standard, TopConfig, header, manual, sources, top,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The configuration whose RTL is tracked as text; the README of its folder gives the reason.
const READ: &str = "full";

/// The digests of the other configurations.
const DIGESTS: &str = "digests.txt";

const HEADER: &str = "\
# Generated RTL of the named configurations that is not tracked as text: CRC-32, lines, file.
# `hartrace hdl --config NAME -o DIR` writes the RTL.
";

/// Files of a configuration, with the tracked text or digest of each.
type Files = BTreeMap<String, String>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl")
}

fn generated(encoder: &Config) -> Files {
    let config = TopConfig::of(encoder.clone());
    sources(&config).expect("named configurations are legal").into_iter().collect()
}

/// The texts of [`READ`].
fn tracked_texts() -> Files {
    let Ok(entries) = fs::read_dir(folder().join(READ)) else { return Files::new() };
    let read = entries.map(|entry| {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("text"))
    });
    read.collect()
}

/// The digests by configuration.
fn tracked_digests() -> BTreeMap<String, Files> {
    let text = fs::read_to_string(folder().join(DIGESTS)).unwrap_or_default();
    let mut all = BTreeMap::<String, Files>::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (digest, file) = line.rsplit_once(' ').expect("a digest and a file");
        let (config, file) = file.split_once('/').expect("a configuration and a file");
        all.entry(config.into()).or_default().insert(file.into(), digest.trim_end().into());
    }
    all
}

fn digest(text: &str) -> String {
    format!("{:08x} {:4}", crc32fast::hash(text.as_bytes()), text.lines().count())
}

fn digests(files: &Files) -> Files {
    files.iter().map(|(file, text)| (file.clone(), digest(text))).collect()
}

/// Rewrites the tracked files.
fn bless(all: &BTreeMap<String, Files>) {
    let _ = fs::remove_dir_all(folder().join(READ));
    fs::create_dir_all(folder().join(READ)).expect("a folder");
    for (file, text) in &all[READ] {
        fs::write(folder().join(READ).join(file), text).expect("written");
    }
    let mut list = HEADER.to_owned();
    for (config, files) in all.iter().filter(|(config, _)| *config != READ) {
        for (file, digest) in digests(files) {
            writeln!(list, "{digest} {config}/{file}").expect("a string");
        }
    }
    fs::write(folder().join(DIGESTS), list).expect("written");
}

/// Files that differ from the tracked ones, one per line.
fn differences(config: &str, tracked: &Files, now: &Files) -> String {
    let mut lines = String::new();
    for file in tracked.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        let what = match (tracked.get(file), now.get(file)) {
            (Some(tracked), Some(now)) if tracked == now => continue,
            (Some(tracked), Some(now)) => {
                let same = tracked.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
                let line =
                    |text: &str| text.lines().nth(same).unwrap_or_default().trim().to_owned();
                match tracked.lines().count() {
                    1 => format!("is {now}, not {tracked}"),
                    _ => format!("line {} is `{}`, not `{}`", same + 1, line(now), line(tracked)),
                }
            }
            (Some(_), None) => "is not generated any more".to_owned(),
            (None, _) => "is new".to_owned(),
        };
        writeln!(lines, "  {config}/{file} {what}").expect("a string");
    }
    if !lines.is_empty() {
        writeln!(lines, "  to see it: hartrace hdl --config {config} -o DIR").expect("a string");
    }
    lines
}

#[test]
fn rtl_is_as_tracked() {
    let all = Config::all_named().into_iter();
    let all: BTreeMap<String, Files> = all.map(|(name, c)| (name, generated(&c))).collect();
    if std::env::var_os("HARTRACE_BLESS").is_some() {
        bless(&all);
    }
    let mut tracked = tracked_digests();
    let mut wrong = differences(READ, &tracked_texts(), &all[READ]);
    for (config, files) in all.iter().filter(|(config, _)| *config != READ) {
        let tracked = tracked.remove(config).unwrap_or_default();
        wrong += &differences(config, &tracked, &digests(files));
    }
    for (config, files) in tracked {
        wrong += &differences(&config, &files, &Files::new());
    }
    let bless = concat!(
        "HARTRACE_BLESS=1 cargo test -p ",
        env!("CARGO_PKG_NAME"),
        " --test ",
        env!("CARGO_CRATE_NAME")
    );
    assert!(wrong.is_empty(), "generated RTL is not as tracked:\n{wrong}  to accept it: {bless}");
}

#[test]
fn differences_are_named() {
    let files = |files: &[(&str, &str)]| {
        files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect::<Files>()
    };
    let tracked = files(&[("a.sv", "module a;\nwire b;"), ("b.sv", "x\ny"), ("c.sv", "1 2")]);
    assert_eq!(differences("small", &tracked, &tracked), "");
    let now = files(&[("a.sv", "module a;\nwire c;"), ("c.sv", "1 3"), ("d.sv", "")]);
    let lines = differences("small", &tracked, &now);
    let expected = "  small/a.sv line 2 is `wire c;`, not `wire b;`
  small/b.sv is not generated any more
  small/c.sv is 1 3, not 1 2
  small/d.sv is new
  to see it: hartrace hdl --config small -o DIR
";
    assert_eq!(lines, expected);
}

#[test]
fn illegal_parameters_are_named() {
    let standard = |src_id_bits, type_bits, instruction_type| {
        let standard = Standard { src_id_bits, type_bits, instruction_type, timestamp_bytes: 0 };
        Encapsulation::Standard(standard)
    };
    let default = TopConfig::default;
    let memory = |address_width, word_bytes, burst_words| {
        let sink = Sink::Memory { address_width, word_bytes, burst_words };
        TopConfig { sink, ..default() }
    };
    let encap = |encapsulation| TopConfig { encapsulation, ..default() };
    let mut wide = TopConfig { encapsulation: standard(1, 8, 0), ..default() };
    wide.encoder.etrace.context_width_p = 32;
    wide.encoder.etrace.nocontext_p = false;
    wide.encoder.etrace.time_width_p = 64;
    wide.encoder.etrace.notime_p = false;
    for (config, what) in [
        (TopConfig { harts: 0, ..default() }, "harts = 0 is not in 1..=16"),
        (TopConfig { harts: 17, ..default() }, "harts = 17 is not in 1..=16"),
        (
            TopConfig { harts: 2, ..default() },
            "harts = 2 from first_source = 0 needs encapsulation.standard.src_id_bits of more than 0",
        ),
        (
            TopConfig { harts: 2, first_source: 3, encapsulation: standard(2, 0, 0), ..default() },
            "harts = 2 from first_source = 3 needs encapsulation.standard.src_id_bits of more than 2",
        ),
        (TopConfig { first_source: 1, ..default() }, "first_source = 1 is not in 0..=0"),
        (TopConfig { fifo_depth: 1, ..default() }, "fifo_depth = 1 is not in 2..=1024"),
        (encap(standard(13, 0, 0)), "encapsulation.standard.src_id_bits = 13 is not in 0..=12"),
        (encap(standard(0, 9, 0)), "encapsulation.standard.type_bits = 9 is not in 0..=8"),
        (encap(standard(0, 1, 2)), "encapsulation.standard.instruction_type = 2 is not in 0..=1"),
        (memory(11, 8, 4), "sink.memory.address_width = 11 is not in 12..=64"),
        (memory(32, 2, 4), "sink.memory.word_bytes = 2 is none of [4, 8, 16]"),
        (memory(32, 8, 3), "sink.memory.burst_words = 3 is none of [1, 2, 4, 8, 16]"),
        (
            TopConfig { sink: Sink::Atb { word_bytes: 3 }, ..default() },
            "sink.atb.word_bytes = 3 is none of [2, 4, 8, 16]",
        ),
        (
            TopConfig { sink: Sink::AxiStream { word_bytes: 32 }, ..default() },
            "sink.axi_stream.word_bytes = 32 is none of [2, 4, 8, 16]",
        ),
        (
            TopConfig { encoder: Config { lanes: 5, ..Config::default() }, ..default() },
            "encoder: lanes = 5 is not in 1..=4",
        ),
        (wide, "a payload of up to 30 bytes needs one of 29 at most"),
    ] {
        let error = top(&config).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn configurations_are_files() {
    let config = TopConfig {
        harts: 3,
        first_source: 5,
        encapsulation: Encapsulation::Standard(Standard { src_id_bits: 8, ..Standard::default() }),
        sink: Sink::ATB,
        ..TopConfig::default()
    };
    for config in
        [config, TopConfig { encapsulation: Encapsulation::Reference, ..TopConfig::default() }]
    {
        let text = toml::to_string(&config).expect("any configuration can be written");
        assert_eq!(TopConfig::from_toml(&text), Ok(config), "{text}");
    }
    for (text, what) in [
        ("hearts = 2", "hearts"),
        ("[encoder]\nlanse = 2", "lanse"),
        ("[sink.memory]\nword_bytes = 8", "address_width"),
        ("harts = 99", "harts = 99 is not in 1..=16"),
    ] {
        let error = TopConfig::from_toml(text).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// Every page is in the texts for people and for software, and tables that two harts share occur
/// once.
#[test]
fn registers_are_described() {
    let standard = Standard { src_id_bits: 8, ..Standard::default() };
    let encapsulation = Encapsulation::Standard(standard);
    let config = TopConfig { harts: 2, encapsulation, ..TopConfig::default() };
    let manual = manual(&config).expect("legal");
    for line in ["| 0x00000 | Trace encoder of hart 0 |", "| 0x02000 | Trace RAM sink |"] {
        assert!(manual.contains(line), "{manual}");
    }
    assert_eq!(manual.matches("## Trace encoder\n").count(), 1);
    let header = header(&config).expect("legal");
    for line in ["#define HARTRACE_HART1_PAGE 0x01000u", "#define HARTRACE_SINK_PAGE 0x02000u"] {
        assert!(header.contains(line), "{header}");
    }
    assert_eq!((header.matches("#ifndef").count(), header.matches("#endif").count()), (1, 1));
}
