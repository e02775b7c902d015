//! Programs run by QEMU, converted into what a RISC-V hart or an Arm core reports to its trace encoder.
//!
//! [`Qemu::run`] runs a program, in user mode or on a whole machine, and passes every executed block of
//! instructions to a sink as a [`Retired`] in block retirement, in order and exact to the instruction,
//! with the traps in between. `docs/design/qemu.md` explains how this works and what QEMU does not
//! report. [`Qemu::run_arm`] does the same for A64, A32 and T32 programs in user mode, one instruction
//! at a time.
//!
//! Building this crate does not require QEMU. Running a program requires a C compiler (`cc`), for a
//! small plugin that is part of this crate, and QEMU version 6 to 8 built with plugin support, such as
//! Debian's.
//!
//! ```no_run
//! use hartrace_executions::qemu::{Mode, Qemu};
//! use std::ops::ControlFlow;
//!
//! let mut half_words = 0u64;
//! let exit = Qemu::new()?.run("a.out".as_ref(), &["--fast"], Mode::User, |block| {
//!     half_words += u64::from(block.iretire);
//!     ControlFlow::Continue(())
//! })?;
//! println!("{} instructions, {half_words} half-words, {exit:?}", exit.instructions);
//! # Ok::<(), hartrace_executions::qemu::QemuError>(())
//! ```

mod arm;
mod block_rows;
mod error;
mod log;
mod plugin;
mod program;
mod runner;
mod stop;
mod stream;
mod streams;
mod table;

pub use arm::{ArmCause, ArmStep};
pub use block_rows::Mapped;
pub use error::QemuError;
pub use hartrace_etrace::ingress::Retired;
pub use runner::{Exit, Mode, Qemu};
pub use streams::Streams;
