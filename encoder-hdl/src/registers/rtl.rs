//! Generates hardware from tables.

mod analysis;
mod apb;
mod axi;
mod block;
mod decoder;
mod filters;
mod split;
mod usage;

pub use analysis::analysis_registers;
pub use axi::{AxiBridge, axi_to_apb};
pub use decoder::decoder_registers;
pub use split::apb_split;

use crate::registers::params::{EncoderParams, ParamsError, RamSinkParams};
use crate::registers::tables;
use block::Block;
use hartrace_rtl::{Component, Expr, Module, concat, zero};

/// The module `te_registers`: registers of an encoder on APB.
///
/// Inputs are those of the table; outputs are those that the encoder needs:
///
/// | output | |
/// |---|---|
/// | `enable_o` | trace |
/// | `abort_o` | throw away what was traced, until `busy_i` is clear |
/// | `resync_mode_o`, `resync_max_o` | `trTeInstSyncMode`, `trTeInstSyncMax` |
/// | `stall_o` | `trTeInstStallEna`, if it can be chosen |
/// | `full_address_o`, `implicit_exception_o`, `sequential_jump_o`, `implicit_return_o`, `branch_prediction_o`, `jump_target_cache_o` | the modes that it has |
/// | `privileges_o` | levels that are traced, one bit each |
/// | `time_count_o`, `time_reset_o`, `time_prescale_o` | with internal time: `trTsCount`, `trTsReset`, `trTsPrescale` |
/// | `trigger_enable_o`, `initially_on_o` | with triggers: whether they count, and whether tracing is on before the first |
/// | `filters_o` | with several filters: those in use. All others have what is for filter 0 in the low bits |
/// | `ranges_o`, `low_o`, `high_o` | with comparators: those in use, and their first and last address without the bits below `address_lsb` |
/// | `contexts_o`, `context_low_o`, `context_high_o` | the same for the context |
/// | `handlers_o` | filters that ask for a trap, if they can |
/// | `causes_o`, `exceptions_o`, `interrupts_o` | causes and kinds of traps; all of them if a filter does not ask for some |
/// | `tvals_o`, `tval_low_o`, `tval_high_o` | ranges of trap values |
///
/// All of them but `enable_o`, `abort_o`, `time_count_o` and `time_reset_o` are constant while `trTeEnable` or `busy_i` is set.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn encoder_registers(params: &EncoderParams) -> Result<Component, ParamsError> {
    let table = tables::encoder(params)?;
    let m =
        Module::new("te_registers", "Registers of a trace encoder, on APB4 without wait states.")
            .clocked();
    let block = Block::new(&m, &table);
    let output = |name: &str, value: Expr, doc: &str| {
        let port = m.output(&format!("{name}_o"), value.width(), doc);
        m.assign(&port, value);
    };

    m.section("What the encoder is told.");
    let control = |field: &str| block.kept("trTeControl", field);
    let or_zero = |value: Option<Expr>, width| value.unwrap_or_else(|| zero(width));
    let mut tracing = or_zero(control("trTeInstTracing"), 1);
    if let Some(triggers) = control("trTeInstTrigEnable") {
        // Without triggers, tracing is on whenever something is traced. The bit itself is not used,
        // because it changes while the encoder is in use.
        let on = m.let_("initially_on", &tracing | !&triggers);
        output("trigger_enable", triggers.clone(), "triggers count");
        output("initially_on", on, "traced before the first trigger");
        tracing = tracing | triggers;
    }
    output("enable", &block.usage.enabled & tracing, "trace");
    if let Some(aborts) = block.usage.aborts.clone() {
        output("abort", aborts, "throw away what was traced");
    }
    output(
        "resync_mode",
        or_zero(control("trTeInstSyncMode"), 2),
        "resynchronise: 0 never, 1 packets, 2 cycles, 3 half-words",
    );
    output("resync_max", or_zero(control("trTeInstSyncMax"), 4), "after 2^(max + 4) of them");
    if let Some(stall) = control("trTeInstStallEna") {
        output("stall", stall, "hold what retires rather than lose it");
    }
    let modes = [
        ("full_address", "trTeInstNoAddrDiff"),
        ("implicit_exception", "trTeInstNoTrapAddr"),
        ("sequential_jump", "trTeInstEnSequentialJump"),
        ("implicit_return", "trTeInstEnImplicitReturn"),
        ("branch_prediction", "trTeInstEnBranchPrediction"),
        ("jump_target_cache", "trTeInstEnJumpTargetCache"),
    ];
    for (name, field) in modes {
        if let Some(value) = block.kept("trTeInstFeatures", field) {
            output(name, value, "the mode is on");
        }
    }
    let time = |field: &str| block.kept("trTsControl", field);
    if let (Some(count), Some(reset), Some(prescale)) =
        (time("trTsCount"), time("trTsReset"), time("trTsPrescale"))
    {
        output("time_count", count, "count the time");
        output("time_reset", reset, "from 0");
        output("time_prescale", prescale, "ticks of 1, 4, 16 or 64 cycles");
    }

    for (name, value, doc) in filters::outputs(&m, &block, params) {
        output(name, value, doc);
    }
    block.finish();
    Ok(m.finish())
}

