//! What was executed.
//!
//! A hart reports step by step, an encoder takes blocks, and a decoder says runs of instructions. This is
//! what leads from one to the other: [`Steps`] makes rows of the steps of a simulated hart, [`Instructions`]
//! takes blocks of others apart, [`Port`] makes the blocks and cycles of an ingress port of the rows, and
//! [`Verify`] compares what was decoded with what was executed, first to last.

mod instructions;
mod port;
mod steps;
mod verify;

pub use instructions::Instructions;
pub use port::{Cycles, Port};
pub use steps::Steps;
pub use verify::{Verified, Verify};
