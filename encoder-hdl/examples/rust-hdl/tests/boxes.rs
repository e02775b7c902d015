//! Generated blocks in rust-hdl systems, checked by Verilator; ignored without it.

#[path = "../examples/system/system.rs"]
mod system;

use hartrace_encoder_hdl::transport::fifo;
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_rtl::{Component, Module};
use hartrace_rust_hdl::boxes::{Fifo32x8, TeBranchMap, TeCore};
use hartrace_rust_hdl::{EmitError, verilog};
use libtest_mimic::{Arguments, Failed, Trial};
use rust_hdl_core::prelude::*;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};
use system::System;

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let missing = Command::new("verilator").arg("--version").output().is_err();
    // While the boxes are rewritten, the compiled ones are outdated.
    let stale = env::var_os("HARTRACE_BLESS").is_some();
    let tests: [(&str, Test, bool); 4] = [
        ("the_example_is_clean", the_example_is_clean, missing),
        ("the_encoder_fits", the_encoder_fits, missing),
        ("other_ports_are_refused", other_ports_are_refused, false),
        ("open_inputs_are_refused", open_inputs_are_refused, false),
    ];
    let trials = tests
        .map(|(name, test, ignored)| Trial::test(name, test).with_ignored_flag(ignored || stale));
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// The warnings of Verilator about a module `top`.
fn lint(name: &str, text: &str, options: &[&str]) -> Result<String, Failed> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.sv"));
    fs::write(&file, text)?;
    let output = Command::new("verilator")
        .args(["--lint-only", "--top-module", "top"])
        .args(options)
        .arg(&file)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() == said.is_empty() {
        return Ok(said);
    }
    Err(format!("{}: {said}", output.status).into())
}

fn the_example_is_clean() -> Result<(), Failed> {
    let text = verilog(&mut System::new()?).map_err(|error: EmitError| error.to_string())?;
    // Two instances, but one text.
    if text.matches("fifo_32x8 first(").count() != 1
        || text.matches("fifo_32x8 second(").count() != 1
    {
        return Err(text.into());
    }
    let said = lint("system", &text, &["-Wall", "-Wno-DECLFILENAME"])?;
    if said.is_empty() { Ok(()) } else { Err(said.into()) }
}

fn small() -> Result<Component, Failed> {
    Ok(encoder(&Config::named("small").ok_or("there is no configuration small")?)?)
}

/// With nothing connected: names, widths and directions of ports are those of the module.
fn the_encoder_fits() -> Result<(), Failed> {
    let core = small()?;
    let text = generate_verilog_unchecked(&TopWrap::new(TeCore::new(&core)?));
    let said = lint("te_core", &text, &[])?;
    if !said.is_empty() {
        return Err(said.into());
    }
    // Verilator would report a difference.
    let wrong = text.replacen(".rst_ni(", ".reset(", 1);
    let said = lint("te_core_wrong", &wrong, &[])?;
    if said.contains("reset") { Ok(()) } else { Err(format!("not refused: {said}").into()) }
}

fn other_ports_are_refused() -> Result<(), Failed> {
    let m = Module::new("other", "Like a FIFO, but not quite.").clocked();
    let (valid, data) = (m.input("valid_i", 1, ""), m.input("data_i", 16, ""));
    m.assign(&m.output("valid_o", 1, ""), &valid);
    m.assign(&m.output("ready_i", 1, ""), data.any());
    let error = Fifo32x8::new(&m.finish()).err().ok_or("taken for a FIFO")?.to_string();
    for part in [
        "other has other ports",
        "data_i is in, 32 bits, not in, 16 bits",
        "ready_i is in, 1 bit, not out, 1 bit",
        "no usage_o (out, 4 bits)",
    ] {
        if !error.contains(part) {
            return Err(format!("{error}, without {part:?}").into());
        }
    }
    match TeBranchMap::new(&fifo(32, 8)) {
        Err(error) if error.to_string().contains("the block has no valid_i (in, 1 bit)") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn open_inputs_are_refused() -> Result<(), Failed> {
    let mut top = TopWrap::new(Fifo32x8::new(&fifo(32, 8))?);
    match verilog(&mut top) {
        Err(EmitError::Open(names)) if names.contains(&"uut$uut.data_i".to_owned()) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
