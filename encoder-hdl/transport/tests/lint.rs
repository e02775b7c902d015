//! Every block passes Verilator's lint with all warnings on, at every corner of its parameters.

mod support;

use hartrace_rtl::{Component, Module};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use support::{corners, folder, has, run, said, write};

fn main() {
    let args = Arguments::from_args();
    let mut kinds: BTreeMap<String, Vec<Component>> = BTreeMap::new();
    for block in corners() {
        let kind = block.name().split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        kinds.entry(kind.trim_end_matches('_').to_owned()).or_default().push(block);
    }
    let missing = !has("verilator");
    let mut trials: Vec<Trial> = kinds
        .into_iter()
        .map(|(kind, blocks)| {
            let name = format!("{kind}_{}", blocks.len());
            let files = blocks.iter().flat_map(Component::files).collect();
            Trial::test(name.clone(), move || lint_all(&name, &files)).with_ignored_flag(missing)
        })
        .collect();
    trials.push(
        Trial::test("lint_sees_unused_bits", lint_sees_unused_bits).with_ignored_flag(missing),
    );
    libtest_mimic::run(&args, trials).exit();
}

/// In one run: many tops are no mistake here.
fn lint_all(name: &str, files: &BTreeMap<String, String>) -> Result<(), Failed> {
    let folder = folder(&format!("lint_{name}"));
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, text)| {
            let path = folder.join(format!("{name}.sv"));
            write(&path, text);
            path
        })
        .collect();
    lint(&paths)
}

fn lint(files: &[PathBuf]) -> Result<(), Failed> {
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall", "-Wno-MULTITOP"]).args(files);
    let output = run(&mut command);
    let text = said(&output);
    if output.status.success() && text.is_empty() { Ok(()) } else { Err(text.into()) }
}

/// That a clean block means something: this one is not.
fn lint_sees_unused_bits() -> Result<(), Failed> {
    let m = Module::new("passes", "");
    let data_i = m.input("data_i", 4, "");
    let data_o = m.output("data_o", 4, "");
    m.assign(&data_o, data_i);
    let path = folder("lint_sees").join("passes.sv");
    write(&path, &m.finish().emit().replace("= data_i;", "= {3'd0, data_i[0]};"));
    match lint(&[path]) {
        Err(_) => Ok(()),
        Ok(()) => Err("no warning for unused bits".into()),
    }
}
