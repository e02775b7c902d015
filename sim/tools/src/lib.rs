//! Tools that run on generated hardware, from Rust.
//!
//! [`verilate`] simulates modules with Verilator, [`lint`] has Verilator and slang look for doubtful
//! places, and [`prove`] proves claims with yosys and ABC. Each says whether its tools are installed; tests
//! that need them show as ignored otherwise.

pub mod lint;
pub mod prove;
pub mod verilate;
