//! Simulates generated RTL, and plain SystemVerilog, with Verilator.
//!
//! A model is built when a program runs, not when it is compiled: tests generate dozens of designs from
//! random parameters. [`Model::build`] lets Verilator translate the SystemVerilog of a
//! [`Component`](hartrace_rtl::Component) or of files, compiles the result into a shared library, and loads
//! it. Built models are cached; `docs/design/verilate.md` explains where, and the reasons for this design.
//!
//! Building this crate requires no tools. Running it requires Verilator (tested with Debian's 5.006) and a
//! C++ compiler; [`available`] returns whether they are installed.
//!
//! ```
//! use hartrace_rtl::{Module, lit, zero};
//! use hartrace_hdl_tools::verilate::{Options, Simulation};
//!
//! let m = Module::new("counter", "Counts.").clocked();
//! let enable = m.input("enable_i", 1, "");
//! let count_o = m.output("count_o", 8, "");
//! let count = m.reg_en("count", zero(8), &enable);
//! m.assign(&count.d, &count.q + lit(8, 1));
//! m.assign(&count_o, &count.q);
//!
//! if hartrace_hdl_tools::verilate::available() {
//!     let mut sim = Simulation::build(&m.finish(), &Options::default())?;
//!     let (enable, count) = (sim.input("enable_i")?, sim.output("count_o")?);
//!     sim.reset()?;
//!     sim.set(enable, 1);
//!     sim.step()?;
//!     assert_eq!(sim.get(count), 0, "before the clock edge");
//!     sim.step()?;
//!     assert_eq!(sim.get(count), 1);
//! }
//! # Ok::<(), hartrace_hdl_tools::verilate::SimError>(())
//! ```

mod cache;
mod compile;
mod design;
mod error;
mod ffi;
mod library;
mod model;
mod options;
mod parts;
mod ports;
mod rerun;
mod simulation;
mod tools;

pub use cache::user_cache;
pub use design::{Design, Reset};
pub use error::SimError;
pub use model::{Input, Model, Output};
pub use options::{Mode, Options};
pub use ports::ModelPort;
pub use rerun::{Failure, with_waves_of_failure};
pub use simulation::Simulation;
pub use tools::available;
