//! Arguments of commands that encode: `run`, `demo`, `encode` and `explain`.

use super::stream::COMPAT;
use super::values::named;
use super::{InputArgs, StreamArgs};
use clap::Args;
use clap::ValueHint::FilePath;
use hartrace_capture::programs::Placed;
use hartrace_etrace::Compat;
use hartrace_executions::executed::Executor;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// The program: a static ELF file for RV32GC or RV64GC
    ///
    /// With the symbol `tohost` a bare-metal program in 256 MiB at 0x80000000, otherwise a Linux
    /// program.
    pub(crate) program: PathBuf,
    /// Arguments of a Linux program
    #[arg(value_name = "ARG", last = true)]
    pub(crate) arguments: Vec<String>,
    /// What executes it: our own hart, or QEMU (Debian: qemu-user, qemu-system-misc, gcc)
    #[arg(long, value_parser = named(Executor::NAMED), default_value = "iss")]
    pub(crate) with: Executor,
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full, joined by +; hp; or all [default: delta]
    ///
    /// Names are accepted as well: ir is implicit-return, ie implicit-exception, sij
    /// sequentially-inferred-jump, bp branch-prediction, jtc jump-target-cache, full full-address, hp history-prediction.
    /// docs/guide/first-trace.md explains them.
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub(crate) encode: Vec<String>,
    /// Maximum number of instructions to execute
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,
    /// Where to write the trace, in frames of the reference flow, and its description TRACE.toml
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write the execution, as a trace file (docs/trace-file.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) retired: Option<PathBuf>,
    /// Where to write the traces of several modes, as PROGRAM.MODES.te
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EncodeArgs {
    /// Where to write the trace, and its description OUT.toml
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The program that was executed, for the description; BIAS (0x...) is added to its addresses
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = Placed::program, value_hint = FilePath)]
    pub(crate) elf: Vec<Placed>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// A run to encode, and how.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// An execution log, of any format that `--input-format` lists; may be compressed with gzip
    /// or zstd
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    /// Reproduce the listed quirks of a reference model, and nothing else
    #[arg(long, value_parser = named(COMPAT))]
    pub(crate) compat: Option<Compat>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Default, Args)]
pub(crate) struct DemoArgs {
    /// Where to write programs and traces [default: hartrace-demo in the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
