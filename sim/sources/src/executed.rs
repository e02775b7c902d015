//! What was executed.
//!
//! A hart reports step by step, an encoder takes blocks, and a decoder says runs of instructions. This is
//! what leads from one to the other: [`Steps`] makes rows of the steps of a simulated hart, [`Instructions`]
//! takes blocks of others apart, [`Port`] makes the blocks and cycles of an ingress port of the rows, and
//! [`Verify`] compares what was decoded with what was executed, first to last.
//!
//! [`Program`] executes an ELF file, with the simulated hart or with QEMU. [`round`] encodes what it executes with
//! the golden encoder, decodes it again and compares. [`check`] compares a capture with a log, to find the first
//! difference.

pub mod check;
mod instructions;
pub mod modes;
mod port;
mod program;
pub mod round;
mod steps;
mod verify;

pub use instructions::Instructions;
pub use port::{Cycles, Port};
pub use program::{Ending, Executor, Problem, Program, ProgramError, complaint};
pub use steps::Steps;
pub use verify::{Verified, Verify};
