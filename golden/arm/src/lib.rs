//! Random A64, A32 and T32 programs, walks through them, and encoders that turn what was executed into
//! ETMv4 and PTM trace.
//!
//! [`Program::random`] assembles code of which it knows what every instruction does; [`Program::walk`]
//! goes through it as a core would, with exceptions and returns. [`etmv4::encode`] and [`ptm::encode`]
//! are models of a trace unit: they share packet types with the decoder, and nothing else. What an
//! instruction is they know from the program, not from its opcode, and they compress addresses on
//! their own.
//!
//! These are for tests: slow and obvious, and they panic on what cannot be.

pub mod etmv4;
mod program;
pub mod ptm;
mod walk;

pub use program::{Code, Does, Program};
pub use walk::{Executed, Expected, Step, expected};
