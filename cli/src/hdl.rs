//! `hartrace hdl`: writes the encoder in SystemVerilog, with what tools and decoders need to know of it.

use crate::args::HdlArgs;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_encoder_hdl::{Config, sources};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// The module that everything else is within.
const TOP: &str = "te_core";

/// Runs the command.
pub(crate) fn run(args: &HdlArgs) -> Result<Status, Failure> {
    let config = config(args)?;
    // Everything is made before anything is written.
    let mut files = sources(&config).map_err(|error| {
        Failure::usage(error).hint("another --config, or other values in its file")
    })?;
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let params = toml::to_string(&config.etrace).map_err(Failure::usage)?;
    let chosen = toml::to_string(&config).map_err(Failure::usage)?;
    files.push((format!("{TOP}.f"), names.join("\n") + "\n"));
    files.push(("Bender.yml".into(), bender(&names)));
    files.push((format!("{TOP}.core"), fusesoc(&names)));
    files.push(("config.toml".into(), chosen));
    files.push(("params.toml".into(), format!("{params}\n[options]\nunit = \"hartrace\"\n")));
    for (name, text) in &files {
        write(&args.output.join(name), text)?;
    }
    let mut out = files::stdout();
    let place = args.output.display();
    writeln!(out, "{} files in {place}; the top module is {TOP}", files.len())?;
    writeln!(
        out,
        "  verilator --lint-only -Wall -f {TOP}.f --top-module {TOP}   # in that folder"
    )?;
    writeln!(
        out,
        "  hartrace decode TRACE --params {place}/params.toml --elf PROGRAM --xlen {}",
        config.etrace.iaddress_width_p
    )?;
    Ok(Status::Clean)
}

/// The configuration: a named one or a file, with what was asked for otherwise.
fn config(args: &HdlArgs) -> Result<Config, Failure> {
    let mut config = named_or_file(&args.config)?;
    if let Some(lanes) = args.lanes {
        config.lanes = lanes;
    }
    if let Some(xlen) = args.xlen {
        config.etrace.iaddress_width_p = xlen;
    }
    Ok(config)
}

/// A configuration by its name, or from a file.
pub(crate) fn named_or_file(name: &str) -> Result<Config, Failure> {
    if let Some(config) = Config::named(name) {
        return Ok(config);
    }
    let path = Path::new(name);
    if !path.exists() {
        let names: Vec<String> = Config::all_named().into_keys().collect();
        return Err(Failure::usage(format_args!("there is no configuration `{name}`"))
            .hint(format_args!("{}, or a file", names.join(", "))));
    }
    let bytes = files::read(path)?;
    Config::from_toml(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::input(error).at(name))
}

fn bender(names: &[String]) -> String {
    let mut text = format!("package:\n  name: hartrace_{TOP}\n\nsources:\n");
    for name in names {
        let _ = writeln!(text, "  - {name}");
    }
    text
}

fn fusesoc(names: &[String]) -> String {
    let mut text = format!(
        "CAPI=2:\nname: hartrace:trace:{TOP}:{}\n\nfilesets:\n  rtl:\n    files:\n",
        env!("CARGO_PKG_VERSION")
    );
    for name in names {
        let _ = writeln!(text, "      - {name}");
    }
    let _ = write!(
        text,
        "    file_type: systemVerilogSource\n\ntargets:\n  default:\n    filesets: [rtl]\n    toplevel: {TOP}\n"
    );
    text
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error| Failure::write(path.display(), &error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    fs::write(path, text).map_err(cannot)
}
