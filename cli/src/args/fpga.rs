//! Arguments of `hartrace fpga`.

use super::DecoderArg;
use super::values::named;
use clap::{Args, Subcommand};
use hartrace_decoder_hdl::Unrolls;
use hartrace_fpga::Part;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum FpgaCommand {
    /// Measure area on AMD UltraScale+ by module, clock rate and critical path on Lattice ECP5
    ///
    /// Needs yosys and nextpnr from PyPI; without them, it explains how to install them.
    /// docs/design/fpga.md discusses what the figures are worth.
    Report(ReportArgs),
    /// Show what changed between reports written with --json; exit status 4 if anything did
    Compare(FpgaCompareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// micro, small, full, cva6, linux or small_bytes, a TOML file with parameters, or a compressor, bTMBP or
    /// rSDC-128, each also with -rv32; may be repeated [default: all named ones]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) config: Vec<String>,
    /// Measure trace decoders instead: of ETMv4, or of E-Trace as a configuration of the encoder sends it
    #[arg(long, value_enum, value_name = "PROTOCOL", conflicts_with = "top")]
    pub(crate) decoder: Option<DecoderArg>,
    /// Bytes per cycle of decoders, 1 to 8; several are written as 1,2,4-8
    #[arg(long, value_name = "N", default_value = "1-8", requires = "decoder")]
    pub(crate) unroll: Unrolls,
    /// The module to measure, with everything inside it
    #[arg(long, value_name = "MODULE", default_value = "te_core")]
    pub(crate) top: String,
    /// Number of placements to measure the clock rate of [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) seeds: Option<u32>,
    /// Measure only one of the two
    #[arg(long, value_parser = named(Part::NAMED))]
    pub(crate) only: Option<Part>,
    /// One JSON object per configuration
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FpgaCompareArgs {
    /// File with one or more reports
    pub(crate) old: PathBuf,
    /// File with the reports to compare them with
    pub(crate) new: PathBuf,
}
