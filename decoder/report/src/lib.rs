//! Reports of decoded traces: listings, JSON, tables of edges and coverage, packets, statistics.
//!
//! Here three instructions become JSON:
//!
//! ```
//! use hartrace_decoder::stream::{Decode, Transport};
//! use hartrace_decoder::{Config, Image};
//! use hartrace_encap::Framing;
//! use hartrace_isa::{Isa, Xlen};
//! use hartrace_report::{Printer};
//! use hartrace_report::gaps::Gaps;
//! use hartrace_report::lists::{Json, Ordered};
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
//! | [`Pcs`](lists::Pcs) | one address per line |
//! | [`Ordered`](lists::Ordered)`<`[`Listing`](lists::Listing)`>` | every instruction disassembled, with functions and source lines, and every event |
//! | [`Ordered`](lists::Ordered)`<`[`Blocks`](lists::Blocks)`>` | a line per run of consecutive instructions, as text or JSON |
//! | [`Ordered`](lists::Ordered)`<`[`Json`](lists::Json)`>` | a JSON object per instruction and event |
//! | [`Tables`](tables::Tables)`<Edges>` | branches and jumps with counts, as text or JSON |
//! | [`Tables`](tables::Tables)`<Coverage>` | ranges of code and functions that were executed, as text or JSON |
//! | [`Calls`](calls::Calls)`<`[`Callgrind`](calls::Callgrind)`>` | functions and their calls, for KCachegrind |
//! | [`Calls`](calls::Calls)`<`[`Folded`](calls::Folded)`>` | folded stacks, for flame graphs |
//! | [`Calls`](calls::Calls)`<`[`FunctionTotals`](calls::FunctionTotals)`>` | nothing: what each function executed, for callers who use it themselves |
//! | [`Calls`](calls::Calls)`<`[`Perfetto`](calls::Perfetto)`>` | every call, for Perfetto |
//! | [`Calls`](calls::Calls)`<`[`Pprof`](calls::Pprof)`>` | call stacks, for pprof |
//! | [`Calls`](calls::Calls)`<`[`Speedscope`](calls::Speedscope)`>` | every call, for speedscope |
//! | [`SourceReport`](source::SourceReport)`<`[`Autofdo`](source::Autofdo)`>` | lines, calls and inlined functions, for clang |
//! | [`SourceReport`](source::SourceReport)`<`[`Bolt`](source::Bolt)`>` | branches and jumps, for BOLT |
//! | [`SourceReport`](source::SourceReport)`<`[`Lcov`](source::Lcov)`>` | lines, functions and branches that were executed or not, for lcov |
//! | [`Total`](tables::Total) | nothing: for callers who use the sum themselves |
//!
//! A [`Form`] is any of these by name.
//!
//! [`delta`] compares what two traces of one program executed.
//!
//! [`read_profile`](tables::read_profile) makes edges of what a hardware decoder counted.
//!
//! A [`Printer`] writes any of them and reports [`Gaps`](gaps::Gaps); [`Printer::follow`] decodes a capture for it. A capture is decoded in parts, by several
//! threads: a [`Report`] defines what a part is decoded into, and joins the parts in order.
//!
//! A [`Window`](window::Window) is the part of a trace to report.
//!
//! A new format is a new type. If it shows events in order, it implements [`InOrder`](lists::InOrder) and is wrapped in
//! [`Ordered`](lists::Ordered). If it adds something up, its sum implements [`Sum`](tables::Sum) and, to be written at the end,
//! [`Table`](tables::Table). Anything else implements [`Report`] itself.
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
pub mod calls;
mod causes;
mod collect;
pub mod decode;
pub mod delta;
pub mod diff;
pub mod dump;
mod erased;
mod explained;
mod form;
pub mod gaps;
mod hex;
pub mod html;
mod json;
mod limited;
pub mod limits;
mod listing;
pub mod lists;
mod no_sync;
mod numbered;
mod ordered;
pub mod packets;
mod part;
mod part_pool;
mod pcs;
mod print;
mod printer;
mod profile;
mod report;
pub mod source;
pub mod stats;
mod sums;
pub mod tables;
#[cfg(test)]
mod testing;
mod text_cache;
mod turn;
mod unended;
pub mod window;

pub use collect::Collect;
pub use form::{Form, FormContext, NoForm, NoLines};
pub use numbered::Numbered;
pub use print::Print;
pub use printer::{Error, Printer};
pub use report::Report;
