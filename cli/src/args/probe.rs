//! Arguments of `probe`.

use super::values::{Placed, parse_elf, parse_image, parse_tvec};
use clap::Args;
use hartrace_etrace::ingress::Privilege;
use std::path::PathBuf;

/// A capture that is not described, and perhaps its program.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The capture: RISC-V E-Trace in any framing, or a buffer of Arm trace
    pub(crate) capture: PathBuf,
    /// Program; BIAS (0x...) is added to its addresses. May be given more than once
    ///
    /// Without it, only the framing and what support packets say is certain.
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = parse_elf)]
    pub(crate) elf: Vec<Placed>,
    /// Bare code at ADDR (0x...). May be given more than once
    #[arg(long, value_name = "FILE@ADDR", allow_hyphen_values = true, value_parser = parse_image)]
    pub(crate) image: Vec<Placed>,
    /// Contents of xtvec, for implicit exceptions: PRIV is m, s, vs, u or a number
    #[arg(long, value_name = "PRIV=ADDR", value_parser = parse_tvec)]
    pub(crate) tvec: Vec<(Privilege, u64)>,
    /// The register width of bare code [default: that of the program, otherwise 64]
    #[arg(long, value_name = "N", value_parser = ["32", "64"])]
    pub(crate) xlen: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write what was found to CAPTURE.toml, which all commands read
    #[arg(long)]
    pub(crate) write: bool,
}
