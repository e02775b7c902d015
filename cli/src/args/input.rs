//! Formats of logs.

use super::values::{named, xlen};
use clap::Args;
use hartrace_etrace::ingress::Flavour;
use hartrace_executions::Format;
use hartrace_isa::Xlen;
use std::path::PathBuf;

/// How to read a log.
#[derive(Clone, Debug, Args)]
pub(crate) struct InputArgs {
    /// Format of the log [default: detected by its content]
    #[arg(long, value_parser = named(Format::NAMED), value_name = "FORMAT")]
    pub(crate) input_format: Option<Format>,
    /// spike: the hart to read [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) hart: Option<u32>,
    /// reference: what the iretire columns count [default: single]
    #[arg(long, value_parser = named(RETIREMENTS))]
    pub(crate) retirement: Option<Flavour>,
}

/// What the iretire columns count.
const RETIREMENTS: [(&str, Flavour, &str); 2] =
    [("single", Flavour::Single, "Instructions: 0 or 1"), ("block", Flavour::Block, "Half-words")];

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The log, of any format that `--input-format` lists; may be compressed with gzip or zstd
    pub(crate) input: PathBuf,
    /// Where to write the trace file; without it, only the summary is printed
    #[arg(short, long, value_name = "OUT.htr")]
    pub(crate) output: Option<PathBuf>,
    /// 32 or 64 [default: 32 for logs of Spike with addresses of 8 digits, otherwise 64]
    #[arg(long, value_name = "N", value_parser = xlen())]
    pub(crate) xlen: Option<Xlen>,
    /// The summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) format: InputArgs,
}
