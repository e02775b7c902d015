//! A program of C++ as its users have them: with shared libraries, a thread, and templates that are inlined. It counts itself
//! how often its functions are entered.

use super::{clean, folder, read_pprof, run};
use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What compiles it, and what lists its code.
pub(crate) const NEEDED: [&str; 2] = ["riscv64-linux-gnu-g++", "riscv64-linux-gnu-objdump"];

/// A folder with the program and its capture `t.te`.
pub(crate) struct Linked {
    folder: std::path::PathBuf,
    printed: String,
}

/// Looks at a view of the capture.
pub(crate) type Check = fn(&Linked) -> Result<(), Failed>;

/// Compiles, executes and traces the program.
pub(crate) fn linked() -> Result<Linked, Failed> {
    let folder = folder("linked")?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/src/processes");
    let mut compiler = Command::new("riscv64-linux-gnu-g++");
    compiler.args(["-std=c++17", "-O2", "-g", "-pthread", "-o"]).arg(folder.join("shop"));
    run(compiler.arg(sources.join("shop.cpp")))?;
    // The table goes to standard error when the program has ended.
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    command.args(["run", "shop", "--encode", "ir", "-o", "t.te"]).current_dir(&folder);
    let printed = run(command.env_remove("QEMU_LD_PREFIX"))?;
    Ok(Linked { folder, printed })
}

/// A function of lcov has as many entries as the program counted, or is left out because nobody knows.
pub(crate) fn entries(linked: &Linked) -> Result<(), Failed> {
    let text = clean(&linked.folder, "export t.te --format lcov")?;
    let found = text.lines().filter_map(|line| line.strip_prefix("FNDA:")?.split_once(','));
    let found: Vec<(&str, &str)> = found.collect();
    let mut known = BTreeSet::new();
    for line in linked.printed.lines() {
        let (name, times) = line.split_once(' ').ok_or("no count")?;
        // `price<int>`, `_ZN4shop6Basket3addEi`, `_ZL4stirl`.
        let mangled = format!("{}{name}", name.len());
        let is_it = |other: &str| {
            other.starts_with(&format!("{name}<")) || other.contains(&mangled) || other == name
        };
        for (count, other) in found.iter().filter(|(_, other)| is_it(other)) {
            assert_eq!(*count, times, "{other}");
            known.insert(name.to_owned());
        }
    }
    println!("{known:?} of {}", linked.printed);
    assert!(known.contains("stir") && known.len() > 1, "{known:?} of {found:?}");
    Ok(())
}

/// Inlined templates have their namespace, and stubs the names that objdump gives them.
pub(crate) fn names(linked: &Linked) -> Result<(), Failed> {
    let folded = clean(&linked.folder, "export t.te --format folded")?;
    assert!(folded.contains("main;shop::price<int>"), "{folded}");
    let mut command = Command::new("riscv64-linux-gnu-objdump");
    let code = run(command.args(["-d", "-C", "-j", ".plt", "shop"]).current_dir(&linked.folder))?;
    let labels = code.lines().filter_map(|line| line.split_once(" <"));
    let labels = labels.filter_map(|(_, name)| name.strip_suffix("@plt>:"));
    let labels: BTreeSet<&str> = labels.collect();
    assert!(labels.contains("printf"), "{code}");
    let listing = clean(&linked.folder, "decode t.te --emit listing")?;
    let listed = listing.lines().filter_map(|line| line.strip_prefix('<')?.strip_suffix("@plt>:"));
    let listed: BTreeSet<&str> = listed.collect();
    assert!(listed.contains("printf"), "{listed:?}");
    // What else is listed are stubs of libraries.
    let executed = labels.intersection(&listed).count();
    assert!(executed > 4, "{executed} of {labels:?}; {listed:?}");
    Ok(())
}

