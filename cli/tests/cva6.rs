//! `hartrace sim cva6`.
//!
//! Ignored where the core is not installed; `./test.sh cva6` installs it and runs this again.

use hartrace_cva6_sim::Core;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn main() {
    let args = Arguments::from_args();
    let missing = Core::find().is_err();
    let trial = |name: &str, run: fn() -> Result<(), Failed>| Trial::test(name, run);
    let trials = vec![
        trial("a_program_comes_back", a_program_comes_back).with_ignored_flag(missing),
        trial("what_cannot_be_is_said", what_cannot_be_is_said).with_ignored_flag(missing),
        trial("without_the_core", without_the_core),
        trial("lists_that_cannot_be_used", lists_that_cannot_be_used),
    ];
    libtest_mimic::run(&args, trials).exit();
}

/// Where models are kept, for all tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim_cva6")
}

fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/cva6/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

fn command(line: &str) -> Result<Command, Failed> {
    std::fs::create_dir_all(folder())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    command.args(line.split_whitespace()).current_dir(folder());
    // Models are kept between runs.
    command.env("XDG_CACHE_HOME", cache());
    Ok(command)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Standard output of a command that must be clean.
fn clean(line: &str) -> Result<String, Failed> {
    let output = command(line)?.output()?;
    if !output.status.success() {
        return Err(format!("{line}: {}", text(&output)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Figures, addresses and the capture agree.
fn a_program_comes_back() -> Result<(), Failed> {
    let elf = program("calls");
    let figures = clean(&format!("sim cva6 {elf} --encode ir -o calls.te --json"))?;
    let figures: Value = serde_json::from_str(&figures)?;
    let number =
        |key: &str| figures[key].as_u64().unwrap_or_else(|| panic!("no {key} in {figures}"));
    assert_eq!(figures["verified"], true);
    assert_eq!(number("exit_code"), 0);
    assert_eq!(number("cycles"), number("cycles_without_tracing"));
    let told = number("instructions") - number("idle_instructions");
    assert_eq!(number("decoded_instructions"), told);
    assert!(number("packets") > 1_000 && number("peak_queue") > 1);

    let pcs = clean(&format!("sim cva6 {elf} --encode ir --emit pcs"))?;
    assert_eq!(pcs.lines().count() as u64, told);
    assert!(pcs.starts_with("0000000080000000\n"));
    assert!(clean("decode calls.te --emit pcs")? == pcs, "decode says something else");

    let table = clean(&format!("sim cva6 {elf} --encode ir"))?;
    assert!(table.contains(&format!("{told} of {told}")), "{table}");
    Ok(())
}

fn what_cannot_be_is_said() -> Result<(), Failed> {
    for (line, said) in [
        ("--encoder micro", "iaddress_width_p = 32"),
        ("--encode jump-target-cache", "the encoder has no mode jump-target-cache"),
        ("--encoder nothing", "no configuration `nothing`"),
        ("--lanes 3", "3 is not in 1..=2"),
    ] {
        let output = command(&format!("sim cva6 {} {line}", program("calls")))?.output()?;
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output).contains(said), "{line}: {}", text(&output));
    }
    Ok(())
}

/// What is wrong with the list of the files of a core is said with its line.
fn lists_that_cannot_be_used() -> Result<(), Failed> {
    std::fs::create_dir_all(folder())?;
    std::fs::write(folder().join("empty.f"), "")?;
    std::fs::write(folder().join("missing.f"), "// the core\ncva6.sv\n")?;
    for (line, status, said) in [
        ("--filelist nothing.f", 3, "nothing.f: cannot read"),
        ("--filelist missing.f", 2, "missing.f, line 2: there is no file"),
        ("--filelist empty.f --set SuperscalarEn", 2, "`SuperscalarEn` is not a field"),
        ("--filelist empty.f --set A=1;B=2", 2, "is not a field"),
        ("--set SuperscalarEn=1", 2, "--filelist"),
    ] {
        let output = command(&format!("sim cva6 {} {line}", program("calls")))?.output()?;
        assert_eq!(output.status.code(), Some(status), "{line}: {}", text(&output));
        assert!(text(&output).contains(said), "{line}: {}", text(&output));
    }
    Ok(())
}

/// The message explains how to install the core.
fn without_the_core() -> Result<(), Failed> {
    let mut command = command(&format!("sim cva6 {}", program("calls")))?;
    let output = command.env("HARTRACE_CVA6_TOOLS", folder().join("nothing")).output()?;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("pip install"), "{}", text(&output));
    Ok(())
}
