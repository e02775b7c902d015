//! Arguments of `probe`.

use super::values::xlen;
use clap::Args;
use clap::ValueHint::FilePath;
use hartrace_capture::description::trap_vector;
use hartrace_capture::programs::Placed;
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::Xlen;
use std::path::PathBuf;

/// A capture that is not described, and perhaps its program.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The capture: RISC-V E-Trace in any framing, or a buffer of Arm trace
    pub(crate) capture: PathBuf,
    /// Program; BIAS (0x...) is added to its addresses. May be given more than once
    ///
    /// Without it, only the framing and what support packets say is certain.
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = Placed::program, value_hint = FilePath)]
    pub(crate) elf: Vec<Placed>,
    /// Bare code at ADDR (0x...). May be given more than once
    #[arg(long, value_name = "FILE@ADDR", allow_hyphen_values = true, value_parser = Placed::bare, value_hint = FilePath)]
    pub(crate) image: Vec<Placed>,
    /// Contents of xtvec, for implicit exceptions: PRIV is m, s, vs, u or a number
    #[arg(long, value_name = "PRIV=ADDR", value_parser = trap_vector)]
    pub(crate) tvec: Vec<(Privilege, u64)>,
    /// The register width of bare code [default: that of the program, otherwise 64]
    #[arg(long, value_name = "N", value_parser = xlen())]
    pub(crate) xlen: Option<Xlen>,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write what was found to CAPTURE.toml, which all commands read
    #[arg(long)]
    pub(crate) write: bool,
    /// Which of several readings to write, by its number in the list
    ///
    /// If readings decode equally well to other instructions, the capture is AMBIGUOUS: nothing tells which is right, the exit
    /// status is 5, and none is written without this option.
    #[arg(long, value_name = "N", requires = "write", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) reading: Option<u16>,
}
