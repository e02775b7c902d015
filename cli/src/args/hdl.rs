//! Arguments of `hdl`, `image` and `profile`: hardware, and what goes into it and comes out of it.

use super::values::named;
use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use hartrace_capture::programs::Placed;
use hartrace_cva6_connector::Interface;
use hartrace_encoder_hdl::top::Sink;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct HdlArgs {
    /// micro, small, full, cva6, linux or small_bytes, or a TOML file with parameters [default: small]
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
    #[arg(long, value_parser = named(Sink::NAMED))]
    pub(crate) sink: Option<Sink>,
    /// Number of harts, each with its own core and registers. Several harts get srcIDs of 8 bits if none
    /// are configured [default: as configured, otherwise 1]
    #[arg(long, value_name = "N")]
    pub(crate) harts: Option<u32>,
    /// Start the names of all modules with this, so that several encoders fit into one design
    #[arg(long, value_name = "NAME_", conflicts_with = "decoder")]
    pub(crate) prefix: Option<String>,
    /// Also write the connector for a core
    #[arg(long, value_name = "CORE", value_parser = named(Interface::NAMED))]
    pub(crate) core: Option<Interface>,
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

#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// Programs, with an offset if they are loaded elsewhere
    #[arg(value_name = "PROG[@0xBIAS]", required = true, value_parser = Placed::program, value_hint = FilePath)]
    pub(crate) elf: Vec<Placed>,
    /// Bare code at an address; may be repeated
    #[arg(long, value_name = "FILE@ADDR", value_parser = Placed::bare, value_hint = FilePath)]
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
pub(crate) struct ProfileArgs {
    /// Records of 24 bytes: what the profile has spilled to memory, and its entries
    pub(crate) dump: PathBuf,
    /// Programs, for names
    #[arg(long, value_name = "PROG[@0xBIAS]", value_parser = Placed::program, value_hint = FilePath)]
    pub(crate) elf: Vec<Placed>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
