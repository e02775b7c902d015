//! Arguments of `decode --perf`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "Recordings of Linux perf")]
pub(crate) struct PerfArgs {
    /// Decode a recording of Linux perf instead (`perf.data`): CoreSight, that is ETMv4, ETE and PTM, or
    /// E-Trace
    ///
    /// Decodes all CPUs. Files that were mapped are looked for among those of --elf, by build identifier, and
    /// by their recorded path. E-Trace needs --params, and is taken to be in standard encapsulation.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["capture", "snapshot", "context_elf", "events"]
    )]
    pub(crate) perf: Option<PathBuf>,
    /// Where the files of the recorded machine are [default: /]
    #[arg(long, value_name = "DIR", requires = "perf")]
    pub(crate) sysroot: Option<PathBuf>,
    /// A folder with files by build identifier, in addition to ~/.debug. May be given more than once
    #[arg(long, value_name = "DIR", requires = "perf")]
    pub(crate) build_ids: Vec<PathBuf>,
}
