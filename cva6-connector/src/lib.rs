//! Generates the hardware between the commit stage of a core and its trace encoder, in SystemVerilog.
//!
//! An adapter ([`Interface::adapter`], two for versions of the CVA6 and one for any core with RVFI) reduces the
//! signals of the core to a neutral port of `N` lanes. [`connector`] builds the module that forms
//! blocks from this port, with the names and widths of the inputs of `te_core`.
//! `docs/design/connector.md` describes the rules it follows, and the reasons for them.
//!
//! ```
//! use hartrace_cva6_connector::{Config, sources};
//!
//! let encoder = hartrace_encoder_hdl::Config::named("cva6").expect("there is one");
//! let files = sources(&Config::for_encoder(&encoder))?;
//! assert!(files.iter().any(|(name, _)| name == "cva6_te_connector.sv"));
//! # Ok::<(), hartrace_cva6_connector::ConfigError>(())
//! ```

mod adapter;
mod config;
mod connector;
mod direct;
mod itype;
mod port;
mod serialised;
mod slots;

pub use adapter::{ADAPTER, HOLD, Interface, RVFI_ADAPTER};
pub use config::{Building, Config, ConfigError, Retirement};
pub use connector::{connector, package, sources};
pub use itype::Kind;
