//! The trace encoder for integration into an SoC: one module with a core and control registers for
//! each hart, and the transport to a port or to memory.
//!
//! [`top`] builds it for a [`TopConfig`], [`sources`] returns its files, [`pages`] lists the
//! addresses of registers, [`manual`] and [`header`] describe them for people and for C, [`descriptions`] for tools, [`devicetree`] for a kernel, and
//! [`package`] returns everything as files, also [`struct_wrapper`], the module with structures for its buses. `docs/design/encoder.md` describes how the parts work
//! together. [`record_writer`] is the sink alone, for records of others;
//! [`Wiring`] and [`Bus`] connect parts of other tops in the same way. An illegal configuration is reported as an error before anything is built.
//!
//! ```
//! use hartrace_encoder_hdl::top::{Sink, TopConfig, sources};
//!
//! let config = TopConfig { sink: Sink::AxiStream { word_bytes: 4 }, ..TopConfig::default() };
//! let files = sources(&config)?;
//! assert!(files.iter().any(|(name, text)| name == "te_top.sv" && text.contains("tvalid_o")));
//! # Ok::<(), hartrace_encoder_hdl::top::TopError>(())
//! ```

mod bus;
mod config;
mod devicetree;
mod flush;
mod hart;
mod module;
mod package;
mod pages;
mod sink;
mod structs;
mod timestamp;
mod wiring;
mod writer;

pub use bus::Bus;
pub use config::{
    AxiPort, Encapsulation, FindError, Sink, Standard, TimeSource, TopConfig, TopError,
};
pub use devicetree::devicetree;
pub use module::{sources, top};
pub use package::{PackageError, description, package, params};
pub use pages::{PAGE, Page, descriptions, header, header_of, manual, manual_of, pages};
pub use structs::struct_wrapper;
pub use wiring::Wiring;
pub use writer::record_writer;
