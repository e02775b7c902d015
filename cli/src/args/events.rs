//! Arguments for code that changes while it is traced.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use hartrace_capture::spaces::{Holds, Log};
use std::fs;
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
    #[arg(long, value_enum)]
    pub(crate) context_id: Option<ContextId>,
}

impl EventsArgs {
    /// The log, if there is one.
    pub(crate) fn log(&self) -> Result<Option<Log>, Failure> {
        let Some(path) = &self.events else { return Ok(None) };
        let failed =
            |error| Failure::input(format_args!("cannot read: {error}")).at(path.display());
        let text = fs::read(path).map_err(failed)?;
        let log = Log::parse(&path.display().to_string(), &String::from_utf8_lossy(&text));
        log.map(Some).map_err(Failure::input)
    }

    /// Returns what context identifiers hold, if that was given.
    pub(crate) fn holds(&self) -> Option<Holds> {
        Some(match self.context_id? {
            ContextId::Asid => Holds::Asid,
            ContextId::AsidPid => Holds::AsidPid,
            ContextId::AsidTid => Holds::AsidTid,
            ContextId::Tid => Holds::Tid,
        })
    }
}

/// What a context identifier holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContextId {
    /// An address space identifier, in bits 7:0
    Asid,
    /// The same, and a process in bits 31:8
    #[value(name = "asid+pid")]
    AsidPid,
    /// The same, and a thread in bits 31:8
    #[value(name = "asid+tid")]
    AsidTid,
    /// A thread
    Tid,
}
