//! Arguments of `hartrace compare`.

use super::InputArgs;
use super::values::{named, parse_some, parse_some_nonzero};
use clap::Args;
use clap::ValueHint::FilePath;
use hartrace_capture::programs::Placed;
use hartrace_compressors::Family;
use hartrace_compressors::comparison::TableFormat;
use hartrace_executions::executed::Executor;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// What to compare, and on what.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Programs to execute, as for `run`, or logs, as for `encode` [default: the bundled programs]
    ///
    /// Programs for Arm (A64, A32, T32) are run by QEMU and traced in ETMv4 and PTM.
    #[arg(value_name = "PROGRAM.elf|TRACE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// A suite instead, with its means: `applications`, `embench` or `mibench` of the current folder, `corner-cases`, or a TOML file
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "inputs")]
    pub(crate) suite: Option<String>,
    /// What executes programs: our own hart, or QEMU
    #[arg(long, value_parser = named(Executor::NAMED), default_value = "iss")]
    pub(crate) with: Executor,
    /// The program of the logs; BIAS (0x...) is added to its addresses. May be given more than once
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = Placed::program, value_hint = FilePath)]
    pub(crate) elf: Vec<Placed>,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    /// Schemes, separated by commas [default: all but bzip2-9, Tuples-32 and E-Trace+hp]
    #[arg(long, value_name = "NAMES", long_help = schemes_help())]
    pub(crate) schemes: Vec<String>,
    /// Also the schemes of a family with one setting varied: tmbp.entries=64..2048 doubles it each time,
    /// dmtf.mtf2=4,8,16 is a list. May be given more than once
    #[arg(long, value_name = "FAMILY.KEY=VALUES", long_help = sweep_help())]
    pub(crate) sweep: Vec<String>,
    /// Empty all tables and send whole addresses after every N instructions [default: never]
    #[arg(long, value_name = "N", value_parser = parse_some_nonzero)]
    pub(crate) sync_every: Option<NonZeroU64>,
    /// Maximum number of instructions of each program; each uses about two bytes of memory [default: that of the suite, or 3000000]
    #[arg(long, value_name = "N", value_parser = parse_some)]
    pub(crate) limit: Option<u64>,
    /// Also compress the addresses of loads and stores, and loaded values (programs only)
    #[arg(long)]
    pub(crate) data: bool,
    /// Also ETMv4 and PTM: the same C sources compiled for RV64, A64 and T32, the latter two run by QEMU
    #[arg(long)]
    pub(crate) arm: bool,
    /// Use the figures in FILE, and add new ones as they come: a sweep that was stopped goes on
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// A table of the dissertation, measured on these programs beside its own figures; without a number, lists the tables
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["schemes", "sweep"])]
    pub(crate) table: Option<String>,
    /// How that table is written [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = named(TableFormat::NAMED))]
    pub(crate) format_table: Option<TableFormat>,
    /// Only the means
    #[arg(long, conflicts_with = "table")]
    pub(crate) brief: bool,
    /// The figures as one JSON object, instead of tables; with a file, in addition to them
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Where to write the JSON object
    #[arg(short, long, value_name = "FILE", requires = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write a self-contained page with plots
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

fn schemes_help() -> String {
    format!(
        "Schemes, separated by commas [default: all but bzip2-9, Tuples-32 and E-Trace+hp]\n\n{}\nSizes in capitals are numbers. All other \
         settings follow the name in brackets, as in `bTMBP[entries=1024,ras=16]`: see --sweep.",
        Family::list()
    )
}

fn sweep_help() -> String {
    format!(
        "Also the schemes of a family with one setting varied: tmbp.entries=64..2048 doubles it each time, dmtf.mtf2=4,8,16 \
         is a list. May be given more than once\n\nVaries the schemes of that family that --schemes names, by default those \
         in parentheses, beside which the settings have these limits; those with `..` are powers of two:\n\n{}",
        Family::list_settings().trim_end()
    )
}
