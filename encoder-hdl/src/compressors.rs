//! Compressors of program traces in hardware, on the ingress port of the encoder.
//!
//! [`tmbp`] builds TMBP, which has a branch predictor and sends its mispredictions; [`sdc`] builds rSDC, which has a cache
//! of instruction streams, and sends which of them follow each other. The software models in
//! `hartrace-compressors` have the same parameters, and the hardware sends the same bits; tests compare them in lock
//! step.
//!
//! # Ports
//!
//! `itype_i`, `iaddr_i` and `iretire_i` are those of the encoder, for one lane that retires one instruction per cycle:
//! records count instructions, and a block does not tell how many it has. `iretire_i` is therefore 0, 1 or 2, and
//! `itype_i` has all codes, since calls and returns matter. A trap is alone or with an instruction that is neither
//! branch nor jump. Of a jump that the program does not explain, as after a reset, the hardware knows nothing: reset it
//! too.
//!
//! Nothing is lost: while `stall_o` is set, what retires has to be held. That is the case after a reset, while tables
//! are cleared, and while records wait.
//!
//! `valid_o ready_i data_o len_o` output words of 32 bits as in [`transport`](crate::transport): byte 0 is in bits 7:0.
//! The first bit of a record is the highest one of its byte. While `flush_i` is set, so is `valid_o` with the bits of a
//! word that is not full; `len_o` is the number of bits. When `empty_o` is set, nothing is on its way.
//!
//! ```
//! use hartrace_encoder_hdl::{compressors, files};
//!
//! let component = compressors::named("bTMBP").expect("there is one");
//! let files = files(&component);
//! assert!(files.iter().any(|(name, text)| name == "te_tmbp.sv" && text.contains("module te_tmbp")));
//! ```

mod bits;
mod numbers;
mod port;
mod sdc;
mod tables;
mod tmbp;

pub use numbers::Widths;
pub use sdc::{RunLength, Sdc, sdc};
pub use tmbp::{Tmbp, tmbp};

use hartrace_rtl::Component;
use thiserror::Error;

/// Names of compressors with the sizes of the source, each for addresses of 64 and of 32 bits.
pub const NAMES: [&str; 4] = ["bTMBP", "bTMBP-rv32", "rSDC-128", "rSDC-128-rv32"];

/// The compressor of this name.
///
/// # Panics
///
/// Never: tests build all of them.
#[must_use]
pub fn named(name: &str) -> Option<Component> {
    let (scheme, xlen) = match name.strip_suffix("-rv32") {
        Some(scheme) => (scheme, 32),
        None => (name, 64),
    };
    let built = match scheme {
        "bTMBP" => tmbp(&Tmbp { xlen, ..Tmbp::BASE }),
        "rSDC-128" => sdc(&Sdc { xlen, ..Sdc::REDUCED }),
        _ => return None,
    };
    built.ok()
}

/// There is no such compressor.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct CompressorError(&'static str);
