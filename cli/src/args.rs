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
pub(crate) use decode::{CapturedArgs, DecodeArgs, Emit, ExportArgs, PageArgs, TopArgs};
pub(crate) use events::EventsArgs;
pub(crate) use follow::FollowArgs;
pub(crate) use fpga::{FpgaCommand, FpgaCompareArgs, ReportArgs};
pub(crate) use hdl::{DecoderArg, HdlArgs, ImageArgs, ProfileArgs};
pub(crate) use input::{InputArgs, LogArgs};
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

/// Processor trace: trace hardware, encoders, and decoders that tell what was executed
#[derive(Debug, Parser)]
#[command(name = "hartrace", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands; `crate::help` has them in groups, with examples. The first line of each fits beside its name.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Execute a program, trace it, and check that the trace decodes to it
    Run(ExecArgs),
    /// Encode an execution log as a trace
    Encode(EncodeArgs),
    /// Record trace from a serial port or a pipe, until it ends or Ctrl-C
    Receive(ReceiveArgs),
    /// Summarise an execution log, or convert it to a trace file
    Log(LogArgs),
    /// List what was executed: addresses, listing, blocks, edges, coverage
    Decode(DecodeArgs),
    /// Write a page for browsers: timeline of calls, functions, code, packets
    ///
    /// The page is one file, which any browser opens from disk. Time is the number of instructions.
    Report(PageArgs),
    /// List the functions that executed most: self, total, calls
    ///
    /// Inlined functions count as called. Instructions of a function that calls itself count once in its total.
    Top(TopArgs),
    /// Write what other tools read: Perfetto, pprof, flame graphs, lcov, ...
    ///
    /// Call stacks for Perfetto, callgrind, flame graphs, speedscope and pprof; coverage for lcov; profiles for clang and BOLT.
    /// Times are those of the trace. A trace without times counts instructions instead.
    Export(ExportArgs),
    /// Count packets and bytes by format, and bits per instruction
    ///
    /// Instructions are counted only if the program is known.
    Stats(StatsArgs),
    /// List the packets, field by field
    Dump(DumpArgs),
    /// List the packets with the reason for each
    ///
    /// Of an execution log, the reasons are those of the encoder. Of a capture, they are inferred from the packets.
    Explain(ExplainArgs),
    /// Identify an unknown capture: protocol, framing, parameters and modes
    ///
    /// Most parameters can be found only with the program.
    Probe(ProbeArgs),
    /// Pack a capture, its description and its programs into one file
    Bundle(BundleArgs),
    /// Compare what two captures executed, or their packets
    ///
    /// Tells where the executions diverge, and what one has more of. Counts the stretches that differ, until both traces agree
    /// again. The modes and encoders of the captures may differ. Captures of different programs, such as two builds of one, are
    /// compared by the names of functions, each with its own. The exit status is 4 if the captures differ.
    Diff(DiffArgs),
    /// Compare a capture with the execution, instruction by instruction
    Check(CheckArgs),
    /// Cut captures at synchronisations into parts for many machines
    Plan(PlanArgs),
    /// Decode one part of a plan into a table
    Part(PartArgs),
    /// Join the tables of parts, and check that they fit together
    Merge(MergeArgs),
    /// Compare trace compressors with E-Trace: bits, memory and gates
    Compare(CompareArgs),
    /// Write a conformance kit for decoders: captures and expected results
    Scenarios(FolderArgs),
    /// Execute, trace, decode and compare the bundled programs in every mode
    Demo(DemoArgs),
    /// Generate a trace encoder, or a trace decoder, in SystemVerilog
    Hdl(HdlArgs),
    /// Write a file of encoder parameters in which every key is explained
    Params(ParamsArgs),
    /// Simulate generated hardware with Verilator
    #[command(subcommand)]
    Sim(SimCommand),
    /// Measure area and clock rate of generated hardware on FPGAs
    #[command(subcommand)]
    Fpga(FpgaCommand),
    /// Write a program's blocks as the table of a hardware decoder
    Image(ImageArgs),
    /// Print what the profile behind a hardware decoder has counted
    ///
    /// The edges are printed as `decode --emit edges` does.
    Profile(ProfileArgs),
    /// Print completions for a shell
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
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
    /// The other capture; options apply to both
    pub(crate) b: PathBuf,
    /// Compare packet by packet, field by field, without a program
    #[arg(long, conflicts_with_all = [
        "rows", "whole", "elf", "image", "context_elf", "isa", "tvec", "compat", "resync", "max_blocks", "threads",
        "strict", "events", "context_id", "raw_names",
    ])]
    pub(crate) packets: bool,
    /// One JSON object; with --packets one per difference, each on a line
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
