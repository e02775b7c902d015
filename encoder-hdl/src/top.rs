//! The trace encoder as a SoC takes it: one module with a core and control registers for each hart, and
//! the way from there to a port or to memory.
//!
//! [`top`] builds it for a [`TopConfig`], [`sources`] gives its files, [`pages`] says which registers are
//! where, [`manual`] and [`header`] say it to people and to C, and [`package`] puts all of it into files. How the
//! parts work together is in `docs/design/encoder.md`. A configuration that is not legal is an error before anything
//! is built.
//!
//! ```
//! use hartrace_encoder_hdl::top::{Sink, TopConfig, sources};
//!
//! let config = TopConfig { sink: Sink::AxiStream { word_bytes: 4 }, ..TopConfig::default() };
//! let files = sources(&config)?;
//! assert!(files.iter().any(|(name, text)| name == "te_top.sv" && text.contains("tvalid_o")));
//! # Ok::<(), hartrace_encoder_hdl::top::TopError>(())
//! ```

mod config;
mod flush;
mod hart;
mod module;
mod package;
mod pages;
mod sink;
mod wiring;

pub use config::{Encapsulation, ReadError, Sink, Standard, TopConfig, TopError};
pub use module::{sources, top};
pub use package::{PackageError, TOP, package, params};
pub use pages::{Page, header, manual, pages};
