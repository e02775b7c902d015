//! The CVA6 core in Verilator, controlled from Rust.
//!
//! [`Core`] finds the sources of the core from PyPI, or takes those of a current core from a [`FileList`], and builds a
//! model of them. [`Platform`] adds memory and
//! devices to the model, loads a program and runs it. The core's own record of what it executed consists of
//! [`Commit`]s: every instruction and every trap. `docs/design/cva6.md` describes the parts and the reasons
//! for them.
//!
//! The core is not edited: a probe and the adapter for a connector are bound to its commit stage and provide
//! plain vectors to Rust. [`soc`] passes them on to a second model, of connector and encoder.
//!
//! ```no_run
//! use hartrace_cva6_sim::{Commit, Config, Core, Platform};
//!
//! let model = Core::find()?.model()?;
//! let elf = std::fs::read("program.elf")?;
//! let mut platform = Platform::new(&model, &elf, &Config::default())?;
//! let run = platform.run(1_000_000, &mut |commit: &Commit| println!("{commit}"))?;
//! println!("{:?} after {} cycles", run.exit, run.cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axi;
mod bus;
mod commit;
mod core;
mod error;
mod file_list;
pub mod map;
mod platform;
mod ports;
mod rows;
pub mod soc;
mod stimuli;

pub use axi::Latency;
pub use commit::{Commit, Event};
pub use core::{Core, Verilator};
pub use error::Cva6Error;
pub use file_list::FileList;
pub use platform::{Config, Exit, Observe, Platform, Run};
pub use rows::Rows;
pub use stimuli::{Poke, Surprises};
