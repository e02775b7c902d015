//! The walker for E-Trace.

mod config;
mod intake;
mod outcomes;
mod predictor;
mod walk;

pub use config::{Config, ConfigError};

use super::assembly::{self, Parts};
use crate::etrace::{decoder_with_vectors, record};
use hartrace_rtl::{Component, Expr, Module};

/// The module `etrace_walker`: records of `etrace_decoder` in, blocks out.
///
/// # Errors
///
/// If there is no walker with these parameters.
pub fn walker(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let parts = Parts {
        name: "etrace_walker",
        doc: "Follows the program: records of the decoder and a table of blocks give the blocks that were executed.",
        decoder: "etrace_decoder",
        taken: intake::taken(config),
        slots: config.decoder.unroll.div_ceil(2),
        stored: intake::stored(config),
        rows: config.rows,
        layout: config.table,
        address_bits: config.address_bits(),
        returns: config.returns(),
        intake: intake::unit(config),
        walk: walk::unit(config),
    };
    Ok(parts.assemble(|m| predictor(m, config.decoder.params.bpred_size_p.into())))
}

/// An instance of the predictor, with the connections to the walk by port.
fn predictor(m: &Module, bits: u32) -> Vec<(String, Expr)> {
    if bits == 0 {
        return Vec::new();
    }
    let branch = m.wire("predicted_branch", bits);
    let update = m.wire("update_prediction", 1);
    let outcome = m.wire("predicted_outcome", 1);
    let clear = m.wire("clear_predictions", 1);
    let table = m.inst(
        "i_predictor",
        &predictor::unit(bits),
        &[("index_i", &branch), ("update_i", &update), ("taken_i", &outcome), ("clear_i", &clear)],
    );
    vec![
        ("branch_o".into(), branch),
        ("update_o".into(), update),
        ("outcome_o".into(), outcome),
        ("clear_predictions_o".into(), clear),
        ("predicted_i".into(), table.only().clone()),
    ]
}

/// The module `etrace_follower`: a decoder with a walker behind it. Bytes in, blocks out.
///
/// # Errors
///
/// If there is no decoder or no walker with these parameters.
pub fn follower(config: &Config) -> Result<Component, ConfigError> {
    let (walker, decoder) = (walker(config)?, decoder_with_vectors(&config.decoder)?);
    let fields: Vec<&str> = record(&config.decoder)?.iter().map(|field| field.name).collect();
    let what = ("etrace_follower", "Encapsulated E-Trace in, executed blocks out.");
    Ok(assembly::follower(what, &decoder, &walker, &fields, config.address_bits()))
}
