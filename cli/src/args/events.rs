//! Arguments for code that changes while it is traced.

use super::values::named;
use clap::Args;
use hartrace_spaces::Holds;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "Code that changes")]
pub(crate) struct EventsArgs {
    /// What changed while the program ran: processes, libraries, patches
    ///
    /// Lines are TIME EVENT KEY=VALUE..., or start with @POSITION in the capture. Images are files in the
    /// folder of the log, or of the snapshot, and hide all other code at their addresses.
    #[arg(long, value_name = "LOG")]
    pub(crate) events: Option<PathBuf>,
    /// What the context identifier holds, by which --events distinguishes processes
    #[arg(long, value_parser = named(Holds::NAMED))]
    pub(crate) context_id: Option<Holds>,
}
