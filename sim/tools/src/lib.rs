//! Tools that run on generated hardware, from Rust.
//!
//! ```
//! use hartrace_hdl_tools::verilate::{Options, Simulation, available};
//! use hartrace_rtl::{Module, lit};
//!
//! let m = Module::new("successor", "One more than its input.");
//! let (value, next) = (m.input("value_i", 8, ""), m.output("next_o", 8, ""));
//! m.assign(&next, value + lit(8, 1));
//!
//! if available() {
//!     let mut sim = Simulation::build(&m.finish(), &Options::default())?;
//!     let (value, next) = (sim.input("value_i")?, sim.output("next_o")?);
//!     sim.set(value, 41);
//!     sim.settle()?;
//!     assert_eq!(sim.get(next), 42);
//! }
//! # Ok::<(), hartrace_hdl_tools::verilate::SimError>(())
//! ```
//!
//! [`verilate`] simulates modules with Verilator. With the feature `checks`, `lint` has Verilator and slang
//! look for doubtful places, `prove` proves claims with yosys and ABC, and `section` keeps results in documents. Each knows whether its tools are
//! installed; tests that need them show as ignored otherwise.

#[cfg(feature = "checks")]
pub mod lint;
#[cfg(feature = "checks")]
pub mod prove;
#[cfg(feature = "checks")]
pub mod section;
pub mod verilate;
