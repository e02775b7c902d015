//! Texts that are generated from the tables: those in the repository are up to date, and compilers
//! accept them.
//!
//! Tests that need a missing tool are ignored.

use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::registers::{
    EncoderParams, RamSinkParams, Table, atb_bridge, c_header, encoder, markdown, ram_sink,
    rust_driver,
};
use hartrace_encoder_hdl::top::{TopConfig, header};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

fn main() -> ExitCode {
    let has = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let trials = vec![
        Trial::test("driver_is_up_to_date", driver_is_up_to_date),
        Trial::test("manual_is_up_to_date", manual_is_up_to_date),
        Trial::test("driver_needs_no_std", driver_needs_no_std).with_ignored_flag(!has("rustc")),
        Trial::test("header_has_all_fields", header_has_all_fields),
        Trial::test("header_is_c", header_is_c).with_ignored_flag(!has("cc")),
        Trial::test("trace_is_c", trace_is_c).with_ignored_flag(!has("cc")),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn tables(encoder_params: &EncoderParams) -> Result<[Table; 3], Failed> {
    let sink = RamSinkParams { address_width: 64, word_bytes: 8, null_runs: true };
    Ok([encoder(encoder_params)?, ram_sink(&sink)?, atb_bridge()])
}

fn everything() -> Result<[Table; 3], Failed> {
    tables(&EncoderParams::everything())
}

fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Compares with a file of the repository, or writes it on request.
fn same(path: &str, text: &str) -> Result<(), Failed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os("HARTRACE_BLESS").is_some() {
        fs::write(&file, text)?;
    }
    let there = fs::read_to_string(&file)?;
    let mut lines = (1..).zip(there.lines().zip(text.lines()));
    match lines.find(|(_, (there, now))| there != now) {
        Some((number, (there, now))) => Err(format!(
            "{path}:{number} is\n{there}\nand would be\n{now}\nHARTRACE_BLESS=1 updates it"
        )
        .into()),
        None if there != text => {
            Err(format!("{path} has another length; HARTRACE_BLESS=1 updates it").into())
        }
        None => Ok(()),
    }
}

fn run(command: &mut Command) -> Result<(), Failed> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn driver_is_up_to_date() -> Result<(), Failed> {
    same("src/registers/driver.rs", &rust_driver(&everything()?.each_ref()))
}

fn manual_is_up_to_date() -> Result<(), Failed> {
    let note = "<!-- Made by `HARTRACE_BLESS=1 cargo test -p hartrace-encoder-hdl --test registers_texts`. -->\n\n";
    same("../docs/registers.md", &format!("{note}{}", markdown(&everything()?.each_ref())))
}

/// As a separate crate, for an encoder with all features and for one with none.
fn driver_needs_no_std() -> Result<(), Failed> {
    let folder = folder("driver")?;
    let all = [EncoderParams::everything(), EncoderParams::minimal()];
    for (i, params) in all.iter().enumerate() {
        let text = rust_driver(&tables(params)?.each_ref());
        fs::write(folder.join(format!("driver{i}.rs")), text)?;
        let source = format!("driver{i}_crate.rs");
        fs::write(folder.join(&source), format!("#![no_std]\npub mod driver{i};\n"))?;
        let mut command = Command::new("rustc");
        command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "-Dwarnings"]);
        run(command.arg(&source).current_dir(&folder))?;
    }
    Ok(())
}

/// Shift and mask of every field are present, by number; names are not compared.
fn header_has_all_fields() -> Result<(), Failed> {
    let tables = everything()?;
    let header = c_header(&tables.each_ref());
    let mut lines = header.lines().filter_map(|line| line.strip_prefix("#define ")).peekable();
    let mut there = BTreeSet::new();
    while let Some(line) = lines.next() {
        if let (Some((name, shift)), Some(mask)) = (line.split_once("_SHIFT "), lines.peek())
            && let Some(mask) = mask.strip_prefix(&format!("{name}_MASK "))
            && !there.insert((name.to_owned(), shift.to_owned(), mask.to_owned()))
        {
            return Err(format!("{name} is there twice").into());
        }
    }
    let mut fields = BTreeSet::new();
    for register in tables.iter().flat_map(|table| &table.registers) {
        for field in &register.fields {
            fields.insert((register.family(), field.name, field.lsb, field.mask()));
        }
    }
    let mut left: Vec<_> = there.iter().map(|(_, s, m)| (s.clone(), m.clone())).collect();
    for (register, name, lsb, mask) in &fields {
        let numbers = (format!("{lsb}u"), format!("{mask:#010x}u"));
        match left.iter().position(|other| *other == numbers) {
            Some(at) => drop(left.remove(at)),
            None => return Err(format!("{name} of {register} is not in the header").into()),
        }
    }
    if left.is_empty() { Ok(()) } else { Err(format!("no fields: {left:?}").into()) }
}

/// The compiler accepts it, twice, and agrees on some names and values.
fn header_is_c() -> Result<(), Failed> {
    let claims = [
        "TR_TE_CONTROL_OFFSET == 0 && TR_TE_CONTROL_INST_SYNC_MAX_SHIFT == 20",
        "TR_RAM_WP_LOW_OFFSET == 0x20 && TR_RAM_WP_LOW_WRAP_MASK == 1",
        "TR_TE_COMP_SMATCH_HIGH_OFFSET(3) == 0x67c && TR_TE_COMP_CONTROL_COUNT == 8",
        "TR_GET(0x00a00000, TR_TE_CONTROL_INST_SYNC_MAX) == 10",
        "TR_SET(0xffffffff, TR_TE_CONTROL_INST_SYNC_MODE, 1) == 0xfffdffff",
        "TR_SET(0, TR_ATB_BRIDGE_CONTROL_ID, 0xff) == 0x7f00",
    ];
    let folder = folder("header")?;
    fs::write(folder.join("registers.h"), c_header(&everything()?.each_ref()))?;
    let check = |claims: &[&str]| {
        let claims = claims.iter().map(|claim| format!("_Static_assert({claim}, \"\");\n"));
        let twice = "#include \"registers.h\"\n".repeat(2);
        fs::write(folder.join("main.c"), format!("{twice}{}", claims.collect::<String>()))?;
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
        run(command.arg("main.c").current_dir(&folder))
    };
    check(&claims)?;
    match check(&["TR_TE_CONTROL_OFFSET == 4"]) {
        Err(_) => Ok(()),
        Ok(()) => Err("the compiler accepts what is wrong".into()),
    }
}

/// The compiler accepts the functions that start and stop a trace, with the header of every named configuration.
fn trace_is_c() -> Result<(), Failed> {
    let software = Path::new(env!("CARGO_MANIFEST_DIR")).join("software");
    for (name, encoder) in Config::all_named() {
        let folder = folder(&format!("trace-{name}"))?;
        let top = TopConfig { encoder, ..TopConfig::default() };
        fs::write(folder.join("hartrace_registers.h"), header(&top)?)?;
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
        let command = command.arg("-I").arg(&folder).arg(software.join("trace.c"));
        run(command).map_err(|error| format!("{name}: {error:?}"))?;
    }
    Ok(())
}
