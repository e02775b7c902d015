//! The production E-Trace decoder: from payloads and a program image to the instructions that retired.
//!
//! ```
//! use hartrace_decoder::{Config, Event, Image, Run, Sink, StreamPos, Tracer};
//! use hartrace_etrace::{AddressReport, Branch, BranchMap, ParamsError, Payload, Start};
//! use hartrace_isa::{Isa, Xlen};
//!
//! // The program: a loop of two instructions, then a return.
//! let mut image = Image::new(Isa::new(Xlen::Rv64));
//! image.add(0x8000_0000, &[0x7d, 0x15]); // loop: addi a0, a0, -1
//! image.add(0x8000_0002, &[0x7d, 0xfd]); //       bnez a0, loop
//! image.add(0x8000_0004, &[0x82, 0x80]); //       ret
//!
//! // The trace: it starts at 0x80000000; one branch is taken and one is not; the last instruction is 4
//! // bytes further. Address fields do not contain the lowest bit.
//! let config = Config::default();
//! let lsb = config.params.iaddress_lsb_p;
//! let start = Start { branch: true, address: 0x8000_0000 >> lsb, ..Start::default() };
//! let map = BranchMap::new(2, 0b10).unwrap_or_default();
//! let branches = Branch { map, address: Some(AddressReport::new(4 >> lsb)) };
//!
//! #[derive(Default)]
//! struct Listing(Vec<u64>);
//!
//! impl Sink for Listing {
//!     fn run(&mut self, _: StreamPos, run: Run<'_>) {
//!         run.addresses(|address| self.0.push(address));
//!     }
//!
//!     fn event(&mut self, at: StreamPos, event: Event) {
//!         assert!(!matches!(event, Event::Gap(_)), "{at:?}: {event:?}");
//!     }
//! }
//!
//! let mut tracer = Tracer::new(config, &image)?;
//! let mut listing = Listing::default();
//! for (packet, payload) in [Payload::Start(start), Payload::Branch(branches)].iter().enumerate() {
//!     let at = StreamPos { packet: packet as u64, byte: 0 };
//!     tracer.feed(at, payload, &mut listing);
//! }
//! tracer.finish(&mut listing);
//! let offsets: Vec<u64> = listing.0.iter().map(|address| address - 0x8000_0000).collect();
//! assert_eq!(offsets, [0, 2, 0, 2, 4]);
//! # Ok::<(), ParamsError>(())
//! ```
//!
//! [`Tracer`] processes payloads and reports [`Run`]s of instructions and [`Event`]s to a [`Sink`], each
//! with the position of its payload. [`Steps`] provides the same as an iterator. [`stream::Decode`] reads a
//! whole capture on several threads.
//!
//! Code is decoded once, into blocks that end where the trace must report how the program continues. A
//! block remembers its successors, so following a branch map costs one lookup per branch, however many
//! instructions lie between. If the same payload arrives in the same state again, the tracer repeats the
//! [`Path`] without parsing the payload.
//!
//! # Guarantees
//!
//! Nothing here panics, for any payloads and any image. A payload that cannot be followed is reported as
//! one [`Event::Gap`] with its cause, and decoding is exact again from the next synchronisation. A walk
//! that cannot end is detected because its state repeats, and [`Config::max_detour`] limits a walk that is
//! only long. The work for a payload that counts many branches is limited by the sink: one that only adds
//! up ([`Sink::REPEATS`]) receives each loop once.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod block_table;
mod blocks;
pub mod calls;
mod config;
mod elf;
mod endings;
mod event;
mod image;
mod images;
mod memo;
mod outcomes;
mod paths;
mod predictor;
mod programs;
mod progress;
mod run;
mod sink;
mod sinks;
mod steps;
pub mod stream;
mod tables;
mod time;
mod tracer;
mod walk;

pub use self::elf::{ElfError, elf_arch, elf_float};
pub use config::{Config, Resync};
pub use endings::{Endings, Restarted};
pub use event::{ArmFault, Event, Fault, RecordingLoss, StreamPos};
pub use hartrace_etrace::Compat;
pub use image::Image;
pub use images::{Images, Moment, Versions};
pub use paths::{Path, PathId};
pub use run::{Leaves, Run, Transfer};
pub use sink::Sink;
pub use sinks::{Count, Coverage, Edge, Edges, Frequencies, Frequency, OpenEnds};
pub use steps::{Extent, Step, Steps};
pub use time::{Clock, Time, Unit};
pub use tracer::Tracer;