/// Tables, callgrind and pprof say which library code is of.
pub(crate) fn objects(linked: &Linked) -> Result<(), Failed> {
    let Linked { folder, .. } = linked;
    let top = clean(folder, "top t.te -n 1000")?;
    let functions = clean(folder, "top t.te -n 100000 --json")?;
    let mut by_object: BTreeMap<String, u64> = BTreeMap::new();
    for line in functions.lines() {
        let row: Value = serde_json::from_str(line)?;
        let object = row["object"].as_str().ok_or("no object")?;
        let file = object.rsplit('/').next().unwrap_or(object).to_owned();
        *by_object.entry(file).or_default() += row["self"].as_u64().ok_or("no number")?;
    }
    for file in ["shop", "libc.so.6", "ld-linux-riscv64-lp64d.so.1"] {
        assert!(by_object.get(file).is_some_and(|insns| *insns > 0), "{by_object:?}");
        assert!(top.contains(&format!("[{file}]")), "{top}");
    }
    clean(folder, "export t.te --format callgrind -o t.callgrind")?;
    let mut command = Command::new("callgrind_annotate");
    command.args(["--threshold=100", "--show-percs=no", "--auto=no", "t.callgrind"]);
    let text = run(command.current_dir(folder))?;
    let (mut annotated, mut elsewhere) = (BTreeMap::<String, u64>::new(), 0);
    let rows = text.lines().skip_while(|line| !line.contains("file:function")).skip(2);
    for line in rows.filter(|line| !line.trim().is_empty()) {
        let insns = line.split_whitespace().next().unwrap_or_default().replace(',', "");
        let insns = if insns == "." { 0 } else { insns.parse::<u64>()? };
        match line.trim_end().strip_suffix(']').and_then(|line| line.rsplit_once(" [")) {
            Some((_, object)) => {
                let file = object.rsplit('/').next().unwrap_or(object).to_owned();
                *annotated.entry(file).or_default() += insns;
            }
            // It leaves out the library of lines that are in another file than their function.
            None => elsewhere += insns,
        }
    }
    // It takes functions of one name without a file for one, so that only the sum is known.
    let all: u64 = by_object.values().sum();
    assert_eq!(annotated.values().sum::<u64>() + elsewhere, all);
    assert!(annotated.keys().eq(by_object.keys()), "{annotated:?}, {by_object:?}");
    assert!(elsewhere < all / 1000, "{elsewhere} of {all}");
    Ok(())
}

/// pprof has a mapping for each library.
pub(crate) fn mappings(linked: &Linked) -> Result<(), Failed> {
    clean(&linked.folder, "export t.te --format pprof -o t.pb.gz")?;
    let text = read_pprof(&linked.folder.join("t.pb.gz"))?;
    let mappings: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("mapping ")).collect();
    for file in ["shop", "libc.so.6", "libstdc++.so.6"] {
        assert!(mappings.iter().any(|name| name.contains(file)), "{mappings:?}");
    }
    let labels: BTreeSet<&str> =
        text.lines().filter(|line| line.starts_with("label context ")).collect();
    assert!(labels.len() > 1, "{labels:?}");
    Ok(())
}

/// Each thread has stacks of its own, and a profile in speedscope, in which everything that is entered is left.
pub(crate) fn threads(linked: &Linked) -> Result<(), Failed> {
    let folded = clean(&linked.folder, "export t.te --format folded")?;
    let contexts: BTreeSet<&str> =
        folded.lines().filter_map(|line| line.split(';').next()).collect();
    assert!(contexts.iter().all(|context| context.starts_with("context 0x")), "{contexts:?}");
    let of = |function: &str| -> BTreeSet<&str> {
        let lines = folded.lines().filter(|line| line.contains(function));
        lines.filter_map(|line| line.split(';').next()).collect()
    };
    let (main, thread) = (of(";main"), of(";stir(long)"));
    assert!(thread.len() == 1 && main.is_disjoint(&thread), "{main:?}, {thread:?}");
    let profile: Value =
        serde_json::from_str(&clean(&linked.folder, "export t.te --format speedscope")?)?;
    let profiles = profile["profiles"].as_array().ok_or("no profiles")?;
    assert_eq!(profiles.len(), contexts.len());
    for profile in profiles {
        let mut open = Vec::new();
        let mut last = 0;
        for event in profile["events"].as_array().ok_or("no events")? {
            let at = event["at"].as_u64().ok_or("no time")?;
            assert!(at >= last, "{event}");
            last = at;
            match event["type"].as_str() {
                Some("O") => open.push(&event["frame"]),
                _ => assert_eq!(open.pop(), Some(&event["frame"])),
            }
        }
        assert!(open.is_empty() && last > 0, "{}", profile["name"]);
    }
    Ok(())
}
