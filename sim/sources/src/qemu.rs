//! Programs run by QEMU, as what a RISC-V hart or an Arm core reports to its trace encoder.
//!
//! [`Qemu::run`] runs a program, in user mode or on a whole machine, and hands every executed block
//! of instructions to a sink as a [`Retired`] in block retirement, in order and to the instruction,
//! with the traps in between. How that works, and what QEMU does not tell, is in
//! `docs/design/qemu.md`. [`Qemu::run_arm`] does the same for programs of A64, A32 and T32 in user mode,
//! an instruction at a time.
//!
//! Nothing of QEMU is needed to build this crate. To run it needs a C compiler (`cc`), for a small
//! plugin that comes with it, and a QEMU of version 6 to 8 that was built with plugins, as Debian's
//! is.
//!
//! ```no_run
//! use hartrace_sources::qemu::{Mode, Qemu};
//! use std::ops::ControlFlow;
//!
//! let mut half_words = 0u64;
//! let exit = Qemu::new()?.run("a.out".as_ref(), &["--fast"], Mode::User, |block| {
//!     half_words += u64::from(block.iretire);
//!     ControlFlow::Continue(())
//! })?;
//! println!("{} instructions, {half_words} half-words, {exit:?}", exit.instructions);
//! # Ok::<(), hartrace_sources::qemu::QemuError>(())
//! ```

mod arm;
mod error;
mod follow;
mod log;
mod plugin;
mod program;
mod runner;
mod stop;
mod stream;
mod table;

pub use arm::{ArmCause, ArmStep};
pub use error::QemuError;
pub use hartrace_ingress::Retired;
pub use runner::{Exit, Mode, Qemu};
