//! The command line.

mod claims;
mod compare;
mod decode;
mod events;
mod follow;
mod fpga;
mod hdl;
mod input;
mod inputs;
mod parts;
mod perf;
mod probe;
mod run;
mod sim;
mod snapshot;
mod stream;
mod values;

pub(crate) use claims::claim;
pub(crate) use compare::CompareArgs;
pub(crate) use decode::{CapturedArgs, DecodeArgs, Emit, ExportArgs, PageArgs};
pub(crate) use events::EventsArgs;
pub(crate) use follow::FollowArgs;
pub(crate) use fpga::{FpgaCommand, FpgaCompareArgs, ReportArgs};
pub(crate) use hdl::{DecoderArg, HdlArgs, ImageArgs, ProfileArgs};
pub(crate) use input::{ConvertArgs, InputArgs};
pub(crate) use inputs::check as check_inputs;
pub(crate) use parts::{MergeArgs, PartArgs, PlanArgs};
pub(crate) use perf::PerfArgs;
pub(crate) use probe::ProbeArgs;
pub(crate) use run::{DemoArgs, EncodeArgs, ExecArgs, ExplainArgs, RunArgs};
pub(crate) use sim::{Cva6Args, DecoderArgs, LoopArgs, SimArgs, SimCommand, SimEmit};
pub(crate) use snapshot::SnapshotArgs;
pub(crate) use stream::{ReceiveArgs, StreamArgs};

use clap::{Args, Parser, Subcommand};
use hartrace_isa::Xlen;
use std::path::PathBuf;

/// RISC-V E-Trace: encode, inspect, compare and decode instruction traces.
#[derive(Debug, Parser)]
#[command(name = "hartrace", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const AFTER_HELP: &str = "\
Without a command, `demo` runs. `-` is standard input or output wherever a file is named.
Exit status: 0 clean, 1 decoded with gaps (with --strict, ended by the first) or nothing to decode,
2 usage error, 3 unreadable input, 4 check failed or captures differ.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Encode an execution log as a trace
    Encode(EncodeArgs),
    /// Convert an execution log to a trace file, and print a summary
    Convert(ConvertArgs),
    /// Record trace from a serial port or a pipe as a capture, until it ends or Ctrl-C
    Receive(ReceiveArgs),
    /// List the packets of a capture, field by field
    Dump(DumpArgs),
    /// List packets with the reason for each, from an execution log or inferred from a capture
    Explain(ExplainArgs),
    /// Decode a capture with its program: addresses, listing, blocks, edges, coverage
    Decode(DecodeArgs),
    /// Write a format that other tools read: call stacks for Perfetto, callgrind, flame graphs, speedscope and pprof; coverage
    /// for lcov; profiles for clang and BOLT
    ///
    /// Times are those of the trace. A trace without times counts instructions instead.
    Export(ExportArgs),
    /// Write a page that shows a trace: a timeline of calls, functions, code, loops, gaps and packets
    ///
    /// The page is one file, which any browser opens from disk. Time is the number of instructions.
    Report(PageArgs),
    /// Identify an unknown capture: protocol, framing, parameters and modes, most of them with its program
    Probe(ProbeArgs),
    /// Pack a capture with its description and its programs into one file
    Bundle(BundleArgs),
    /// Compare two captures packet by packet
    Diff(DiffArgs),
    /// Compare what two captures of one program executed: where they diverge, and what one has more of
    ///
    /// Counts the stretches that differ, until both traces agree again. The modes and encoders of the captures may differ.
    /// The exit status is 4 if the executions differ.
    Delta(DeltaArgs),
    /// Decode a capture and compare it with the execution, instruction by instruction
    Check(CheckArgs),
    /// Count packets and bytes by format; with the program, also bits per instruction
    Stats(StatsArgs),
    /// Cut captures at synchronisations into parts that many machines can decode
    Plan(PlanArgs),
    /// Decode one part of a plan into a table
    Part(PartArgs),
    /// Join the tables of parts, and check that they fit together
    Merge(MergeArgs),
    /// Execute a program, encode what retires, decode it again and compare
    Run(ExecArgs),
    /// Execute, encode, decode and compare the bundled programs in every mode
    Demo(DemoArgs),
    /// Compare trace compressors with E-Trace: bits per instruction, memory and gates of each
    Compare(CompareArgs),
    /// Write the trace encoder, or a trace decoder, in SystemVerilog
    Hdl(HdlArgs),
    /// Write the blocks of a program as a table for the block walker behind a hardware decoder
    Image(ImageArgs),
    /// Print the edges that the profile behind a hardware decoder has counted, as `decode --emit edges` does
    Profile(ProfileArgs),
    /// Write small situations with programs, captures and expected results: a conformance kit for decoders
    Scenarios(FolderArgs),
    /// Simulate generated hardware with Verilator
    #[command(subcommand)]
    Sim(SimCommand),
    /// Measure area and clock rate of the trace encoder and of trace decoders on FPGAs
    #[command(subcommand)]
    Fpga(FpgaCommand),
    /// Write a file of encoder parameters in which every key is explained
    Params(ParamsArgs),
    /// Print completions for a shell, for example to ~/.local/share/bash-completion/completions/hartrace
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(FolderArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FolderArgs {
    /// Folder to write to
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// The capture
    pub(crate) capture: PathBuf,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The execution: one hexadecimal address per line, or a log that `encode` accepts
    ///
    /// Addresses are those of `decode --emit pcs`, with or without 0x and leading zeros. Of a log, only
    /// retired instructions count. Either may be compressed with gzip or zstd. Instructions, packets and
    /// bytes are numbered from 0, lines from 1.
    #[arg(long, value_name = "LOG")]
    pub(crate) against: PathBuf,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ParamsArgs {
    /// The parameters of generated hardware: micro, small, full, cva6, linux or small_bytes, or a TOML file for
    /// `hdl` [default: the defaults of the specification]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "xlen")]
    pub(crate) config: Option<String>,
    /// 32 or 64
    #[arg(long, value_name = "N", default_value = "64", value_parser = values::xlen(), hide_possible_values = true)]
    pub(crate) xlen: Xlen,
    /// Where to write it
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// The archive to write: a trace package, which all commands accept in place of a capture
    #[arg(short, long, value_name = "OUT.zip")]
    pub(crate) output: PathBuf,
    /// Pack a program that is not the described one; whoever decodes the bundle is warned
    #[arg(long)]
    pub(crate) other_program: bool,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// One capture
    pub(crate) a: PathBuf,
    /// The other
    pub(crate) b: PathBuf,
    /// One JSON object per difference, each on a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
    /// The other capture; options apply to both
    #[arg(help_heading = "Arguments")]
    pub(crate) b: PathBuf,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How many stretches, functions and edges to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: usize,
    /// Decode everything, also what is the same byte for byte
    #[arg(long)]
    pub(crate) whole: bool,
}

#[cfg(test)]
#[path = "../tests/unit/args.rs"]
mod tests;
