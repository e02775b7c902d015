//! `hartrace run --with qemu` on the bundled programs: executed, encoded, decoded and compared; and
//! `hartrace compare` with programs for Arm.
//!
//! Needs QEMU and a C compiler; shows as ignored without them. `HARTRACE_ROUNDS` sets how long the
//! Linux program runs, half a million instructions each: with 2000 it is a billion.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

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
    let missing = ["qemu-aarch64", "qemu-arm", "cc"]
        .iter()
        .any(|name| Command::new(name).arg("--version").output().is_err());
    trials.push(Trial::test("compare-arm", compare_arm).with_ignored_flag(missing));
    trials.push(Trial::test("compare-arm-without-qemu", compare_without_qemu));
    trials.push(Trial::test("run-without-qemu", run_without_qemu));
    libtest_mimic::run(&args, trials).exit();
}

/// Both modes are decoded correctly, however long the program runs.
fn verified(name: &str, arguments: &[String]) -> Result<(), Failed> {
    let program = format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["run", &program, "--with", "qemu", "--json", "--limit", "4000000000"])
        .args(["--encode", "delta,ir+sij+bp+jtc"])
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

/// Runs `compare` for its JSON.
fn compare(arguments: &[&str], path: Option<&str>) -> Result<(Value, String), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let json = folder.join(format!("compare-{}.json", path.is_some()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let html = json.with_extension("html");
    command.arg("compare").args(arguments).arg("--json").arg(&json).arg("--html").arg(&html);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let json = serde_json::from_str(&fs::read_to_string(json)?)?;
    page(&fs::read_to_string(html)?, &json)?;
    Ok((json, String::from_utf8(output.stdout)?))
}

/// The page has every row of the JSON, and explains why rows of different instruction sets do not compare.
fn page(html: &str, json: &Value) -> Result<(), Failed> {
    let (_, sets) = html.split_once("<h2>Instruction sets</h2>").ok_or("no instruction sets")?;
    let rows = json["isas"].as_array().ok_or("no rows")?;
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let cells = [text("program"), text("isa"), text("scheme")].join("</td><td>");
        let (count, bits) = (&row["instructions"], &row["bits"]);
        let line = format!("<tr><td>{cells}</td><td>{count}</td><td>{bits}</td>");
        if !sets.contains(&line) {
            return Err(format!("not in the page: {line}").into());
        }
        // In the plot of its program, with its bits.
        let plot = sets.split("<h2>").find(|part| {
            part.starts_with(&format!("{}, by instruction set</h2>", text("program")))
        });
        let plot = plot.ok_or("a program without a plot")?;
        let name = format!("{} {}", text("isa"), text("scheme"));
        if !plot.contains("<svg") || !plot.contains(&name) || !plot.contains(&bits.to_string()) {
            return Err(format!("not in a plot: {name}").into());
        }
    }
    let stated = sets.contains("The instruction sets differ");
    if stated { Ok(()) } else { Err("nothing says that instruction sets differ".into()) }
}

/// Every source on three instruction sets, and a program that is none of them.
fn compare_arm() -> Result<(), Failed> {
    let states = format!("{}/../tests/programs/elf/arm/states.elf", env!("CARGO_MANIFEST_DIR"));
    let (json, text) = compare(&[&states, "--arm", "--limit", "200000"], None)?;
    let rows = json["isas"].as_array().ok_or("no rows")?;
    let of = |isa: &str| rows.iter().filter(|row| row["isa"] == isa).count();
    // Three modes of E-Trace, two of ETMv4, and on T32 two of PTM.
    let found = (of("RV64"), of("A64"), of("T32"), of("A32/T32"));
    let verified = rows.iter().all(|row| row["verified"] == true);
    let long = rows.iter().filter(|row| row["program"] != "states");
    let mut long = long.map(|row| row["instructions"].as_u64().unwrap_or(0));
    if found != (15, 10, 20, 4) || !verified || !long.all(|count| count > 199_000) {
        return Err(format!("{found:?} {text}").into());
    }
    let bits = |isa: &str, scheme: &str| -> u64 {
        let own = rows.iter().filter(|row| row["isa"] == isa && row["scheme"] == scheme);
        own.map(|row| row["bits"].as_u64().unwrap_or(0)).sum()
    };
    for (isa, scheme) in [("A64", "ETMv4"), ("T32", "ETMv4"), ("T32", "PTM")] {
        let (without, with) = (bits(isa, scheme), bits(isa, &format!("{scheme}+rs")));
        if with == 0 || with >= without {
            return Err(format!("{isa} {scheme}: {without}, with a return stack {with}").into());
        }
    }
    // `states` ran to its end.
    match rows.iter().find(|row| row["program"] == "states") {
        Some(row) if row["instructions"] == 13_876 => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// What is missing is reported; the rest is printed.
fn compare_without_qemu() -> Result<(), Failed> {
    let (json, text) =
        compare(&["--arm", "--schemes", "BASE", "--limit", "20000"], Some("/nowhere"))?;
    let rows = json["isas"].as_array().ok_or("no rows")?;
    if rows.len() != 15 || !text.contains("ETMv4, PTM: some rows are missing: no C compiler") {
        return Err(text.into());
    }
    Ok(())
}

/// A program that cannot be run leaves the file for its trace alone.
fn run_without_qemu() -> Result<(), Failed> {
    let trace = env::temp_dir().join(format!("hartrace-qemu-{}.te", std::process::id()));
    fs::write(&trace, "of yesterday")?;
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/programs/elf/calls.elf");
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["run", program, "--with", "qemu", "--encode", "ir", "-o"])
        .arg(&trace)
        .env("PATH", "/nowhere")
        .output()?;
    let (text, left) = (String::from_utf8_lossy(&output.stderr), fs::read_to_string(&trace)?);
    fs::remove_file(&trace)?;
    match output.status.code() {
        Some(3) if left == "of yesterday" => Ok(()),
        code => Err(format!("{code:?}, {left:?} in the file: {text}").into()),
    }
}
