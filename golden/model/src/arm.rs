//! Encoders that produce ETMv4 and PTM trace from what an Arm core executed, and random programs of
//! A64, A32 and T32 with walks through them.
//!
//! [`etmv4::Unit`] and [`ptm::Unit`] are models of a trace unit. Their input is what a core
//! executed, one instruction at a time, from QEMU or from a walk. They share packet types with the
//! decoder, and nothing else. [`Program::random`] assembles code and knows what every instruction
//! does, so it also checks the decoder's knowledge of opcodes; [`Program::walk`] walks through it
//! as a core would, with exceptions and returns. [`Ranges`] contains what a decoder must report.
//!
//! The models are slow and obvious.

mod choices;
pub mod etmv4;
mod expected;
mod program;
pub mod ptm;
mod walk;

pub use expected::{Expected, Gap, Ranges};
pub use program::{Code, Does, Program};
pub use walk::{Disturbances, Ids, Step, Walked, expected};
