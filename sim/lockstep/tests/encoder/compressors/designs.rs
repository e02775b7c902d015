//! Hardware with the parameters of a compressor in software.

use hartrace_compressors::{Grows, RunLength, Scheme, SdcVariant, Widths};
use hartrace_encoder_hdl::compressors::{self as hardware, sdc, tmbp};
use hartrace_rtl::Component;
use libtest_mimic::Failed;

/// The hardware of a compressor, by the name that software knows it by.
pub(super) fn component(scheme: &str, xlen: u32) -> Result<Component, Failed> {
    let scheme: Scheme = scheme.parse()?;
    match (of_tmbp(&scheme, xlen), of_sdc(&scheme, xlen)) {
        (Some(config), _) => Ok(tmbp(&config)?),
        (_, Some(config)) => Ok(sdc(&config)?),
        _ => Err(format!("{scheme} is not in hardware").into()),
    }
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
    } = scheme.config()?
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

/// The same; only what is common in hardware.
fn of_sdc(scheme: &Scheme, xlen: u32) -> Option<hardware::Sdc> {
    let hartrace_compressors::Sdc {
        variant: SdcVariant::R,
        entries,
        ways,
        shift,
        align: 1,
        // Of the variant e.
        upper: _,
        run: RunLength { w0, wmin, wmax, m0, grows: Grows::Overflow },
    } = scheme.config()?
    else {
        return None;
    };
    let run = hardware::RunLength { w0, wmin, wmax, m0 };
    Some(hardware::Sdc { xlen, entries, ways, shift, run })
}

fn of_widths(Widths { size, step }: Widths) -> hardware::Widths {
    hardware::Widths { size, step }
}
