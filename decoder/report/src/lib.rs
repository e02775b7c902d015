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
//!     0x42, 0x0a, 0x00, // continues to 0x1004
//! ];
//!
//! let decode = Decode::new(Config::default(), &program, Transport::new(Framing::Reference));
//! let gaps = Gaps::new("trace", |note| eprintln!("{note}"));
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
//! | [`Calls`]`<`[`Callgrind`]`>` | functions and their calls, for KCachegrind |
//! | [`Calls`]`<`[`Folded`]`>` | folded stacks, for flame graphs |
//! | [`Calls`]`<`[`FunctionTotals`]`>` | nothing: what each function executed, for callers who use it themselves |
//! | [`Calls`]`<`[`Perfetto`]`>` | every call, for Perfetto |
//! | [`Calls`]`<`[`Pprof`]`>` | call stacks, for pprof |
//! | [`Calls`]`<`[`Speedscope`]`>` | every call, for speedscope |
//! | [`SourceReport`]`<`[`Autofdo`]`>` | lines, calls and inlined functions, for clang |
//! | [`SourceReport`]`<`[`Bolt`]`>` | branches and jumps, for BOLT |
//! | [`SourceReport`]`<`[`Lcov`]`>` | lines, functions and branches that were executed or not, for lcov |
//! | [`Total`] | nothing: for callers who use the sum themselves |
//!
//! A [`Form`] is any of these by name.
//!
//! [`delta`] compares what two traces of one program executed.
//!
//! [`read_profile`] makes edges of what a hardware decoder counted.
//!
//! A [`Printer`] writes any of them and reports [`Gaps`]; [`Printer::follow`] decodes a capture for it. A capture is decoded in parts, by several
//! threads: a [`Report`] defines what a part is decoded into, and joins the parts in order.
//!
//! A new format is a new type. If it shows events in order, it implements [`InOrder`] and is wrapped in
//! [`Ordered`]. If it adds something up, its sum implements [`Sum`] and, to be written at the end,
//! [`Table`]. Anything else implements [`Report`] itself.
//!
//! # Reports of packets
//!
//! [`packets`] reads the packets of a capture; no program is needed. [`dump`] writes them, [`diff`] aligns
//! those of two captures, [`stats`] counts them by format.
//!
//! # Arm traces
//!
//! [`arm`] writes the same reports of ETMv4, ETE and PTM, and a few that only these have.
//!
//! # A page for browsers
//!
//! [`html`] makes one page of a trace: a timeline of calls, functions, loops, and packets.
//!
//! # Captures larger than one machine
//!
//! [`parts`] plans captures, decodes parts of them into tables, and merges these.
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
mod calls;
pub mod delta;
pub mod diff;
pub mod dump;
mod erased;
mod explained;
mod follow;
mod form;
mod gaps;
mod hex;
pub mod html;
mod json;
mod limited;
mod limits;
mod listing;
mod no_sync;
mod noted;
mod ordered;
pub mod packets;
mod part;
mod part_pool;
pub mod parts;
mod pcs;
mod printer;
mod profile;
mod report;
mod source;
pub mod stats;
mod sums;
mod tables;
#[cfg(test)]
mod testing;
mod text_cache;
mod turn;
mod unended;

pub use blocks::Blocks;
pub use calls::{
    CallForm, Callee, Callgrind, Calls, Folded, FunctionTotal, FunctionTotals, Names, Perfetto,
    Pprof, Speedscope, Timing,
};
pub use erased::Erased;
pub use explained::{Explained, RowPlace};
pub use follow::{Decoder, LARGE, Origin, SMALL, decode};
pub use form::{Form, FormContext, NoForm, NoLines};
pub use gaps::{Gaps, Missing, Note, Resumed, advice};
pub use json::{Json, block_table_json};
pub use limited::{Limited, SharedLimits};
pub use limits::{Limits, NothingBetween, Position, PositionError, Unreached};
pub use listing::Listing;
pub use no_sync::NoSync;
pub use noted::Noted;
pub use ordered::{InOrder, Ordered, OrderedPart};
pub use part::{Item, Part, Retired};
pub use pcs::{Pcs, PcsText};
pub use printer::{Error, OneSource, Print, Printer, SeveralSources};
pub use profile::{ProfileError, read_profile};
pub use report::{Collect, Report};
pub use source::{
    Autofdo, Bolt, BranchCount, Counted, FileCounts, FunctionCount, Lcov, LineCount, SourceCounts,
    SourceForm, SourceReport,
};
pub use sums::{Sum, Total};
pub use tables::{Naming, Style, Table, Tables};
pub use unended::Unended;
