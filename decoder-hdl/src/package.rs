//! Everything that is delivered with a decoder: lists of files for tools, a manual, records for C.

use crate::{analysis, etmv4, etrace, walker};
use hartrace_decoder::block_table::Ends;
use hartrace_encoder_hdl::registers;
use hartrace_rtl::{Component, Direction, lists};
use std::fmt::Write;
use thiserror::Error;

/// A decoder, and the trace it is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// ETMv4 or ETE.
    Etmv4(etmv4::Config),
    /// E-Trace.
    Etrace(etrace::Config),
    /// E-Trace, with a walker behind it.
    Follower(walker::Config),
}

/// A decoder cannot have these parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecoderError {
    /// Of ETMv4.
    #[error(transparent)]
    Etmv4(#[from] etmv4::ConfigError),
    /// Of E-Trace.
    #[error(transparent)]
    Etrace(#[from] etrace::ConfigError),
    /// Of a walker.
    #[error(transparent)]
    Walker(#[from] walker::ConfigError),
    /// Of an analysis.
    #[error(transparent)]
    Analysis(#[from] analysis::ConfigError),
    /// They cannot be written as TOML.
    #[error(transparent)]
    Toml(#[from] toml::ser::Error),
}

impl Decoder {
    /// Generates it.
    ///
    /// # Errors
    ///
    /// If there is no decoder with these parameters.
    pub fn component(&self) -> Result<Component, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => etmv4::decoder(config)?,
            Self::Etrace(config) => etrace::decoder(config)?,
            Self::Follower(config) => walker::follower(config)?,
        })
    }

    /// Generates the stage that finds packets, byte after byte in one cycle, alone.
    ///
    /// # Errors
    ///
    /// If there is no decoder with these parameters.
    pub fn chain(&self) -> Result<Component, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => etmv4::stream_unit(config)?.0,
            Self::Etrace(config) => etrace::boundary_unit(config)?,
            Self::Follower(config) => etrace::boundary_unit(&config.decoder)?,
        })
    }

    /// Bytes per cycle.
    pub fn unroll(&self) -> u32 {
        match self {
            Self::Etmv4(config) => config.unroll,
            Self::Etrace(config) => config.unroll,
            Self::Follower(config) => config.decoder.unroll,
        }
    }

    /// The same with another number of bytes per cycle.
    #[must_use]
    pub fn with_unroll(self, unroll: u32) -> Self {
        match self {
            Self::Etmv4(config) => Self::Etmv4(etmv4::Config { unroll, ..config }),
            Self::Etrace(config) => Self::Etrace(etrace::Config { unroll, ..config }),
            Self::Follower(config) => {
                let decoder = etrace::Config { unroll, ..config.decoder };
                Self::Follower(walker::Config { decoder, ..config })
            }
        }
    }

    /// The analysis for what it says.
    fn analysis(&self) -> analysis::Config {
        let address_bits = match self {
            Self::Etmv4(config) => config.address_bits,
            Self::Etrace(config) | Self::Follower(walker::Config { decoder: config, .. }) => {
                config.params.iaddress_width_p.into()
            }
        };
        analysis::Config { address_bits, lanes: self.unroll(), ..analysis::Config::default() }
    }

    /// Records per cycle, and cycles from a byte to the record of the packet that it ends. None if it has blocks instead.
    fn records(&self) -> Result<Option<(u32, u32)>, DecoderError> {
        Ok(match self {
            Self::Etmv4(config) => Some((config.unroll, etmv4::LATENCY)),
            Self::Etrace(config) => Some((config.unroll.div_ceil(2), etrace::latency(config)?)),
            Self::Follower(_) => None,
        })
    }

    /// The configuration, for people.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Etmv4(config) => {
                let (major, minor) = (config.unit.version >> 4, config.unit.version & 0xf);
                let bits = |bytes: u8| format!("{} bits", 8 * u32::from(bytes));
                vec![
                    ("architecture version", format!("{major}.{minor}")),
                    ("addresses", format!("{} bits", config.address_bits)),
                    ("timestamps", format!("{} bits", config.timestamp_bits)),
                    ("counter of cycles", format!("{} bits", config.cycles_bits)),
                    ("virtual context identifiers", bits(config.unit.vmid_bytes)),
                    ("context identifiers", bits(config.unit.context_id_bytes)),
                    ("COMMOPT", u8::from(config.unit.commopt).to_string()),
                ]
            }
            Self::Etrace(config) => {
                let (params, encap) = (config.params, config.encap);
                let first = if config.aligned { "a header" } else { "anything" };
                vec![
                    ("iaddress_width_p", params.iaddress_width_p.to_string()),
                    ("iaddress_lsb_p", params.iaddress_lsb_p.to_string()),
                    ("cache_size_p", params.cache_size_p.to_string()),
                    ("bpred_size_p", params.bpred_size_p.to_string()),
                    ("srcID", format!("{} bits", encap.src_id_bits())),
                    ("type", format!("{} bits", encap.type_bits())),
                    ("timestamp", format!("{} bytes", encap.timestamp_bytes())),
                    ("first byte after reset", first.to_owned()),
                ]
            }
            Self::Follower(config) => {
                let table = config.table;
                let mut all = Self::Etrace(config.decoder).parameters();
                all.push(("table of blocks", format!("{} words", table.depth())));
                let [start, span, index] = [table.start_bits, table.span_bits, table.index_bits];
                let ends = Ends::BITS;
                all.push((
                    "its words, from bit 0",
                    format!("start {start}, span {span}, end {ends}, sequential 1, target {index}"),
                ));
                all.push(("FIFO in front", format!("{} rows", config.rows)));
                all
            }
        }
    }
}

