//! Texts that are generated from the tables: those in the repository are up to date, and compilers
//! accept them.
//!
//! Tests that need a missing tool are ignored.

use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::registers::{
    EncoderParams, Field, Kind, RamSinkParams, Register, Table, atb_bridge, c_header, encoder,
    markdown, ram_sink, rust_driver,
};
use hartrace_encoder_hdl::top::{
    Encapsulation, Page, Sink, Standard, TimeSource, TopConfig, descriptions, devicetree, header,
    pages,
};
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
        Trial::test("device_tree_compiles", device_tree_compiles)
            .with_ignored_flag(!has("dtc") || !has("cc")),
        Trial::test("maps_are_read", maps_are_read).with_ignored_flag(python().is_none()),
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

/// An interpreter with readers of registers: `./test.sh rtl` makes one.
fn python() -> Option<PathBuf> {
    Some(Path::new(&env::var_os("HARTRACE_REGISTER_TOOLS")?).join("bin/python"))
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
    // Where the second of a kind would be is known of a kind that has only one.
    let single = ["TR_TE_FILTER_CONTROL_OFFSET(1) == 0x420 && TR_TE_FILTER_CONTROL_COUNT == 1"];
    let folder = folder("header")?;
    let check = |tables: &[Table; 3], claims: &[&str]| {
        fs::write(folder.join("registers.h"), c_header(&tables.each_ref()))?;
        let claims = claims.iter().map(|claim| format!("_Static_assert({claim}, \"\");\n"));
        let twice = "#include \"registers.h\"\n".repeat(2);
        fs::write(folder.join("main.c"), format!("{twice}{}", claims.collect::<String>()))?;
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
        run(command.arg("main.c").current_dir(&folder))
    };
    check(&everything()?, &claims)?;
    check(&tables(&EncoderParams::minimal())?, &single)?;
    match check(&everything()?, &["TR_TE_CONTROL_OFFSET == 4"]) {
        Err(_) => Ok(()),
        Ok(()) => Err("the compiler accepts what is wrong".into()),
    }
}

/// Tools of others find the same registers in SystemRDL and in IP-XACT, which is valid against its schema. They do not if
/// a register is moved.
fn maps_are_read() -> Result<(), Failed> {
    let folder = folder("maps")?;
    let named = |name: &str| Config::named(name).ok_or("there is no such configuration");
    let configs = [
        TopConfig { encoder: named("micro")?, sink: Sink::AXI_STREAM, ..TopConfig::default() },
        TopConfig { encoder: named("full")?, sink: Sink::ATB, ..TopConfig::default() },
        TopConfig {
            encoder: named("linux")?,
            harts: 2,
            time: TimeSource::Internal,
            encapsulation: Encapsulation::Standard(Standard {
                src_id_bits: 8,
                ..Standard::default()
            }),
            ..TopConfig::default()
        },
    ];
    for config in configs {
        let mut expected = Vec::new();
        for page in pages(&config)? {
            for register in &page.table.registers {
                let places = register.fields.iter().map(|field| expects(&page, register, field));
                expected.extend(places);
            }
        }
        fs::write(folder.join("expected.json"), serde_json::to_string(&expected)?)?;
        let [rdl, xml] = descriptions(&config, &["te_top.sv".to_owned()])?;
        let check = |rdl: &str, xml: &str| {
            fs::write(folder.join("map.rdl"), rdl)?;
            fs::write(folder.join("map.xml"), xml)?;
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registers/maps.py");
            let mut command = Command::new(python().ok_or("no tools")?);
            run(command
                .arg(script)
                .args(["expected.json", "map.rdl", "map.xml"])
                .current_dir(&folder))
        };
        check(&rdl.1, &xml.1)?;
        let moved = xml.1.replacen("<spirit:bitOffset>1<", "<spirit:bitOffset>7<", 1);
        let longer = rdl.1.replacen("trTeVerMajor[3:0]", "trTeVerMajor[2:0]", 1);
        let outside = xml.1.replacen("<spirit:usage>register<", "<spirit:usage>registers<", 1);
        for (rdl, xml) in [(&rdl.1, &moved), (&longer, &xml.1), (&rdl.1, &outside)] {
            if check(rdl, xml).is_ok() {
                return Err("tools accept what is wrong".into());
            }
        }
    }
    Ok(())
}

