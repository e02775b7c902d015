//! Prints a system in rust-hdl with two generated FIFOs in it, for Verilator:
//!
//! ```text
//! cargo run -p hartrace-rust-hdl --example system > system.sv
//! verilator --lint-only --top-module top system.sv
//! ```

mod system;

use hartrace_rust_hdl::verilog;
use std::error::Error;
use system::System;

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", verilog(&mut System::new()?)?);
    Ok(())
}
