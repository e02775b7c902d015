//! The command line.

mod compare;
mod events;
mod follow;
mod fpga;
mod input;
mod perf;
mod probe;
mod sim;
mod snapshot;
mod values;

pub(crate) use compare::SchemesArgs;
pub(crate) use events::EventsArgs;
pub(crate) use follow::FollowArgs;
pub(crate) use fpga::{CompareArgs, FpgaCommand, Part, ReportArgs};
pub(crate) use input::{ConvertArgs, InputArgs};
pub(crate) use perf::PerfArgs;
pub(crate) use probe::ProbeArgs;
pub(crate) use sim::{Cva6Args, DecoderArgs, LoopArgs, SimArgs, SimCommand, SimEmit};
pub(crate) use snapshot::{Frames, SnapshotArgs};
pub(crate) use values::Placed;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use hartrace_capture::framing::Kind;
use hartrace_capture::ring::Ring;
use hartrace_decoder::Unit;
use hartrace_etrace::Compat;
use hartrace_report::{Position, Timing};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
    /// Encode a log of an execution as a trace
    Encode(EncodeArgs),
    /// Convert a log of an execution to a trace file, and print a summary
    Convert(ConvertArgs),
    /// List the packets of a capture, field by field
    Dump(DumpArgs),
    /// List packets with the reason for each, from a log of an execution or inferred from a capture
    Explain(ExplainArgs),
    /// Decode a capture with its program: addresses, listing, blocks, edges, coverage
    Decode(DecodeArgs),
    /// Write a format that other tools read: call stacks for Perfetto, callgrind, flame graphs, speedscope and pprof; coverage
    /// for lcov; profiles for clang and BOLT
    ///
    /// Time is what the trace tells; without any, it is the number of instructions.
    Export(ExportArgs),
    /// Write a page that shows a trace: a timeline of calls, functions, code, loops, gaps and packets
    ///
    /// The page is one file, which any browser opens from disk. Time is the number of instructions.
    Report(PageArgs),
    /// Find out what a capture is of: protocol, framing, parameters, modes; with the program, all that matters
    Probe(ProbeArgs),
    /// Pack a capture with its description and its programs into one file
    Bundle(BundleArgs),
    /// Compare two captures packet by packet
    Diff(DiffArgs),
    /// Compare what two captures of one program executed: where they part, and what one has more of
    ///
    /// Stretches that differ are counted until both traces are alike again. The captures may have other modes, or come from
    /// other encoders. The exit status is 4 if they differ.
    Delta(DeltaArgs),
    /// Decode a capture and compare it with what must have retired, instruction by instruction
    Check(CheckArgs),
    /// Count packets and bytes by format; with the program, also bits per instruction
    Stats(StatsArgs),
    /// Execute a program, encode what retires, decode it again and compare
    Run(ExecArgs),
    /// Execute, encode, decode and compare the bundled programs in every mode
    Demo(DemoArgs),
    /// Compare trace compressors with E-Trace: bits per instruction, memory and gates of each
    Compare(SchemesArgs),
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
pub(crate) struct ProfileArgs {
    /// Records of 24 bytes: what the profile has spilled to memory, and its entries
    pub(crate) dump: PathBuf,
    /// Programs, for names
    #[arg(long, value_name = "PROG[@0xBIAS]", value_parser = values::parse_elf)]
    pub(crate) elf: Vec<Placed>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// Programs, with an offset if they are loaded elsewhere
    #[arg(value_name = "PROG[@0xBIAS]", required = true, value_parser = values::parse_elf)]
    pub(crate) elf: Vec<Placed>,
    /// Bare code at an address; may be repeated
    #[arg(long, value_name = "FILE@ADDR", value_parser = values::parse_image)]
    pub(crate) image: Vec<Placed>,
    /// Words of the memory [default: as few as possible]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1 << 24))]
    pub(crate) entries: Option<u32>,
    /// From the first to the last address of the code, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 1024, requires = "entries",
          value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub(crate) reach: u64,
    /// Words as bytes, the lowest first, instead of numbers for $readmemh
    #[arg(long)]
    pub(crate) binary: bool,
    /// The summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to write it; a summary is printed unless it is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HdlArgs {
    /// micro, small, full, cva6 or rv_tracer, or a TOML file with parameters [default: small]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) config: Option<String>,
    /// Write a trace decoder instead: of ETMv4, with the parameters in the file, or of the E-Trace that the
    /// configuration sends
    #[arg(long, value_enum, value_name = "PROTOCOL",
          conflicts_with_all = ["lanes", "sink", "harts", "core"])]
    pub(crate) decoder: Option<DecoderArg>,
    /// Bytes that the decoder takes in every cycle
    #[arg(long, value_name = "N", default_value_t = 4, requires = "decoder",
          value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) unroll: u32,
    /// Also write a walker behind the decoder, with a table of this many blocks of the program
    #[arg(long, value_name = "N", requires = "decoder",
          value_parser = clap::value_parser!(u32).range(2..=1 << 20))]
    pub(crate) blocks: Option<u32>,
    /// Write one module with registers: the decoder, the walker, and what is counted and watched behind them: packets,
    /// edges, paths, a property
    #[arg(long, requires = "decoder")]
    pub(crate) analysis: bool,
    /// The bytes of that module come in CoreSight frames, four in a cycle
    #[arg(long, requires = "analysis")]
    pub(crate) frames: bool,
    /// The decoder of E-Trace does not rely on the first byte after reset to start a packet
    #[arg(long, requires = "decoder")]
    pub(crate) find_sync: bool,
    /// Maximum number of blocks that retire in one cycle [default: as configured]
    #[arg(long, value_name = "N")]
    pub(crate) lanes: Option<u8>,
    /// Width of addresses [default: as configured]
    #[arg(long, value_name = "BITS")]
    pub(crate) xlen: Option<u8>,
    /// Where trace goes [default: as configured, otherwise memory]
    #[arg(long, value_enum)]
    pub(crate) sink: Option<SinkArg>,
    /// Number of harts, each with its own core and registers. Several harts get srcIDs of 8 bits if none
    /// are configured [default: as configured, otherwise 1]
    #[arg(long, value_name = "N")]
    pub(crate) harts: Option<u32>,
    /// Also write the connector for a core
    #[arg(long, value_enum, value_name = "CORE")]
    pub(crate) core: Option<CoreArg>,
    /// Where to write it
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecoderArg {
    /// ETMv4 and ETE
    Etmv4,
    /// E-Trace in the standard encapsulation
    Etrace,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoreArg {
    /// CVA6: block connector, adapter and its bind
    Cva6,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SinkArg {
    /// AXI4-Stream
    Axis,
    /// AMBA trace bus
    Atb,
    /// A ring buffer in memory, over AXI4
    Memory,
    /// CoreSight frames on an AXI4-Stream, as a trace port sends them
    Frames,
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
    #[arg(long, value_enum, default_value_t = With::Iss)]
    pub(crate) with: With,
    /// Modes: delta, or some of ir, ie, sij, bp, jtc and full, joined by +; or all [default: delta]
    ///
    /// Names are accepted as well: ir is implicit-return, ie implicit-exception, sij
    /// sequentially-inferred-jump, bp branch-prediction, jtc jump-target-cache and full full-address.
    /// docs/guide/first-trace.md explains them.
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub(crate) encode: Vec<String>,
    /// Maximum number of steps to execute
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
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
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = values::parse_elf)]
    pub(crate) elf: Vec<Placed>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// A run to encode, and how.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A log of an execution, of any format that `--input-format` lists; may be compressed with gzip
    /// or zstd
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) format: InputArgs,
    /// Reproduce the listed quirks of a reference model, and nothing else
    #[arg(long, value_enum)]
    pub(crate) compat: Option<CompatArg>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
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
pub(crate) struct ExplainArgs {
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = Emit::Pcs)]
    pub(crate) emit: Emit,
    /// One JSON object per line, for blocks, edges and coverage too
    #[arg(long)]
    pub(crate) json: bool,
    /// Print from here on: N or insn:N (instruction), packet:N or byte:N, all from 0
    ///
    /// The capture is still decoded from its start, on one thread.
    #[arg(long, value_name = "POS")]
    pub(crate) from: Option<Position>,
    /// Print up to here, and stop; POS itself is not printed
    #[arg(long, value_name = "POS")]
    pub(crate) to: Option<Position>,
    #[command(flatten)]
    pub(crate) arm: SnapshotArgs,
    #[command(flatten)]
    pub(crate) perf: PerfArgs,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
    /// Where to print; not an option, since a shell can do it.
    #[arg(skip)]
    pub(crate) output: Option<PathBuf>,
    /// The times of an export.
    #[arg(skip)]
    pub(crate) timing: Timing,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Export,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What times are in Perfetto and speedscope [default: the clock that the trace tells first, or else
    /// instructions]
    #[arg(long, value_enum)]
    pub(crate) clock: Option<ClockArg>,
    /// How often the clock counts in a second; otherwise a tick becomes a nanosecond in Perfetto
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ticks_per_second: Option<u64>,
    #[command(flatten)]
    pub(crate) arm: SnapshotArgs,
    #[command(flatten)]
    pub(crate) perf: PerfArgs,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

/// A clock.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockArg {
    /// Timestamps
    Ticks,
    /// Cycle counts of Arm traces
    Cycles,
    /// Instructions
    Instructions,
}

