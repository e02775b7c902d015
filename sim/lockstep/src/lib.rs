//! The generated encoder and the golden encoder in lock step.
//!
//! [`Bench`] simulates the RTL of a [`Config`](hartrace_encoder_hdl::Config). Both encoders receive the same
//! rows, and every payload of the RTL is compared with that of the golden encoder, from the first to the
//! last. [`Follow`] decodes the payloads and compares the result with what was executed, and [`trial`] does
//! all of this for programs and logs. [`HartPorts`], [`Setting`] and [`random`] also serve tests of the
//! hardware around the encoder. [`rtl_loop`] puts a generated decoder and block walker behind the generated encoder.

mod asked;
mod bench;
mod coverage;
pub mod decoder;
mod follow;
mod ports;
pub mod random;
pub mod rtl_loop;
mod run;
mod setup;
mod software;
mod summary;
pub mod trial;

pub use asked::Asked;
pub use bench::{Bench, BenchError};
pub use coverage::{Coverage, Point};
pub use follow::Follow;
pub use ports::HartPorts;
pub use run::{Mismatch, Seen, Session, Traffic};
pub use setup::Setting;
pub use summary::Summary;
