//! The generated encoder and the golden one, side by side.
//!
//! [`Bench`] simulates the RTL of a [`Config`](hartrace_encoder_hdl::Config). Rows go into both encoders,
//! and every payload that leaves the RTL is compared with what the golden encoder says, from the first to
//! the last. [`Follow`] decodes the payloads and compares the result with what was executed, and [`trial`] does all
//! of it for programs and logs. [`HartPorts`], [`Setting`] and [`random`] also serve tests of what is built around the
//! encoder.

mod bench;
mod follow;
mod ports;
pub mod random;
mod run;
mod setup;
mod software;
mod summary;
pub mod trial;

pub use bench::{Bench, BenchError};
pub use follow::Follow;
pub use ports::HartPorts;
pub use run::{Mismatch, Seen, Session, Traffic};
pub use setup::Setting;
pub use summary::{Covered, Summary};
