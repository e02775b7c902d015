//! The RTL of the named configurations is checked in as it is generated, and tools accept it.
//!
//! `HARTRACE_BLESS=1` writes it anew.

use hartrace_encoder_hdl::{Config, ConfigError, encoder, sources};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl").join(name)
}

fn generated(config: &Config) -> BTreeMap<String, String> {
    sources(config).expect("named configurations are legal").into_iter().collect()
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
    let all = Config::all_named();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["cva6", "full", "micro", "small"]);
    for (name, config) in all {
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
    let small = Config::named("small").expect("there is one");
    let five = Config { lanes: 5, ..small.clone() };
    let error = encoder(&five).expect_err("four at most");
    assert_eq!(error, ConfigError::OutOfRange { name: "lanes", value: 5, min: 1, max: 4 });
    assert_eq!(error.to_string(), "lanes = 5 is not in 1..=4");
    let mut stack = small.clone();
    stack.etrace.return_stack_size_p = 4;
    let error = encoder(&stack).expect_err("3-bit itype");
    assert_eq!(error.to_string(), "implicit return needs itype_width_p = 4");
    let never = Config { resync: vec![], ..small.clone() };
    let error = encoder(&never).expect_err("nothing to count");
    assert_eq!(error.to_string(), "resync needs at least one unit to count in");
    let mut both = small;
    both.etrace.bpred_size_p = 7;
    both.etrace.cache_size_p = 7;
    assert!(encoder(&both).expect_err("no subformat").to_string().contains("f0s_width_p"));
    let error = Config::from_toml("lanse = 2").expect_err("unknown key").to_string();
    assert!(error.contains("lanse"), "{error}");
}