/// The compiler of device trees accepts the nodes without a warning, in a tree with two cells for addresses, and finds
/// ends that are not connected.
fn device_tree_compiles() -> Result<(), Failed> {
    let folder = folder("devicetree")?;
    let encoder = Config::named("micro").ok_or("there is no such configuration")?;
    let shared = Encapsulation::Standard(Standard { src_id_bits: 8, ..Standard::default() });
    let two = TopConfig { harts: 2, encapsulation: shared, ..TopConfig::default() };
    let stream = TopConfig { encoder, sink: Sink::AXI_STREAM, ..TopConfig::default() };
    for config in [TopConfig::default(), two, stream] {
        let cores: String = (0..config.harts)
            .map(|hart| format!("#define TE_TOP_CPU{hart} cpu{hart}\n"))
            .chain([
                "/dts-v1/;\n/ {\n#address-cells = <2>;\n#size-cells = <2>;\ncpus {\n".to_owned()
            ])
            .chain(["#address-cells = <1>;\n#size-cells = <0>;\n".to_owned()])
            .chain((0..config.harts).map(|hart| {
                format!("cpu{hart}: cpu@{hart} {{ device_type = \"cpu\"; reg = <{hart}>; }};\n")
            }))
            .collect();
        let tree = format!(
            "#define TE_TOP_AT 0x0 0x18000000\n#define TE_TOP_UNIT 18000000\n{cores}}};\nsoc {{\n#address-cells = <2>;\n\
             #size-cells = <2>;\ncompatible = \"simple-bus\";\nranges;\n#include \"te_top.dtsi\"\n}};\n}};\n"
        );
        fs::write(folder.join("soc.dts"), &tree)?;
        let check = |nodes: &str| -> Result<(), Failed> {
            fs::write(folder.join("te_top.dtsi"), nodes)?;
            let mut command = Command::new("cc");
            command.args(["-E", "-P", "-undef", "-x", "assembler-with-cpp", "-o", "whole.dts"]);
            run(command.arg("soc.dts").current_dir(&folder))?;
            let mut command = Command::new("dtc");
            command.args(["-I", "dts", "-O", "dtb", "-o", "soc.dtb", "whole.dts"]);
            let output = command.current_dir(&folder).output()?;
            // Warnings do not change its status.
            match output.status.success() && output.stderr.is_empty() {
                true => Ok(()),
                false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
            }
        };
        let nodes = devicetree(&config)?;
        check(&nodes)?;
        let broken = nodes.replacen("_sink_in0: endpoint", "_other: endpoint", 1);
        if broken != nodes && check(&broken).is_ok() {
            return Err("the compiler accepts what is wrong".into());
        }
    }
    Ok(())
}

/// What readers of registers have to find.
fn expects(page: &Page, register: &Register, field: &Field) -> serde_json::Value {
    let access = match field.kind {
        Kind::Pulse => "w",
        _ if field.writable() => "rw",
        _ => "r",
    };
    let reset = match field.kind {
        Kind::Fixed(value) | Kind::Stored { tied: value, .. } => Some(value),
        Kind::Status { .. } | Kind::Pointer { .. } | Kind::Copy { .. } | Kind::Empty => None,
        _ => Some(0),
    };
    let mut values: Vec<u32> = field.values.iter().map(|value| value.0).collect();
    values.sort();
    serde_json::json!({
        "address": page.address + register.offset,
        "register": register.name(),
        "field": field.name,
        "msb": field.lsb + field.width - 1,
        "lsb": field.lsb,
        "access": access,
        "reset": reset,
        "clears": matches!(field.kind, Kind::Sticky { .. } | Kind::Mark { .. }),
        "values": values,
    })
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
