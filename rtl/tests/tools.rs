//! The emitted text means the same to Verilator, Icarus Verilog, yosys and the interpreter, and
//! they report no warnings.
//!
//! Tests that need a missing tool are ignored.

mod support;

use fastrand::Rng;
use hartrace_rtl::Component;
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use support::constructs::{CONSTRUCTS, Construct};
use support::random;
use support::simulate::{Bench, run};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let has = |command: &str, flag: &str| {
        Command::new(command).arg(flag).output().is_ok_and(|output| output.status.success())
    };
    let verilator =
        has("verilator", "--version") && has("make", "--version") && has("c++", "--version");
    let icarus = has("iverilog", "-V");
    let yosys = has("yosys", "-V");
    let mut trials = Vec::new();
    for (name, bench) in [("expressions", expressions as fn() -> Bench), ("statements", statements)]
    {
        let trial = Trial::test(format!("{name}/icarus"), move || in_icarus(name, &bench()));
        trials.push(trial.with_ignored_flag(!icarus));
        let trial = Trial::test(format!("{name}/verilator"), move || in_verilator(name, &bench()));
        trials.push(trial.with_ignored_flag(!verilator));
        let trial = Trial::test(format!("{name}/yosys"), move || in_yosys(name, &bench()));
        trials.push(trial.with_ignored_flag(!yosys || !icarus));
    }
    let trial = Trial::test("lint/random-modules", lint_random);
    trials.push(trial.with_ignored_flag(!verilator));
    for construct in CONSTRUCTS {
        let name = construct.name;
        let trial = Trial::test(format!("lint/{name}"), move || lint(construct));
        trials.push(trial.with_ignored_flag(!verilator));
        let trial = Trial::test(format!("compile/{name}"), move || compile(construct));
        trials.push(trial.with_ignored_flag(!icarus));
        let trial = Trial::test(format!("elaborate/{name}"), move || elaborate(construct));
        trials.push(trial.with_ignored_flag(!yosys));
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// 2,000 random expressions, known pitfalls, and 40 sets of values.
fn expressions() -> Bench {
    let mut rng = Rng::with_seed(1);
    let mut modules: Vec<Component> =
        (0..40).map(|n| random::expressions(&mut rng, &format!("exprs{n}"), 50)).collect();
    modules.push(random::pitfalls());
    Bench::new(&mut rng, modules, 40)
}

/// 24 random modules with registers and memories, and 100 cycles.
fn statements() -> Bench {
    let mut rng = Rng::with_seed(2);
    let modules: Vec<Component> =
        (0..24).map(|n| random::statements(&mut rng, &format!("stmts{n}"))).collect();
    Bench::new(&mut rng, modules, 100)
}

fn in_icarus(name: &str, bench: &Bench) -> Result<(), Failed> {
    let folder = bench.write(&format!("{name}-icarus"))?;
    let files = bench.files();
    let mut command = vec!["iverilog", "-g2012", "-o", "bench.vvp"];
    command.extend(files.iter().map(String::as_str));
    run(&folder, &command)?;
    Ok(bench.compare(&run(&folder, &["vvp", "-n", "bench.vvp"])?)?)
}

fn in_verilator(name: &str, bench: &Bench) -> Result<(), Failed> {
    let folder = bench.write(&format!("{name}-verilator"))?;
    let files = bench.files();
    let mut command = vec!["verilator", "--binary", "-O3", "-Wno-fatal", "--top-module", "bench"];
    // Compiling takes longer than running.
    command.extend(["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0", "-j", "2", "--Mdir", "model"]);
    command.extend(files.iter().map(String::as_str));
    run(&folder, &command)?;
    Ok(bench.compare(&run(&folder, &["model/Vbench"])?)?)
}

/// Runs in Icarus what yosys read and wrote.
fn in_yosys(name: &str, bench: &Bench) -> Result<(), Failed> {
    let folder = bench.write(&format!("{name}-yosys"))?;
    let mut script = String::new();
    for component in &bench.modules {
        script += &format!("read_verilog -sv {}.sv; ", component.name());
    }
    // Dead branches leave wires without driver until they are cleaned up.
    script += "proc; write_verilog -noattr netlist.v; opt_clean; check -assert";
    run(&folder, &["yosys", "-q", "-p", &script])?;
    run(&folder, &["iverilog", "-g2012", "-o", "bench.vvp", "netlist.v", "bench.sv"])?;
    Ok(bench.compare(&run(&folder, &["vvp", "-n", "bench.vvp"])?)?)
}

/// Writes the files of a construct, and returns the folder and their names.
fn write(construct: &Construct, tool: &str) -> Result<(PathBuf, Vec<String>), Failed> {
    let name = format!("{tool}-{}", construct.name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder)?;
    let mut names = Vec::new();
    for (name, text) in (construct.build)().files() {
        names.push(format!("{name}.sv"));
        fs::write(folder.join(format!("{name}.sv")), text)?;
    }
    Ok((folder, names))
}

/// Verilator reports no warnings.
fn lint(construct: &Construct) -> Result<(), Failed> {
    let (folder, files) = write(construct, "lint")?;
    for define in ["-DSIMULATION", "-DSYNTHESIS", "-DFORMAL"] {
        let mut command = vec!["verilator", "--lint-only", "-Wall", define];
        command.extend(["--top-module", construct.name]);
        command.extend(files.iter().map(String::as_str));
        run(&folder, &command)?;
    }
    Ok(())
}

/// Verilator reports no warnings for random modules either, except those that follow from constants
/// in them that only Verilator sees: bits that are not read, comparisons that always hold, elements
/// that are never chosen.
fn lint_random() -> Result<(), Failed> {
    for (name, bench) in [("expressions", expressions()), ("statements", statements())] {
        let folder = bench.write(&format!("{name}-lint"))?;
        for component in &bench.modules {
            let file = format!("{}.sv", component.name());
            let mut command = vec!["verilator", "--lint-only", "-Wall"];
            command.extend(["-Wno-UNUSEDSIGNAL", "-Wno-CMPCONST", "-Wno-UNSIGNED"]);
            command.extend(["-Wno-SELRANGE", &file]);
            run(&folder, &command)?;
        }
    }
    Ok(())
}

fn compile(construct: &Construct) -> Result<(), Failed> {
    let (folder, files) = write(construct, "compile")?;
    let mut command = vec!["iverilog", "-g2012", "-o", "out.vvp", "-s", construct.name];
    command.extend(files.iter().map(String::as_str));
    run(&folder, &command)?;
    Ok(())
}

/// Yosys finds neither latches nor loops, for synthesis and for proofs.
fn elaborate(construct: &Construct) -> Result<(), Failed> {
    let (folder, files) = write(construct, "elaborate")?;
    for option in ["", "-formal"] {
        let script = format!(
            "read_verilog -sv {option} {}; hierarchy -check -top {}; proc; check -assert; \
             select -assert-none t:$dlatch t:$adlatch",
            files.join(" "),
            construct.name
        );
        run(&folder, &["yosys", "-q", "-e", "latch", "-p", &script])?;
    }
    Ok(())
}
