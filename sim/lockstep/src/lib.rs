//! The generated encoder and the golden encoder in lock step.
//!
//! ```no_run
//! use hartrace_encoder_hdl::Config;
//! use hartrace_executions::executed::Program;
//! use hartrace_lockstep::trial::{Report, Trial, Work};
//! use hartrace_lockstep::{Bench, Setting};
//! use hartrace_hdl_tools::verilate::Options;
//!
//! let config = Config::named("small").expect("there is one");
//! let work = Work::program(Program::new("sort", std::fs::read("sort.elf")?)?, &config)?;
//! let setting = Setting::default();
//! let mut bench = Bench::new(&config, &Options::default())?;
//! let figures = Trial::new(&setting, "delta").run(&mut bench, work, Vec::new(), None, |_| ())?;
//! Report::new(std::io::stdout(), false).print(&figures)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Bench`] simulates the RTL of a [`Config`](hartrace_encoder_hdl::Config). Both encoders receive the same
//! rows, and every payload of the RTL is compared with that of the golden encoder, from the first to the
//! last. [`RoundTripCheck`] decodes the payloads and compares the result with what was executed, and [`trial`] does
//! all of this for programs and logs. [`HartPorts`], [`Setting`] and [`random`] also serve tests of the
//! hardware around the encoder. [`rtl_loop`] puts a generated decoder and block walker behind the generated encoder.

mod bench;
mod coverage;
pub mod decoder;
mod filter_request;
mod ports;
pub mod random;
mod round_trip;
pub mod rtl_loop;
mod run;
mod setup;
mod software;
mod summary;
pub mod trial;

pub use bench::{Bench, BenchError};
pub use coverage::{Coverage, Point};
pub use filter_request::FilterRequest;
pub use ports::HartPorts;
pub use round_trip::RoundTripCheck;
pub use run::{Mismatch, Seen, Session, Traffic};
pub use setup::Setting;
pub use summary::Summary;
