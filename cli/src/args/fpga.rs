//! Arguments of `hartrace fpga`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum FpgaCommand {
    /// Area on AMD UltraScale+ by module, clock rate and critical path on Lattice ECP5
    ///
    /// Needs yosys and nextpnr from PyPI; without them it says how to install them. What the figures
    /// are worth is in docs/design/fpga.md.
    Report(ReportArgs),
    /// What changed between reports that were written with --json; exit status 4 if anything did
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// micro, small, full or cva6, or a TOML file with parameters; may be repeated [default: all
    /// that have a name]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) config: Vec<String>,
    /// The module to measure, with all that is within it
    #[arg(long, value_name = "MODULE", default_value = "te_core")]
    pub(crate) top: String,
    /// Placements whose clock rates are measured [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) seeds: Option<u32>,
    /// Measure one of the two only
    #[arg(long, value_enum)]
    pub(crate) only: Option<Part>,
    /// One JSON object per configuration
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What can be measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Area on UltraScale+
    Area,
    /// Clock rate on ECP5
    Timing,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// One report, or several
    pub(crate) old: PathBuf,
    /// Others
    pub(crate) new: PathBuf,
}
