//! Formats of logs.

use clap::{Args, ValueEnum};
use hartrace_etrace::ingress::Flavour;
use hartrace_sources::Format;
use std::path::PathBuf;

/// How to read a log.
#[derive(Clone, Debug, Args)]
pub(crate) struct InputArgs {
    /// Format of the log [default: detected by its content]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input_format: Option<FormatArg>,
    /// spike: the hart to read
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) hart: u32,
    /// reference: what the iretire columns count
    #[arg(long, value_enum, default_value_t = Retirement::Single)]
    pub(crate) retirement: Retirement,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Output of spike -l --log-commits, or of either; RVFI trace of CVA6
    Spike,
    /// Commit log of CVA6: CSV with the columns cycle, event, pc, insn, priv, taken_ex, cause, tval
    Cva6,
    /// Encoder input of the reference flow: CSV
    ///
    /// Columns, found by name: itype_0, cause, priv, context, ctype, sijump_0, iretire_0,
    /// ilastsize_0, time (decimal), tval, iaddr_0 (hexadecimal); lanes _0 to _3; optional trigger
    /// (bit 0 on, 1 off, 2+lane notify), halted, reset (levels), cycles (since the row before).
    Reference,
    /// Trace file of `hartrace convert`
    Htr,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Spike => Self::Spike,
            FormatArg::Cva6 => Self::Cva6,
            FormatArg::Reference => Self::Reference,
            FormatArg::Htr => Self::TraceFile,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Retirement {
    /// Instructions: 0 or 1
    Single,
    /// Half-words
    Block,
}

impl From<Retirement> for Flavour {
    fn from(retirement: Retirement) -> Self {
        match retirement {
            Retirement::Single => Self::Single,
            Retirement::Block => Self::Block,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The log, of any format that `--input-format` lists; may be compressed with gzip or zstd
    pub(crate) input: PathBuf,
    /// Where to write the trace file; without it, only the summary is printed
    #[arg(short, long, value_name = "OUT.htr")]
    pub(crate) output: Option<PathBuf>,
    /// 32 or 64 [default: 32 for logs of Spike with addresses of 8 digits, otherwise 64]
    #[arg(long, value_name = "N", value_parser = ["32", "64"])]
    pub(crate) xlen: Option<String>,
    /// The summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) format: InputArgs,
}
