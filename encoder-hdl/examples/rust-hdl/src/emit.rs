//! Verilog of a system.

use rust_hdl_core::check_error::{CheckError, PathedName};
use rust_hdl_core::prelude::*;
use thiserror::Error;

/// Reasons why a system cannot be emitted.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Signals that nothing drives.
    #[error("nothing drives {}", .0.join(", "))]
    Open(Vec<String>),
    /// Signals that depend on themselves.
    #[error("combinational loop through {}", .0.join(", "))]
    Loop(Vec<String>),
    /// Inputs that are written from inside the block.
    #[error("inputs that are written from inside the block: {}", .0.join(", "))]
    WrittenInput(Vec<String>),
}

/// The Verilog of a block and everything it contains; the outermost module is called `top`. If it
/// contains generated modules, it is SystemVerilog.
///
/// # Errors
///
/// If the checks of rust-hdl find a mistake. Its own `generate_verilog` panics in this case.
pub fn verilog<B: Block>(top: &mut B) -> Result<String, EmitError> {
    top.connect_all();
    check_all(top).map_err(|error| match error {
        CheckError::OpenSignal(signals) => EmitError::Open(names(signals.values())),
        CheckError::LogicLoops(signals) => EmitError::Loop(names(&signals)),
        CheckError::WritesToInputs(signals) => EmitError::WrittenInput(names(&signals)),
    })?;
    Ok(generate_verilog_unchecked(top))
}

fn names<'a>(signals: impl IntoIterator<Item = &'a PathedName>) -> Vec<String> {
    let mut names: Vec<String> =
        signals.into_iter().map(|signal| format!("{}.{}", signal.path, signal.name)).collect();
    names.sort();
    names
}
