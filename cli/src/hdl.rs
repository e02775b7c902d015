//! `hartrace hdl`: writes the encoder in SystemVerilog, with what tools, software and decoders need to know
//! of it.

use crate::args::{CoreArg, HdlArgs, SinkArg};
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_cva6_connector as connector;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{Encapsulation, Sink, TopConfig, header, manual, sources};
use hartrace_etrace::Unit;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// The module that everything else is within.
const TOP: &str = "te_top";

/// The encoder of a hart without registers and transport, for those who have their own.
const CORE: &str = "te_core";

/// Instructions that a CVA6 commits in one cycle at most.
const COMMIT_PORTS: u8 = 2;

/// The list of what is bound into the core.
const ADAPTER_LIST: &str = "cva6_te_adapter";

/// Runs the command.
pub(crate) fn run(args: &HdlArgs) -> Result<Status, Failure> {
    let config = config(args)?;
    config.check().map_err(|error| {
        Failure::usage(error).hint("another --config, or other values in its file")
    })?;
    // Everything is made before anything is written.
    let mut files = sources(&config).map_err(Failure::usage)?;
    let mut names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    if args.core == Some(CoreArg::Cva6) {
        let (modules, adapter) = cva6(&config)?;
        // Queues may be those of the encoder.
        let new = modules.into_iter().filter(|(name, _)| !names.contains(name));
        files.extend(new.collect::<Vec<_>>());
        names = files.iter().map(|(name, _)| name.clone()).collect();
        // Not part of any design without the core.
        files.push((
            format!("{ADAPTER_LIST}.f"),
            adapter.iter().map(|(name, _)| format!("{name}\n")).collect(),
        ));
        files.extend(adapter);
    }
    let core = hartrace_encoder_hdl::sources(&config.encoder).map_err(Failure::usage)?;
    let core: Vec<String> = core.into_iter().map(|(name, _)| name).collect();
    let chosen = toml::to_string(&config).map_err(Failure::usage)?;
    files.push((format!("{TOP}.f"), names.join("\n") + "\n"));
    files.push((format!("{CORE}.f"), core.join("\n") + "\n"));
    files.push(("Bender.yml".into(), bender(&names)));
    files.push((format!("{TOP}.core"), fusesoc(&names)));
    files.push(("config.toml".into(), chosen));
    files.push(("params.toml".into(), params(&config)?));
    files.push(("registers.md".into(), manual(&config).map_err(Failure::usage)?));
    files.push(("hartrace_registers.h".into(), header(&config).map_err(Failure::usage)?));
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
    let source = match config.harts {
        1 => String::new(),
        _ => format!(" --source {}", config.first_source),
    };
    writeln!(
        out,
        "  hartrace decode TRACE --params {place}/params.toml --elf PROGRAM --xlen {}{source}",
        config.encoder.etrace.iaddress_width_p
    )?;
    Ok(Status::Clean)
}

/// Names and texts.
type Files = Vec<(String, String)>;

/// Files of the connector for a CVA6, and those of its adapter.
fn cva6(config: &TopConfig) -> Result<(Files, Files), Failure> {
    let connector = connector::Config::for_encoder(&config.encoder).with_commit_ports(COMMIT_PORTS);
    let modules = connector::sources(&connector).map_err(Failure::usage)?;
    let adapter = connector::ADAPTER.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Ok((modules, adapter.into()))
}

/// A named configuration or a file, with other lanes if asked for.
pub(crate) fn named(name: &str, lanes: Option<u8>) -> Result<TopConfig, Failure> {
    let mut config = match Config::named(name) {
        Some(encoder) => TopConfig { encoder, ..TopConfig::default() },
        None if Path::new(name).exists() => {
            let bytes = files::read(Path::new(name))?;
            let text = String::from_utf8_lossy(&bytes);
            TopConfig::from_toml(&text).map_err(|error| {
                let failure = Failure::input(error).at(name);
                failure.hint("harts, sink, encapsulation; parameters of the core under [encoder]")
            })?
        }
        None => {
            let names: Vec<String> = Config::all_named().into_keys().collect();
            return Err(Failure::usage(format_args!("there is no configuration `{name}`"))
                .hint(format_args!("{}, or a file", names.join(", "))));
        }
    };
    if let Some(lanes) = lanes {
        config.encoder.lanes = lanes;
    }
    Ok(config)
}

/// The configuration, with what was asked for otherwise.
fn config(args: &HdlArgs) -> Result<TopConfig, Failure> {
    let mut config = named(&args.config, args.lanes)?;
    if let Some(xlen) = args.xlen {
        config.encoder.etrace.iaddress_width_p = xlen;
    }
    config.sink = match (args.sink, config.sink) {
        (None, as_configured)
        | (Some(SinkArg::Axis), as_configured @ Sink::AxiStream { .. })
        | (Some(SinkArg::Atb), as_configured @ Sink::Atb { .. })
        | (Some(SinkArg::Memory), as_configured @ Sink::Memory { .. }) => as_configured,
        (Some(SinkArg::Axis), _) => Sink::AXI_STREAM,
        (Some(SinkArg::Atb), _) => Sink::ATB,
        (Some(SinkArg::Memory), _) => Sink::MEMORY,
    };
    if let Some(harts) = args.harts {
        config.harts = harts;
        if let Encapsulation::Standard(fields) = &mut config.encapsulation
            && harts > 1
            && fields.src_id_bits == 0
        {
            fields.src_id_bits = 8;
        }
    }
    Ok(config)
}

/// What a decoder has to know.
pub(crate) fn params(config: &TopConfig) -> Result<String, Failure> {
    let mut text = toml::to_string(&config.encoder.etrace).map_err(Failure::usage)?;
    let unit = match config.encoder.unit() {
        Unit::Reference => "reference",
        Unit::RvTracer => "rv-tracer",
        Unit::Hartrace => "hartrace",
    };
    let _ = write!(text, "\n[options]\nunit = \"{unit}\"\n\n[framing]\n");
    match config.encapsulation {
        Encapsulation::Reference => text.push_str("kind = \"reference\"\n"),
        Encapsulation::Standard(fields) => {
            text.push_str("kind = \"encap\"\n");
            for (name, value) in [
                ("src-bits", fields.src_id_bits),
                ("timestamp-bytes", fields.timestamp_bytes),
                ("type-bits", fields.type_bits),
                ("instruction-type", fields.instruction_type),
            ] {
                let _ = writeln!(text, "{name} = {value}");
            }
            if config.harts == 1 && fields.src_id_bits > 0 {
                let _ = writeln!(text, "source = {}", config.first_source);
            }
        }
    }
    Ok(text)
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
