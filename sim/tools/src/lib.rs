//! Tools that run on generated hardware, from Rust.
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
