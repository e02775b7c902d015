//! Captures and what describes them: what has to be known before a trace can be decoded.
//!
//! - [`description`]: everything about a capture in a file beside it.
//! - [`described`]: a capture with its description, wherever that is.
//! - [`bundle`]: capture, description and programs in one archive.
//! - [`contradiction`]: where a description says something else than what is used.
//! - [`params`]: the encoder's parameters and modes, from a TOML or JSON file.
//! - [`decode`]: decoding with all of this.
//! - [`contents`]: how to recognise the bytes of a capture.
//! - [`framing`]: how payloads are packed into the byte stream.
//! - [`input`]: files that are read, and must not be replaced.
//! - [`output`]: files that are written whole or not at all.
//! - [`perf`]: recordings of Linux perf with hardware trace in them.
//! - [`probe`]: all of this, found out from a capture and its program.
//! - [`programs`]: the code that was traced, with the names of functions and source lines.
//! - [`receive`]: trace that arrives while it is read, such as over a serial port.
//! - [`ring`]: ring buffers that have wrapped.
//! - [`snapshot`]: snapshots of Arm systems and trace packages, that is devices with their registers,
//!   trace buffers and memory.
//! - [`system`]: the traces in a snapshot or a package, with what it takes to decode each.
//! - [`text`]: names from all of these, fit to be printed.
//!
//! A [`params::Draft`] is the content of a file. [`params::Setup`] completes it with what is given elsewhere
//! and checks that everything fits together:
//!
//! ```
//! use hartrace_capture::params::{Draft, Given, Setup};
//! use hartrace_encap::Framing;
//! use hartrace_isa::Xlen;
//!
//! let text = "iaddress_width_p = 32\niaddress_lsb_p = 1\n[options]\nfull-address = true\n";
//! let draft = Draft::parse(text, "params.toml")?;
//! let setup = Setup::new(Some(draft), &Given::default())?;
//! assert_eq!(setup.xlen, Xlen::Rv32);
//! assert!(setup.options.full_address);
//! assert_eq!(setup.transport.framing, Framing::Reference);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! Nothing here panics, for any file. Errors name the file and the place of a mistake.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod bundle;
pub mod contents;
pub mod contradiction;
pub mod decode;
pub mod described;
pub mod description;
pub mod framing;
mod identity;
pub mod input;
pub mod limits;
pub mod output;
pub mod params;
pub mod perf;
pub mod probe;
pub mod programs;
pub mod receive;
pub mod ring;
pub mod snapshot;
pub mod system;
pub mod text;
