use super::block::Block;
use crate::registers::params::{AnalysisParams, ParamsError};
use crate::registers::tables;
use hartrace_rtl::{Component, Expr, Module, concat, zero};

/// The module `analysis_registers`: registers of an analysis behind a decoder, on APB.
///
/// Inputs are those of the table. Outputs are `clear_o`, which is set while everything is reset, `enable_o`, and, with blocks, what
/// software writes: `trigger_o`, `window_index_o`, `first_o`, `second_o`, `property_o`, `limit_o`, `profile_index_o`.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn analysis_registers(params: &AnalysisParams) -> Result<Component, ParamsError> {
    let table = tables::analysis(params)?;
    let m = Module::new(
        "analysis_registers",
        "Registers of an analysis behind a trace decoder, on APB4 without wait states.",
    )
    .clocked();
    let block = Block::new(&m, &table);
    let output = |name: &str, value: Expr, doc: &str| {
        let port = m.output(&format!("{name}_o"), value.width(), doc);
        m.assign(&port, value);
    };
    m.section("What the analysis is told.");
    output("clear", block.usage.held.clone(), "everything is reset");
    output("enable", block.usage.enabled.clone(), "count and watch");
    if params.blocks {
        let kept = |name: &str, bits| block.kept(name, name).unwrap_or_else(|| zero(bits));
        let addresses = [("trigger", "Trigger"), ("first", "First"), ("second", "Second")];
        for (name, stem) in addresses {
            let half = |half: &str| {
                let name = format!("hartraceAn{stem}{half}");
                block.kept(&name, &name)
            };
            let low = half("Low").unwrap_or_else(|| zero(32));
            output(name, half("High").map_or(low.clone(), |high| concat(&[&high, &low])), "");
        }
        output("window_index", kept("hartraceAnWindowIndex", 1), "");
        output("property", kept("hartraceAnProperty", 2), "1: A before B, 2: B within the limit");
        output("limit", kept("hartraceAnLimit", 32), "");
        output("profile_index", kept("hartraceAnProfileIndex", 1), "");
    }
    block.finish();
    Ok(m.finish())
}