impl From<ClockArg> for Unit {
    fn from(clock: ClockArg) -> Self {
        match clock {
            ClockArg::Ticks => Self::Ticks,
            ClockArg::Cycles => Self::Cycles,
            ClockArg::Instructions => Self::Instructions,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Where to write the page; its size is printed unless it is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) arm: SnapshotArgs,
    #[command(flatten)]
    pub(crate) perf: PerfArgs,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

impl PageArgs {
    /// The arguments for a capture that describes itself, as if they had been typed.
    pub(crate) fn new(capture: &Path, output: &Path) -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("report"));
        let words = [OsStr::new("report"), OsStr::new("-o"), output.as_ref(), capture.as_ref()];
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

/// A format that other tools read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Export {
    /// A sample profile of LLVM, for clang -fprofile-sample-use; the program needs debug information
    #[value(alias = "sample-profile")]
    Autofdo,
    /// Branches and jumps with counts (fdata), for llvm-bolt --data
    Bolt,
    /// Instructions of functions and of their calls, for KCachegrind and callgrind_annotate
    Callgrind,
    /// Folded stacks: a line for each call stack, with the instructions that its innermost function executed;
    /// flame graphs are drawn from it
    Folded,
    /// Lines, functions and both ways of branches, executed or not, for lcov and genhtml; the program needs debug
    /// information
    Lcov,
    /// Every call in order, for ui.perfetto.dev: a track for each source and context
    Perfetto,
    /// The instructions of each call stack, for `go tool pprof`
    Pprof,
    /// Every call in order, for www.speedscope.app; one source
    Speedscope,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// What must have retired: one hexadecimal address per line, or a log that `encode` accepts
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
    /// The parameters of generated hardware: micro, small, full, cva6 or rv_tracer, or a TOML file for
    /// `hdl` [default: the defaults of the specification]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "xlen")]
    pub(crate) config: Option<String>,
    /// 32 or 64
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = values::parse_xlen)]
    pub(crate) xlen: u8,
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
}

