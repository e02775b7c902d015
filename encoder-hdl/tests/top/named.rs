//! The RTL of the named configurations, each for one hart into memory, is checked in as it is generated;
//! and configurations that cannot be say why.
//!
//! `HARTRACE_BLESS=1` writes it anew.

use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{
    Encapsulation, Sink, Standard, TopConfig, header, manual, sources, top,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl").join(name)
}

fn generated(encoder: &Config) -> BTreeMap<String, String> {
    let config = TopConfig { encoder: encoder.clone(), ..TopConfig::default() };
    sources(&config).expect("named configurations are legal").into_iter().collect()
}

fn checked_in(name: &str) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder(name)) else { return BTreeMap::new() };
    let read = entries.map(|entry| {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("text"))
    });
    read.collect()
}

#[test]
fn rtl_is_checked_in() {
    for (name, config) in Config::all_named() {
        let files = generated(&config);
        if std::env::var_os("HARTRACE_BLESS").is_some() {
            let _ = fs::remove_dir_all(folder(&name));
            fs::create_dir_all(folder(&name)).expect("a folder");
            for (file, text) in &files {
                fs::write(folder(&name).join(file), text).expect("written");
            }
        }
        let there = checked_in(&name);
        assert_eq!(there.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>(), "{name}");
        for (file, text) in &files {
            assert!(there[file] == *text, "{name}/{file} is not as generated: HARTRACE_BLESS=1");
        }
    }
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

/// Every page is in the texts for people and for software, and what two harts share is there once.
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
