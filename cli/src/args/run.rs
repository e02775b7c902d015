//! Arguments of commands that encode: `run`, `demo`, `encode` and `explain`.

use super::stream::COMPAT;
use super::values::{Modes, named, parse_some, parse_variable};
use super::{InputArgs, StreamArgs};
use clap::Args;
use clap::ValueHint::{DirPath, FilePath};
use hartrace_capture::programs::Placed;
use hartrace_etrace::Compat;
use hartrace_executions::executed::Executor;
use std::path::PathBuf;

/// What `run --help` says of streams and exit statuses.
const RUN_HELP: &str = "\
A Linux program runs as if it was started from the shell: it has the standard input, output and error, the files, the
folder and the environment of this command. Standard output is its own, and the table goes to standard error when it has
ended. With --json or -o - (or another output of that name) it is ours, and what the program writes to it goes to standard error. A bare-metal
program reads nothing; what it prints goes to standard output, and only then the table to standard error.

Ctrl-C ends the program, and what was traced is kept, as after a crash and on a full disk; the description says so
(ended-early). A second Ctrl-C ends this command at once.

Exit status: that of the program, or 128 and the number of the signal that ended it (130 after Ctrl-C); 0 if it was cut by
--limit. But 2 for a usage error, 3 if the program cannot be executed or a file not be written, and 4 if what was decoded
is not what was executed; these come with a message.";

#[derive(Debug, Args)]
#[command(after_long_help = RUN_HELP)]
pub(crate) struct ExecArgs {
    /// The program: an ELF file for RV32GC or RV64GC
    ///
    /// With the symbol `tohost` a bare-metal program in 256 MiB at 0x80000000, otherwise a Linux
    /// program, with its threads and its libraries.
    pub(crate) program: PathBuf,
    /// Arguments of a Linux program
    #[arg(value_name = "ARG", last = true)]
    pub(crate) arguments: Vec<String>,
    /// An environment variable for a Linux program, besides those of this command; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Pass no environment variables to a Linux program, except those of --env
    #[arg(long)]
    pub(crate) no_env: bool,
    /// What executes it: our own hart, or QEMU (Debian: qemu-user, qemu-system-misc, gcc)
    #[arg(long, value_parser = named(Executor::NAMED), default_value = "iss")]
    pub(crate) with: Executor,
    /// Where a dynamically linked program finds its libraries [default: QEMU_LD_PREFIX, or where Debian and others have them]
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    pub(crate) sysroot: Option<PathBuf>,
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full, joined by +; hp; or all [default: delta]
    ///
    /// Names are accepted as well: ir is implicit-return, ie implicit-exception, sij
    /// sequentially-inferred-jump, bp branch-prediction, jtc jump-target-cache, full full-address, hp history-prediction.
    /// docs/guide/first-trace.md explains them.
    #[arg(long, value_name = "MODES", value_delimiter = ',', value_parser = Modes, hide_possible_values = true)]
    pub(crate) encode: Vec<String>,
    /// Maximum number of instructions to execute
    #[arg(long, value_name = "N", default_value = "1G", value_parser = parse_some)]
    pub(crate) limit: u64,
    /// Where to write the trace, in frames of the reference flow, and its description TRACE.toml [default: trace.te, if there
    /// is one mode and no --retired]
    ///
    /// Without this option, only an earlier trace of hartrace is replaced.
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Write no trace, only print its figures
    #[arg(long, conflicts_with_all = ["output", "output_dir", "report"])]
    pub(crate) no_output: bool,
    /// Also write the page of `hartrace report` about the trace [default: report.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "output_dir")]
    pub(crate) report: Option<Option<PathBuf>>,
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
