//! Tools that run on generated hardware, from Rust.
//!
//! [`verilate`] simulates modules with Verilator, [`lint`] checks them with Verilator and slang, and
//! [`prove`] proves claims with yosys and ABC. Each reports whether its tools are installed; without them,
//! tests that need them are shown as ignored.

pub mod lint;
pub mod prove;
pub mod verilate;
