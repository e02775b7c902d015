//! Prints a rust-hdl system that contains two generated FIFOs, for Verilator:
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
