//! Arguments of `decode --snapshot`.

use super::values::named;
use clap::Args;
use hartrace_encap::coresight::Mode;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "CoreSight")]
pub(crate) struct SnapshotArgs {
    /// Decode a snapshot of an Arm system instead, as OpenCSD and DS-5 write it, or a package with a
    /// `contents.ini`, in a folder or a ZIP archive: ETMv4, ETE and PTM
    ///
    /// Decodes all readable sources of a buffer. Prints packets, ranges or elements as OpenCSD does, or
    /// any form of E-Trace. Code of --elf and --image has priority over memory of the snapshot. Instructions
    /// and packets are numbered for each source.
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = [
            "capture", "context_elf", "tvec", "compat", "max_blocks", "params", "xlen",
        ]
    )]
    pub(crate) snapshot: Option<PathBuf>,
    /// The trace buffer of the snapshot [default: the first]
    #[arg(long, value_name = "NAME", requires = "snapshot")]
    pub(crate) buffer: Option<String>,
    /// How frames are found in that buffer [default: by its format]
    #[arg(long, value_parser = named(FRAMES), requires = "snapshot")]
    pub(crate) frames: Option<Mode>,
}

/// How frames are found.
const FRAMES: [(&str, Mode, &str); 4] = [
    ("aligned", Mode::Aligned, "Every sixteen bytes"),
    (
        "reset",
        Mode::AlignedReset,
        "The same; four synchronisation words restart decoding, as between blocks of Linux perf",
    ),
    ("fsync", Mode::Fsync, "After synchronisation words of a trace port"),
    ("hsync", Mode::FsyncHsync, "The same, with half synchronisation words anywhere"),
];
