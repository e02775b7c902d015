//! Formats of logs.

use super::values::{named, xlen};
use clap::Args;
use hartrace_etrace::ingress::Flavour;
use hartrace_isa::Xlen;
use hartrace_sources::Format;
use std::path::PathBuf;

/// How to read a log.
#[derive(Clone, Debug, Args)]
pub(crate) struct InputArgs {
    /// Format of the log [default: detected by its content]
    #[arg(long, value_parser = named(FORMATS), value_name = "FORMAT")]
    pub(crate) input_format: Option<Format>,
    /// spike: the hart to read
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) hart: u32,
    /// reference: what the iretire columns count
    #[arg(long, value_parser = named(RETIREMENTS), default_value = "single")]
    pub(crate) retirement: Flavour,
}

/// Formats of logs. The columns of `reference` are found by name: itype_0, cause, priv, context, ctype,
/// sijump_0, iretire_0, ilastsize_0, time (decimal), tval, iaddr_0 (hexadecimal); lanes _0 to _3; optional
/// trigger (bit 0 on, 1 off, 2+lane notify), halted, reset (levels), cycles (since the row before).
const FORMATS: [(&str, Format, &str); 4] = [
    ("spike", Format::Spike, "Output of spike -l --log-commits, or of either; RVFI trace of CVA6"),
    (
        "cva6",
        Format::Cva6,
        "Commit log of CVA6: CSV with the columns cycle, event, pc, insn, priv, taken_ex, cause, tval",
    ),
    ("reference", Format::Reference, "Encoder input of the reference flow: CSV"),
    ("htr", Format::TraceFile, "Trace file of `hartrace convert`"),
];

/// What the iretire columns count.
const RETIREMENTS: [(&str, Flavour, &str); 2] =
    [("single", Flavour::Single, "Instructions: 0 or 1"), ("block", Flavour::Block, "Half-words")];

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
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
