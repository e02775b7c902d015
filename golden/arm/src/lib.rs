//! Encoders that turn what an Arm core executed into ETMv4 and PTM trace; and random programs of A64, A32
//! and T32, and walks through them.
//!
//! [`etmv4::Unit`] and [`ptm::Unit`] are models of a trace unit. They take what a core executed, an
//! instruction at a time, from QEMU or from a walk; they share packet types with the decoder, and nothing
//! else. [`Program::random`] assembles code of which it knows what every instruction does, so that the
//! decoder's knowledge of opcodes is checked too; [`Program::walk`] goes through it as a core would, with
//! exceptions and returns. [`Ranges`] is what a decoder must make of it.
//!
//! The models are slow and obvious.

pub mod etmv4;
mod expected;
mod program;
pub mod ptm;
mod walk;
mod whims;

pub use expected::{Expected, Gap, Ranges};
pub use program::{Code, Does, Program};
pub use walk::{Disturbances, Ids, Step, Walked, expected};
