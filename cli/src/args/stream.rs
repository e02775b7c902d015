//! Arguments that describe a stream of packets.

use super::values;
use crate::files::Given;
use clap::Args;
use hartrace::Options;
use hartrace_capture::framing::{Fields, Kind};
use hartrace_capture::ring::Ring;
use hartrace_etrace::Compat;
use hartrace_isa::Xlen;
use std::path::PathBuf;
use std::sync::Arc;

/// What a stream looks like.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Stream of packets")]
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
    #[arg(long, value_name = "N", value_parser = values::xlen())]
    pub(crate) xlen: Option<Xlen>,
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

impl StreamArgs {
    /// The same, as the library has it.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.parameters = self.params.clone();
        options.xlen = self.xlen;
        options.framing = self.framing;
        options.fields = Fields {
            src_bits: self.fields.src_bits,
            timestamp_bytes: self.fields.timestamp_bytes,
            type_bits: self.fields.type_bits,
            instruction_type: self.fields.instruction_type,
            hart_bits: self.fields.hart_bits,
            atid: self.fields.atid,
            source: self.fields.source,
        };
        options.find_sync = self.find_sync;
        options.ring = self.ring;
        options.files = Arc::new(Given);
        options
    }
}

/// Widths and values of framing fields; a field that is not given is 0 or absent.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Framing")]
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

#[derive(Debug, Args)]
pub(crate) struct ReceiveArgs {
    /// A serial port such as /dev/ttyUSB0, a pipe, a file, or - for standard input
    pub(crate) port: PathBuf,
    /// Where to write the capture, with its description FILE.toml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Encoder parameters, as `hdl` writes them
    #[arg(long, value_name = "P")]
    pub(crate) params: PathBuf,
    /// Start with the first packet after a run of null packets
    #[arg(long)]
    pub(crate) find_sync: bool,
    /// The speed of a serial port
    #[arg(long, value_name = "N", default_value_t = 3_000_000)]
    pub(crate) baud: u32,
    /// End after this many bytes of the capture
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
}

/// Reference models with quirks.
pub(super) const COMPAT: [(&str, Compat, &str); 2] = [
    ("python-model", Compat::PythonModel, "The Python model of the reference flow"),
    ("c-model", Compat::CModel, "The C codec of 2021"),
];
