//! The walker for ETMv4 and ETE.
//!
//! Trace without speculation (MAXSPEC 0) is followed, with or without branch broadcast and return stack. An outcome stands for
//! one block; the target of a branch is in the table, in the address that follows, or on the return stack. An address
//! that was sent counts, whatever the table says.
//!
//! A block is reported when it is known what follows it: another block, an exception, a gap, or the start of tracing.
//!
//! A contradiction is a gap with its cause. If addresses are still understood after it, the next address ends it; otherwise,
//! the next alignment synchronisation with its TraceInfo, context and address.
//!
//! # Not supported
//!
//! - Speculation: packets that commit, cancel or correct elements are gaps, and so are those of conditional instructions
//!   and data.
//! - Q elements: the instructions that they stand for are missing, up to the next address.
//! - Cores of the M profile.

mod config;
mod intake;
mod walk;

pub use config::{Config, ConfigError};

use super::assembly::{self, Parts};
use crate::etmv4::{RECORD, decoder};
use hartrace_rtl::Component;

/// The module `etmv4_walker`: records of `etmv4_decoder` in, blocks out.
///
/// # Errors
///
/// If there is no walker with these parameters.
pub fn walker(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let parts = Parts {
        name: "etmv4_walker",
        doc: "Follows the program: records of the decoder and a table of blocks give the blocks that were executed.",
        decoder: "etmv4_decoder",
        taken: intake::taken(config),
        slots: config.decoder.unroll,
        stored: intake::stored(config),
        rows: config.rows,
        layout: config.table,
        address_bits: config.decoder.address_bits,
        returns: config.returns(),
        intake: intake::unit(config),
        walk: walk::unit(config),
    };
    Ok(parts.assemble(|_| Vec::new()))
}

/// The module `etmv4_follower`: a decoder with a walker behind it. Bytes in, blocks out.
///
/// # Errors
///
/// If there is no decoder or no walker with these parameters.
pub fn follower(config: &Config) -> Result<Component, ConfigError> {
    let (walker, decoder) = (walker(config)?, decoder(&config.decoder)?);
    // Not every configuration has all fields.
    let has = |field: &&str| {
        decoder.ports().iter().any(|port| port.name.strip_suffix("_o") == Some(*field))
    };
    let fields: Vec<&str> = RECORD.iter().map(|(name, _)| *name).filter(has).collect();
    let what = ("etmv4_follower", "ETMv4 or ETE in, executed blocks out.");
    Ok(assembly::follower(what, &decoder, &walker, &fields, config.decoder.address_bits))
}