/// What a stream looks like.
#[derive(Debug, Args)]
#[command(next_help_heading = "Stream options")]
pub(crate) struct StreamArgs {
    /// Encoder parameters: TOML with the specification's names, or a vector's configuration JSON
    /// [default: CAPTURE.toml, which describes the capture]
    ///
    /// Needed unless the capture has a description, or the framing is rv-tracer. An `options` table may hold the modes implicit-return,
    /// implicit-exception, sequentially-inferred-jump, branch-prediction, jump-target-cache and
    /// full-address (booleans; codes such as ir are accepted), resync-max (period 2^(v+4)), resync-mode
    /// (packets, cycles, half-words, off), unit (reference, rv-tracer, hartrace), compat
    /// (python-model, c-model) and itype-width (3, 4).
    /// A `framing` table may hold kind and the framing options below.
    #[arg(long, value_name = "P")]
    pub(crate) params: Option<PathBuf>,
    /// 32 or 64; sets iaddress_width_p where the parameters do not
    #[arg(long, value_name = "N", value_parser = ["32", "64"])]
    pub(crate) xlen: Option<String>,
    /// How payloads are framed [default: reference]
    #[arg(long, value_parser = values::framing())]
    pub(crate) framing: Option<Kind>,
    /// The capture starts in the middle of a frame: skip to the first place where framing is certain, or
    /// likely
    ///
    /// With encap and atb, this is after the first run of null packets. Other framings have no such mark:
    /// it is the first byte that could start a frame.
    #[arg(long)]
    pub(crate) find_sync: bool,
    /// The capture is a ring buffer that has wrapped; its oldest byte is at this offset, where the write pointer is
    ///
    /// `find` looks for the end of the trace instead, which the oldest byte follows. Reading starts as with
    /// --find-sync, and positions count from the oldest byte.
    #[arg(long, value_name = "OLDEST")]
    pub(crate) ring: Option<Ring>,
    #[command(flatten)]
    pub(crate) fields: FramingArgs,
}

