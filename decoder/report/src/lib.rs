//! Reports of decoded traces: listings, JSON, tables of edges and coverage, packets, statistics.
//!
//! Here three instructions become JSON:
//!
//! ```
//! use hartrace_decoder::stream::{Decode, Transport};
//! use hartrace_decoder::{Config, Image};
//! use hartrace_encap::Framing;
//! use hartrace_isa::{Isa, Xlen};
//! use hartrace_report::{Gaps, Json, Ordered, Printer};
//!
//! let mut program = Image::new(Isa::new(Xlen::Rv32));
//! program.add(0x1000, &[0x01, 0x00, 0x01, 0x00, 0x82, 0x80]); // nop; nop; ret
//! let trace = [
//!     0x45, 0x73, 0x00, 0x04, 0x00, 0x00, // starts at 0x1000
//!     0x42, 0x0a, 0x00, // goes on to 0x1004
//! ];
//!
//! let decode = Decode::new(Config::default(), &program, Transport::new(Framing::Reference));
//! let gaps = Gaps::new("trace", |line| eprintln!("{line}"));
//! let mut printer = Printer::new(Ordered::new(Json::new(Xlen::Rv32)), Vec::new(), gaps);
//! printer.decode(&decode, &trace[..])?;
//! let text = String::from_utf8(printer.out)?;
//! assert_eq!(text.lines().last(), Some(r#"{"packet":1,"byte":6,"event":"retired","iaddr":"0x00001004"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reports of what was executed
//!
//! | report | what it writes |
//! | --- | --- |
//! | [`Pcs`] | one address per line |
//! | [`Ordered`]`<`[`Listing`]`>` | every instruction disassembled, with functions and source lines, and every event |
//! | [`Ordered`]`<`[`Blocks`]`>` | a line per run of consecutive instructions, as text or JSON |
//! | [`Ordered`]`<`[`Json`]`>` | a JSON object per instruction and event |
//! | [`Tables`]`<Edges>` | branches and jumps with counts, as text or JSON |
//! | [`Tables`]`<Coverage>` | ranges of code and functions that were executed, as text or JSON |
//! | [`Total`] | nothing: for callers who use the sum themselves |
//!
//! A [`Printer`] writes any of them and tells of [`Gaps`]. A capture is decoded in parts, by several
//! threads: a [`Report`] says what a part is decoded into, and puts the parts together in order.
//!
//! A new format is a new type. If it shows things as they happened, it implements [`InOrder`] and is
//! wrapped in [`Ordered`]. If it adds up, its sum implements [`Sum`] and, to be written at the end,
//! [`Table`]. Anything else implements [`Report`] itself.
//!
//! # Reports of packets
//!
//! [`packets`] reads the packets of a capture; no program is needed. [`dump`] writes them, [`diff`] aligns
//! those of two captures, [`stats`] counts them by format.
//!
//! # Arm traces
//!
//! [`arm`] writes the same reports of ETMv4, ETE and PTM, and a few of their own.
//!
//! # Guarantees
//!
//! Nothing here panics, for any capture and any program. Memory does not grow with the length of the trace,
//! except for sums, and for [`diff`], which holds all packets. Keys of JSON are stable.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod arm;
mod blocks;
pub mod diff;
pub mod dump;
mod gaps;
mod json;
mod limited;
mod limits;
mod listing;
mod noted;
mod ordered;
pub mod packets;
mod part;
mod pcs;
mod printer;
pub mod stats;
mod sums;
mod tables;
#[cfg(test)]
mod testing;

pub use blocks::Blocks;
pub use gaps::{Gaps, Missing};
pub use json::Json;
pub use limited::{Limited, Shared};
pub use limits::{Limits, NothingBetween, Position, PositionError};
pub use listing::Listing;
pub use noted::Noted;
pub use ordered::{InOrder, Ordered};
pub use part::{Item, Part, Retired};
pub use pcs::{Pcs, PcsText};
pub use printer::{Error, OneSource, Printer, SeveralSources};
pub use sums::{Sum, Total};
pub use tables::{Style, Table, Tables};

use hartrace_decoder::{Event, Sink, StreamPos};
use std::io::{self, Write};

/// Bytes that what was decoded of a part may use before it is passed on. Little, so that it stays in the
/// caches: a few bytes of trace may stand for megabytes of addresses.
const ROOM: usize = 1 << 20;

/// A report: puts together what the parts of a capture became, and writes it.
pub trait Report {
    /// What a part is decoded into, by the thread that decodes it.
    type Part: Collect + Default;

    /// Whether there is no place to say of which source something is, so that there must be only one.
    const ONE_SOURCE: bool = false;

    /// Takes the next part of a source. Parts come in the order of the capture.
    fn join(
        &mut self,
        source: Option<u16>,
        part: Self::Part,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Writes what is left, at the end of the capture, or of all traces of some of its sources.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }
}

/// What a part of a capture is decoded into.
pub trait Collect: Sink + Send {
    /// Takes an event outside of the stretch that is reported; see [`Limited`].
    fn aside(&mut self, at: StreamPos, event: Event) {
        let _ = (at, event);
    }
}
