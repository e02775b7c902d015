//! Hardware with the parameters of a compressor in software.

use hartrace_compressors::{Scheme, Widths};
use hartrace_encoder_hdl::compressors::{self as hardware, tmbp};
use hartrace_rtl::Component;
use libtest_mimic::Failed;

/// The hardware of a compressor, by the name that software knows it by.
pub(super) fn component(scheme: &str, xlen: u32) -> Result<Component, Failed> {
    let scheme: Scheme = scheme.parse()?;
    let config = of_tmbp(&scheme, xlen).ok_or_else(|| format!("{scheme} is not in hardware"))?;
    Ok(tmbp(&config)?)
}

/// The hardware of a compressor whose counters are soon full.
pub(super) fn with_small_counters(scheme: &str, xlen: u32) -> Result<Component, Failed> {
    let config = of_tmbp(&scheme.parse()?, xlen).ok_or("it has no counters")?;
    Ok(tmbp(&hardware::Tmbp { counter_bits: 8, ..config })?)
}

/// The parameters; every one of them has to be known here.
fn of_tmbp(scheme: &Scheme, xlen: u32) -> Option<hardware::Tmbp> {
    // Differences of handlers are not in hardware.
    let hartrace_compressors::Tmbp {
        entries,
        bhr_bits,
        ras,
        ibtb,
        ways,
        pc_shift,
        path_targets,
        whole_targets,
        trap_differences: false,
        branches,
        targets,
        instructions,
    } = scheme.tmbp()?
    else {
        return None;
    };
    let [branches, targets, instructions] = [branches, targets, instructions].map(of_widths);
    let counter_bits = hardware::Tmbp::BASE.counter_bits;
    Some(hardware::Tmbp {
        xlen,
        entries,
        bhr_bits: bhr_bits.unwrap_or(entries.ilog2()),
        ras,
        ibtb,
        ways,
        pc_shift,
        path_targets,
        whole_targets,
        branches,
        targets,
        instructions,
        counter_bits,
    })
}

fn of_widths(Widths { size, step }: Widths) -> hardware::Widths {
    hardware::Widths { size, step }
}
