//! `hartrace run --with qemu` on the bundled programs: executed, encoded, decoded and compared.
//!
//! Needs QEMU and a C compiler; shows as ignored without them. `HARTRACE_ROUNDS` sets how long the
//! Linux program runs, half a million instructions each: with 2000 it is a billion.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::env;
use std::process::Command;

const NEEDED: [&str; 4] = ["qemu-riscv64", "qemu-system-riscv64", "qemu-system-riscv32", "cc"];

const BARE: [&str; 10] = [
    "branchy",
    "calls",
    "interp",
    "strings",
    "sort",
    "crypto",
    "float",
    "interrupts",
    "interrupts-rv32",
    "user",
];

fn main() {
    let args = Arguments::from_args();
    let missing = NEEDED.iter().any(|name| Command::new(name).arg("--version").output().is_err());
    let rounds = env::var("HARTRACE_ROUNDS").unwrap_or_else(|_| "20".into());
    let trial = |name: &'static str, arguments: Vec<String>| {
        Trial::test(name, move || verified(name, &arguments)).with_ignored_flag(missing)
    };
    let mut trials: Vec<_> = BARE.map(|name| trial(name, Vec::new())).into();
    trials.push(trial("linux", vec!["--".into(), rounds]));
    libtest_mimic::run(&args, trials).exit();
}

/// Both modes come back, as long as the program takes.
fn verified(name: &str, arguments: &[String]) -> Result<(), Failed> {
    let program = format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["run", &program, "--with", "qemu", "--json", "--limit", "4000000000"])
        .args(["--encode", "delta,return+prediction+cache+sijump"])
        .args(arguments)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let count = |line: &Value, key: &str| line[key].as_f64().unwrap_or_default();
    for line in &lines {
        let right = line["verified"] == true
            && count(line, "instructions") > 100_000.0
            && ["executed", "encoded", "decoded"]
                .iter()
                .all(|stage| count(line, &format!("{stage}_per_second")) > 0.0);
        if !right {
            return Err(line.to_string().into());
        }
    }
    if lines.len() == 2 { Ok(()) } else { Err(text.into()) }
}
