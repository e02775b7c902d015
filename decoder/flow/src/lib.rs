//! The production E-Trace decoder: payloads and a program image to retired instructions, a block at
//! a time.
//!
//! [`Tracer`] is fed payloads and reports [`Run`]s of instructions and [`Event`]s to a [`Sink`];
//! every one comes with the position of its payload. Code is decoded once, into blocks that end
//! where the trace must say how to go on, and blocks remember their successors: following a branch
//! map is one lookup per branch, however many instructions lie between.
//!
//! # Guarantees
//!
//! Nothing here panics, for any payloads and any image. Every payload that cannot be followed is one
//! [`Event::Gap`] with its cause, and decoding is exact again from the next synchronisation on. A
//! walk that cannot end is noticed because its state repeats; one that only takes long is limited by
//! [`Config::max_blocks`].
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod blocks;
mod config;
mod elf;
mod event;
mod image;
mod images;
mod memo;
mod outcomes;
mod paths;
mod programs;
mod progress;
mod pull;
mod run;
mod sink;
mod sinks;
pub mod stream;
mod tables;
mod tracer;
mod walk;

pub use self::elf::ElfError;
pub use config::{Compat, Config, Resync};
pub use event::{Event, Fault, StreamPos};
pub use image::Image;
pub use images::{Images, Moment, Versions};
pub use paths::{Path, PathId};
pub use pull::{Block, Step, Steps};
pub use run::{Leaves, Run};
pub use sink::Sink;
pub use sinks::{Count, Coverage, Edge, Edges};
pub use tracer::Tracer;
