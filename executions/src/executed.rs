//! What was executed.
//!
//! A hart reports single steps, an encoder accepts blocks, and a decoder returns runs of instructions. This
//! module converts between them: [`Steps`] makes rows from the steps of a simulated hart, [`Instructions`]
//! splits blocks from other sources, [`Port`] packs rows into the blocks and cycles of an ingress port, and
//! [`Verify`] compares what was decoded with what was executed, from the first instruction to the last.
//!
//! [`Program`] executes an ELF file, with the simulated hart or with QEMU. [`round`] encodes what it executes
//! with the production encoder, decodes it again and compares. [`check`] compares a capture with a log, to find
//! the first difference. [`bundled`] has programs to try it with.

pub mod bundled;
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
pub use program::{
    Ending, Executor, Library, Loaded, Print, Problem, Program, ProgramError, Progress, Shared,
    Variables, missing_calls,
};
pub use steps::{Steps, half_words};
pub use verify::{Idle, Verified, Verify, is_idle};
