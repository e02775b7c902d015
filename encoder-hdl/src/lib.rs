//! Generates the E-Trace encoder in SystemVerilog.
//!
//! [`encoder`] builds it for a [`Config`], and [`sources`] returns its files.
//! `docs/design/encoder.md` describes its blocks and how they work together. An illegal
//! configuration is reported as an error before anything is built.
//!
//! ```
//! use hartrace_encoder_hdl::{Config, sources};
//!
//! let small = Config::named("small").expect("there is one");
//! let files = sources(&Config { lanes: 1, ..small })?;
//! assert!(files.iter().any(|(name, text)| name == "te_core.sv" && text.contains("module te_core")));
//! # Ok::<(), hartrace_encoder_hdl::ConfigError>(())
//! ```

mod branch_map;
mod cells;
pub mod compressors;
mod config;
mod core;
mod emitter;
mod filter;
mod group;
mod ingress;
mod lanes;
mod named;
mod pack;
mod priority;
mod queue;
pub mod registers;
mod request;
mod resync;
mod returns;
mod tables;
pub mod top;
pub mod transport;

pub use config::{Compression, Config, ConfigError, Overflow, ResyncUnit};
pub use core::{encoder, files, sources};
pub use named::ReadError;
