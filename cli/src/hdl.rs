//! `hartrace hdl`: writes the encoder or a decoder in SystemVerilog, with the files that tools, software and decoders need.

use crate::args::{DecoderArg, HdlArgs};
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_capture::limits::DOCUMENT_BYTES;
use hartrace_cva6_connector as connector;
use hartrace_decoder_hdl::{
    Decoder, DecoderError, etmv4, package as decoder_package, package_top, top,
};
use hartrace_encoder_hdl::top::{FindError, PackageError, TopConfig, description, package};
use std::io::Write;
use std::path::Path;

/// The configuration of the encoder if none is named.
const DEFAULT: &str = "small";

/// Runs the command.
pub(crate) fn run(args: &HdlArgs) -> Result<Status, Failure> {
    if let Some(protocol) = args.decoder {
        let decoder = decoder(protocol, args.config.as_deref(), args.find_sync)?;
        let decoder = decoder.with_unroll(args.unroll);
        let decoder = args.blocks.map_or(decoder, |entries| decoder.with_walker(entries));
        let (mut files, name) = match args.analysis {
            true => {
                let config = top::Config { frames: args.frames, ..top::Config::new(decoder) };
                (package_top(&config)?, top::TOP.to_owned())
            }
            false => (decoder_package(&decoder)?, decoder.component()?.name().to_owned()),
        };
        if protocol == DecoderArg::Etrace {
            let config = named(args.config.as_deref().unwrap_or(DEFAULT), None)?;
            files.extend(description(&config)?);
        }
        write(args, &files, &name)?;
        return Ok(Status::Clean);
    }
    let config = config(args)?;
    config.check().map_err(|error| {
        Failure::usage(error).hint("another --config, or other values in its file")
    })?;
    // Everything is made before anything is written.
    let (connector, adapter) = match args.core {
        None => (Files::new(), Files::new()),
        Some(core) => {
            connector::package(&config.encoder, &config.prefix, core).map_err(Failure::usage)?
        }
    };
    let mut files = package(&config, connector)?;
    files.extend(adapter);
    let top = config.module();
    let mut out = write(args, &files, &top)?;
    let place = args.output.display();
    let source = match config.harts {
        1 => String::new(),
        _ => format!(" --source {}", config.first_source),
    };
    writeln!(out, "  hartrace decode TRACE --params {place}/params.toml --elf PROGRAM{source}")?;
    Ok(Status::Clean)
}

/// Writes files, and says so.
fn write(args: &HdlArgs, files: &Files, top: &str) -> Result<impl Write, Failure> {
    let names = || files.iter().map(|(name, _)| &name[..]);
    let is_ours = |folder: &Path| {
        // The list of files for FuseSoC names where they are from.
        let mut lists = names().filter(|name| name.ends_with(".core"));
        lists.any(|name| files::starts_with(&folder.join(name), "name: hartrace:"))
    };
    files::check_folder(&args.output, names(), is_ours)?;
    for (name, text) in files {
        files::write_new(&args.output.join(name), text)?;
    }
    let mut out = files::stdout();
    let place = args.output.display();
    writeln!(out, "{} files in {place}; the top module is {top}", files.len())?;
    writeln!(
        out,
        "  verilator --lint-only -Wall -f {top}.f --top-module {top}   # in that folder"
    )?;
    Ok(out)
}

/// Returns a decoder: for ETMv4 that of a file, for E-Trace that of a configuration of the encoder.
pub(crate) fn decoder(
    protocol: DecoderArg,
    config: Option<&str>,
    find_sync: bool,
) -> Result<Decoder, Failure> {
    match (protocol, config) {
        (DecoderArg::Etmv4, None) => Ok(Decoder::Etmv4(etmv4::Config::default())),
        (DecoderArg::Etmv4, Some(name)) => {
            let text = files::read_text(Path::new(name), DOCUMENT_BYTES)?;
            let config = etmv4::Config::from_toml(&String::from_utf8_lossy(&text), 4);
            let hint = "version, address_bits, timestamp_bits, cycles_bits, vmid_bytes, \
                        context_id_bytes, commopt, return_stack";
            config.map(Decoder::Etmv4).map_err(|error| Failure::input(error).at(name).hint(hint))
        }
        (DecoderArg::Etrace, name) => {
            let name = name.unwrap_or(DEFAULT);
            let config = named(name, None)?;
            Decoder::of_encoder(&config, 4, !find_sync).map_err(|error| match error {
                DecoderError::Encapsulation => {
                    Failure::usage(error).at(name).hint("encapsulation = \"standard\"")
                }
                error => error.into(),
            })
        }
    }
}

impl From<DecoderError> for Failure {
    fn from(error: DecoderError) -> Self {
        Self::usage(error).hint("another --config, or other values in its file")
    }
}

/// Names and texts.
type Files = Vec<(String, String)>;

/// Returns a named configuration or that of a file, with `lanes` if given.
pub(crate) fn named(name: &str, lanes: Option<u8>) -> Result<TopConfig, Failure> {
    // The names of those that are built in have no extension.
    if name.contains(['.', '/']) {
        files::reads(Path::new(name))?;
    }
    TopConfig::find(name, lanes).map_err(|error| match (&error, error.hint()) {
        (FindError::Unknown(_), hint) => Failure::usage(error).hint_if(hint),
        (_, hint) => Failure::input(error).at(name).hint_if(hint),
    })
}

/// Returns the configuration, with the changes that the options ask for.
fn config(args: &HdlArgs) -> Result<TopConfig, Failure> {
    let mut config = named(args.config.as_deref().unwrap_or(DEFAULT), args.lanes)?;
    if let Some(xlen) = args.xlen {
        config.encoder.etrace.iaddress_width_p = xlen;
    }
    config.prefix = args.prefix.clone().unwrap_or(config.prefix);
    if let Some(sink) = args.sink {
        config = config.with_sink(sink);
    }
    if let Some(harts) = args.harts {
        config = config.with_harts(harts);
    }
    Ok(config)
}

impl From<PackageError> for Failure {
    fn from(error: PackageError) -> Self {
        Self::usage(error)
    }
}
