//! Processor trace: opens a capture of E-Trace, ETMv4, ETE or PTM, and tells what was executed.
//!
//! Ten lines print the functions that executed most:
//!
//! ```no_run
//! use std::error::Error;
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let capture = hartrace::open("firmware.trace")?;
//!     for function in capture.functions()?.complete()?.iter().take(10) {
//!         println!("{:>12} {}", function.instructions, function.name);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Open
//!
//! [`open`] opens whatever describes itself: a capture with a description beside it, as `hartrace run`, `encode` and
//! `receive` write it; a bundle; a snapshot or a package of an Arm system; a recording of Linux perf. [`Options`] say what a
//! capture does not: the program, the encoder's parameters, the source.
//!
//! # Ask
//!
//! | what | how |
//! | --- | --- |
//! | every instruction | [`Capture::instructions`] |
//! | runs of instructions | [`Capture::blocks`] |
//! | traps, contexts, times | [`Capture::events`] |
//! | both in order | [`Capture::steps`] |
//! | functions entered and left | [`Capture::calls`] |
//! | what each function executed | [`Capture::functions`] |
//! | instructions, edges, coverage | [`Capture::sum`] with [`Count`], [`Edges`] or [`Coverage`] |
//! | a report as text | [`Capture::write`] with a [`Form`] |
//! | anything else | [`Capture::report`] with a [`Report`] of your own |
//!
//! Everything but the iterators decodes on all cores. An iterator decodes ahead on threads of its own until it is dropped. It takes
//! about 4 MB, that of [`Capture::calls`] up to 30 MB. [`Capture::cancelled_by`] ends what takes too long.
//!
//! Two functions may have one name. Those that executed, and those that were entered and left, also have an address, and say
//! whether they were inlined.
//!
//! # What is missing
//!
//! A trace may have gaps: losses, damage, code that is not known. None that can be seen is passed over in silence. Iterators return a
//! gap as an error and continue after it. Other results are [`Decoded`], which has what is missing or doubtful, such as a program that
//! is not the one that was traced; [`complete`](Decoded::complete) returns the result only if nothing is.
//!
//! A capture that is not the one its description tells of is an error. To decode what there is of it, give the description as
//! [`Options::parameters`].
//!
//! What cannot be seen: traces of Arm cores do not say where they end, and hardly check themselves. One that was cut, or in which a bit
//! was flipped, may decode to something else without a gap.
//!
//! # Encode
//!
//! [`encode`] has the encoder: it takes blocks or single instructions as they retire, and returns packets.
//!
//! # Below
//!
//! The crates that this one puts together can be used alone: packet formats without `std`, decoders, reports, captures. See
//! `docs/crates.md`.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod arm;
mod capture;
mod error;
mod etrace;
mod files;
mod no_capture;
mod options;
mod steps;

pub use capture::{Capture, Decoded};
pub use error::{Error, Gap, OpenError};
pub use options::Options;
pub use steps::{
    Block, Blocks, Call, CallSteps, Events, Function, Happened, Instruction, Instructions, Step,
    Steps,
};

pub use hartrace_capture::description::Description;
pub use hartrace_decoder::{
    Count, Coverage, Edge, Edges, Event, Fault, Leaves, Run, Sink, StreamPos, Time,
};
pub use hartrace_isa::Xlen;
pub use hartrace_report::calls::FunctionTotal;
pub use hartrace_report::decode::{LARGE, SMALL};
pub use hartrace_report::gaps::Note;
pub use hartrace_report::tables::Sum;
pub use hartrace_report::{Collect, Form, Report};

/// Captures taken apart: what it takes to decode them, for those who do that themselves.
pub mod opened {
    pub use crate::capture::{Arm, Etrace, Trace};
    pub use crate::error::Absent;
    pub use crate::files::Files;
    pub use crate::no_capture::NoCapture;
}

/// Encodes what retires.
///
/// [`Encoder`](encode::Encoder) takes what retires, and returns the payloads of packets, each with the reason for it.
#[cfg(feature = "encoder")]
pub mod encode {
    pub use hartrace_encap::Framing;
    pub use hartrace_encoder::{Encoded, Encoder, EncoderConfig};
    pub use hartrace_etrace::{Ioptions, Params, Unit};
}

use std::path::Path;

/// Opens a capture of any kind that needs no [`Options`]: the same as [`Capture::open`].
///
/// # Errors
///
/// If it cannot be read, or if something that is needed to decode it is missing or wrong.
pub fn open(path: impl AsRef<Path>) -> Result<Capture, OpenError> {
    Capture::open(path)
}
