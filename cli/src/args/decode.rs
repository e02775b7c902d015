//! Arguments of `decode`, `export` and `report`.

use super::values::{self, named};
use super::{FollowArgs, PerfArgs, SnapshotArgs};
use clap::{Args, FromArgMatches};
use hartrace_decoder::Unit;
use hartrace_report::Form;
use hartrace_report::calls::Order;
use hartrace_report::window::{Inside, Place, Window};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A capture of any kind: E-Trace with its description, a snapshot, or a recording.
#[derive(Debug, Args)]
pub(crate) struct CapturedArgs {
    #[command(flatten)]
    pub(crate) arm: SnapshotArgs,
    #[command(flatten)]
    pub(crate) perf: PerfArgs,
    #[command(flatten)]
    pub(crate) follow: FollowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// What to print
    #[arg(long, value_parser = values::emit(), default_value = "pcs")]
    pub(crate) emit: Emit,
    /// One JSON object per line, for blocks, edges and coverage too
    #[arg(long)]
    pub(crate) json: bool,
    /// Number the instructions of a listing or of JSON, from 0, as --from does
    #[arg(long)]
    pub(crate) numbers: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) captured: CapturedArgs,
}

/// A part of the trace.
#[derive(Clone, Debug, Args)]
pub(crate) struct WindowArgs {
    /// Begin here: the number of an instruction, packet:N, byte:N, FUNCTION, 0xADDRESS, time:T, on, trigger
    ///
    /// Numbers count from 0. FUNCTION is where it is entered, ADDRESS is where the instruction there is executed, on is where tracing
    /// starts, trigger where a trigger or event of an Arm trace comes: the first time, or, with :N behind it, the N-th in all of the trace. Time T is in ticks or
    /// cycles, the clock that the trace has.
    ///
    /// The capture is still decoded from its start, on one thread; for all but numbers it is decoded twice. Call stacks begin with the
    /// function that is executed here.
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: Option<Place>,
    /// Stop here; PLACE itself is not included, and without :N it is the first one after --from
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: Option<Place>,
    /// Of that, only what is executed while FUNCTION is active, with all that it calls; FUNCTION:N is its N-th call
    #[arg(long = "in", value_name = "FUNCTION")]
    pub(crate) inside: Option<Inside>,
}

impl WindowArgs {
    /// The part of the trace.
    pub(crate) fn window(&self) -> Window {
        let Self { from, to, inside } = self.clone();
        Window { from, to, inside }
    }
}

/// The functions of a trace.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// How many functions to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
    /// What comes first
    #[arg(long, alias = "sort", value_parser = named(Order::NAMED), default_value = "self")]
    pub(crate) by: Order,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) captured: CapturedArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The format
    #[arg(long, value_parser = values::export(), value_name = "FORMAT")]
    pub(crate) format: Form,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write more than 100 MB of Perfetto or speedscope, which have every call and which their viewers then open slowly or not at all
    #[arg(long)]
    pub(crate) any_size: bool,
    /// The clock of Perfetto and speedscope [default: the first clock in the trace, otherwise instructions]
    #[arg(long, value_parser = named(CLOCKS))]
    pub(crate) clock: Option<Unit>,
    /// Ticks of that clock per second; without it, a tick becomes a nanosecond in Perfetto
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ticks_per_second: Option<u64>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) captured: CapturedArgs,
}

/// Clocks.
const CLOCKS: [(&str, Unit, &str); 3] = [
    ("ticks", Unit::Ticks, "Timestamps"),
    ("cycles", Unit::Cycles, "Cycle counts of Arm traces"),
    ("instructions", Unit::Instructions, "Instructions"),
];

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Where to write the page; its size is printed unless it is standard output [default: report.html]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The page may hold source files below DIR, too; otherwise only those below the folder of a program. May be given more than once
    ///
    /// Debug information names source files where they were when the program was compiled. What is not there may also be below DIR:
    /// /build/a/b.c is then DIR/build/a/b.c, DIR/a/b.c or DIR/b.c. The page lists all files that it holds.
    #[arg(long, value_name = "DIR")]
    pub(crate) source_root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) captured: CapturedArgs,
}

impl CapturedArgs {
    /// The arguments for a capture that describes itself, as if they had been typed.
    pub(crate) fn new(capture: &Path) -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("report"));
        let words = [OsStr::new("report"), capture.as_ref()];
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

/// What to print.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Emit {
    Form(Form),
    /// Packets of CoreSight.
    Packets,
    /// Runs as OpenCSD prints them.
    Ranges,
    /// Elements as OpenCSD prints them.
    Elements,
}