/// Returns names and texts of all files: modules, lists of them for tools, the configuration, a manual of ports and
/// records, and the fields of records for C. The configuration of a decoder of E-Trace is that of its encoder. With
/// `analysis`, also the module `trace_analysis` with a manual of its registers and a header for C.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn package(decoder: &Decoder, analysis: bool) -> Result<Vec<(String, String)>, DecoderError> {
    let top = decoder.component()?;
    let mut files: Vec<(String, String)> =
        top.files().into_iter().map(|(name, text)| (format!("{name}.sv"), text)).collect();
    let mut registers = None;
    if analysis {
        let config = decoder.analysis();
        for (name, text) in analysis::analysis(&config)?.files() {
            let name = format!("{name}.sv");
            if !files.iter().any(|(other, _)| *other == name) {
                files.push((name, text));
            }
        }
        registers =
            Some(registers::analysis(&config.registers()).map_err(analysis::ConfigError::from)?);
    }
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    files.extend(lists(top.name(), &names));
    if let Decoder::Etmv4(config) = decoder {
        files.push(("config.toml".into(), config.to_toml()?));
    }
    files.push(("manual.md".into(), manual(decoder, &top)?));
    if let Some(table) = registers {
        files.push(("registers.md".into(), registers::markdown(&[&table])));
        files.push(("hartrace_registers.h".into(), registers::c_header(&[&table])));
    }
    if let Some((records, _)) = decoder.records()? {
        files.push(("hartrace_records.h".into(), header(records, &top)));
    }
    Ok(files)
}

/// The fields of records: name, width and meaning.
fn fields(top: &Component, records: u32) -> impl Iterator<Item = (&str, u32, &str)> {
    let outputs = top.ports().iter().filter(|port| port.direction == Direction::Output);
    outputs.map(move |port| (port.name.trim_end_matches("_o"), port.width / records, &port.doc[..]))
}

/// Ports and records, in Markdown.
fn manual(decoder: &Decoder, top: &Component) -> Result<String, DecoderError> {
    let unroll = decoder.unroll();
    let mut out = format!("# {}\n\n", top.name());
    // Writing to a string never fails.
    let _ = writeln!(
        out,
        "It takes up to {unroll} bytes in every cycle, whatever they are, and never waits.\n\n## Configuration\n\n\
         | | |\n| --- | --- |"
    );
    for (name, value) in decoder.parameters() {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out.push_str("\n## Inputs\n\n| port | bits | |\n| --- | --- | --- |\n");
    for port in top.ports().iter().filter(|port| port.direction == Direction::Input) {
        let doc = match &port.name[..] {
            "clk_i" => "clock",
            "rst_ni" => "reset, active low",
            _ => &port.doc,
        };
        let _ = writeln!(out, "| `{}` | {} | {doc} |", port.name, port.width);
    }
    let _ = writeln!(
        out,
        "\nByte i is in bits 8i to 8i + 7 of `bytes_i` and counts if bit i of `valid_i` is set.\n"
    );
    match decoder.records()? {
        Some((records, latency)) => {
            let _ = writeln!(
                out,
                "## Records\n\nUp to {records} records leave it in a cycle, {latency} cycles after the last bytes of their \
                 packets. Each field is an output `FIELD_o`; that of record i starts at bit i times its width. Record 0 is \
                 the oldest.\n\n| field | bits | |\n| --- | --- | --- |"
            );
            for (name, width, doc) in fields(top, records) {
                let _ = writeln!(out, "| `{name}` | {width} | {doc} |");
            }
        }
        None => {
            out.push_str(
                "## Blocks\n\nAt most one block leaves it in a cycle. `hartrace image` writes the table of blocks, which is \
                 loaded before the first byte.\n\n| output | bits | |\n| --- | --- | --- |\n",
            );
            for (name, width, doc) in fields(top, 1) {
                let _ = writeln!(out, "| `{name}_o` | {width} | {doc} |");
            }
        }
    }
    Ok(out)
}

/// The fields of records as constants: the width of each, and its lowest bit if they follow one another, the first
/// one lowest.
fn header(records: u32, top: &Component) -> String {
    let mut out = format!(
        "/* Records of {}. A record is its fields, one after the other, the first in the lowest bits. */\n\
         #ifndef HARTRACE_RECORDS_H\n#define HARTRACE_RECORDS_H\n\n#define HARTRACE_RECORDS_PER_CYCLE {records}u\n",
        top.name()
    );
    let mut at = 0;
    for (name, width, doc) in fields(top, records) {
        let name = name.to_uppercase();
        let _ = write!(
            out,
            "\n/* {doc} */\n#define HARTRACE_RECORD_{name}_LSB {at}u\n#define HARTRACE_RECORD_{name}_WIDTH {width}u\n"
        );
        at += width;
    }
    let _ = write!(out, "\n#define HARTRACE_RECORD_BITS {at}u\n\n#endif\n");
    out
}