/// Widths and values of framing fields; a field that is not given is 0 or absent.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Framing options")]
pub(crate) struct FramingArgs {
    /// encap: width of srcID
    #[arg(long, value_name = "N")]
    pub(crate) src_bits: Option<u8>,
    /// encap, atb: width of the timestamp; smi: 2 to write time tags
    #[arg(long, value_name = "N")]
    pub(crate) timestamp_bytes: Option<u8>,
    /// encap: width of the type field
    #[arg(long, value_name = "N")]
    pub(crate) type_bits: Option<u8>,
    /// encap: type code of instruction trace
    #[arg(long, value_name = "CODE")]
    pub(crate) instruction_type: Option<u8>,
    /// smi: width of the hart index
    #[arg(long, value_name = "N")]
    pub(crate) hart_bits: Option<u8>,
    /// atb: the source's ATID [default: 1]
    #[arg(long, value_name = "ID")]
    pub(crate) atid: Option<u8>,
    /// encap, smi: source id to write, or to select from a capture
    #[arg(long, value_name = "ID")]
    pub(crate) source: Option<u16>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompatArg {
    /// The Python model of the reference flow
    PythonModel,
    /// The C codec of 2021
    CModel,
}

impl CompatArg {
    /// Returns the quirks of the chosen model, or those of the parameters without a choice.
    pub(crate) fn of(choice: Option<Self>, params: Compat) -> Compat {
        match choice {
            None => params,
            Some(Self::PythonModel) => Compat::PythonModel,
            Some(Self::CModel) => Compat::CModel,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// One retired address per line, 16 hexadecimal digits
    Pcs,
    /// The program as executed: disassembly, functions, source lines, events
    Listing,
    /// One line per run of consecutive instructions: start, end, number of instructions, how it
    /// ends, function
    Blocks,
    /// A table of branches and jumps at the end, taken and not taken, with counts
    Edges,
    /// The executed ranges of code at the end, and how much of each function was executed
    Coverage,
    /// Every instruction and event, one JSON object per line
    #[value(alias = "events")]
    Json,
    /// With --snapshot: position, source, bytes and type of every packet
    Packets,
    /// With --snapshot: source, start, end and number of instructions of every run, source by source
    Ranges,
    /// With --snapshot: everything that is decoded, source by source
    Elements,
    /// `hartrace export --to autofdo`
    #[value(skip)]
    Autofdo,
    /// `hartrace export --to bolt`
    #[value(skip)]
    Bolt,
    /// `hartrace export --to callgrind`
    #[value(skip)]
    Callgrind,
    /// `hartrace export --to folded`
    #[value(skip)]
    Folded,
    /// `hartrace export --to lcov`
    #[value(skip)]
    Lcov,
    /// `hartrace export --to perfetto`
    #[value(skip)]
    Perfetto,
    /// `hartrace export --to pprof`
    #[value(skip)]
    Pprof,
    /// `hartrace export --to speedscope`
    #[value(skip)]
    Speedscope,
    /// `hartrace report`
    #[value(skip)]
    Html,
}

/// What executes a program.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum With {
    /// Our own hart.
    #[default]
    Iss,
    /// QEMU, which is faster. Cause and value of faults are not known.
    Qemu,
}

#[cfg(test)]
#[path = "../tests/unit/args.rs"]
mod tests;
