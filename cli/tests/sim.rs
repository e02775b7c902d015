//! `hartrace sim encoder` and `sim loop`.
//!
//! What needs Verilator shows as ignored without it. `./test.sh rtl` installs it and runs this again.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let trial = |name: &str, run: fn() -> Result<(), Failed>| Trial::test(name, run);
    let needy = [
        trial("a_program_comes_back", a_program_comes_back),
        trial("a_stalled_hart_loses_nothing", a_stalled_hart_loses_nothing),
        trial("the_capture_can_be_decoded", the_capture_can_be_decoded),
        trial("a_log_is_a_program_too", a_log_is_a_program_too),
        trial("the_loop_leaves_out_what_modes_forbid", the_loop_leaves_out_what_modes_forbid),
    ];
    let mut trials: Vec<_> =
        needy.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect();
    trials.push(trial("what_cannot_be_simulated_is_said", what_cannot_be_simulated_is_said));
    libtest_mimic::run(&args, trials).exit();
}

/// The trap vectors of a Linux program are not known, so that implicit exceptions cannot be traced.
fn the_loop_leaves_out_what_modes_forbid() -> Result<(), Failed> {
    let output = hartrace("sim loop --encode ie --limit 1000 --json")?;
    let errors = String::from_utf8(output.stderr)?;
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let figures: Value = serde_json::from_str(line)?;
        assert_eq!(figures["difference"], Value::Null, "{line}");
        assert_eq!(figures["lost_records"], 0, "{line}");
        programs.push(figures["program"].as_str().unwrap_or_default().to_owned());
    }
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("linux is left out: implicit exceptions need"), "{errors}");
    assert!(programs.len() >= 9 && !programs.contains(&"linux".to_owned()), "{programs:?}");
    Ok(())
}

/// Where models are kept, for all tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim")
}

fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

fn hartrace(line: &str) -> Result<Output, Failed> {
    std::fs::create_dir_all(folder())?;
    // Models are kept between runs.
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    command.args(line.split_whitespace()).current_dir(folder());
    Ok(command.env("XDG_CACHE_HOME", cache()).output()?)
}

/// Standard output of a command that must be clean.
fn clean(line: &str) -> Result<String, Failed> {
    let output = hartrace(line)?;
    if !output.status.success() {
        let texts = [output.stdout, output.stderr].concat();
        return Err(format!("{line}: {}", String::from_utf8_lossy(&texts)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn json(line: &str) -> Result<Value, Failed> {
    Ok(serde_json::from_str(&clean(&format!("{line} --json"))?)?)
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

fn a_program_comes_back() -> Result<(), Failed> {
    let calls = program("calls");
    let line = format!("sim encoder {calls} --config full --limit 30000");
    let plain = json(&line)?;
    assert_eq!(plain["verified"], true);
    assert_eq!(number(&plain, "instructions"), number(&plain, "decoded_instructions"));
    // At most two instructions per cycle.
    assert!(2 * number(&plain, "cycles") >= number(&plain, "instructions"));
    let formats = plain["packets_by_format"].as_object().ok_or("no formats")?;
    let sum: u64 = formats.values().filter_map(Value::as_u64).sum();
    assert_eq!(sum, number(&plain, "packets"));

    let lossy = json(&format!("{line} --back-pressure 98 --encode ie+jtc"))?;
    assert!(number(&lossy, "lost_stretches") > 0, "{lossy}");
    assert_eq!(
        number(&lossy, "instructions"),
        number(&lossy, "decoded_instructions") + number(&lossy, "lost_instructions")
    );
    let table = clean(&line)?;
    let row = table.lines().nth(1).unwrap_or_default();
    let (packets, count) = (number(&plain, "packets"), number(&plain, "instructions"));
    let verdict = format!("{packets} of {packets} packets, {count} of {count} insns");
    assert!(row.starts_with("calls ") && row.ends_with(&verdict), "{table}");
    Ok(())
}

fn a_stalled_hart_loses_nothing() -> Result<(), Failed> {
    clean("hdl --config small --lanes 1 -o small")?;
    let path = folder().join("small/config.toml");
    let text = std::fs::read_to_string(&path)?.replace("\"drop\"", "\"stall\"");
    std::fs::write(folder().join("stall.toml"), text)?;
    let calls = program("calls");
    let stalled = json(&format!(
        "sim encoder {calls} --config stall.toml --limit 20000 --back-pressure 98 --seed 5"
    ))?;
    assert_eq!(number(&stalled, "lost_instructions"), 0);
    assert!(number(&stalled, "stalled_cycles") > 0, "{stalled}");
    assert_eq!(number(&stalled, "decoded_instructions"), number(&stalled, "instructions"));
    Ok(())
}

fn the_capture_can_be_decoded() -> Result<(), Failed> {
    clean("hdl --config full -o full")?;
    let calls = program("calls");
    let figures = json(&format!(
        "sim encoder {calls} --config full --limit 20000 --encode ir+bp -o calls.te"
    ))?;
    // With its description, or with that of the hardware.
    for options in ["", &format!("--elf {calls} --params full/params.toml --framing reference")] {
        let pcs = clean(&format!("decode calls.te {options}"))?;
        let decoded = number(&figures, "decoded_instructions");
        assert_eq!(pcs.lines().count() as u64, decoded, "{options}");
    }
    Ok(())
}

fn a_log_is_a_program_too() -> Result<(), Failed> {
    let calls = program("calls");
    clean(&format!("run {calls} --limit 20000 --retired calls.htr"))?;
    let sim = |input: &str| json(&format!("sim encoder {input} --config full --limit 20000"));
    let (direct, log) = (sim(&calls)?, sim(&format!("calls.htr --elf {calls}"))?);
    for key in ["instructions", "decoded_instructions", "packets", "bytes", "cycles"] {
        assert_eq!(number(&direct, key), number(&log, key), "{key}");
    }
    // Blocks that are not split fit through no port.
    clean(&format!("run {} --limit 20000 --retired crypto.htr", program("crypto")))?;
    let output = hartrace("sim encoder crypto.htr --config full")?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && text.contains("--elf PROG"), "{text}");
    Ok(())
}

fn what_cannot_be_simulated_is_said() -> Result<(), Failed> {
    let (calls, rv32) = (program("calls"), program("interrupts-rv32"));
    for (line, what, status) in [
        (format!("sim encoder {calls} --config huge"), "no configuration `huge`", 2),
        (format!("sim encoder {calls} --lanes 9"), "lanes = 9 is not in 1..=4", 2),
        (format!("sim encoder {rv32}"), "a program for RV32", 2),
        (format!("sim encoder {calls} --encode retrun"), "no mode `retrun`", 2),
        ("sim encoder missing.elf".into(), "cannot read", 3),
        ("sim encoder -o x.te".into(), "PROG|LOG", 2),
    ] {
        let output = hartrace(&line)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{line}: {text}");
        assert!(text.contains(what), "{line}: {text}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["sim", "encoder", &calls])
        .env("XDG_CACHE_HOME", cache())
        .env("VERILATOR", "no-such-verilator")
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no-such-verilator not found; on Debian: apt-get install verilator"));
    Ok(())
}