/// The module `ram_sink_registers`: registers of a sink in memory on APB.
///
/// Inputs are those of the table; outputs are those that the sink needs:
///
/// | output | |
/// |---|---|
/// | `enable_o` | write to memory; stays until a flush is done |
/// | `flush_o` | flush, until `flushed_i` |
/// | `stop_on_wrap_o`, `start_o`, `limit_o` | as in the table; whole addresses |
/// | `freq_o` | how often to put in a run of null packets; only if there can be any |
/// | `wp_we_o`, `wp_o` | set the write pointer; only while `empty_i` |
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn ram_sink_registers(params: &RamSinkParams) -> Result<Component, ParamsError> {
    let table = tables::ram_sink(params)?;
    let m = Module::new(
        "ram_sink_registers",
        "Registers of a trace sink in memory, on APB4 without wait states.",
    )
    .clocked();
    let block = Block::new(&m, &table);
    let output = |name: &str, value: Expr, doc: &str| {
        let port = m.output(&format!("{name}_o"), value.width(), doc);
        m.assign(&port, value);
    };
    m.section("What the sink is told.");
    output("enable", block.usage.enabled.clone(), "until the flush is done");
    output("flush", block.usage.flushing.clone(), "until flushed");
    let stop = block.kept("trRamControl", "trRamStopOnWrap").unwrap_or_else(|| zero(1));
    output("stop_on_wrap", stop, "");
    if let Some(freq) = block.kept("trRamControl", "trRamAsyncFreq") {
        output("freq", freq, "a run of null packets in 2^(freq + 7) bytes; 0: none");
    }
    for (name, register) in [("start", "trRamStart"), ("limit", "trRamLimit")] {
        let half =
            |half: &str| block.kept(&format!("{register}{half}"), &format!("{register}{half}"));
        let bottom = zero(params.word_bytes.ilog2());
        let low = half("Low").map_or(bottom.clone(), |low| concat(&[&low, &bottom]));
        output(name, half("High").map_or(low.clone(), |high| concat(&[&high, &low])), "");
    }
    let (write, pointer) = block.pointer("wp");
    output("wp_we", write, "set the write pointer");
    output("wp", pointer, "");
    block.finish();
    Ok(m.finish())
}

/// The module `atb_bridge_registers`: registers of a bridge to ATB on APB.
///
/// Inputs are those of the table. Outputs are `enable_o`, which stays set until a flush is done,
/// `flush_o`, which stays set until `flushed_i`, and `id_o`, the ATID.
#[must_use]
pub fn atb_bridge_registers() -> Component {
    let table = tables::atb_bridge();
    let m = Module::new(
        "atb_bridge_registers",
        "Registers of a bridge to ATB, on APB4 without wait states.",
    )
    .clocked();
    let block = Block::new(&m, &table);
    let output = |name: &str, value: Expr, doc: &str| {
        let port = m.output(&format!("{name}_o"), value.width(), doc);
        m.assign(&port, value);
    };
    m.section("What the bridge is told.");
    output("enable", block.usage.enabled.clone(), "until the flush is done");
    output("flush", block.usage.flushing.clone(), "until flushed");
    output(
        "id",
        block.kept("trAtbBridgeControl", "trAtbBridgeID").unwrap_or_else(|| zero(7)),
        "ATID",
    );
    block.finish();
    m.finish()
}

/// Concatenates parts, the first in the low bits.
fn low_first(parts: &[Expr]) -> Expr {
    concat(&parts.iter().rev().collect::<Vec<_>>())
}
