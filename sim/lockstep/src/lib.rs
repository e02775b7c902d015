//! The generated encoder and the golden one, side by side.
//!
//! [`Bench`] simulates the RTL of a [`Config`](hartrace_encoder_hdl::Config). Rows go into both encoders,
//! and every payload that leaves the RTL is compared with what the golden encoder says, from the first to
//! the last. [`HartPorts`], [`Setting`] and [`random`] also serve tests of what is built around the encoder.

mod bench;
mod ports;
pub mod random;
mod run;

pub use bench::{Bench, BenchError};
pub use ports::HartPorts;
pub use run::{Covered, Mismatch, Setting, Summary, Traffic};
